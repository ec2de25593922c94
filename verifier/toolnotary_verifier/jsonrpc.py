# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC 2.0 frames and the names that MCP gives to its methods, in both protocol eras.

The handshake era (2025-06-18, 2025-11-25) begins with `initialize`; the stateless era (2026-07-28) begins
with anything, usually `server/discover`, and carries its facts in `params._meta` of every request.
"""

from typing import Any

from toolnotary_verifier.canonical import JsonObject, JsonValue, serialize
from toolnotary_verifier.definition import Kind

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18")
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"

LIST_METHOD = {
    Kind.TOOL: "tools/list",
    Kind.PROMPT: "prompts/list",
    Kind.RESOURCE: "resources/list",
    Kind.TEMPLATE: "resources/templates/list",
}
LIST_MEMBER = {
    Kind.TOOL: "tools",
    Kind.PROMPT: "prompts",
    Kind.RESOURCE: "resources",
    Kind.TEMPLATE: "resourceTemplates",
}
# The server capability that says a list exists (templates belong to resources).
CAPABILITY = {
    Kind.TOOL: "tools",
    Kind.PROMPT: "prompts",
    Kind.RESOURCE: "resources",
    Kind.TEMPLATE: "resources",
}

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020  # MCP 2026-07-28, Streamable HTTP

Id = str | int | float
_EXACT = 1 << 53  # up to here an integer is its own double


def frame(message: JsonObject) -> bytes:
    """One line: compact, pure ASCII, ended by a line feed."""
    return serialize(message) + b"\n"


def request(request_id: Id, method: str, params: JsonObject | None = None) -> JsonObject:
    """A request object; `params` is left out where it is None."""
    message: JsonObject = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    """A notification object."""
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def result(request_id: JsonValue, value: JsonObject) -> JsonObject:
    """A success response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: JsonValue, code: int, message: str, data: JsonValue = None) -> JsonObject:
    """An error response; `data` is left out where it is None."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def named_revision(params: JsonValue) -> str | None:
    """The protocol revision that a request names in `params._meta`, as the stateless era does; else None."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(META_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def coerced_id(value: JsonValue) -> str | None:
    """One key for all spellings of an id that some SDK takes for the same: 7, 7.0, "7", "7.0".

    Returns None where the value is no id at all (null, a boolean, an object).
    """
    if type(value) is int and -_EXACT < value < _EXACT:
        return str(value)
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    text = str(value).strip()
    try:
        number = float(text) if not text.lower().startswith("0x") else float(int(text, 16))
        return str(int(number)) if number == int(number) else text
    except (ValueError, OverflowError):
        return text
