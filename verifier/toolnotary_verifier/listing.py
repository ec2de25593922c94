# SPDX-License-Identifier: Apache-2.0
"""Pages, cursors and limits of one listing, without any I/O: capture and gate both page through this."""

from toolnotary_verifier.canonical import (
    CanonicalError,
    Flaw,
    JsonObject,
    JsonValue,
    canonical_bytes,
    serialize,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.jsonrpc import LIST_MEMBER
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

_CURSOR = "nextCursor"


class Listing:
    """The entries of one kind, gathered page by page.

    Attributes:
        kind: which list.
        entries: the entries received so far, as parsed.
        done: whether the server said that this was the last page.
        first_page: the first page's result, for members that a host expects back (`ttlMs`, `cacheScope`).
    """

    def __init__(self, kind: Kind, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self.kind = kind
        self.entries: list[JsonValue] = []
        self.done = False
        self.first_page: JsonObject = {}
        self._limits = limits
        self._cursor: str | None = None
        self._cursors: set[str] = set()
        self._pages = 0
        self._bytes = 0

    @property
    def params(self) -> JsonObject:
        """The parameters of the next request, without `_meta`; an empty cursor is a cursor (MCP)."""
        return {} if self._cursor is None else {"cursor": self._cursor}

    def receive(self, result: JsonValue, size: int, *, is_known: bool = False) -> bool:
        """Take the result of one page; True if it was the last.

        Args:
            result: the `result` member of the response, as parsed.
            size: bytes of the whole response.
            is_known: whether this page, behind the same ones, was taken before; it is not checked again.

        Raises:
            InvalidInput: `listing-shape`, `listing-limit`, `cursor-loop`, or what makes a part beside the
                entries no strict JSON; the listing is then unusable.
        """
        self._pages += 1
        self._bytes += size
        member = LIST_MEMBER[self.kind]
        if not is_known:
            self._check(result, size, member)
        if self._pages == 1:
            self.first_page = result
        self.entries.extend(result[member])
        cursor = result.get(_CURSOR)
        if cursor is None:
            self.done = True
            return True
        self._follow(cursor)
        return False

    def _check(self, result: JsonValue, size: int, member: str) -> None:
        if isinstance(result, Flaw):
            raise InvalidInput(result.code, f"the answer to a {self.kind} listing: {result.message}")
        if not isinstance(result, dict) or not isinstance(result.get(member), list):
            raise InvalidInput(
                "listing-shape", f"the answer to a {self.kind} listing holds no array {member}"
            )
        self._bound(size, result[member])
        self._strict(result, member)

    def _bound(self, size: int, entries: list[JsonValue]) -> None:
        limits = self._limits
        if size > limits.page_bytes:
            size -= sum(self._too_large(entry) for entry in entries)
        for what, got, most in (
            ("bytes in one page", size, limits.page_bytes),
            ("bytes in all pages", self._bytes, limits.listing_bytes),
            ("pages", self._pages, limits.pages),
            ("entries", len(self.entries) + len(entries), limits.tools),
        ):
            if got > most:
                raise InvalidInput(
                    "listing-limit", f"the {self.kind} listing has {got} {what}, at most {most} are read"
                )

    def _too_large(self, entry: JsonValue) -> int:
        """The bytes of an entry that is refused for its size alone: it must not take the others with it."""
        try:
            size = len(serialize(entry))
        except CanonicalError:
            return 0
        return size if size > self._limits.definition_bytes else 0

    def _strict(self, result: JsonObject, member: str) -> None:
        """Nothing beside the entries may be read in two ways. The entries are judged one by one, later."""
        for key in result:
            # Some parsers match keys without regard to case, and would read another list than this one.
            if key not in (member, _CURSOR) and key.casefold() in (member.casefold(), _CURSOR.casefold()):
                raise InvalidInput("listing-shape", f"the {self.kind} listing spells a key in another case")
        rest = {key: value for key, value in result.items() if key != member}
        try:
            canonical_bytes(rest, max_depth=self._limits.message_depth)
        except CanonicalError as error:
            raise InvalidInput(error.code, f"the {self.kind} listing: {error.message}") from None

    def _follow(self, cursor: JsonValue) -> None:
        if not isinstance(cursor, str):
            raise InvalidInput("listing-shape", "nextCursor is not a string")
        if len(cursor.encode("utf-8", "surrogatepass")) > self._limits.cursor_bytes:
            raise InvalidInput("listing-limit", f"nextCursor has more than {self._limits.cursor_bytes} bytes")
        if cursor in self._cursors:
            raise InvalidInput("cursor-loop", f"the {self.kind} listing never ends: a cursor came twice")
        self._cursors.add(cursor)
        self._cursor = cursor
