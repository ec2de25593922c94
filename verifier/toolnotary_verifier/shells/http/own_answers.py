# SPDX-License-Identifier: Apache-2.0
"""Answers that the gate gives in the place of the server: as the server would have given them."""

from collections.abc import Sequence
from typing import Final

from toolnotary_verifier.canonical import CanonicalError, JsonObject, parse_message
from toolnotary_verifier.jsonrpc import META_VERSION, error, frame
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.events import event_of
from toolnotary_verifier.shells.http.message import EVENT_STREAM, Request, Response, answer, header

_METHOD: Final = b"mcp-method"
_VERSION: Final = b"mcp-protocol-version"
_HEADER_MISMATCH: Final = -32020


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
    version = _version(message)
    if version is None:  # until 2025-11-25 there was nothing to compare
        return None
    for name, said in ((_METHOD, message.get("method")), (_VERSION, version)):
        value = header(request.headers, name)
        if value is None or value.strip() != str(said).encode():
            told = f"the header {name.decode()} is not what the request says"
            content = frame(error(message["id"], _HEADER_MISMATCH, told)).rstrip()
            return answer(content, status=400)
    return None


def _version(message: JsonObject) -> str | None:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(META_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None
