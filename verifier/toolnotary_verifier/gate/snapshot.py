# SPDX-License-Identifier: Apache-2.0
"""Verified definitions of one kind, ready to be handed out page by page."""

import os
from collections.abc import Collection, Iterable, Sequence

from toolnotary_verifier.canonical import JsonObject, JsonValue, serialize
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.jsonrpc import LIST_MEMBER
from toolnotary_verifier.limits import Limits

_SCOPES = ("public", "private")
_ESCAPED = '"\\'  # and control characters, which no frame holds unescaped and yet is one line of JSON


class Snapshot:
    """One complete listing as a host may see it; its cursors are its own and die with it.

    Attributes:
        kind: which list.
        definitions: what is in it, in order.
        names: the names that may be called.
        traced: those whose every call is a decision to be recorded.
        spelled: those of the others that stand in JSON as they are, in UTF-8.
        pages: the definitions as JSON arrays, each within the limit of a page.
        is_final: whether nothing is being looked up that may change it soon.
    """

    def __init__(
        self,
        kind: Kind,
        definitions: Sequence[Definition],
        *,
        first_page: JsonObject,
        is_final: bool = True,
        traced: Collection[str] = (),
        limits: Limits,
    ) -> None:
        self.kind = kind
        self.definitions = list(definitions)
        self.names = frozenset(definition.name for definition in definitions)
        self.traced = frozenset(traced)
        plain = (name for name in self.names - self.traced if not {*name} & {*_ESCAPED})
        self.spelled = frozenset(name.encode("utf-8") for name in plain)
        self.pages = list(
            _pages([serialize(definition.value) for definition in definitions], limits.page_bytes)
        )
        self._member = LIST_MEMBER[kind].encode("ascii")
        self._token = os.urandom(12).hex()
        self.is_final = is_final
        self._ttl = _lifetime(first_page.get("ttlMs"), limits) if is_final else 0
        scope = first_page.get("cacheScope")
        self._scope = scope if scope in _SCOPES else "private"

    def find(self, name: str) -> Definition | None:
        """The definition of this name, if it is there."""
        return next((one for one in self.definitions if one.name == name), None)

    def answer(self, request_id: JsonValue, cursor: JsonValue, *, stateless: bool) -> bytes | None:
        """The response to a host's list request; None if the cursor is not one of this snapshot.

        Args:
            request_id: the host's id.
            cursor: its cursor, None for the first page.
            stateless: whether the result carries what 2026-07-28 wants in it.
        """
        index = 0 if cursor is None else self._index(cursor)
        if index is None:
            return None
        behind = [b"}}\n"]
        if stateless:
            fresh = b',"resultType":"complete","ttlMs":%d,"cacheScope":"%b"' % (
                self._ttl,
                self._scope.encode(),
            )
            behind.insert(0, fresh)
        if index + 1 < len(self.pages):
            behind.insert(0, b',"nextCursor":"%b.%d"' % (self._token.encode("ascii"), index + 1))
        # Joined, so that a page is copied once.
        head = b'{"jsonrpc":"2.0","id":', serialize(request_id), b',"result":{"', self._member, b'":'
        return b"".join((*head, self.pages[index], *behind))

    def _index(self, cursor: JsonValue) -> int | None:
        if not isinstance(cursor, str):
            return None
        token, _, number = cursor.partition(".")
        if token != self._token or not number.isdecimal() or len(number) > 6:
            return None
        return int(number) if 0 < int(number) < len(self.pages) else None


def _pages(definitions: Iterable[bytes], most: int) -> Iterable[bytes]:
    page: list[bytes] = []
    size = 0
    for definition in definitions:
        if page and size + len(definition) > most:
            yield b"[" + b",".join(page) + b"]"
            page, size = [], 0
        page.append(definition)
        size += len(definition) + 1
    yield b"[" + b",".join(page) + b"]"


def _lifetime(given: JsonValue, limits: Limits) -> int:
    """How long a host may keep the listing, in milliseconds: never longer than we believe it ourselves."""
    most = int(limits.reverify_seconds * 1000)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        return 0
    return min(int(given), most)
