# SPDX-License-Identifier: Apache-2.0
"""Requests of a host that nobody has answered yet: each is, once, whatever becomes of its exchange."""

import json
from collections.abc import Iterable, Mapping

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, parse_message, serialize
from toolnotary_verifier.jsonrpc import INTERNAL_ERROR, coerced_id, frame


def answers_in(line: bytes) -> list[str] | None:
    """The keys of the requests that a line answers, as `Said.ids` has them; None where it answers none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    parts = value if isinstance(value, list) else [value]
    found = [coerced_id(part.get("id")) or "" for part in parts if _is_answer(part)]
    return found if len(found) == len(parts) else None


def _is_answer(part: JsonValue) -> bool:
    return isinstance(part, dict) and "method" not in part and ("result" in part or "error" in part)


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

    def take(self, keys: Iterable[str]) -> bool:
        """Whether a request of one of these keys waits; from now on none of them does."""
        before = len(self._ids)
        for key in keys:
            self._ids.pop(key, None)
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
