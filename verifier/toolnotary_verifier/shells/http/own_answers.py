# SPDX-License-Identifier: Apache-2.0
"""Answers that the gate gives in the place of the server: as the server would have given them."""

from collections.abc import Sequence

from toolnotary_verifier.canonical import CanonicalError, parse_message
from toolnotary_verifier.jsonrpc import HEADER_MISMATCH, error, frame, named_revision
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.events import event_of
from toolnotary_verifier.shells.http.message import (
    EVENT_STREAM,
    METHOD,
    VERSION,
    Request,
    Response,
    answer,
    header,
)


def of_frames(frames: Sequence[bytes], *, as_events: bool) -> Response | None:
    """A response with these messages, as events where the server itself answers so; None for none."""
    if not frames:
        return None
    if as_events:
        headers = [(b"content-type", EVENT_STREAM), (b"cache-control", b"no-cache")]
        return Response(200, headers, b"".join(map(event_of, frames)))
    lines = [one.rstrip(b"\r\n") for one in frames]
    return answer(lines[0] if len(lines) == 1 else b"[" + b",".join(lines) + b"]")


def takes_events(request: Request) -> bool:
    """Whether the host reads event streams."""
    return EVENT_STREAM in (header(request.headers, b"accept") or b"").lower()


def mismatch(request: Request, *, limits: Limits) -> Response | None:
    """The refusal of a request whose headers say something else than its body; None where they agree.

    Whoever answers must compare them, and what never reaches the server is answered here (MCP 2026-07-28,
    Streamable HTTP, standard request headers).
    """
    try:
        message = parse_message(request.body, max_bytes=limits.frame_bytes)
    except CanonicalError:
        return None
    if not isinstance(message, dict) or "id" not in message:
        return None
    version = named_revision(message.get("params"))
    if version is None:  # until 2025-11-25 there was nothing to compare
        return None
    for name, said in ((METHOD, message.get("method")), (VERSION, version)):
        value = header(request.headers, name)
        if value is None or value.strip() != str(said).encode():
            told = f"the header {name.decode()} is not what the request says"
            content = frame(error(message["id"], HEADER_MISMATCH, told)).rstrip()
            return answer(content, status=400)
    return None
