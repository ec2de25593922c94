# SPDX-License-Identifier: Apache-2.0
"""HTTP requests and responses as the shells hand them on, and what their headers say."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

# Names in lower case, as HTTP/2 and ASGI have them.
Header = tuple[bytes, bytes]

JSON: Final = b"application/json"
EVENT_STREAM: Final = b"text/event-stream"
# Headers of the protocol (MCP 2026-07-28, transports; a session until 2025-11-25).
SESSION: Final = b"mcp-session-id"
VERSION: Final = b"mcp-protocol-version"
METHOD: Final = b"mcp-method"
NAME: Final = b"mcp-name"
ARGUMENT: Final = b"mcp-param-"  # begins the name of each
# What is read of a body that explains an error.
ERROR_BYTES: Final = 64 << 10
# What belongs to one connection and must not be handed on (RFC 9110, section 7.6.1).
HOP_BY_HOP: Final = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
_PLAIN_CHARSETS: Final = frozenset((b"utf-8", b"utf8"))
_PLAIN_CODINGS: Final = frozenset((b"", b"identity"))


class Request(NamedTuple):
    """One request of a host, read to its end; or one of our own.

    Attributes:
        method: as it is written.
        headers: in order.
        body: all of it.
        way: what the shell that took it from the host wants to have back when it is sent; None for our own.
    """

    method: str
    headers: Sequence[Header]
    body: bytes
    way: object = None


class Streamed(Protocol):
    """A body that is not all there yet."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """What is there of it, bit by bit."""

    async def aclose(self) -> None:
        """End it; whoever was given it calls this, read or not."""


class Response(NamedTuple):
    """One response to a host."""

    status: int
    headers: Sequence[Header]
    body: bytes | Streamed


class Reply(Protocol):
    """One response of a server, the body of which is still to be read."""

    status: int
    headers: Sequence[Header]

    def chunks(self) -> AsyncGenerator[bytes]:
        """The body, as it arrives; whoever stops reading before its end closes this first.

        Raises:
            UpstreamError: it broke off.
        """

    async def read(self, most: int) -> bytes:
        """The whole body.

        Raises:
            UpstreamError: it broke off, or has more than `most` bytes.
        """

    async def aclose(self) -> None:
        """Let go of it; a server sees that nobody reads what it has not sent yet."""


class UpstreamError(Exception):
    """A server could not be reached, or its response was not read to the end; says why in few words."""


class ClosedError(UpstreamError):
    """A server closed an idle connection without a word; a request that only reads may go again.

    Whether it had read the request before, nobody knows (RFC 9110, section 9.2.2).
    """


# Sends one request of ours, or of a host, to the server; raises `UpstreamError`.
Send = Callable[[Request], Awaitable[Reply]]


class Body(Enum):
    """What a body is, by what its headers say of it."""

    JSON = "json"
    EVENTS = "events"
    OTHER = "other"
    UNCLEAR = "unclear"


def header(headers: Iterable[Header], name: bytes) -> bytes | None:
    """The value of the first header of this name, which is in lower case; None if there is none."""
    for key, value in headers:
        if key == name:
            return value
    return None


def body_of(headers: Iterable[Header]) -> Body:
    """What the body is; UNCLEAR where two readers could take it for two things, or it is compressed.

    A reader that guesses by an odd character set or coding would read something else than was judged.
    """
    types, codings = [], []
    for name, value in headers:
        if name == b"content-type":
            types.append(value)
        elif name == b"content-encoding":
            codings.append(value)
    return _body_of(tuple(types), tuple(codings))


@lru_cache(maxsize=64)  # servers say the same of every answer
def _body_of(types: tuple[bytes, ...], codings: tuple[bytes, ...]) -> Body:
    if len(types) > 1 or any(coding.strip().lower() not in _PLAIN_CODINGS for coding in codings):
        return Body.UNCLEAR
    media, *parameters = (types[0] if types else b"").split(b";")
    for parameter in parameters:
        name, _, value = parameter.partition(b"=")
        if name.strip().lower() == b"charset" and value.strip(b' \t"').lower() not in _PLAIN_CHARSETS:
            return Body.UNCLEAR
    media = media.strip().lower()
    if media == EVENT_STREAM:
        return Body.EVENTS
    return Body.JSON if media == JSON or media.endswith(b"+json") else Body.OTHER


def handed_on(headers: Iterable[Header], *without: bytes) -> list[Header]:
    """The headers but for those of one connection, and those named."""
    headers = list(headers)
    named = {
        token.strip().lower()
        for name, value in headers
        if name == b"connection"
        for token in value.split(b",")
    }
    named.update(without)
    return [(name, value) for name, value in headers if name not in HOP_BY_HOP and name not in named]


def one_line(body: bytes) -> bytes:
    """A JSON text as a frame: line breaks between tokens become blanks, which mean the same (RFC 8259, 2).

    Inside a string a line break is no JSON, and a blank is: what goes on to the other side must be this text.
    """
    if b"\n" in body or b"\r" in body:
        body = body.replace(b"\r", b" ").replace(b"\n", b" ")
    return body + b"\n"


def answer(content: bytes, *, status: int = 200) -> Response:
    """A response with one JSON text."""
    length = b"%d" % len(content)
    return Response(status, [(b"content-type", JSON), (b"content-length", length)], content)
