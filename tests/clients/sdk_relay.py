# SPDX-License-Identifier: Apache-2.0
"""A host that says messages of its own through the transports of the protocol's Python SDK, of either major.

    .tests/mcp2/bin/python tests/clients/sdk_relay.py [--direct] --server NAME -- COMMAND
    .tests/mcp2/bin/python tests/clients/sdk_relay.py [--direct] --server NAME --url URL

Every line of its standard input is a message; every message that it reads is a line of its standard output.
"""

import argparse
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from toolnotary_verifier.shells.log import Log  # after the path is set
from toolnotary_verifier.shells.mcp import guarded

try:
    from mcp_types import jsonrpc_message_adapter

    _parsed = jsonrpc_message_adapter.validate_json
except ImportError:
    from mcp.types import JSONRPCMessage

    _parsed = JSONRPCMessage.model_validate_json

# What is agreed on in the handshake era.
_HANDSHAKE = "2025-11-25"


def _item(line: bytes) -> Any:
    """A message as a `ClientSession` sends it: in 2.x with the headers that say over HTTP what it is."""
    said = json.loads(line)
    item = SessionMessage(_parsed(line))
    params = said.get("params", {})
    version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
    if "method" in said and said["method"] != "initialize" and hasattr(ClientMessageMetadata, "headers"):
        headers = {"mcp-protocol-version": version or _HANDSHAKE}
        if version is not None:
            name = params.get("name", params.get("uri"))
            headers |= {"mcp-method": said["method"], **({} if name is None else {"mcp-name": name})}
        item.metadata = ClientMessageMetadata(headers=headers)
    return item


async def main(arguments: argparse.Namespace) -> None:
    """Relay until standard input ends."""
    launch = arguments.url
    if launch is None:
        command, *words = arguments.command
        launch = StdioServerParameters(command=command, args=words, env=dict(os.environ))
        transport = stdio_client(launch)
    else:
        transport = streamable_http_client(launch)
    if not arguments.direct:
        transport = guarded(transport, launch, server=arguments.server, log=Log)
    async with transport as (reads, writes, *_), anyio.create_task_group() as tasks:

        async def read() -> None:
            async for item in reads:
                if not isinstance(item, Exception):
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    sys.stdout.write(f"{line}\n")
                    sys.stdout.flush()
            os._exit(7)  # the other side has ended

        tasks.start_soon(read)
        while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
            await writes.send(_item(line))
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--server")
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    try:
        anyio.run(main, parser.parse_args())
    except Exception:  # noqa: BLE001 - a thread may still read standard input, and must not be waited for
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(8)
