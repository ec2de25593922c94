# SPDX-License-Identifier: Apache-2.0
"""A host on the Python SDK of the protocol, of either major, which the public conformance suite tests.

    python tests/clients/conformance_host.py SOCKET         see tests/clients/forked.py

It lists, calls each tool, and answers what it is asked. `CONFORMANCE_GUARD` says what stands between it and
the server: nothing ("direct"; then it writes what it lists), our transport for the HTTP client ("http"), or
ours for the SDK ("sdk"). Behind one of them it first pins what was listed directly, as somebody would who
agreed to it.
"""

import asyncio
import json
import os
import sys
import urllib.parse
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

try:
    import httpx2 as httpx
    from mcp.client.auth import AuthorizationCodeResult
except ImportError:
    import httpx  # type: ignore[no-redef]

    AuthorizationCodeResult = None

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from clients.forked import serve  # after the path is set

from toolnotary_verifier.launch import Launch
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.shells import httpx as http_shell
from toolnotary_verifier.shells import mcp as sdk_shell

Json = Any
_SERVER = "acme/tested"
_DEADLINE = 25  # seconds, less than the suite gives a client
_CALLBACK = "http://localhost:3030/callback"
_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}
_STATELESS = "2026-07-28"


class Kept:
    """What a client keeps of its registration and its token."""

    def __init__(self, registered: Any) -> None:
        self._registered = registered
        self._tokens: Any = None

    async def get_tokens(self) -> Any:
        return self._tokens

    async def set_tokens(self, tokens: Any) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> Any:
        return self._registered

    async def set_client_info(self, client_info: Any) -> None:
        self._registered = client_info


class Person:
    """Signs in at once, whoever asks."""

    def __init__(self) -> None:
        self._led: dict[str, str] = {}

    async def opens(self, url: str) -> None:
        async with httpx.AsyncClient() as browser:
            answer = await browser.get(url)
        self._led = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["location"]).query))

    async def returns(self) -> Any:
        led = self._led
        if AuthorizationCodeResult is None:
            return led["code"], led.get("state")
        return AuthorizationCodeResult(code=led["code"], state=led.get("state"), iss=led.get("iss"))


def _signing_in(url: str, context: Json) -> Any:
    """What signs in for the client."""
    metadata = {
        "client_name": "host",
        "redirect_uris": [_CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    known = None
    if "client_id" in context:
        secret = {key: context[key] for key in ("client_id", "client_secret", "issuer") if key in context}
        how = {"token_endpoint_auth_method": "client_secret_basic"}
        known = OAuthClientInformationFull.model_validate({**metadata, **secret, **how})
    person = Person()
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata.model_validate(metadata),
        storage=Kept(known),
        redirect_handler=person.opens,
        callback_handler=person.returns,
        client_metadata_url=_DOCUMENT,
    )


def _pin(url: str, listing: Path) -> None:
    """Pin the server as it was listed."""
    home = Path(os.environ["TOOLNOTARY_HOME"])
    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    surface = read_saved([listing.read_bytes()]) if listing.exists() else None
    if surface is not None and surface.definitions:  # else there is nothing that anybody could have pinned
        pin_surface(surface, server=_SERVER, launch=Launch.from_url(url)).apply(project)


async def _accept(_context: Any, params: Any) -> Any:
    """Accept what a form proposes."""
    schema = getattr(params, "requested_schema", None) or getattr(params, "requestedSchema", {})
    proposed = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
    return mcp.types.ElicitResult(action="accept", content=proposed)


async def _opened(stack: AsyncExitStack, url: str, guard: str, auth: Any) -> Any:
    """A client that is connected."""
    transport = http_shell.guarded(httpx, url, server=_SERVER) if guard == "http" else None
    http = httpx.AsyncClient(transport=transport, auth=auth, follow_redirects=True, timeout=30)
    await stack.enter_async_context(http)
    way = streamable_http_client(url, http_client=http)
    if guard == "sdk":
        way = sdk_shell.guarded(way, url, server=_SERVER)
    if hasattr(mcp, "Client"):
        is_stateless = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") == _STATELESS
        mode = "auto" if is_stateless else "legacy"
        return await stack.enter_async_context(mcp.Client(way, mode=mode, elicitation_callback=_accept))
    reads, writes, *_ = await stack.enter_async_context(way)
    client = await stack.enter_async_context(ClientSession(reads, writes, elicitation_callback=_accept))
    await client.initialize()
    return client


def _calls(tools: list[Json], context: Json) -> list[tuple[str, Json]]:
    """Which tools are called with what: as the suite says, else each once."""
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    schemas = {"json_schema_echo": {"schema": tools[0]["inputSchema"]}} if tools else {}
    arguments = {**_ARGUMENTS, **schemas}
    return [(tool["name"], arguments.get(tool["name"], {})) for tool in tools]


async def _visit(url: str) -> None:
    scenario, guard = os.environ["MCP_CONFORMANCE_SCENARIO"], os.environ["CONFORMANCE_GUARD"]
    folder = Path(os.environ["CONFORMANCE_FOLDER"], scenario)
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "listing.json"
    home = folder / guard
    os.environ["TOOLNOTARY_HOME"] = str(home)
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    auth = _signing_in(url, context) if scenario.startswith("auth/") else None
    if guard != "direct":
        home.mkdir(mode=0o700)
        _pin(url, listing)
    async with asyncio.timeout(_DEADLINE), AsyncExitStack() as stack:
        client = await _opened(stack, url, guard, auth)
        listed = (await client.list_tools()).tools
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
        if guard == "direct":
            listing.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        for name, arguments in _calls(tools, context):
            await client.call_tool(name, arguments)


def main(url: str) -> None:
    """List, and call each tool."""
    asyncio.run(_visit(url))


if __name__ == "__main__":
    serve(sys.argv[1], main)
