# SPDX-License-Identifier: Apache-2.0
"""What a client of the protocol's Python SDK reads as the tools of a server: their descriptions, one a line.

    .tests/mcp2/bin/python tests/clients/sdk_listing.py URL [legacy|auto]

It asks something else while it lists, as hosts do.
"""

import os
import sys

import anyio
from mcp import Client

_DEADLINE = 20


async def main(url: str, mode: str) -> None:
    """List the tools, ping meanwhile, print."""
    with anyio.fail_after(_DEADLINE):
        async with Client(url, mode=mode) as client, anyio.create_task_group() as group:

            async def list_tools() -> None:
                listed = await client.list_tools()
                sys.stdout.write("".join(f"{tool.description}\n" for tool in listed.tools))
                sys.stdout.flush()
                os._exit(0)  # the client trips over answers that come while it closes

            group.start_soon(list_tools)
            await client.session.send_ping()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
