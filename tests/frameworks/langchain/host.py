# SPDX-License-Identifier: Apache-2.0
"""langchain-mcp-adapters: `run` as the command of a connection, a guarded session, or guarded clients."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import httpx
from frameworks.steps import COMMAND, ENVIRONMENT, PLAN, SERVER, URL, Json, do, start
from langchain_mcp_adapters.client import MultiServerMCPClient  # after the path is set
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from toolnotary_verifier.shells.httpx import guarded_clients
from toolnotary_verifier.shells.mcp import guarded


async def run() -> None:
    """The host's configuration names `toolnotary run` in place of the server."""
    command, *arguments = PLAN["run"]
    connection = {"transport": "stdio", "command": command, "args": arguments, "env": ENVIRONMENT}
    async with MultiServerMCPClient({"acme": connection}).session("acme") as session:
        await use(session)


async def transport() -> None:
    """The host opens the session itself."""
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=ENVIRONMENT)
    held = guarded(stdio_client(parameters), parameters, server=SERVER)
    async with held as streams, ClientSession(*streams) as session:
        await session.initialize()
        await use(session)


async def transport_for_httpx() -> None:
    """A session, and a client of its own, for every listing and every call."""
    clients = guarded_clients(httpx, URL, server=SERVER)
    connection = {"transport": "http", "url": URL, "httpx_client_factory": clients}
    await use_tools(MultiServerMCPClient({"acme": connection}).get_tools)


async def use(session: ClientSession) -> None:
    """What an agent does with the tools of a session."""

    await use_tools(lambda: load_mcp_tools(session))


async def use_tools(listed: Callable[[], Awaitable[list[Any]]]) -> None:
    """What an agent does with the tools; those that it was once given it keeps."""
    tools = {tool.name: tool for tool in await listed()}

    async def names() -> list[str]:
        return [tool.name for tool in await listed()]

    async def call(name: str, arguments: Json) -> str:
        message = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
        content = (await tools[name].ainvoke(message)).content
        return content if isinstance(content, str) else content[0]["text"]

    await do(names, call)


start({"run": run, "transport": transport, "httpx": transport_for_httpx})
