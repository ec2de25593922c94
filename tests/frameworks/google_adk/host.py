# SPDX-License-Identifier: Apache-2.0
"""google-adk: `run` as the command of a toolset, or guarded clients; it takes no other transport."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import httpx2
from frameworks.steps import ENVIRONMENT, PLAN, SERVER, URL, Json, do, start
from google.adk.agents import LlmAgent  # after the path is set
from google.adk.agents.invocation_context import InvocationContext
from google.adk.sessions import InMemorySessionService
from google.adk.tools.mcp_tool import McpToolset
from google.adk.tools.mcp_tool.mcp_session_manager import (
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
)
from google.adk.tools.tool_context import ToolContext
from mcp import StdioServerParameters

from toolnotary_verifier.shells.httpx import guarded_clients


async def run() -> None:
    """The host's configuration names `toolnotary run` in place of the server."""
    command, *arguments = PLAN["run"]
    parameters = StdioServerParameters(command=command, args=arguments, env=ENVIRONMENT)
    await use(McpToolset(connection_params=StdioConnectionParams(server_params=parameters, timeout=50)))


async def transport_for_httpx() -> None:
    """The host's clients."""
    clients = guarded_clients(httpx2, URL, server=SERVER)
    parameters = StreamableHTTPConnectionParams(url=URL, timeout=50, httpx_client_factory=clients)
    await use(McpToolset(connection_params=parameters))


async def use(toolset: McpToolset) -> None:
    """What an agent does with the toolset."""
    sessions = InMemorySessionService()
    invocation = InvocationContext(
        invocation_id="1",
        agent=LlmAgent(name="agent"),
        session=await sessions.create_session(app_name="app", user_id="user"),
        session_service=sessions,
    )
    tools = {tool.name: tool for tool in await toolset.get_tools()}

    async def names() -> list[str]:
        return [tool.name for tool in await toolset.get_tools()]

    async def call(name: str, arguments: Json) -> str:
        read = await tools[name].run_async(args=arguments, tool_context=ToolContext(invocation))
        return str(read["content"][0]["text"])

    await do(names, call)
    await toolset.close()


start({"run": run, "httpx": transport_for_httpx})
