# SPDX-License-Identifier: Apache-2.0
"""pydantic-ai: `run` as the command of a toolset, a guarded transport, or a guarded client of httpx2."""

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import httpx2
from fastmcp.client.transports import ClientTransport, StdioTransport  # after the path is set
from frameworks.steps import COMMAND, ENVIRONMENT, PLAN, SERVER, URL, Json, do, start
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic_ai import ModelRetry
from pydantic_ai.mcp import MCPToolset

from toolnotary_verifier.shells.httpx import guarded as guarded_by_httpx
from toolnotary_verifier.shells.mcp import guarded


class Guarded(ClientTransport):
    """A server over stdio, whose definitions are held to their pins."""

    @contextlib.asynccontextmanager
    async def connect_session(self, *, transport_options: Any = None, **options: Any) -> AsyncIterator[Any]:
        """A session on guarded streams."""
        del transport_options  # of transports that wrap others
        parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=ENVIRONMENT)
        held = guarded(stdio_client(parameters), parameters, server=SERVER)
        async with held as streams, ClientSession(*streams, **options) as session:
            yield session


async def run() -> None:
    """The host's configuration names `toolnotary run` in place of the server."""
    command, *arguments = PLAN["run"]
    await use(StdioTransport(command=command, args=arguments, env=ENVIRONMENT, keep_alive=False))


async def transport() -> None:
    """The host's own transport."""
    await use(Guarded())


async def transport_for_httpx() -> None:
    """The host's client."""
    async with httpx2.AsyncClient(transport=guarded_by_httpx(httpx2, URL, server=SERVER)) as client:
        await use(URL, http_client=client)


async def use(way: ClientTransport | str, **options: Any) -> None:
    """What an agent does with the toolset."""
    toolset: MCPToolset[None] = MCPToolset(way, cache_tools=False, init_timeout=50, **options)
    async with toolset:

        async def names() -> list[str]:
            return [tool.name for tool in await toolset.list_tools()]

        async def call(name: str, arguments: Json) -> str:
            try:
                return str(await toolset.direct_call_tool(name, arguments))
            except ModelRetry as error:
                return str(error.message)

        await do(names, call)


start({"run": run, "transport": transport, "httpx": transport_for_httpx})
