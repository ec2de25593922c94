# SPDX-License-Identifier: Apache-2.0
"""What this user saw, accepted, declined and revoked: an append-only file that forgets nothing.

One canonical JSON object a line, one event each (`history`, docs/spec/state.md). The file is written under a
lock, flushed to the disk before a change counts, and writable by its owner alone. A file that cannot be read
closes the gate: nothing falls back to another file or to an empty history.

A write that was interrupted leaves a last line without its line feed. Nobody was told that such an event took
place, so the fragment counts as never written, and the next append removes it. Who loads the state tells it,
since it may be the work of somebody who wants an event forgotten. Any other line that cannot be read is
corruption.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Self

from toolnotary_verifier.canonical import CanonicalError, Digest, JsonObject, canonical_bytes, parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.history import CODE, History
from toolnotary_verifier.links import opened

if TYPE_CHECKING:
    from datetime import datetime

SCHEMA: Final = "https://toolnotary.dev/state/v1"
_HEADER: Final = canonical_bytes({"schema": SCHEMA}) + b"\n"
_EVENT_START: Final = b'{"at":"'  # "at" sorts before every other member of an event
_MAX_LINE_BYTES = 32 << 20  # one event names every definition of a listing
_RESTORE = (
    "restore it from a backup; deleting it forgets what was accepted, declined and withdrawn, and which"
    " version was the newest"
)


class State:
    """The state of one user; made by `load`.

    Attributes:
        path: the file.
        history: what its events add up to.
        recorded: the whole lines of it.
        torn: the number of its last line, where that was cut off and so counts as never written; else None.
            Whoever loads the file tells it (docs/spec/state.md).
    """

    def __init__(
        self, path: Path, history: History, *, recorded: bytes = b"", torn: int | None = None
    ) -> None:
        self.path = path
        self.history = history
        self.recorded = recorded
        self.torn = torn

    @classmethod
    def load(cls, path: Path) -> Self:
        """The state in `path`; a file that does not exist is a user who has decided nothing yet.

        Raises:
            InvalidInput: `state-corrupt`, with the number of the line.
            ConfigurationError: `state-unreadable`, `state-permissions` if others may write it.
        """
        try:
            with opened(path) as file:
                _own(path, file)
                raw = file.read()
        except FileNotFoundError:
            raw = b""
        except OSError as error:
            why = (error.strerror or "cannot be read").lower()
            raise ConfigurationError("state-unreadable", f"{escape(str(path), limit=300)}: {why}") from None
        folded = _fold(path, raw)
        return cls(path, folded.history, recorded=raw[: folded.whole], torn=folded.torn)

    @property
    def latest(self) -> str:
        """The last time, as state records it, that surely was: of a record, or of a file beside it."""
        from toolnotary_verifier.overrides import written

        return max(self.history.latest, written(self.path.parent))

    def append(
        self,
        *events: JsonObject,
        unless: Callable[[History], bool] | None = None,
        then: Callable[[], None] = lambda: None,
        at: "datetime | None" = None,
    ) -> bool:
        """Record these events and know them from then on; after an error none of them is recorded.

        Args:
            events: as `history` makes them.
            unless: asked under the lock about what is recorded by then; True records nothing. This is how
                of many first sights at the same time exactly one becomes the baseline.
            then: called under the lock once they are recorded; what it raises takes nothing back.
            at: when it happened; now if None.

        Returns:
            Whether the events were recorded.

        Raises:
            InvalidInput: `state-corrupt`, or `not-recordable` for an event that no reader would take; nothing
                was written.
            ConfigurationError: `file-not-writable`; nothing was recorded.
        """
        from datetime import UTC, datetime

        from toolnotary_verifier.files import locked, make_folder, unwritable
        from toolnotary_verifier.overrides import moment

        when = moment(at or datetime.now(UTC))
        lines = b"".join(_line(self.path, {**event, "at": when}) for event in events)
        try:
            make_folder(self.path.parent, is_private=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as file, locked(file):
                _own(self.path, file)
                is_recorded = self._append(file, lines, unless)
                if is_recorded:
                    then()
                return is_recorded
        except OSError as error:
            raise unwritable(self.path, error, "nothing was recorded") from None

    def _append(self, file: BinaryIO, lines: bytes, unless: Callable[[History], bool] | None) -> bool:
        raw = file.read()
        self.history, whole, _ = _fold(self.path, raw)
        self.recorded = raw[:whole]
        if unless is not None and unless(self.history):
            return False
        content = (b"" if whole else _HEADER) + lines
        if raw[:whole] and not raw[:whole].endswith(b"\n"):
            content = b"\n" + content
        try:
            file.truncate(whole)
            file.seek(whole)
            _write(file, content)
            os.fsync(file.fileno())
        except OSError:
            file.truncate(whole)
            raise
        self.recorded = raw[:whole] + content
        self.history = _fold(self.path, self.recorded).history
        return True

    def since(self, earlier: bytes) -> History:
        """What was recorded after `earlier`, by whichever process.

        Args:
            earlier: what was recorded before: `recorded`, at another time.

        Raises:
            InvalidInput: `state-corrupt`, if something that was recorded is gone.
        """
        if not self.recorded.startswith(earlier):
            where = escape(str(self.path), limit=300)
            raise InvalidInput(CODE, f"{where}: it holds no longer what it held before", remedy=_RESTORE)
        history = History()
        for line in self.recorded[max(len(earlier), len(_HEADER)) :].split(b"\n"):
            event = _event(line) if line else None
            if event is not None:
                history.add(event)
        return history

    def accepts(self, server: str, launch: Digest, kind: Kind, name: str, digest: Digest) -> bool:
        """Whether exactly this definition was accepted for this server under this launch."""
        return (kind, name, digest) in self.history.pins.get((server, launch), ())

    def accepts_manifest(self, server: str, launch: Digest, manifest: Digest) -> bool:
        """Whether this manifest was accepted for this server under this launch."""
        return manifest in self.history.manifests.get((server, launch), ())

    def declined(self, server: str, change_set: Digest) -> bool:
        """Whether a person already said no to exactly this set of changes."""
        return change_set in self.history.refused.get(server, ())

    def knows(self, server: str) -> bool:
        """Whether anything was ever decided about this server: then nothing about it is a first sight."""
        return server in self.history.servers

    def highest_sequence(self, server: str) -> int | None:
        """The sequence below which a manifest is a rollback; None before the first acceptance."""
        return self.history.sequences.get(server)

    def signer_of(self, server: str) -> str | None:
        """The identity that signed what was accepted last."""
        return self.history.signers.get(server)

    def revoked(self, server: str) -> frozenset[Digest]:
        """The digests of definitions and manifests that were withdrawn and not accepted again."""
        return frozenset(self.history.withdrawn.get(server, ()))

    def keys(self, server: str) -> dict[str, str]:
        """The public keys that a person named for this server: key id to PEM."""
        return dict(self.history.keys.get(server, {}))


def _write(file: BinaryIO, content: bytes) -> None:
    while content:
        content = content[file.write(content) :]


def _own(path: Path, file: BinaryIO) -> None:
    """Refuse a file that somebody else can write: what stands in it would be their word, not the user's."""
    if sys.platform != "win32" and os.fstat(file.fileno()).st_mode & 0o022:
        raise ConfigurationError(
            "state-permissions",
            f"{escape(str(path), limit=300)} can be written by other users",
            remedy="look through it, then chmod 600 it",
        )


