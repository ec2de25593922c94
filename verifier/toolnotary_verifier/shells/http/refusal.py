# SPDX-License-Identifier: Apache-2.0
"""What a host is answered where the server gives no answer that may pass."""

from toolnotary_verifier.canonical import CanonicalError, parse_message
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, error, frame
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.message import Response, answer


def bad_gateway(why: str, *, status: int = 502) -> Response:
    """An error that belongs to no request (JSON-RPC 2.0, section 5: its id is null)."""
    return answer(frame(error(None, INTERNAL_ERROR, f"toolnotary: the server {why}")).rstrip(), status=status)


def refusal_of(body: bytes, why: str, *, limits: Limits) -> Response:
    """The error that answers a request of the host; nothing where it asked for nothing."""
    try:
        message = parse_message(body, max_bytes=limits.frame_bytes)
    except CanonicalError:
        return bad_gateway(why)
    request_id = message.get("id") if isinstance(message, dict) else None
    if not answerable(request_id):
        return bad_gateway(why)
    content = frame(error(request_id, INTERNAL_ERROR, f"toolnotary: the server {why}"))
    return answer(content.rstrip(), status=502)
