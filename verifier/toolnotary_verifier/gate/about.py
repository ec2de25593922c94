# SPDX-License-Identifier: Apache-2.0
"""What a server says of itself, as far as it may reach a host: what is pinned, and what the protocol needs.

A title, a description or an address is text for people and models, an extension opens ways in the host. So
what is not as it was pinned is left out, and so is whatever no revision of the protocol knows, since nothing
pins it. The name that a host gets is then the one that the user gave (MCP: `InitializeResult`,
`DiscoverResult`, `Implementation`, `ServerCapabilities`; 2025-06-18 to 2026-07-28).
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, serialize
from toolnotary_verifier.definition import INSTRUCTIONS_NAME, Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import META_SERVER
from toolnotary_verifier.verdict import Aspect, Judgement

_WORD: Final = r"[0-9A-Za-z.+_~-]{0,64}"
_UNKNOWN: Final = "unknown"
_MOST_VERSIONS: Final = 32
_NAMED: Final = 8
_FLAG: Final = bool
# Capabilities that every host knows, with their flags: they open no way that the gate does not see.
_STANDARD: Final[Mapping[str, Any]] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": _FLAG},
    "resources": {"listChanged": _FLAG, "subscribe": _FLAG},
    "tools": {"listChanged": _FLAG},
    "tasks": {
        "list": {},
        "cancel": {},
        "requests": {"tools": {"call": {}}, "prompts": {"get": {}}, "resources": {"read": {}}},
    },
}


class Presented:
    """The result of `initialize` or `server/discover` that a host may read.

    Attributes:
        result: it; the one that was received where nothing had to be changed.
        missing: which members were left out or changed, escaped, for people. Not the instructions, which have
            a verdict of their own.
    """

    def __init__(self, received: JsonObject, judgement: Judgement | None, *, server: str) -> None:
        """Present what was received.

        Args:
            received: the result.
            judgement: what was decided of the server so far; None where that could not be told.
            server: the name that the user gave.
        """
        self._judgement = judgement
        self._server = server
        self._pinned: Collection[Aspect] = () if judgement is None else judgement.as_pinned
        self.missing: list[str] = []
        kept = {name: self._member(name, value, received) for name, value in received.items()}
        result = {name: value for name, value in kept.items() if value is not None}
        self.missing += sorted(
            escape(name, limit=60)
            for name in received.keys() - result.keys()
            if name != "instructions" and name not in self.missing
        )
        self.result = received if _same(result, received) else result

    @property
    def told(self) -> str:
        """The members that are missing, in a few words."""
        more = f" and {len(self.missing) - _NAMED} more" if len(self.missing) > _NAMED else ""
        return ", ".join(self.missing[:_NAMED]) + more

    def _member(self, name: str, value: JsonValue, received: JsonObject) -> JsonValue:
        """What goes on of one member; None if nothing does."""
        if name == "instructions":
            return self._instructions()
        if name == "serverInfo":
            return self._server_info(value, value)
        if name == "_meta":
            return self._meta(value, received)
        if name == "capabilities":
            return self._capabilities(value)
        fits = _PLAIN.get(name)
        return value if fits is not None and fits(value) else None

    def _instructions(self) -> JsonValue:
        forward = {} if self._judgement is None else self._judgement.forward
        pinned = forward.get((Kind.INSTRUCTIONS, INSTRUCTIONS_NAME))
        return None if pinned is None else pinned.value

    def _server_info(self, value: JsonValue, judged: JsonValue) -> JsonObject:
        info = value if isinstance(value, dict) else {}
        version = info.get("version")
        fit = version if _is_word(version) else _UNKNOWN
        if Aspect.SERVER_INFO in self._pinned and _same(value, judged):
            if "version" in info and version is not fit:
                self.missing.append("serverInfo.version")
                return {**info, "version": fit}
            return info
        shown = {"name": self._server, "version": fit}
        changed = sorted(escape(name, limit=60) for name in info if not _same(info[name], shown.get(name)))
        self.missing += [f"serverInfo.{name}" for name in changed]
        return info if _same(info, shown) else shown

    def _meta(self, value: JsonValue, received: JsonObject) -> JsonObject | None:
        if not isinstance(value, dict) or META_SERVER not in value:
            return value if value == {} else None
        info = value[META_SERVER]
        shown = self._server_info(info, received.get("serverInfo", info))
        if len(value) > 1:
            self.missing.append("_meta")
        return value if len(value) == 1 and shown is info else {META_SERVER: shown}

    def _capabilities(self, value: JsonValue) -> JsonObject:
        if Aspect.CAPABILITIES in self._pinned and isinstance(value, dict):
            return value
        kept: JsonObject = _within(value, _STANDARD) or {}
        if not _same(kept, value):
            self.missing.append("capabilities")
        return kept


def _within(value: JsonValue, known: JsonValue) -> JsonValue:
    """The part of a value that consists of known members; None if it is none of them."""
    if known is _FLAG:
        return value if isinstance(value, bool) else None
    if not isinstance(value, dict):
        return None
    parts = {name: _within(value[name], known[name]) for name in value if name in known}
    return {name: part for name, part in parts.items() if part is not None}


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are written alike, so that `true` is not 1."""
    if one is other:
        return True
    try:
        return serialize(one) == serialize(other)
    except CanonicalError:
        return False


def _is_word(value: JsonValue) -> bool:
    return isinstance(value, str) and re.fullmatch(_WORD, value) is not None


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# Members with a meaning in the protocol and no room for a text.
_PLAIN: Final[Mapping[str, Callable[[JsonValue], bool]]] = {
    "protocolVersion": _is_word,
    "resultType": _is_word,
    "supportedVersions": lambda value: (
        isinstance(value, list) and len(value) <= _MOST_VERSIONS and all(map(_is_word, value))
    ),
    "ttlMs": _is_count,
    "cacheScope": lambda value: value in ("public", "private"),
}
