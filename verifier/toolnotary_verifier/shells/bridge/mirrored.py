# SPDX-License-Identifier: Apache-2.0
"""Arguments of a call that a server wants to see in headers, too (MCP 2026-07-28, tools: `x-mcp-header`).

Which ones is part of a definition, and so of what was verified: a server that begins to ask for another
argument gets none.
"""

import base64
import json
import re
from collections.abc import Iterator
from typing import Final

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate import Gate
from toolnotary_verifier.jsonrpc import META_VERSION
from toolnotary_verifier.shells.http.message import ARGUMENT, Header

_ASKS: Final = "x-mcp-header"
_MARK: Final = _ASKS.encode()
_CALL: Final = b"tools/call"
_STATELESS: Final = META_VERSION.encode()
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, section 5.6.2
_TYPES: Final = ("string", "integer", "boolean")  # no set: a schema may have anything for its type
_PLAIN: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?|")
_MOST: Final = 8192  # bytes of a header that servers take
_OPEN: Final = "=?base64?"
_CLOSE: Final = "?="


def header_value(text: str) -> bytes:
    """A text as the value of a header (MCP 2026-07-28, transports: value encoding)."""
    if _PLAIN.fullmatch(text) and not (text.startswith(_OPEN) and text.endswith(_CLOSE)):
        return text.encode("ascii")
    return f"{_OPEN}{base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}{_CLOSE}".encode(
        "ascii"
    )


def argument_headers(gate: Gate, content: bytes) -> list[Header]:
    """The headers that a call needs beside those of every request; none for a call of the handshake era.

    Args:
        gate: let the request pass, and knows the definition that it goes by.
        content: the request.
    """
    if _CALL not in content or _STATELESS not in content:
        return []
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        return []
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict) or not isinstance(params.get("name"), str):
        return []
    definition = gate.definition(Kind.TOOL, params["name"], params)
    if definition is None or _MARK not in definition.canonical:
        return []
    return mirrored(definition.value.get("inputSchema"), params.get("arguments"))


def mirrored(schema: JsonValue, arguments: JsonValue) -> list[Header]:
    """The headers of a call; none at all where the schema asks for one that there must not be.

    Args:
        schema: the tool's `inputSchema`.
        arguments: of the call.
    """
    found = list(_asked_for(schema, arguments))
    names = [name.lower() for name, _ in found]
    if len(set(names)) < len(names) or not all(_TOKEN.fullmatch(name) for name in names):
        return []
    headers = []
    for name, argument in zip(names, (argument for _, argument in found), strict=True):
        value = _written(argument)
        if value is not None and len(value) <= _MOST:
            headers.append((ARGUMENT + name.encode("ascii"), value))
    return headers


def _asked_for(schema: JsonValue, arguments: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Names and arguments, along chains of `properties` alone; None for an argument that is not there."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    given = arguments if isinstance(arguments, dict) else {}
    for key, wanted in properties.items() if isinstance(properties, dict) else ():
        if not isinstance(wanted, dict):
            continue
        if _ASKS in wanted:
            name = wanted[_ASKS]
            is_fit = isinstance(name, str) and wanted.get("type") in _TYPES
            yield (name if is_fit else ""), given.get(key)
        yield from _asked_for(wanted, given.get(key))


def _written(argument: JsonValue) -> bytes | None:
    if isinstance(argument, bool):
        return b"true" if argument else b"false"
    if isinstance(argument, int):
        return b"%d" % argument
    if isinstance(argument, float) and argument.is_integer():
        return b"%d" % int(argument)
    return header_value(argument) if isinstance(argument, str) else None
