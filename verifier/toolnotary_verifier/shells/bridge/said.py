# SPDX-License-Identifier: Apache-2.0
"""One line of a host, as far as it must be understood to be sent over HTTP."""

from typing import NamedTuple, Self

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, parse_message
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import coerced_id, named_revision

_CANCELLED = "notifications/cancelled"
_NOTHING: JsonObject = {}


class Said(NamedTuple):
    """What one line says; a line that the gate will refuse says nothing.

    Attributes:
        content: the line without its end.
        method: of the one message in it; empty for an answer, and for a batch.
        params: of that message.
        ids: of the requests in it, by the key under which an answer to each is recognized.
        revision: the protocol revision that it names for itself, as the stateless era does; empty otherwise.
    """

    content: bytes
    method: str = ""
    params: JsonObject = _NOTHING
    ids: dict[str, JsonValue] = {}  # noqa: RUF012 - never changed
    revision: str = ""

    @classmethod
    def of(cls, line: bytes, *, max_bytes: int) -> Self:
        """What a line says.

        Args:
            line: as the host wrote it.
            max_bytes: of what is parsed.
        """
        content = line.rstrip(b"\r\n")
        try:
            value = parse_message(content, max_bytes=max_bytes)
        except CanonicalError:
            return cls(content)
        parts = value if isinstance(value, list) else [value]
        ids = dict(_requested(part) for part in parts if _is_request(part))
        if not isinstance(value, dict):
            return cls(content, ids=ids)
        method, params = value.get("method"), value.get("params")
        return cls(
            content,
            method if isinstance(method, str) else "",
            params if isinstance(params, dict) else _NOTHING,
            ids,
            named_revision(params) or "",
        )

    @property
    def cancelled(self) -> str | None:
        """The key of the request that it cancels; None where it cancels none."""
        return coerced_id(self.params.get("requestId")) if self.method == _CANCELLED else None


def _is_request(part: JsonValue) -> bool:
    return isinstance(part, dict) and isinstance(part.get("method"), str) and answerable(part.get("id"))


def _requested(part: JsonObject) -> tuple[str, JsonValue]:
    return coerced_id(part["id"]) or "", part["id"]
