# SPDX-License-Identifier: Apache-2.0
"""Messages of the SDK to frames of the gate, and back; the one place that knows the majors apart."""

import json
from typing import Any, Final

from mcp.shared.message import ClientMessageMetadata, SessionMessage

from toolnotary_verifier.canonical import CanonicalError, JsonValue, serialize
from toolnotary_verifier.jsonrpc import coerced_id, named_revision
from toolnotary_verifier.shells.mcp.sdk import Item

try:  # 2.x: a union of models
    from mcp_types import jsonrpc_message_adapter

    def _parsed(frame: bytes) -> object:
        return jsonrpc_message_adapter.validate_json(frame, by_name=False)
except ImportError:  # 1.x: a root model
    from mcp.types import JSONRPCMessage

    def _parsed(frame: bytes) -> object:
        return JSONRPCMessage.model_validate_json(frame)


# No strict parser takes it, and the id in front of it can still be read.
_UNREADABLE: Final = b'"result":NaN}\n'


def frame_of(item: Item) -> bytes:
    """The frame that says what the SDK parsed, or is about to write; never raises.

    What has no strict JSON (`NaN`, half of a surrogate pair, nothing but nesting) becomes a frame that has
    none either, so that the gate refuses it, and answers whoever waits.
    """
    value = item.message.model_dump(by_alias=True, exclude_unset=True)
    try:
        return serialize(value) + b"\n"
    except CanonicalError:
        pass
    try:
        return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError):
        return b'{"jsonrpc":"2.0","id":' + json.dumps(_id(value)).encode("ascii") + b"," + _UNREADABLE


def item_of(frame: bytes) -> Item | None:
    """The message that a frame of the gate is; None if the SDK knows none such, and nobody waits for it.

    A request of the stateless era gets the headers that say over HTTP what it is (MCP 2026-07-28,
    transports: standard request headers); in 1.x, which does not speak it, there is no place for them.
    """
    try:
        item: Item = SessionMessage(_parsed(frame))
    except ValueError:
        return None
    value = item.message.model_dump(by_alias=True, exclude_unset=True)
    version = named_revision(value.get("params"))
    if version is not None and "method" in value and hasattr(ClientMessageMetadata, "headers"):
        headers = {"mcp-protocol-version": version, "mcp-method": value["method"]}
        item.metadata = ClientMessageMetadata(headers=headers)
    return item


def asked(item: Item) -> str | None:
    """The id of a request, in the one spelling that the gate compares; None for what is none."""
    model = _model(item)
    return coerced_id(getattr(model, "id", None)) if hasattr(model, "method") else None


def answered(item: Item) -> str | None:
    """The id of the request that this answers, likewise; None for what is no answer."""
    model = _model(item)
    return None if hasattr(model, "method") else coerced_id(getattr(model, "id", None))


def cancelled(item: Item) -> str | None:
    """The id of the request that this cancels, likewise; None for what cancels none."""
    model = _model(item)
    params = getattr(model, "params", None)
    is_it = getattr(model, "method", "") == "notifications/cancelled" and isinstance(params, dict)
    return coerced_id(params.get("requestId")) if is_it and isinstance(params, dict) else None


def _model(item: Item) -> object:
    return getattr(item.message, "root", item.message)


def _id(value: dict[str, Any]) -> JsonValue:
    found = value.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None
