# SPDX-License-Identifier: Apache-2.0
"""Where and how a hostile HTTP server can put a listing: every place, every spelling, every shape.

The protocol's Python SDK takes each of the `FOUR`, in both its generations.
"""

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

from servers.hostile_http import MARK, POISONED, Attack, Place, event, whole

Json = Any
Shape = Callable[[bytes], bytes]


def plain(request_id: Json) -> bytes:
    """The poisoned answer as anybody would write it."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {"tools": POISONED}}).encode()


def _written(text: str, **words: str) -> Callable[[Json], bytes]:
    """An answer in these words; $id, $text (the id as text) and $tools stand for themselves."""

    def fill(request_id: Json) -> bytes:
        tools = words.get("tools", json.dumps(POISONED))
        spelled = {"$id": json.dumps(request_id), "$text": str(request_id), "$tools": tools}
        written = text
        for word, value in spelled.items():
            written = written.replace(word, value)
        return written.encode("utf-8", "surrogatepass")

    return fill


# How the answer is spelled.
MESSAGES: dict[str, Callable[[Json], bytes]] = {
    "id-as-text": _written('{"jsonrpc":"2.0","id":"$text","result":{"tools":$tools}}'),
    "id-with-fraction": _written('{"jsonrpc":"2.0","id":$text.0,"result":{"tools":$tools}}'),
    "id-with-exponent": _written('{"jsonrpc":"2.0","id":$texte0,"result":{"tools":$tools}}'),
    "id-with-blanks": _written('{"jsonrpc":"2.0","id":" $text ","result":{"tools":$tools}}'),
    "id-null": _written('{"jsonrpc":"2.0","id":null,"result":{"tools":$tools}}'),
    "no-id": _written('{"jsonrpc":"2.0","result":{"tools":$tools}}'),
    "two-ids": _written('{"jsonrpc":"2.0","id":null,"id":$id,"result":{"tools":$tools}}'),
    "id-escaped": _written('{"jsonrpc":"2.0","\\u0069d":$id,"result":{"tools":$tools}}'),
    "id-last": _written('{"result":{"tools":$tools},"jsonrpc":"2.0","id":$id}'),
    "no-version": _written('{"id":$id,"result":{"tools":$tools}}'),
    "batch": _written('[{"jsonrpc":"2.0","id":$id,"result":{"tools":$tools}}]'),
    "nested-batch": _written('[[{"jsonrpc":"2.0","id":$id,"result":{"tools":$tools}}]]'),
    "key-escaped": _written('{"jsonrpc":"2.0","id":$id,"result":{"t\\u006fols":$tools}}'),
    "key-in-capitals": _written('{"jsonrpc":"2.0","id":$id,"RESULT":{"Tools":$tools}}'),
    "two-results": _written('{"jsonrpc":"2.0","id":$id,"result":{"tools":[]},"result":{"tools":$tools}}'),
    "two-tools": _written('{"jsonrpc":"2.0","id":$id,"result":{"tools":[],"tools":$tools}}'),
    "result-and-error": _written(
        '{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":"no"},"result":{"tools":$tools}}'
    ),
    "request-too": _written('{"jsonrpc":"2.0","id":$id,"method":"ping","result":{"tools":$tools}}'),
    "inside-a-call": _written('{"jsonrpc":"2.0","id":$id,"result":{"content":[],"tools":$tools}}'),
    "not-a-number": _written('{"jsonrpc":"2.0","id":$id,"x":NaN,"result":{"tools":$tools}}'),
    "line-ends-inside": _written('{"jsonrpc":"2.0",\r"id":$id,\r"result":{"tools":$tools}}'),
    "not-utf8": lambda request_id: plain(request_id).replace(b"}", b',"x":"\xff"}', 1),
}


def _lines(message: bytes) -> list[bytes]:
    return json.dumps(json.loads(message), indent=1).encode().split(b"\n")


def _multi_line(message: bytes) -> bytes:
    return b"event: message\n" + b"".join(b"data: " + line + b"\n" for line in _lines(message)) + b"\n"


def _with_ends(end: bytes) -> Shape:
    return lambda message: event(message).replace(b"\n", end)


# How a message is written as an event.
EVENTS: dict[str, Shape] = {
    "several-data-lines": _multi_line,
    "data-lines-with-cr": lambda message: _multi_line(message).replace(b"\n", b"\r"),
    "data-lines-with-comments": lambda message: _multi_line(message).replace(b"\ndata", b"\n: wait\ndata"),
    "data-lines-with-ids": lambda message: _multi_line(message).replace(
        b"\ndata", b"\nid: 9\nretry: 1\ndata"
    ),
    "cr-as-line-end": _with_ends(b"\r"),
    "crlf-as-line-end": _with_ends(b"\r\n"),
    "mixed-line-ends": lambda message: b"event: message\rdata: " + message + b"\r\n\n",
    "no-blank-after-colon": lambda message: b"data:" + message + b"\n\n",
    "blanks-after-colon": lambda message: b"data:   " + message + b"\n\n",
    "no-event-name": lambda message: b"data: " + message + b"\n\n",
    "empty-event-name": lambda message: b"event\ndata: " + message + b"\n\n",
    "event-name-last": lambda message: b"data: " + message + b"\nevent: message\n\n",
    "other-event-name": lambda message: b"event: tools\ndata: " + message + b"\n\n",
    "error-event": lambda message: b"event: error\ndata: " + message + b"\n\n",
    "with-id": lambda message: b"id: 1\nretry: 1\n" + event(message),
    "with-nul-in-id": lambda message: b"id: a\0b\n" + event(message),
    "after-unknown-fields": lambda message: b"x\ny: z\n" + event(message),
    "after-a-long-comment": lambda message: b": " + b"x" * (1 << 17) + b"\n" + event(message),
    "after-a-byte-order-mark": lambda message: b"\xef\xbb\xbf" + event(message),
    "after-an-empty-event": lambda message: b"data\n\ndata:\n\n" + event(message),
    "at-the-end-unfinished": lambda message: b"data: " + message + b"\n",
    "at-the-end-without-line-end": lambda message: b"data: " + message,
    "two-in-one-event": lambda message: b'data: {"jsonrpc":"2.0",\ndata: ' + message[1:] + b"\n\n",
}


def response(body: bytes, *lines: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A response with exactly these lines in its head, beside its length and its end."""
    head = [f"HTTP/1.1 {status}", *lines, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1") + body


def _typed(*kinds: str, **how: Any) -> Shape:
    return lambda message: response(message, *(f"Content-Type: {kind}" for kind in kinds), **how)


def _events_typed(*kinds: str) -> Shape:
    return lambda message: response(
        event(message), *(f"Content-Type: {kind}" for kind in kinds), length=False
    )


def _recoded(codec: str, kind: str = "application/json") -> Shape:
    return lambda message: response(
        message.decode("utf-8", "replace").encode(codec), f"Content-Type: {kind}; charset={codec}"
    )


def _coded(name: str, code: Callable[[bytes], bytes], kind: str = "application/json") -> Shape:
    return lambda message: response(code(message), f"Content-Type: {kind}", f"Content-Encoding: {name}")


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _in_chunks(content: bytes, kind: str, size: int, end: bytes = b"") -> bytes:
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    body = b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n" + end + b"\r\n"
    return response(body, f"Content-Type: {kind}", "Transfer-Encoding: chunked", length=False)


JSON, EVENT_STREAM = "application/json", "text/event-stream"
# How a message is written as a response.
RESPONSES: dict[str, Shape] = {
    "json": whole,
    "json-in-capitals": _typed("Application/JSON"),
    "json-with-parameters": _typed('application/json ; charset="utf-8"; x=y'),
    "json-of-a-problem": _typed("application/problem+json"),
    "json-lines": _typed("application/json-seq"),
    "plain-text": _typed("text/plain"),
    "html": _typed("text/html"),
    "octets": _typed("application/octet-stream"),
    "no-type": _typed(),
    "empty-type": _typed(""),
    "json-then-html": _typed(JSON, "text/html"),
    "html-then-json": _typed("text/html", JSON),
    "json-and-events": _typed(f"{JSON}, {EVENT_STREAM}"),
    "json-called-events": _typed(EVENT_STREAM),
    "events": _events_typed(EVENT_STREAM),
    "events-in-capitals": _events_typed("Text/Event-Stream;charset=UTF-8"),
    "events-called-json": _events_typed(JSON),
    "events-then-json": _events_typed(EVENT_STREAM, JSON),
    "json-then-events": _events_typed(JSON, EVENT_STREAM),
    "unknown-charset": _typed("application/json; charset=x-evil"),
    "latin-charset": _typed("application/json; charset=iso-8859-1"),
    "utf-16": _recoded("utf-16"),
    "utf-16-big": _recoded("utf-16-be"),
    "utf-32": _recoded("utf-32"),
    "utf-7": _recoded("utf-7"),
    "utf-16-events": lambda message: response(
        event(message).decode("utf-8", "replace").encode("utf-16"),
        f"Content-Type: {EVENT_STREAM}; charset=utf-16",
    ),
    "byte-order-mark": lambda message: response(b"\xef\xbb\xbf" + message, f"Content-Type: {JSON}"),
    "gzip": _coded("gzip", _gzip),
    "gzip-of-events": _coded("gzip", lambda message: _gzip(event(message)), EVENT_STREAM),
    "gzip-twice": _coded("gzip, gzip", lambda message: _gzip(_gzip(message))),
    "deflate": _coded("deflate", zlib.compress),
    "x-gzip": _coded("x-gzip", _gzip),
    "gzip-untold": lambda message: response(_gzip(message), f"Content-Type: {JSON}"),
    "identity-coding": _coded("identity", bytes),
    "one-byte-chunks": lambda message: _in_chunks(message, JSON, 1),
    "one-byte-chunks-of-events": lambda message: _in_chunks(event(message), EVENT_STREAM, 1),
    "one-byte-chunks-of-cr-events": lambda message: _in_chunks(
        _multi_line(message).replace(b"\n", b"\r\n"), EVENT_STREAM, 1
    ),
    "trailers": lambda message: _in_chunks(message, JSON, 64, b"Content-Type: text/html\r\n"),
    "length-and-chunks": lambda message: _in_chunks(message, JSON, 64).replace(
        b"Connection", b"Content-Length: 5\r\nConnection"
    ),
    "without-length": lambda message: response(message, f"Content-Type: {JSON}", length=False),
    "http-1.0": lambda message: b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + message,
    "folded-type": lambda message: response(message, "Content-Type:\r\n application/json"),
    "early-hints-first": lambda message: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + whole(message),
    **{
        f"status-{status.partition(' ')[0]}": _typed(JSON, status=status)
        for status in (
            "201 Created",
            "202 Accepted",
            "203 Non-Authoritative",
            "206 Partial Content",
            "299 Whatever",
            "300 Multiple Choices",
            "400 Bad Request",
            "403 Forbidden",
            "404 Not Found",
            "410 Gone",
            "500 Internal Server Error",
            "503 Service Unavailable",
            "600 Unheard Of",
        )
    },
    "status-500-events": lambda message: response(
        event(message), f"Content-Type: {EVENT_STREAM}", status="500 Oops", length=False
    ),
    **{
        f"redirect-{status}": lambda message, status=status: response(  # type: ignore[misc]
            message, f"Content-Type: {JSON}", "Location: /listing", status=f"{status} Elsewhere"
        )
        for status in (301, 302, 303, 307, 308)
    },
}


def _named(prefix: str, shapes: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(f"{prefix}-{name}", shape) for name, shape in shapes.items()]


FOUR = (
    Attack("plain", Place.STREAM, plain, event),
    Attack("plain", Place.OTHER, plain, whole, is_whole=True),
    Attack("plain", Place.BEFORE, plain, event),
    Attack("several-data-lines", Place.OWN, plain, _multi_line),
)
_ON_STREAMS = (Place.OWN, Place.BEFORE, Place.STREAM, Place.OTHER)
_ALONE = (Place.OWN, Place.OTHER)


def few() -> list[Attack]:
    """The four, and every spelling and shape in one place, round and round."""
    spelled = [
        Attack(name, _ON_STREAMS[number % 4], message, event)
        for number, (name, message) in enumerate(_named("spelled", MESSAGES))
    ]
    events = [
        Attack(name, (Place.OWN, Place.STREAM, Place.BEFORE)[number % 3], plain, shape)
        for number, (name, shape) in enumerate(_named("event", EVENTS))
    ]
    wholes = [
        Attack(name, _ALONE[number % 2], plain, shape, is_whole=True)
        for number, (name, shape) in enumerate(_named("response", RESPONSES))
    ]
    return [*FOUR, *spelled, *events, *wholes]


def every() -> list[Attack]:
    """Every spelling and shape in every place."""
    return [
        *FOUR,
        *(Attack(n, place, one, event) for n, one in _named("spelled", MESSAGES) for place in _ON_STREAMS),
        *(Attack(n, place, plain, one) for n, one in _named("event", EVENTS) for place in _ON_STREAMS),
        *(
            Attack(n, place, plain, one, is_whole=True)
            for n, one in _named("response", RESPONSES)
            for place in _ALONE
        ),
    ]


# What a host could have read


def is_fooled(content: bytes) -> bool:
    """Whether anything poisoned is in what a host received: packed or not, in any encoding."""
    unpacked = [content]
    for one in unpacked:  # grows while something can be unpacked
        unpacked.extend(found for found in (_gunzip(one), _inflate(one)) if found is not None)
    # Without its zeros, text in two or four bytes a character reads as text in one.
    return any(MARK in one.replace(b"\0", b"").decode("utf-8", "replace") for one in unpacked)


def _gunzip(content: bytes) -> bytes | None:
    at = content.find(b"\x1f\x8b\x08")
    return None if at < 0 else _unpacked(content[at:], 16 + zlib.MAX_WBITS)


def _inflate(content: bytes) -> bytes | None:
    at = content.find(b"\x78\x9c")
    return None if at < 0 else _unpacked(content[at:], zlib.MAX_WBITS)


def _unpacked(content: bytes, bits: int) -> bytes | None:
    try:
        return zlib.decompressobj(bits).decompress(content)
    except zlib.error:
        return None
