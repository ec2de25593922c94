# SPDX-License-Identifier: Apache-2.0
"""`toolnotary.lock`: what this project accepts, one canonical JSON object a line (docs/spec/lockfile.md).

A header with the recipes; a signed entry in one line, so that two branches which changed it conflict; an
unsigned entry in one line and one more for each definition. Server name and launch are bound together. No
times, no totals: what did not change does not show up in a diff. Sixty-four section lines keep entries apart,
so that version control can merge branches which pin different servers.

What stands here grants nothing by standing here: `pinning` says what counts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, Self

from toolnotary_verifier.canonical import (
    RECIPE,
    CanonicalError,
    Digest,
    JsonObject,
    canonical_bytes,
    parse_message,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.entries import (
    CORRUPT,
    Entry,
    Pin,
    SignedEntry,
    UnsignedEntry,
    launch_digest,
    lines_of,
    signed_entry,
    unsigned_entry,
)
from toolnotary_verifier.equivalence import RECIPE as NORMAL_RECIPE
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.links import opened, within
from toolnotary_verifier.shape import members, text

__all__ = ["Entry", "Lockfile", "Pin", "SignedEntry", "UnsignedEntry", "launch_digest"]

SCHEMA: Final = "https://toolnotary.dev/lockfile/v1"
_HEADER: Final[JsonObject] = {"canonicalization": RECIPE, "normalForm": NORMAL_RECIPE, "schema": SCHEMA}
# Insertions at one place conflict in version control, so servers are spread by their names' digests.
_SECTIONS: Final = tuple(f"{number:02x}" for number in range(64))
_SECTION_LINES: Final = {b'{"section":"%s"}' % name.encode(): name for name in _SECTIONS}
_MAX_LOCKFILE_BYTES = 64 << 20
_MAX_LINE_BYTES = 4 << 20
_MARKERS = (b"<<<<<<<", b"|||||||", b">>>>>>>")


class Lockfile(NamedTuple):
    """The entries of one lockfile, by server and launch, in order."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def load(cls, path: Path) -> Self:
        """The lockfile in `path`; a file that does not exist pins nothing.

        Raises:
            InvalidInput: as `parse`, with the file's name.
            ConfigurationError: `lockfile-unreadable`.
        """
        where = escape(str(path), limit=300)
        try:
            with opened(path) as file:
                raw = file.read(_MAX_LOCKFILE_BYTES + 1)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            why = (error.strerror or "cannot be read").lower()
            raise ConfigurationError("lockfile-unreadable", f"{where}: {why}") from None
        return cls.parse(raw, where=where)

    @classmethod
    def parse(cls, raw: bytes, *, where: str = "the lockfile") -> Self:
        """The lockfile that these bytes are. Lines may end in CR LF; their order means nothing.

        Raises:
            InvalidInput: `lockfile-corrupt`, `lockfile-conflict` (markers of a merge), `lockfile-duplicate`
                (one entry or pin twice), `lockfile-version` (made by a later release).
        """
        reader = _Reader(where)
        if len(raw) > _MAX_LOCKFILE_BYTES:
            raise reader.fail(CORRUPT, f"more than {_MAX_LOCKFILE_BYTES} bytes")
        for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
            reader.read(number, line.removesuffix(b"\r"))
        return cls(tuple(reader.entries()))

    def entry(self, server: str, launch: JsonObject) -> Entry | None:
        """The entry of this server under this launch."""
        place = (server, launch_digest(launch))
        return next((entry for entry in self.entries if entry.place == place), None)

    def named(self, server: str) -> tuple[Entry, ...]:
        """All entries of this server, whatever their launch."""
        return tuple(entry for entry in self.entries if entry.server == server)

    def launched(self, launch: JsonObject) -> tuple[Entry, ...]:
        """All entries with this launch, whatever their server's name."""
        digest = launch_digest(launch)
        return tuple(entry for entry in self.entries if entry.place[1] == digest)

    def with_entry(self, entry: Entry) -> Self:
        """This lockfile with `entry` in the place of the one for its server and launch, or added."""
        others = [other for other in self.entries if other.place != entry.place]
        return self._replace(entries=tuple(sorted([*others, entry], key=lambda one: one.place)))

    def without_entry(self, entry: Entry) -> Self:
        """This lockfile without the entry for that server and launch."""
        return self._replace(entries=tuple(one for one in self.entries if one.place != entry.place))

    def dump(self) -> bytes:
        """The file's bytes: equal for equal entries."""
        sections: dict[str, list[bytes]] = {name: [] for name in _SECTIONS}
        for entry in sorted(self.entries, key=lambda one: one.place):
            sections[_section(entry.server)].extend(canonical_bytes(line) for line in lines_of(entry))
        lines = [canonical_bytes(_HEADER)]
        for name, line in zip(_SECTIONS, _SECTION_LINES, strict=True):
            lines += [line, *sections[name]]
        return b"\n".join(lines) + b"\n"

    def save(self, path: Path, *, root: Path | None = None) -> None:
        """Replace the file, all of it or nothing.

        Args:
            path: the file.
            root: the project that it belongs to (see `links.within`); None for the user's own.

        Raises:
            ConfigurationError: `file-not-writable`; the old file is as it was.
            Refused: `leads-outside`; nothing was written.
        """
        from toolnotary_verifier.files import replace_file

        replace_file(within(path, root), self.dump(), is_private=root is None)


