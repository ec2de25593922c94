# SPDX-License-Identifier: Apache-2.0
"""The gateway as an ASGI application: one path for each server, nothing buffered that streams."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Final

from toolnotary_verifier.limits import DEFAULT_LIMITS
from toolnotary_verifier.shells.gateway.access import PREFLIGHT, Access
from toolnotary_verifier.shells.http.message import Header, Request, Response

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Write = Callable[[_Message], Awaitable[None]]
Respond = Callable[[Request], Awaitable[Response]]
# A host that goes away is noticed from then on, in seconds: watching for it costs more than most requests.
_PATIENCE: Final = 0.05
_CORS: Final = b"access-control-allow-origin"
_UNBUFFERED: Final = (b"x-accel-buffering", b"no")


class Gateway:
    """Leads each request to the server of its path."""

    def __init__(
        self,
        routes: Mapping[str, Respond],
        *,
        access: Access,
        most: int = DEFAULT_LIMITS.line_bytes,
    ) -> None:
        """Routes by path.

        Args:
            routes: what answers below a path; a path ends with `/` where all below it is meant.
            access: who is let in.
            most: bytes that a request may have.
        """
        self._exact = {path: respond for path, respond in routes.items() if not path.endswith("/")}
        self._below = [(path, respond) for path, respond in routes.items() if path.endswith("/")]
        self._access = access
        self._most = most

    async def __call__(self, scope: _Message, receive: _Receive, send: _Write) -> None:
        """One request (ASGI 3.0, HTTP)."""
        if scope["type"] != "http":
            return
        respond = self._route(scope["path"])
        headers: Sequence[Header] = scope["headers"]
        shared = self._access.shared_with(headers)
        if refused := self._access.refuses(headers):
            await _write(send, _said(403, b"this %b is not let in" % refused.encode()))
        elif respond is None:
            await _write(send, _said(404, b"no server is reached under this path"), shared)
        elif scope["method"] == "OPTIONS" and shared:
            await _write(send, Response(204, PREFLIGHT, b""), shared)
        else:
            body = await self._body(receive)
            if body is None:
                await _write(send, _said(413, b"too large"), shared)
            else:
                await _serve(respond, Request(scope["method"], headers, body), receive, send, shared)

    def _route(self, path: str) -> Respond | None:
        found = self._exact.get(path.removesuffix("/") or "/")
        if found is None:
            return next((respond for prefix, respond in self._below if path.startswith(prefix)), None)
        return found

    async def _body(self, receive: _Receive) -> bytes | None:
        message = await receive()
        body: bytes = message.get("body", b"")
        if not message.get("more_body"):
            return None if message["type"] == "http.disconnect" else body
        parts, size = [body], len(body)
        while message.get("more_body"):
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most or message["type"] == "http.disconnect":
                return None
        return b"".join(parts)


async def _serve(
    respond: Respond, request: Request, receive: _Receive, send: _Write, shared: Sequence[Header]
) -> None:
    """Answer one request, unless nobody waits for the answer any more: the server is told, then."""
    loop = asyncio.get_running_loop()
    serving = asyncio.current_task()
    watching: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if serving is not None:
            serving.cancel()

    timer = loop.call_later(_PATIENCE, lambda: watching.append(loop.create_task(watch())))
    try:
        await _write(send, await respond(request), shared)
    except asyncio.CancelledError:
        if not any(task.done() for task in watching):
            raise
    finally:
        timer.cancel()
        for task in watching:
            task.cancel()


def _said(status: int, text: bytes) -> Response:
    length = (b"content-length", b"%d" % (len(text) + 1))
    return Response(status, [(b"content-type", b"text/plain; charset=utf-8"), length], text + b"\n")


async def _write(send: _Write, response: Response, shared: Sequence[Header] = ()) -> None:
    status, headers, body = response
    if shared:
        headers = [*(one for one in headers if not one[0].startswith(_CORS)), *shared]
    if isinstance(body, bytes):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    try:
        await send({"type": "http.response.start", "status": status, "headers": [*headers, _UNBUFFERED]})
        async for piece in body:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        await body.aclose()
