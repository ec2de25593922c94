# SPDX-License-Identifier: Apache-2.0
"""Every block of Python in docs/reference/embedding.md runs as it stands, in each SDK that it is for."""

import re
import subprocess
import textwrap

import pytest
from conftest import ROOT
from effort import some
from sdk import DEADLINE, pin, python, turning, turning_over_http

PAGE = ROOT / "docs" / "reference" / "embedding.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
# Which environments run a block, by what stands in that one alone.
RUNS = [
    ('(stdio_client(parameters), parameters, server="acme") as (read, write):', ("mcp1", "mcp2")),
    ("streamable_http_client(url)", ("mcp1", "mcp2")),
    ("Client(guarded(", ("mcp2",)),
    ("transport = guarded(httpx,", ("mcp1",)),
    ("httpx_client_factory", ("langchain",)),
    ("class Guarded(MCPServerStdio)", ("openai_agents",)),
]
BEFORE = """
import asyncio, os, sys
sys.path.insert(0, {verifier!r})
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
command, url, oauth = {command!r}, {url!r}, None
parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
def show(tools):
    print(*sorted(tool.name for tool in tools))
async def main():
"""
# What a block needs besides.
IMPORTS = {
    "Client(guarded(": "from mcp import Client",
    "transport = guarded(httpx,": "import httpx\nfrom toolnotary_verifier.shells.httpx import guarded",
    "httpx_client_factory": (
        "import httpx\nfrom langchain_mcp_adapters.client import MultiServerMCPClient\n"
        "from toolnotary_verifier.shells.httpx import guarded_clients"
    ),
    "class Guarded(MCPServerStdio)": "from agents.mcp import MCPServerStdio",
}
# What goes on where a block stops.
AFTER = {
    "Client(guarded(": "        show(tools.tools)\n",
    "transport = guarded(httpx,": (
        "            async with ClientSession(*streams[:2]) as session:\n"
        "                await session.initialize()\n"
        "                show((await session.list_tools()).tools)\n"
    ),
    "httpx_client_factory": (
        "    async with MultiServerMCPClient({'acme': connection}).session('acme') as session:\n"
        "        show((await session.list_tools()).tools)\n"
    ),
    "class Guarded(MCPServerStdio)": (
        "    one = Guarded({'command': command[0], 'args': command[1:], 'env': dict(os.environ)})\n"
        "    async with one:\n"
        "        show(await one.list_tools())\n"
    ),
}
OTHERWISE = "            show((await session.list_tools()).tools)\n"
# The server of the page, which stands for any.
EXAMPLE = '"https://mcp.acme.example/mcp"'


def test_every_block_is_run() -> None:
    assert [sum(mark in block for mark, _ in RUNS) for block in BLOCKS] == [1] * len(RUNS)


@pytest.mark.parametrize(
    ("mark", "environment"), some([(mark, one) for mark, environments in RUNS for one in environments], 3)
)
def test_a_block_lists_what_is_pinned(mark: str, environment: str) -> None:
    (block,) = [block for block in BLOCKS if mark in block]
    server = "mcp1" if environment == "mcp1" else "mcp2"
    if "url" in block or EXAMPLE in block:
        with turning_over_http(server) as url:
            pin(url, server="acme")
            printed = run(block, mark, environment, url=url)
    else:
        pin("--", *turning(server), server="acme")
        printed = run(block, mark, environment, command=turning(server))
    assert printed.split() == ["greet", "turn", "wait", "waited"]


def run(block: str, mark: str, environment: str, *, command: list[str] | None = None, url: str = "") -> str:
    """What a block printed."""
    before = BEFORE.format(verifier=str(ROOT / "verifier"), command=command or ["-"], url=url)
    imports = IMPORTS.get(mark, "")
    if "shells.httpx" not in imports:
        imports += "\nfrom toolnotary_verifier.shells.mcp import guarded"
    before = before.replace("async def main", f"{imports}\nasync def main")
    block = block.removesuffix("        ...\n").replace(EXAMPLE, "url")
    script = before + textwrap.indent(block, "    ") + AFTER.get(mark, OTHERWISE) + "asyncio.run(main())\n"
    done = subprocess.run(
        [python(environment), "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
