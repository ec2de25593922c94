# SPDX-License-Identifier: Apache-2.0
"""A host on the Python SDK of the protocol, of either major, that signs in by OAuth behind our transport.

    .tests/mcp2/bin/python tests/clients/oauth_host.py '{"server": NAME, "url": URL}'

It lists, calls, lists and calls again, and prints one JSON object: what it listed, what each call gave, and
which tasks were left behind. `"direct": true` leaves the guard out.
"""

import asyncio
import json
import logging
import sys
import urllib.parse
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

try:
    import httpx2 as httpx
    from mcp.client.auth import AuthorizationCodeResult
except ImportError:
    import httpx  # type: ignore[no-redef]

    AuthorizationCodeResult = None

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from toolnotary_verifier.shells.httpx import guarded  # after the path is set

Json = Any
_DEADLINE = 50
_CALLBACK = "http://127.0.0.1:1/callback"


class Kept:
    """What a client keeps of its registration and its token."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.registered: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.registered

    async def set_client_info(self, client_info: Any) -> None:
        self.registered = client_info


class Person:
    """Signs in at once, whoever asks."""

    def __init__(self) -> None:
        self.led: dict[str, str] = {}

    async def opens(self, url: str) -> None:
        async with httpx.AsyncClient() as browser:
            answer = await browser.get(url)
        self.led = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["location"]).query))

    async def returns(self) -> Any:
        if AuthorizationCodeResult is None:
            return self.led["code"], self.led["state"]
        return AuthorizationCodeResult(code=self.led["code"], state=self.led["state"], iss=self.led["iss"])


def signing_in(url: str) -> Any:
    """What signs in for the client."""
    metadata = {
        "client_name": "host",
        "redirect_uris": [_CALLBACK],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    person = Person()
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata.model_validate(metadata),
        storage=Kept(),
        redirect_handler=person.opens,
        callback_handler=person.returns,
    )


def _told(result: Any) -> Json:
    failed = getattr(result, "is_error", None)
    return [bool(result.isError if failed is None else failed), result.content[0].text]


async def main(plan: Json) -> Json:
    """Do it all."""
    url, listed, called = plan["url"], [], []
    transport = None if plan.get("direct") else guarded(httpx, url, server=plan["server"])
    async with asyncio.timeout(_DEADLINE):
        async with (
            httpx.AsyncClient(transport=transport, auth=signing_in(url)) as client,
            streamable_http_client(url, http_client=client) as (reads, writes, *_),
            ClientSession(reads, writes) as session,
        ):
            await session.initialize()
            for _ in range(2):
                listed.append([tool.name for tool in (await session.list_tools()).tools])
                called.append(_told(await session.call_tool("echo", {})))
    left = [str(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return {"listed": listed, "called": called, "left": left}


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
