# SPDX-License-Identifier: Apache-2.0
"""A request whose headers say something else than its body never reaches the server (MCP 2026-07-28)."""

import asyncio
import json
from types import ModuleType
from typing import Any

import bridged
import httpx
import httpx2
import pytest
from servers import http_server
from servers.hostile_http import HANDSHAKE, STATELESS
from shells import SERVER

from toolnotary_verifier.shells.httpx import guarded

Json = Any
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
AGREES = [("mcp-protocol-version", STATELESS), ("mcp-method", "tools/call"), ("mcp-name", "echo")]


def call(name: str = "echo", method: str = "tools/call", **meta: Json) -> Json:
    """A call of the stateless era."""
    params = {"name": name, "arguments": {}, "_meta": {**META, **meta}}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def sent(
    library: ModuleType, message: Json, headers: list[tuple[str, str]], era: str
) -> tuple[Any, list[str]]:
    """The response to a message with these headers, and what the server was called with."""
    responses = []
    with http_server.serve(era=era, calls=True) as server:
        bridged.pin(server.url, http_server.TOOLS)

        async def scenario() -> None:
            transport = guarded(library, server.url, server=SERVER)
            async with library.AsyncClient(transport=transport) as client:
                content = json.dumps(message)
                told = [
                    ("accept", "application/json, text/event-stream"),
                    ("content-type", "application/json"),
                    *headers,
                ]
                responses.append(await client.post(server.url, content=content, headers=told))

        asyncio.run(scenario())
        return responses[0], [method for method in server.calls() if method != "tools/list"]


def other(name: str, value: str) -> list[tuple[str, str]]:
    """The headers, with another value for one of them."""
    return [(key, value if key == name else kept) for key, kept in AGREES]


@pytest.mark.parametrize(
    "headers",
    [
        AGREES,
        other("mcp-name", "=?base64?ZWNobw==?="),
        [],
        [("mcp-protocol-version", STATELESS)],
    ],
    ids=["agree", "encoded", "missing", "name missing"],
)
@pytest.mark.parametrize("library", [httpx, httpx2], ids=lambda one: one.__name__)
def test_a_call_whose_headers_agree_goes_on_and_so_does_one_that_the_server_is_to_judge(
    library: ModuleType, headers: list[tuple[str, str]]
) -> None:
    response, calls = sent(library, call(), headers, "stateless")
    assert response.status_code == 200
    assert calls == ["tools/call"]


@pytest.mark.parametrize(
    ("headers", "which"),
    [
        (other("mcp-name", "add"), "mcp-name"),
        (other("mcp-name", "ECHO"), "mcp-name"),
        (other("mcp-name", "=?base64?YWRk?="), "mcp-name"),
        (other("mcp-name", "=?base64?****?="), "mcp-name"),
        ([*AGREES, ("mcp-name", "add")], "mcp-name"),
        (other("mcp-method", "tools/list"), "mcp-method"),
        ([("mcp-method", "tools/list")], "mcp-method"),
        (other("mcp-protocol-version", HANDSHAKE), "mcp-protocol-version"),
        ([("mcp-protocol-version", HANDSHAKE)], "mcp-protocol-version"),
    ],
)
@pytest.mark.parametrize("library", [httpx, httpx2], ids=lambda one: one.__name__)
def test_a_call_whose_headers_say_something_else_is_refused_as_the_protocol_says(
    library: ModuleType, headers: list[tuple[str, str]], which: str
) -> None:
    response, calls = sent(library, call(), headers, "stateless")
    assert response.status_code == 400
    told = f"the header {which} is not what the request says"
    assert response.json() == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32020, "message": told}}
    assert calls == []


def test_in_the_handshake_era_a_header_that_names_another_tool_is_refused_too() -> None:
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
    response, calls = sent(httpx, message, [("mcp-name", "add")], "handshake")
    assert (response.status_code, response.json()["error"]["code"], calls) == (400, -32020, [])
