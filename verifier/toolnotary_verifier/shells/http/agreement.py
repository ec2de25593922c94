# SPDX-License-Identifier: Apache-2.0
"""Whether the headers of a request say what its body says (MCP 2026-07-28, transports: standard headers).

What was judged is the body. Whoever reads the headers alone, such as a server that dispatches by them, must
not find another call there; so what disagrees is refused as the protocol has a server refuse it.
"""

import base64
import binascii
import json
from typing import Final

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import HEADER_MISMATCH, META_VERSION, error, frame, named_revision
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.shells.http.message import METHOD, NAME, VERSION, Request, Response, answer

# Whose header `Mcp-Name` says which of its params.
NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_COMPARED: Final = frozenset((METHOD, NAME, VERSION))
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
    told = [(name, value) for name, value in request.headers if name in _COMPARED]
    is_told = is_answered or any(name != VERSION for name, _ in told)
    if not is_told and _REVISION not in request.body and b"\\u" not in request.body:
        return None
    if len(request.body) > limits.frame_bytes:
        return None  # the gate refuses it
    try:
        # A strict parse costs twice that; what more than one reader could read here, the gate refuses.
        message = json.loads(request.body)
    except (ValueError, RecursionError):
        return None  # likewise
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None
    said = _said(message)
    wrong = [name for name, value in told if name in said and not _agrees(value, said[name])]
    if is_answered and VERSION in said and "id" in message:  # until 2025-11-25 none of them was wanted
        wrong += {METHOD, VERSION} - {name for name, _ in told}
    return _refusal(message, min(wrong)) if wrong else None


def _said(message: JsonObject) -> dict[bytes, JsonValue]:
    """What each header has to say if it is there."""
    params = message.get("params")
    said: dict[bytes, JsonValue] = {METHOD: message["method"]}
    version = named_revision(params)
    if version is not None:
        said[VERSION] = version
    member = NAMED.get(str(message["method"]))
    if member is not None:
        said[NAME] = params.get(member) if isinstance(params, dict) else None
    return said


def _agrees(value: bytes, said: JsonValue) -> bool:
    """Whether a header says this (2026-07-28, transports: value encoding)."""
    value = value.strip()
    try:
        if value.startswith(_OPEN) and value.endswith(_CLOSE):
            text = base64.b64decode(value[len(_OPEN) : -len(_CLOSE)], validate=True).decode("utf-8")
        else:
            text = value.decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return isinstance(said, str) and text == said


def _refusal(message: JsonObject, name: bytes) -> Response:
    request_id = message.get("id")
    told = f"the header {name.decode()} is not what the request says"
    content = frame(error(request_id if answerable(request_id) else None, HEADER_MISMATCH, told))
    return answer(content.rstrip(), status=400)
