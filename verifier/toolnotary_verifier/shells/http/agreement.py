# SPDX-License-Identifier: Apache-2.0
"""Whether the headers of a request say what its body says (MCP 2026-07-28, transports: standard headers).

What was judged is the body. Whoever reads the headers alone, such as a server that dispatches by them, must
not find another call there; so what disagrees is refused as the protocol has a server refuse it.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, parse_message
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import HEADER_MISMATCH, META_VERSION, error, frame, named_revision
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.message import METHOD, NAME, VERSION, Request, Response, answer

# Whose header `Mcp-Name` says which of its params.
NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_REVISION: Final = META_VERSION.encode()
_OPEN: Final = b"=?base64?"
_CLOSE: Final = b"?="


def mismatch(request: Request, *, limits: Limits, is_answered: bool = False) -> Response | None:
    """The refusal of a request whose headers say something else than its body; None where they agree.

    Args:
        request: of a host; all headers of one name count.
        limits: bounds on what is parsed.
        is_answered: whether it is answered here, so that nobody else refuses it for a header that is missing.
    """
    is_told = is_answered or any(name in (METHOD, NAME) for name, _ in request.headers)
    if not is_told and _REVISION not in request.body and b"\\u" not in request.body:
        return None
    try:
        message = parse_message(request.body, max_bytes=limits.frame_bytes)
    except CanonicalError:
        return None  # the gate refuses it
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None
    for name, said, is_wanted in _said(message):
        values = [value.strip() for key, value in request.headers if key == name]
        is_said = isinstance(said, str) and all(_text(value) == said for value in values)
        if (values and not is_said) or (is_answered and is_wanted and not values):
            request_id = message.get("id")
            told = f"the header {name.decode()} is not what the request says"
            content = frame(error(request_id if answerable(request_id) else None, HEADER_MISMATCH, told))
            return answer(content.rstrip(), status=400)
    return None


def _said(message: JsonObject) -> Iterator[tuple[bytes, JsonValue, bool]]:
    """Headers, what they have to say if they are there, and whether a request must have them."""
    params = message.get("params")
    version = named_revision(params)
    is_stateless = version is not None and "id" in message  # until 2025-11-25 none of them was wanted
    yield METHOD, message["method"], is_stateless
    if version is not None:
        yield VERSION, version, is_stateless
    member = NAMED.get(str(message["method"]))
    if member is not None:
        yield NAME, params.get(member) if isinstance(params, dict) else None, False


def _text(value: bytes) -> str | None:
    """What a header says; None where it says nothing that a body could (value encoding)."""
    try:
        if value.startswith(_OPEN) and value.endswith(_CLOSE):
            value = base64.b64decode(value[len(_OPEN) : -len(_CLOSE)], validate=True)
            return value.decode("utf-8")
        return value.decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
