# SPDX-License-Identifier: Apache-2.0
"""Requests of a host that nobody has answered yet: each is, once, whatever becomes of its exchange."""

import json
from collections.abc import Mapping

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, parse_message, serialize
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, coerced_id, frame


class Awaited:
    """The requests of one line; true while one of them waits.

    Attributes:
        is_given_up: whether the host takes no interest any more: an answer passes, none is made up.
    """

    def __init__(self, ids: Mapping[str, JsonValue]) -> None:
        """All of them wait.

        Args:
            ids: as `Said.ids`.
        """
        self.is_given_up = False
        self._ids = dict(ids)

    def __bool__(self) -> bool:
        return bool(self._ids)

    def take(self, line: bytes) -> bool:
        """Whether a line for the host answers one of them, which then waits no more."""
        if not self._ids:
            return False
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return False
        before = len(self._ids)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict) and "method" not in part:
                self._ids.pop(coerced_id(part.get("id")) or "", None)
        return len(self._ids) < before

    def failed(self, why: str) -> list[bytes]:
        """The answer to each that still waits, that none will come."""
        return self._answered({"code": INTERNAL_ERROR, "message": f"toolnotary: the server {why}"})

    def refused(self, content: bytes) -> list[bytes]:
        """The answer to each that still waits, by an error that names none of them; nothing if it is none."""
        try:
            value = parse_message(content, max_bytes=len(content))
            told = value.get("error") if isinstance(value, dict) else None
            if isinstance(told, dict) and isinstance(told.get("message"), str) and serialize(told):
                return self._answered(told)
        except CanonicalError:
            pass
        return []

    def _answered(self, told: JsonObject) -> list[bytes]:
        ids = [] if self.is_given_up else list(self._ids.values())
        self._ids.clear()
        return [frame({"jsonrpc": "2.0", "id": one, "error": told}) for one in ids]
