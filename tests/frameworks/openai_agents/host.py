# SPDX-License-Identifier: Apache-2.0
"""openai-agents: `run` as the command of a server, guarded streams, or guarded clients of httpx2."""

import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import httpx2
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp  # after the path is set
from frameworks.steps import COMMAND, ENVIRONMENT, PLAN, SERVER, URL, Json, do, start

from toolnotary_verifier.shells.httpx import guarded_clients
from toolnotary_verifier.shells.mcp import guarded


class Guarded(MCPServerStdio):
    """A server over stdio, whose definitions are held to their pins."""

    def create_streams(self) -> AbstractAsyncContextManager[Any]:
        """The streams that the base class opens, guarded."""
        return guarded(super().create_streams(), self.params, server=SERVER)


async def run() -> None:
    """The host's configuration names `toolnotary run` in place of the server."""
    command, *arguments = PLAN["run"]
    await use(MCPServerStdio({"command": command, "args": arguments, "env": ENVIRONMENT}))


async def transport() -> None:
    """The host's own server class."""
    await use(Guarded({"command": COMMAND[0], "args": COMMAND[1:], "env": ENVIRONMENT}))


async def transport_for_httpx() -> None:
    """The host's clients."""
    clients = guarded_clients(httpx2, URL, server=SERVER)
    await use(MCPServerStreamableHttp({"url": URL, "httpx_client_factory": clients}))


async def use(server: MCPServer) -> None:
    """What an agent does with the server."""
    async with server:

        async def names() -> list[str]:
            return [tool.name for tool in await server.list_tools()]

        async def call(name: str, arguments: Json) -> str:
            return str((await server.call_tool(name, arguments)).content[0].text)

        await do(names, call)


start({"run": run, "transport": transport, "httpx": transport_for_httpx})
