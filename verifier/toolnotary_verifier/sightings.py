# SPDX-License-Identifier: Apache-2.0
"""What a guarded connection showed and was not as pinned, kept so that a person can review exactly that.

Some servers can be reached by their host alone (behind OAuth, inside of a sandbox), and one that is started
again may show something else. Whoever guards a connection keeps the last surfaces that did not pass; nothing
counts by being kept here. A file is named by the digest of what it says, belongs to its owner alone, and
holds no secret of the launch: whoever keeps a surface has refused one that repeats such (`Concealed`).
"""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import (
    CanonicalError,
    Digest,
    JsonObject,
    JsonValue,
    canonical_bytes,
    parse,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.links import opened
from toolnotary_verifier.overrides import moment
from toolnotary_verifier.shape import array, members, text
from toolnotary_verifier.surface import Fault, Surface, assemble
from toolnotary_verifier.verdict import Inspection

SCHEMA: Final = "https://toolnotary.dev/seen/v1"
CODE: Final = "seen-corrupt"
MOST: Final = 4  # of one server; the newest stay
_HEAD_BYTES: Final = 64 << 10
_HEAD: Final = ("schema", "server", "launch", "line", "at", "changeSet", "inspection")
_BODY: Final = ("capabilities", "definitions", "faults", "inspected", "protocolVersion", "serverInfo")
_DELETE: Final = "delete the file; nothing that counts is in it"


class Sighting(NamedTuple):
    """One surface, as a host was about to be shown it.

    Attributes:
        server: the name that the user gave the server.
        launch: digest of the identity of the launch that it was seen under (`Launch.digest`).
        line: that launch for people, escaped and masked.
        at: when, in UTC.
        change_set: the change set as it was judged then.
        surface: what was seen.
        inspection: what of the server's messages the connection looked at.
    """

    server: str
    launch: Digest
    line: str
    at: str
    change_set: Digest
    surface: Surface
    inspection: Inspection = Inspection.WIRE


class Sightings:
    """The surfaces that are kept of all servers, in one folder of the user's.

    Args:
        folder: where they lie; it is made when the first is kept.
        limits: bounds on what is kept and read.
    """

    def __init__(self, folder: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._folder = folder
        self._limits = limits

    def keep(self, sighting: Sighting) -> bool:
        """Keep a surface; the oldest of the same server makes room. The same again is kept once.

        Args:
            sighting: what was seen; `at` is taken from the clock where it is empty.

        Returns:
            Whether it is kept: one that is too large, or that no JSON can hold, is not.

        Raises:
            ConfigurationError: `file-not-writable`.
        """
        from toolnotary_verifier.files import replace_file

        try:
            body = canonical_bytes(_document(sighting.surface), max_depth=self._limits.message_depth)
        except CanonicalError:  # the name of a fault with half a surrogate: no definition has one
            return False
        if len(body) > self._limits.listing_bytes:
            return False
        at = sighting.at or moment(datetime.now(UTC))
        head = canonical_bytes(
            {
                "schema": SCHEMA,
                "server": sighting.server,
                "launch": sighting.launch,
                "line": sighting.line,
                "at": at,
                "changeSet": sighting.change_set,
                "inspection": sighting.inspection.value,
            }
        )
        folder = self._of(sighting.server)
        path = folder / f"{_address(sighting.launch, body)}.json"
        replace_file(path, head + b"\n" + body, is_link_kept=False, is_private=True)
        for old in self._files(folder, but=path)[MOST - 1 :]:
            with contextlib.suppress(OSError):  # another process did it
                old.unlink()
        return True

    def last(self, server: str, launch: Digest) -> Sighting | None:
        """What was seen last of a server under this launch; None where nothing is kept.

        Raises:
            InvalidInput: `seen-corrupt`, for a file of this server that is not what it says.
            ConfigurationError: `seen-unreadable`.
        """
        newest: tuple[str, Path, bytes] | None = None
        for path in self._files(self._of(server)):
            raw = self._read(path)
            if raw is None:
                continue
            head = _head(path, raw)
            if (
                head["server"] == server
                and head["launch"] == launch
                and (newest is None or head["at"] > newest[0])
            ):
                newest = (head["at"], path, raw)
        return None if newest is None else self._sighting(*newest[1:])

    def _of(self, server: str) -> Path:
        return self._folder / Digest.of(server.encode("utf-8", "surrogatepass")).hex[:32]

    def _files(self, folder: Path, *, but: Path | None = None) -> list[Path]:
        """The files of one server, newest first."""
        found = []
        with contextlib.suppress(OSError):
            for path in folder.glob("*.json"):
                with contextlib.suppress(OSError):
                    found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True) if path != but]

    def _read(self, path: Path) -> bytes | None:
        """All of a file; None where it is gone by now."""
        most = _HEAD_BYTES + self._limits.listing_bytes
        try:
            with opened(path) as file:
                raw = file.read(most + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            why = (error.strerror or "cannot be read").lower()
            raise ConfigurationError(
                "seen-unreadable", f"{escape(str(path), limit=300)}: {why}", remedy=_DELETE
            ) from None
        if len(raw) > most:
            raise _corrupt(path, f"it has more than {most} bytes")
        return raw

    def _sighting(self, path: Path, raw: bytes) -> Sighting:
        head, body = _head(path, raw), raw.partition(b"\n")[2]
        launch = Digest.from_text(head["launch"])
        if f"{_address(launch, body)}.json" != path.name:
            raise _corrupt(path, "it does not hold what its name says")
        try:
            document = parse(body, max_bytes=self._limits.listing_bytes)
            surface = _surface(document, self._limits)
            change_set = Digest.from_text(head["changeSet"])
        except InvalidInput as error:
            raise _corrupt(path, error.message) from None
        inspection = Inspection(head["inspection"])
        return Sighting(head["server"], launch, head["line"], head["at"], change_set, surface, inspection)


def _address(launch: Digest, body: bytes) -> str:
    """The name of a file: what was seen, and under which launch. When it was seen last may change."""
    return Digest.of(launch.encode("ascii") + b"\n" + body).hex


def _head(path: Path, raw: bytes) -> JsonObject:
    try:
        value = parse(raw.partition(b"\n")[0], max_bytes=_HEAD_BYTES)
        head = members(value, "its first line", code=CODE, required=_HEAD)
        for name in _HEAD:
            text(head[name], name, code=CODE)
        Digest.from_text(head["launch"])
    except InvalidInput as error:
        raise _corrupt(path, error.message) from None
    if head["schema"] != SCHEMA:
        raise _corrupt(path, f"expected the schema {SCHEMA}")
    if head["inspection"] not in list(Inspection):
        raise _corrupt(path, "an inspection that this release does not know")
    return head


def _corrupt(path: Path, why: str) -> InvalidInput:
    return InvalidInput(CODE, f"{escape(str(path), limit=300)}: {why}", remedy=_DELETE)


def _document(surface: Surface) -> JsonObject:
    return {
        "definitions": {kind.value: [one.value for one in surface.of_kind(kind)] for kind in Kind},
        "faults": [[one.kind.value, one.name, one.code, one.message] for one in surface.faults],
        "inspected": sorted(kind.value for kind in surface.inspected),
        "protocolVersion": surface.protocol_version,
        "serverInfo": surface.server_info,
        "capabilities": surface.capabilities,
    }


def _surface(value: JsonValue, limits: Limits) -> Surface:
    document = members(value, "what was seen", code=CODE, required=_BODY)
    listed = members(document["definitions"], "definitions", code=CODE, required=[k.value for k in Kind])
    found = {kind: array(listed[kind.value], kind.value, code=CODE) for kind in Kind}
    instructions = found.pop(Kind.INSTRUCTIONS)
    faults = tuple(_faults(array(document["faults"], "faults", code=CODE)))
    inspected = array(document["inspected"], "inspected", code=CODE)
    version = document["protocolVersion"]
    if not {*inspected} <= {kind.value for kind in Kind}:
        raise InvalidInput(CODE, "a kind that this release does not know")
    if version is not None:
        text(version, "protocolVersion", code=CODE)
    surface = assemble(
        {kind: values for kind, values in found.items() if values},
        instructions=instructions[0] if instructions else None,
        inspected=[Kind(name) for name in inspected],
        protocol_version=version,
        server_info=members(document["serverInfo"], "serverInfo", code=CODE, optional=None),
        capabilities=members(document["capabilities"], "capabilities", code=CODE, optional=None),
        limits=limits,
        parsed=True,
    )
    return surface._replace(faults=(*surface.faults, *faults))


def _faults(rows: list[JsonValue]) -> Iterator[Fault]:
    for row in rows:
        parts = array(row, "a fault", code=CODE)
        if len(parts) != 4 or not all(isinstance(part, str) for part in parts) or parts[0] not in list(Kind):
            raise InvalidInput(CODE, "a fault is not kind, name, code and message")
        yield Fault(Kind(parts[0]), parts[1], parts[2], parts[3])
