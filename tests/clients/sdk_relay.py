# SPDX-License-Identifier: Apache-2.0
"""A host that says messages of its own through the transports of the protocol's Python SDK, of either major.

    .tests/mcp2/bin/python tests/clients/sdk_relay.py [--direct] --server NAME -- COMMAND

Every line of its standard input is a message; every message that it reads is a line of its standard output.
"""

import argparse
import os
import sys
import traceback
from pathlib import Path

import anyio
import anyio.to_thread
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from toolnotary_verifier.shells.log import Log  # after the path is set
from toolnotary_verifier.shells.mcp import guarded

try:
    from mcp_types import jsonrpc_message_adapter

    _parsed = jsonrpc_message_adapter.validate_json
except ImportError:
    from mcp.types import JSONRPCMessage

    _parsed = JSONRPCMessage.model_validate_json


async def main(arguments: argparse.Namespace) -> None:
    """Relay until standard input ends."""
    parameters = StdioServerParameters(
        command=arguments.command[0], args=arguments.command[1:], env=dict(os.environ)
    )
    transport = stdio_client(parameters)
    if not arguments.direct:
        transport = guarded(transport, parameters, server=arguments.server, log=Log)
    async with transport as (reads, writes), anyio.create_task_group() as tasks:

        async def read() -> None:
            async for item in reads:
                if not isinstance(item, Exception):
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    sys.stdout.write(f"{line}\n")
                    sys.stdout.flush()
            os._exit(7)  # the other side has ended

        tasks.start_soon(read)
        while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
            await writes.send(SessionMessage(_parsed(line)))
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--server")
    parser.add_argument("command", nargs="+")
    try:
        anyio.run(main, parser.parse_args())
    except Exception:  # noqa: BLE001 - a thread may still read standard input, and must not be waited for
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(8)
