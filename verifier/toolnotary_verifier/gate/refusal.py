# SPDX-License-Identifier: Apache-2.0
"""What the gate says in place of an answer. Models read it: it names no command that changes anything."""

from typing import NamedTuple

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.exchanges import Exchange
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, error, frame, result

INVALID_PARAMS = -32602
INVALID_REQUEST = -32600
PARSE_ERROR = -32700


class Held(NamedTuple):
    """A request of the host that waits for a verification.

    Attributes:
        id: its id as received; None where it has none, and gets no answer.
        key: its id with all spellings folded into one; empty where it has none.
        kind: which definitions it needs.
        name: the definition that is called or fetched; None for a list request.
        cursor: the cursor of a list request.
        stateless: whether it belongs to the stateless era.
        line: the request, to be forwarded as it is.
        ticket: the number of the listing after which it is answered.
        exchange: where it came, and is answered.
        since: when it came, in seconds of the clock that the gate is fed.
    """

    id: JsonValue
    key: str
    kind: Kind
    name: str | None
    cursor: JsonValue
    stateless: bool
    line: bytes
    ticket: int
    exchange: Exchange = None
    since: float = 0.0


def refuse(request: Held, commands: Commands, why: str) -> bytes:
    """The answer to a request that must not reach the server, as its method wants it."""
    kind = request.kind.value
    what = f"the {kind} listing" if request.name is None else f"{kind} {escape(request.name, limit=200)}"
    text = (
        f"Blocked by toolnotary: {what} {why}. Nothing was sent to the server. To see why: {commands.explain}"
    )
    if request.kind is Kind.TOOL and request.name is not None:
        return frame(result(request.id, call_refused(text, stateless=request.stateless)))
    code = INTERNAL_ERROR if request.name is None else INVALID_PARAMS
    return frame(error(request.id, code, text))


def call_refused(text: str, *, stateless: bool) -> JsonObject:
    """A tool result that says why there is none (MCP: errors of tools are results, which models see)."""
    value: JsonObject = {"content": [{"type": "text", "text": text}], "isError": True}
    return {"resultType": "complete", **value} if stateless else value
