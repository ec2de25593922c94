# SPDX-License-Identifier: Apache-2.0
"""A whole capture: every revision that the server speaks, without and with client capabilities, again.

Looks are spread over fresh processes with their own hash seed, every second one in an empty directory. A
profile is settled once its first look was seen word for word in as many looks as asked for, its own or those
of other profiles: equal content under other circumstances says more than a repetition under the same ones.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.capture.held_back import refuse_identity
from toolnotary_verifier.capture.inspection import inspect
from toolnotary_verifier.capture.look import CAPABLE, REVISIONS
from toolnotary_verifier.capture.origin import origin
from toolnotary_verifier.capture.relocation import with_absolute_paths
from toolnotary_verifier.capture.source import CommandSource, Source
from toolnotary_verifier.capture.stability import Unstable, unstable
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.jsonrpc import HANDSHAKE
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.manifest import Artifact, Profile, UnnamedManifest
from toolnotary_verifier.surface import Surface

DEFAULT = "default"
# How a server answers that does not speak the revision it was asked for.
_NOT_SPOKEN = frozenset({"handshake-refused", "protocol-version", "no-answer", "server-ended", "http-status"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What a server says of itself under every circumstance that was tried.

    Attributes:
        profiles: by name, the circumstances and every look under them, the first one first.
        unstable: definitions that differ between looks of one profile.
        artifacts, remotes: what the launch line or URL says about where the server comes from.
        notes: escaped lines worth telling.
    """

    profiles: Mapping[str, tuple[Profile, tuple[Surface, ...]]]
    unstable: tuple[Unstable, ...]
    artifacts: tuple[Artifact, ...]
    remotes: tuple[str, ...]
    notes: tuple[str, ...]

    def manifest(self, *, limits: Limits = DEFAULT_LIMITS) -> UnnamedManifest:
        """All that was seen; an unstable definition with every variant of it.

        Raises:
            InvalidInput: `surface-faults`, `manifest-limit`, `too-large`.
        """
        return UnnamedManifest.build(
            profiles=self.profiles, artifacts=self.artifacts, remotes=self.remotes, limits=limits
        )


def capture(
    source: Source,
    *,
    looks: int = 2,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[str], None] = lambda _line: None,
) -> Capture:
    """Look at a server under every circumstance that a host could bring about.

    Profile `default` is the newest revision that the server speaks, to a client that declares nothing;
    `capable` the same with elicitation, roots and sampling declared. An older revision that it speaks too
    gives profiles of its own, named after it (`2025-06-18`, `2025-06-18-capable`).

    Args:
        source: what to start or to connect to.
        looks: in how many looks each definition must have been seen the same; at least 2.
        limits: bounds on sizes and times.
        progress: told what is looked at, one line a look.

    Raises:
        CannotTell: the server could not be inspected, or not completely (see `inspect`).
        InvalidInput: an answer that cannot be used.
        Refused: `secret-in-surface`.
        ConfigurationError: `identity-at-hand`, before anything is started; `url` and the like.
    """
    if isinstance(source, CommandSource):
        refuse_identity(source.environment)
    plan = _Plan(source, looks=max(2, looks), limits=limits, progress=progress)
    plan.run()
    return plan.result()


@dataclass(frozen=True, slots=True)
class _Circumstances:
    revision: str
    capabilities: tuple[str, ...] = ()

    def name(self, newest: str) -> str:
        """What the profile is called in a manifest."""
        parts = [] if self.revision == newest else [self.revision]
        parts += ["capable"] if self.capabilities else []
        return "-".join(parts) or DEFAULT