def _section(server: str) -> str:
    first = int(Digest.of(server.encode("utf-8", "surrogatepass")).hex[:2], 16)
    return _SECTIONS[first % len(_SECTIONS)]


_NEWER = "update toolnotary, or restore the file from version control"


class _Reader:
    """Reads the lines of one file, each by itself, and then joins pins to their entries."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._line = 0
        self._entries: dict[tuple[str, Digest], Entry] = {}
        self._pins: dict[tuple[str, Digest], dict[tuple[Kind, str], Pin]] = {}

    def fail(self, code: str, message: str, remedy: str = "") -> InvalidInput:
        return InvalidInput(code, f"{self._where}, line {self._line}: {message}", remedy=remedy)

    def read(self, number: int, line: bytes) -> None:
        """Take one line.

        Raises:
            InvalidInput: see `Lockfile.parse`.
        """
        self._line = number
        if line.startswith(_MARKERS) or line == b"=======":
            raise self.fail(
                "lockfile-conflict",
                "the marker of a merge conflict",
                "keep the lines of the side that is right (all lines, where both sides only added servers), "
                "and remove the markers",
            )
        if line in _SECTION_LINES:  # most lines of a small file: what they say is known
            return
        value = self._object(line)
        if number == 1:
            self._header(value)
            return
        try:
            self._take(value)
        except InvalidInput as error:
            if error.code.startswith("lockfile-"):
                raise self.fail(error.code, error.message, error.remedy) from None
            raise self.fail(CORRUPT, error.message) from None

    def entries(self) -> Iterable[Entry]:
        """The entries, in order, with their pins.

        Raises:
            InvalidInput: `lockfile-corrupt` if a pin belongs to no entry.
        """
        for place, pins in self._pins.items():
            entry = self._entries.get(place)
            if not isinstance(entry, UnsignedEntry):
                server = escape(place[0], limit=120)
                raise InvalidInput(
                    CORRUPT, f"{self._where}: pins of {server} belong to no unsigned entry of that launch"
                )
            self._entries[place] = entry._replace(pins=tuple(pins[key] for key in sorted(pins)))
        return [self._entries[place] for place in sorted(self._entries)]

    def _object(self, line: bytes) -> JsonObject:
        try:
            value = parse_message(line, max_bytes=_MAX_LINE_BYTES)
            canonical = canonical_bytes(value)
        except CanonicalError as error:
            raise self.fail(CORRUPT, error.message) from None
        if not isinstance(value, dict) or canonical != line:
            raise self.fail(CORRUPT, "not one JSON object in canonical form")
        return value

    def _header(self, value: JsonObject) -> None:
        if value.get("schema") != SCHEMA or set(value) != set(_HEADER):
            raise self.fail("lockfile-version", f"expected the schema {SCHEMA}", _NEWER)
        for name, expected in _HEADER.items():
            if value[name] != expected:
                raise self.fail("lockfile-version", f"{name} is not {expected}", _NEWER)

    def _take(self, value: JsonObject) -> None:
        if "pin" in value:
            self._pin(value)
        elif value.get("entry") == "signed":
            self._entry(signed_entry(value))
        elif value.get("entry") == "unsigned":
            self._entry(unsigned_entry(value))
        else:
            raise InvalidInput(CORRUPT, "neither an entry, a pin nor a section")

    def _entry(self, entry: Entry) -> None:
        if entry.place in self._entries:
            raise InvalidInput(
                "lockfile-duplicate",
                f"a second entry for {escape(entry.server, limit=120)} and the same launch",
                remedy="two branches changed it: keep one of the lines",
            )
        self._entries[entry.place] = entry

    def _pin(self, value: JsonObject) -> None:
        members(value, "a pin", code=CORRUPT, required=("pin", "name", "exact", "normal", "server", "launch"))
        if value["pin"] not in list(Kind):
            raise InvalidInput(CORRUPT, "a pin of a kind that does not exist")
        if not isinstance(value["name"], str):
            raise InvalidInput(CORRUPT, "name is not a string")
        pin = Pin(
            Kind(value["pin"]),
            value["name"],
            Digest.from_text(value["exact"]),
            Digest.from_text(value["normal"]),
        )
        place = (text(value["server"], "server", code=CORRUPT), Digest.from_text(value["launch"]))
        pins = self._pins.setdefault(place, {})
        if pin.key in pins:
            raise InvalidInput(
                "lockfile-duplicate",
                f"a second pin for {pin.kind} {escape(pin.name, limit=120)}",
                remedy="two branches changed it: keep one of the lines",
            )
        pins[pin.key] = pin
