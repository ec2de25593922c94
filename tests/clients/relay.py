# SPDX-License-Identifier: Apache-2.0
"""A program that embeds the transport for httpx or httpx2, with a URL: a host is sent what its client reads.

    python tests/clients/relay.py httpx2 URL SERVER

Its own URL is the first line of its standard error.
"""

import asyncio
import contextlib
import importlib
import json
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from toolnotary_verifier.shells.httpx import guarded
from toolnotary_verifier.shells.log import Log

Json = Any
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Write = Callable[[Message], Awaitable[None]]
# What the client writes anew for its own connection, and what is over once it has read.
_NOT_ON = {"connection", "content-length", "content-encoding", "transfer-encoding", "accept-encoding"}


class Relay:
    """Every request goes to the one URL, through the client."""

    def __init__(self, client: Any, url: str, own: str) -> None:
        self._client = client
        self._url = url
        self._own = own

    async def __call__(self, scope: Message, receive: Receive, write: Write) -> None:
        """One request (ASGI 3.0, HTTP)."""
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        passing = asyncio.ensure_future(self._pass(scope, body, write))
        leaving = asyncio.ensure_future(_left(receive))
        await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (passing, leaving):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await passing

    async def _pass(self, scope: Message, body: bytes, write: Write) -> None:
        headers = [(n.decode("latin-1"), v.decode("latin-1").strip()) for n, v in scope["headers"]]
        kept = [(n, v) for n, v in headers if n not in _NOT_ON and not (n == "host" and v == self._own)]
        request = self._client.build_request(scope["method"], self._url, headers=kept, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except Exception as failed:  # noqa: BLE001 - whatever it raises is all that the program is told
            content = json.dumps(_error(body, type(failed).__name__)).encode()
            await write({"type": "http.response.start", "status": 502, "headers": []})
            await write({"type": "http.response.body", "body": content})
            return
        try:
            told = [
                (name, value) for name, value in response.headers.raw if name.lower().decode() not in _NOT_ON
            ]
            await write({"type": "http.response.start", "status": response.status_code, "headers": told})
            async for piece in response.aiter_bytes():
                await write({"type": "http.response.body", "body": piece, "more_body": True})
            await write({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()


def _error(body: bytes, told: str) -> Json:
    with contextlib.suppress(ValueError, AttributeError):
        return {
            "jsonrpc": "2.0",
            "id": json.loads(body).get("id"),
            "error": {"code": -32000, "message": told},
        }
    return {}


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _serve(name: str, url: str, server: str) -> None:
    library = importlib.import_module(name)
    transport = guarded(library, url, server=server, log=Log)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own = f"127.0.0.1:{listener.getsockname()[1]}"
        sys.stderr.write(f"relay listening on http://{own}/mcp\n")
        sys.stderr.flush()
        async with library.AsyncClient(transport=transport, follow_redirects=True, timeout=30) as client:
            config = uvicorn.Config(Relay(client, url, own), log_level="error", lifespan="off")
            await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