class _Plan:
    """The looks of one capture, in their order."""

    def __init__(
        self, source: Source, *, looks: int, limits: Limits, progress: Callable[[str], None]
    ) -> None:
        self._source = source
        self._wanted = looks
        self._limits = limits
        self._progress = progress
        self._count = 0
        self._seen: dict[_Circumstances, list[Surface]] = {}
        self._notes: list[str] = []
        self._can_move = isinstance(source, CommandSource)

    def run(self) -> None:
        """All looks: the default first, for whatever is wrong with a server is wrong with that."""
        first = self._inspect(REVISIONS, (), "default")
        newest = _Circumstances(str(first.protocol_version))
        self._seen[newest] = [first]
        self._repeat(newest)
        for older in _older(newest.revision):
            self._try(older)
        for plain in list(self._seen):
            self._repeat(_Circumstances(plain.revision, CAPABLE))
        for circumstances in self._seen:
            while not self._is_settled(circumstances):
                self._repeat(circumstances)

    def result(self) -> Capture:
        """What the looks amount to."""
        newest = next(iter(self._seen)).revision
        transport = "stdio" if isinstance(self._source, CommandSource) else "streamable-http"
        profiles = {}
        changing: dict[tuple[Kind, str], Unstable] = {}
        for circumstances, looks in self._seen.items():
            name = circumstances.name(newest)
            about = Profile.of(looks[0], transport=transport, client_capabilities=circumstances.capabilities)
            profiles[name] = (about, tuple(looks))
            for found in unstable(name, looks):
                changing.setdefault((found.kind, found.name), found)
        artifacts, remotes = origin(self._source)
        if all(surface.is_empty for looks in self._seen.values() for surface in looks):
            self._notes.append("it advertises nothing at all, which every look confirms")
        return Capture(
            profiles=profiles,
            unstable=tuple(changing[key] for key in sorted(changing)),
            artifacts=artifacts,
            remotes=remotes,
            notes=tuple(dict.fromkeys(self._notes)),
        )

    def _is_settled(self, circumstances: _Circumstances) -> bool:
        own = self._seen[circumstances]
        if len(own) >= self._wanted:
            return True
        first = _digests(own[0])
        alike = sum(_digests(surface) == first for looks in self._seen.values() for surface in looks)
        return alike >= self._wanted

    def _repeat(self, circumstances: _Circumstances) -> None:
        """One more look under circumstances that the server is known to speak."""
        revision = circumstances.revision
        asked = (revision,) if revision in REVISIONS else HANDSHAKE
        shown = f"{revision}, {'with' if circumstances.capabilities else 'without'} client capabilities"
        surface = self._inspect(asked, circumstances.capabilities, shown)
        if surface.protocol_version != revision:
            raise CannotTell(
                "protocol-version",
                f"asked as before, it answers {surface.protocol_version} instead of {revision}",
            )
        self._seen.setdefault(circumstances, []).append(surface)

    def _try(self, revision: str) -> None:
        """One look at an older revision, if the server speaks it."""
        try:
            surface = self._inspect((revision,), (), revision)
        except CannotTell as error:
            if error.code not in _NOT_SPOKEN:
                raise
            self._notes.append(f"it does not speak {revision} ({error.code})")
            return
        self._seen.setdefault(_Circumstances(str(surface.protocol_version)), []).append(surface)

    def _inspect(self, revisions: tuple[str, ...], capabilities: tuple[str, ...], shown: str) -> Surface:
        self._count += 1
        self._progress(f"look {self._count}: {shown}")
        surface = (
            self._elsewhere(revisions, capabilities) if self._count % 2 == 0 and self._can_move else None
        )
        if surface is None:
            surface = inspect(
                self._source,
                revisions=revisions,
                capabilities=capabilities,
                limits=self._limits,
                variables=self._variables(),
            )
        lacking = sorted(kind for kind in Kind if kind not in surface.inspected)
        if lacking:
            raise CannotTell(
                "listing-refused",
                f"a surface without its {lacking[0]} listing cannot be published: {'; '.join(surface.notes)}",
                remedy="let the server answer the listing that it advertises, or advertise none",
            )
        self._notes.extend(surface.notes)
        return surface

    def _elsewhere(self, revisions: tuple[str, ...], capabilities: tuple[str, ...]) -> Surface | None:
        """A look from an empty directory; None if the server does not come up there."""
        assert isinstance(self._source, CommandSource)  # noqa: S101 - only a process has a directory
        moved = replace(self._source, argv=with_absolute_paths(self._source.argv, self._source.directory))
        with tempfile.TemporaryDirectory(prefix="toolnotary-", ignore_cleanup_errors=True) as folder:
            try:
                return inspect(
                    moved,
                    revisions=revisions,
                    capabilities=capabilities,
                    limits=self._limits,
                    variables=self._variables(),
                    directory=Path(folder),
                )
            except CannotTell as error:
                if error.code not in ("server-ended", "server-start", "no-answer"):
                    raise
        if self._count == 2:  # the server came up at home just before
            self._can_move = False
            self._notes.append("it starts only in its own directory, so no other was tried")
        return None

    def _variables(self) -> dict[str, str]:
        handed = isinstance(self._source, CommandSource) and "PYTHONHASHSEED" in self._source.handed
        return {} if handed else {"PYTHONHASHSEED": str(self._count)}


def _older(revision: str) -> tuple[str, ...]:
    return REVISIONS[REVISIONS.index(revision) + 1 :] if revision in REVISIONS else ()


def _digests(surface: Surface) -> Mapping[tuple[Kind, str], Digest]:
    return {key: definition.digest for key, definition in surface.definitions.items()}
