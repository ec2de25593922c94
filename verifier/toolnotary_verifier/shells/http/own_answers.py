# SPDX-License-Identifier: Apache-2.0
"""Answers that are given in the place of the server: as the server would have given them."""

from collections.abc import Sequence

from toolnotary_verifier.shells.http.events import event_of
from toolnotary_verifier.shells.http.message import (
    EVENT_STREAM,
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