class _Folded(NamedTuple):
    """The history in a file's bytes, how many of them are whole lines, and the number of a torn one."""

    history: History
    whole: int
    torn: int | None


def _fold(path: Path, raw: bytes) -> _Folded:
    history = History()
    whole = 0
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        if last and not line:
            break
        event = _event(line)
        if event is None:
            if last and _is_torn(line, first=number == 1):
                return _Folded(history, whole, number)
            raise _corrupt(path, number, "not one JSON object in canonical form")
        try:
            _take(history, number, event)
        except InvalidInput as error:
            raise _corrupt(path, number, error.message) from None
        whole += len(line) + (0 if last else 1)
    return _Folded(history, whole, None)


def _is_torn(line: bytes, *, first: bool) -> bool:
    """Whether a last line without its line feed can only be the beginning of an event, or of a new file."""
    start = _HEADER if first else _EVENT_START
    return start.startswith(line) or (not first and line.startswith(start))


def _take(history: History, number: int, event: JsonObject) -> None:
    if number > 1:
        history.add(event)
    elif event != {"schema": SCHEMA}:
        raise InvalidInput(CODE, f"expected the schema {SCHEMA}")


def _line(path: Path, event: JsonObject) -> bytes:
    """The line of an event, which whoever reads the file will take: else the file would be corrupt.

    Raises:
        InvalidInput: `not-recordable`.
    """
    try:
        line = canonical_bytes(event)
        if len(line) <= _MAX_LINE_BYTES and _event(line) == event:
            History().add(event)
            return line + b"\n"
        why = f"a line of {len(line)} bytes that does not read as what was to be written"
    except InvalidInput as error:
        why = error.message
    where = escape(str(path), limit=300)
    raise InvalidInput(
        "not-recordable",
        f"{where} cannot hold this, and nothing was recorded: {why}",
        remedy="use names of visible characters; what was recorded before is as it was",
    )


def _event(line: bytes) -> JsonObject | None:
    try:
        value = parse_message(line, max_bytes=_MAX_LINE_BYTES)
        return value if isinstance(value, dict) and canonical_bytes(value) == line else None
    except CanonicalError:
        return None


def _corrupt(path: Path, number: int, why: str) -> InvalidInput:
    where = escape(str(path), limit=300)
    return InvalidInput(CODE, f"{where}, line {number}: {why}", remedy=_RESTORE)
