# SPDX-License-Identifier: Apache-2.0
"""A host on the Python SDK of the protocol, which the public conformance suite tests: it lists and calls all.

    CONFORMANCE_LISTING=FILE .tests/mcp2/bin/python tests/clients/conformance_host.py URL

Without `CONFORMANCE_GUARDED` it talks to the server itself and writes what it lists to FILE. With it, it pins
what stands there, as somebody who agreed would, and talks through the transport for httpx2.
"""

import asyncio
import json
import os
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from toolnotary_verifier.launch import Launch  # after the path is set
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.shells.httpx import guarded

Json = Any
_SERVER = "acme/tested"
_DEADLINE = 50
_CALLBACK = "http://localhost:3030/callback"
_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


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
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
        self._led = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["location"]).query))

    async def returns(self) -> Any:
        led = self._led
        return AuthorizationCodeResult(code=led["code"], state=led.get("state"), iss=led.get("iss"))


def _signing_in(url: str) -> Any:
    """What signs in for the client."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    metadata = {
        "client_name": "host",
        "redirect_uris": [_CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    known = None
    if "client_id" in context:
        secret = {"client_id": context["client_id"], "client_secret": context.get("client_secret")}
        known = OAuthClientInformationFull.model_validate({**metadata, **secret})
    person = Person()
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata.model_validate(metadata),
        storage=Kept(known),
        redirect_handler=person.opens,
        callback_handler=person.returns,
        client_metadata_url=_DOCUMENT,
    )


def _transport(url: str, listing: Path) -> Any:
    """The guarded transport, before a server that is pinned as it was listed."""
    home = Path(os.environ["TOOLNOTARY_HOME"])
    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    surface = read_saved([listing.read_bytes()]) if listing.exists() else None
    if surface is not None and surface.definitions:  # else there is nothing that anybody could have pinned
        pin_surface(surface, server=_SERVER, launch=Launch.from_url(url)).apply(project)
    return guarded(httpx2, url, server=_SERVER)


async def main(url: str) -> None:
    """List, and call each tool."""
    listing = Path(os.environ["CONFORMANCE_LISTING"])
    is_guarded = "CONFORMANCE_GUARDED" in os.environ
    transport = _transport(url, listing) if is_guarded else None
    is_stateless = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28"
    mode = "auto" if is_stateless else "legacy"
    auth = _signing_in(url) if os.environ["MCP_CONFORMANCE_SCENARIO"].startswith("auth/") else None
    async with (
        asyncio.timeout(_DEADLINE),
        httpx2.AsyncClient(transport=transport, auth=auth, follow_redirects=True, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        tools = (await client.list_tools()).tools
        if not is_guarded:
            shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
            listing.write_text(json.dumps({"tools": shown}), encoding="utf-8")
        for tool in tools:
            await client.call_tool(tool.name, _ARGUMENTS.get(tool.name, {}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
