# SPDX-License-Identifier: Apache-2.0
"""The two ways in which a tool asks its client: requests of its own, and results that need input first."""

import hashlib
import hmac
import json
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from servers.everything.definitions import ROUNDS

Json = Any
# The same in every process: what a test reads from two servers must be equal.
_KEY = b"everything"
_NEEDS = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_REQUESTS = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
}


def declared(ctx: Any) -> dict[str, Json]:
    """What the client can do, as it said."""
    found = ctx.session.client_capabilities
    return {} if found is None else dict(found.model_dump(by_alias=True, mode="json", exclude_none=True))


async def ask(ctx: Any, asked: dict[str, Json]) -> dict[str, Json]:
    """The client's answer to a request on the stream of this call (handshake era).

    Raises:
        MCPError: the client never said that it can answer.
    """
    need = _NEEDS[asked["method"]]
    if need not in declared(ctx):
        raise MCPError(-32600, f"the client has no {need}")
    request, result = _REQUESTS[asked["method"]]
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    answer = await ctx.session.send_request(request.model_validate(asked), result, metadata=related)
    return dict(answer.model_dump(by_alias=True, mode="json", exclude_none=True))


def required(ctx: Any, name: str, params: Any) -> Any | None:
    """The input that a call of the stateless era still needs, as its result; None once all is there.

    Raises:
        MCPError: the state is not one that we gave out.
    """
    rounds = ROUNDS[name]
    given = params.input_responses or {}
    done = 0 if params.request_state is None else _round(name, params.request_state)
    if done < len(rounds) and rounds[done].keys() <= given.keys():
        done += 1
        given = {}
    elif params.request_state is None and _is_capable(ctx, name, given):
        return None
    if done == len(rounds):
        return None
    needed = rounds[done]
    if name.endswith("_capabilities"):
        can = declared(ctx)
        needed = {key: asked for key, asked in needed.items() if _NEEDS[asked["method"]] in can}
    has_state = any(name.endswith(end) for end in ("_state", "_inputs", "_round"))
    return types.InputRequiredResult.model_validate(
        {"inputRequests": needed, "requestState": _state(name, done) if has_state else None}
    )


def _is_capable(ctx: Any, name: str, given: dict[str, Json]) -> bool:
    """Whether a tool that takes what the client can give was given something."""
    return name.endswith("_capabilities") and bool(given)


def _mac(said: str) -> str:
    return hmac.new(_KEY, said.encode(), hashlib.sha256).hexdigest()


def _state(name: str, done: int) -> str:
    said = json.dumps([name, done])
    return f"{said}.{_mac(said)}"


def _round(name: str, state: str) -> int:
    said, _, mac = state.rpartition(".")
    if not hmac.compare_digest(mac.encode(), _mac(said).encode()) or json.loads(said)[0] != name:
        raise MCPError(-32602, "this requestState is not one that was given out")
    return int(json.loads(said)[1])
