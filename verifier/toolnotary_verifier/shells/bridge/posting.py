# SPDX-License-Identifier: Apache-2.0
"""One line of a host on its way to the server, and whatever comes back for it."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.jsonrpc import HEADER_MISMATCH, frame, request
from toolnotary_verifier.shells.bridge.awaited import answers_in
from toolnotary_verifier.shells.bridge.listening import resume
from toolnotary_verifier.shells.bridge.reading import Place
from toolnotary_verifier.shells.bridge.said import Said
from toolnotary_verifier.shells.bridge.sent import Sent
from toolnotary_verifier.shells.bridge.session import LOST, SIGN_IN, Session, left
from toolnotary_verifier.shells.http.message import Response, UpstreamError, one_line

# How long a stream is read on behind its last answer: the next request can use its connection, then.
_AFTERWARDS: Final = 1.0


class Posting:
    """Sends lines."""

    def __init__(self, session: Session, *, lost: Callable[[], None]) -> None:
        """Nothing is sent yet.

        Args:
            session: both ends.
            lost: called once the server does not know the session any more.
        """
        self._session = session
        self._lost = lost

    async def post(self, sent: Sent) -> bool:
        """Send a line and hand on what comes for it; every request in it is answered, once.

        Returns:
            Whether the server took it.
        """
        place = Place()
        session = self._session
        try:
            response = await session.post(sent.said)
            if await self._is_mismatched(sent.said, response):
                response = await session.post(sent.said)
            if response.status >= 400:
                await self._refused(sent, response)
                return False
            await self._read(sent, response, place)
            if place.last_event and not sent.said.revision:
                await resume(session, place, sent)
            await session.write(*sent.awaited.failed("did not answer this request"))
        except UpstreamError as error:
            await session.write(*sent.awaited.failed(str(error)))
            return False
        return True

    async def _read(self, sent: Sent, response: Response, place: Place) -> None:
        async with aclosing(self._session.lines(response, place)) as lines:
            while True:
                is_over = bool(sent.said.ids) and not sent.awaited
                try:
                    async with asyncio.timeout(_AFTERWARDS if is_over else None):
                        line = await anext(lines, None)
                except TimeoutError:
                    return
                if line is None:
                    return
                if sent.said.method == "initialize":
                    self._agree(response, line)
                if not await self._session.hand_on(line, sent):
                    await self._session.write(*sent.awaited.refused(line))

    def _agree(self, response: Response, line: bytes) -> None:
        value = _parsed(line)
        result = value.get("result") if isinstance(value, dict) else None
        if isinstance(result, dict):
            self._session.facts.agree(response.headers, result.get("protocolVersion"))

    # What the server does not take

    async def _refused(self, sent: Sent, response: Response) -> None:
        session, content = self._session, await left(response)
        if answers_in(content) and await session.hand_on(one_line(content), sent):
            return
        if response.status == 401:
            session.tell_once("sign-in", f"the server {SIGN_IN}")
            await session.write(*sent.awaited.failed(SIGN_IN))
        elif response.status == 404 and session.facts.session and sent.said.method != "initialize":
            session.tell_once("session-lost", f"the server {LOST}")
            await session.write(*sent.awaited.failed(LOST))
            self._lost()
        else:
            why = f"answered with HTTP status {response.status}"
            if not sent.said.ids:
                session.tell("http-status", f"the server {why} to something that asks for no answer")
            await session.write(*sent.awaited.refused(content), *sent.awaited.failed(why))

    async def _is_mismatched(self, said: Said, response: Response) -> bool:
        """Whether headers are to be written anew, by the definition that has just been verified anew."""
        if not said.revision or said.method != "tools/call":  # only the stateless era has such headers
            return False
        if response.status != 400 or not isinstance(response.body, bytes):
            return False
        if _code(response.body) != HEADER_MISMATCH:
            return False
        facts = {key: value for key, value in said.params["_meta"].items() if key != "progressToken"}
        asked = request(f"headers-{os.urandom(8).hex()}", "tools/list", {"_meta": facts})
        listing = Said.of(frame(asked), max_bytes=self._session.limits.frame_bytes)
        await left(await self._session.post(listing))
        return True


def _parsed(content: bytes) -> JsonValue:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _code(content: bytes) -> JsonValue:
    value = _parsed(content)
    error = value.get("error") if isinstance(value, dict) else None
    return error.get("code") if isinstance(error, dict) else None
