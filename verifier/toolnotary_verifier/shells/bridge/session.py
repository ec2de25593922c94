# SPDX-License-Identifier: Apache-2.0
"""What one host and its server have between them: requests there, lines back, what was agreed on."""

from collections.abc import AsyncGenerator, Callable
from typing import Final

from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.bridge.awaited import answers_in
from toolnotary_verifier.shells.bridge.facts import Facts
from toolnotary_verifier.shells.bridge.pipes import Pipes
from toolnotary_verifier.shells.bridge.reading import Place, frames_of
from toolnotary_verifier.shells.bridge.said import Said
from toolnotary_verifier.shells.bridge.sent import Sent, UnderWay
from toolnotary_verifier.shells.http.front import Front
from toolnotary_verifier.shells.http.message import Request, Response

SIGN_IN: Final = (
    "wants to know who asks (HTTP status 401), and nobody can sign in here: start toolnotary run with"
    " --header Authorization=VARIABLE and a token in that variable, or let the host connect by itself, with"
    " the transport of toolnotary inside of it"
)
LOST: Final = "has forgotten this session: connect to it again"


class Session:
    """Both ends.

    Attributes:
        facts: what was agreed on.
        under_way: what the host sent.
        limits: bounds on what both send.
        tell: tells people something, under a code.
    """

    def __init__(
        self, front: Front, pipes: Pipes, *, tell: Callable[[str, str], None], limits: Limits
    ) -> None:
        """Nothing was said yet."""
        self.facts = Facts()
        self.under_way = UnderWay()
        self.limits = limits
        self.tell = tell
        self._front = front
        self._pipes = pipes
        self._told: set[str] = set()

    async def post(self, said: Said) -> Response:
        """The response to a line of the host."""
        return await self._front.respond(Request("POST", self.facts.of(said), said.content))

    async def stream(self, place: Place) -> Response:
        """The response to a request for a stream, or for what is left of one."""
        return await self._front.respond(Request("GET", self.facts.of_stream(place.last_event), b""))

    async def end(self) -> None:
        """Tell the server that its session has ended, if it opened one."""
        if self.facts.session is not None:
            await self._front.respond(Request("DELETE", self.facts.of_stream(), b""))

    def lines(self, response: Response, place: Place) -> AsyncGenerator[bytes]:
        """What the host may read of a response, as it comes; to be closed."""
        return frames_of(response, place, limits=self.limits)

    async def hand_on(self, line: bytes, sent: Sent | None = None) -> bool:
        """Give the host a line of the server, but for an answer where none belongs; whether it went on.

        An answer belongs to the response to its request, or to what is left of that (until 2025-11-25).

        Args:
            line: of the server.
            sent: on the response to which it stood, if it stood on one.
        """
        keys = answers_in(line)
        is_fit = keys is None or (sent is not None and sent.awaited.take(keys))
        if is_fit:
            await self._pipes.write(line)
        else:
            self.tell("stray-answer", "an answer was dropped that is for no request of its stream")
        return is_fit

    async def write(self, *lines: bytes) -> None:
        """Give the host lines of ours."""
        for line in lines:
            await self._pipes.write(line)

    def tell_once(self, code: str, text: str) -> None:
        """Tell people something that stays as it is."""
        if code not in self._told:
            self._told.add(code)
            self.tell(code, text)


async def left(response: Response) -> bytes:
    """The body of a response that is no stream; a stream is closed."""
    if isinstance(response.body, bytes):
        return response.body
    await response.body.aclose()
    return b""
