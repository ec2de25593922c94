# SPDX-License-Identifier: Apache-2.0
"""Reading a SOURCE: the surfaces that it holds, one a profile where it is a manifest."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli.reading import about
from toolnotary_cli.source import STANDARD_INPUT, Command, Published, Saved, Source, Url
from toolnotary_cli.wording import counted, enumerated
from toolnotary_verifier.canonical import parse_message
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.manifest import Contents

Key = tuple[Kind, str]

# The profile of a source that knows of none: one surface, seen once.
ALONE: Final = ""
# The profile that a command names where it suggests one.
_DEFAULT: Final = "default"


class Subject(NamedTuple):
    """What a source holds.

    Attributes:
        label: how to call it, escaped, without secrets.
        surfaces: by profile; a single one under `ALONE` where the source has no profiles. Where a manifest
            has several definitions for one name, the surface holds one of them.
        variants: by profile of a manifest, every name with all of its definitions.
        part: the profile that was named; empty where none was.
    """

    label: str
    surfaces: Mapping[str, Surface]
    variants: Mapping[str, Mapping[Key, Sequence[Definition]]] = MappingProxyType({})
    part: str = ""

    @property
    def is_single(self) -> bool:
        """Whether one surface is meant: the source knows no profiles, or one of them was named."""
        return ALONE in self.surfaces or bool(self.part)

    def only(self, part: str | None) -> "Subject":
        """The source with the profile `part` alone; all of it where none is named.

        Raises:
            ConfigurationError: `source-part`, if there is no such profile.
        """
        if part is None:
            return self
        if part not in self.surfaces:
            raise ConfigurationError(
                "source-part",
                f"{self.label} has no profile {escape(part, limit=80)}",
                remedy=f"it has {enumerated(self.surfaces)}",
            )
        label = f"{self.label}#{part}"
        return self._replace(label=label, surfaces={part: self.surfaces[part]}, part=part)

    def one(self) -> Surface:
        """The surface of a source that is to hold a single one.

        Raises:
            ConfigurationError: `source-part`, naming the profiles that are there.
        """
        if len(self.surfaces) == 1:
            return next(iter(self.surfaces.values()))
        first = _DEFAULT if _DEFAULT in self.surfaces else min(self.surfaces)
        raise ConfigurationError(
            "source-part",
            f"{self.label} holds {counted(len(self.surfaces), 'profile')}, and one is needed: "
            f"{enumerated(self.surfaces)}",
            remedy=f"name one, such as {self.label}#{first}",
        )


def load(
    source: Source, *, registry: str | None = None, offline: bool = False, limits: Limits = DEFAULT_LIMITS
) -> Subject:
    """Read a source. A command is started: it stood on the command line, which is the person's word.

    Args:
        source: what to read.
        registry: the registry's URL, for a published version.
        offline: open no socket.
        limits: bounds on sizes and times.

    Raises:
        InvalidInput: what was read is not valid, or holds no surface.
        CannotTell: the server or registry could not be asked; `offline`.
        Refused: the registry has no such version.
        ConfigurationError: `no-registry`, `source-part`, or the file cannot be read.
    """
    if isinstance(source, Saved):
        return _saved(source, limits)
    if isinstance(source, Published):
        return _published(source, registry, offline=offline)
    return _live(source, offline=offline, limits=limits)


def _live(source: Command | Url, *, offline: bool, limits: Limits) -> Subject:
    from toolnotary_verifier.capture.inspection import inspect
    from toolnotary_verifier.capture.source import CommandSource, UrlSource

    if isinstance(source, Command):
        label = escape(Path(source.argv[0]).name, limit=80)
        given = CommandSource(argv=source.argv, contained=True)
        return Subject(label=label, surfaces={ALONE: inspect(given, limits=limits)})
    if offline:
        raise CannotTell("offline", "a URL cannot be asked offline", remedy="leave --offline out")
    from toolnotary_verifier.capture.endpoint import Endpoint

    label = escape(Endpoint.parse(source.url).shown, limit=200)
    return Subject(label=label, surfaces={ALONE: inspect(UrlSource(url=source.url), limits=limits)})


def _published(source: Published, registry: str | None, *, offline: bool) -> Subject:
    from toolnotary_cli.registries import no_registry
    from toolnotary_verifier.fetch import Registry

    if registry is None:
        raise no_registry(f"the registry that has {_name(source)}")
    client = Registry(registry, offline=offline)
    try:
        return _fetched(client, source)
    except Refused as error:
        # A version may hold a #: what follows the last one is a profile only where no version is called so.
        version, mark, profile = source.version.rpartition("#")
        if error.code != "not-in-registry" or not mark or not version:
            raise
        return _fetched(client, source._replace(version=version)).only(profile)


def _fetched(client: "Registry", version: Published) -> Subject:
    from toolnotary_verifier.manifest import Manifest

    found = client.manifest(version.server, version.version)
    return of_contents(_name(version), Manifest.parse(found.manifest))


def _name(version: Published) -> str:
    return f"{version.server}@{escape(version.version, limit=80)}"


def _saved(source: Saved, limits: Limits) -> Subject:
    label = escape("+".join(map(str, source.paths)), limit=200)
    contents = [_read(path, limits) for path in source.paths]
    locked = _lockfile(source, contents[0]) if len(contents) == 1 else None
    if locked is not None:
        return locked
    with about("standard input" if source.paths == (STANDARD_INPUT,) else label):
        return _understood(source, label, contents, limits)


def _understood(source: Saved, label: str, contents: list[bytes], limits: Limits) -> Subject:
    found = _manifest(source, label, contents[0]) if len(contents) == 1 else None
    if found is not None:
        return found
    if source.part is not None:
        raise ConfigurationError(
            "source-part",
            f"{label} is neither a manifest nor a lockfile: it has no part {escape(source.part, limit=80)}",
            remedy="give the file without # and what follows it",
        )
    from toolnotary_verifier.saved import read_saved

    return Subject(label=label, surfaces={ALONE: read_saved(contents, limits=limits)})


def _read(path: Path, limits: Limits) -> bytes:
    """At most one byte more than is parsed, so that the parser can say that there is too much."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read(limits.frame_bytes + 1)
    with path.open("rb") as file:
        return file.read(limits.frame_bytes + 1)


def _manifest(source: Saved, label: str, raw: bytes) -> Subject | None:
    """The manifest in `raw`, or None if it does not claim to be one; the cheap test spares a second parse."""
    if b"https://toolnotary.dev/manifest/" not in raw:
        return None
    document = parse_message(raw)
    schema = document.get("schema") if isinstance(document, dict) else None
    if (
        not isinstance(document, dict)
        or not isinstance(schema, str)
        or not schema.startswith("https://toolnotary.dev/manifest/")
    ):
        return None
    from toolnotary_verifier.manifest import Manifest, UnnamedManifest

    found: Contents = Manifest.parse(raw) if "server" in document else UnnamedManifest.parse(raw)
    return of_contents(label, found).only(source.part)


def of_contents(label: str, contents: "Contents") -> Subject:
    """The surfaces of a manifest, one a profile."""
    variants = {name: contents.profile(name) for name in sorted(contents.profiles)}
    surfaces = {}
    for name, held in variants.items():
        about = contents.profiles[name]
        surfaces[name] = Surface(
            definitions={key: found[0] for key, found in held.items()},
            inspected=frozenset(Kind),
            protocol_version=about.protocol_version,
            server_info=about.server_info,
            capabilities=about.capabilities,
        )
    return Subject(label=label, surfaces=surfaces, variants=variants)


def _lockfile(source: Saved, raw: bytes) -> Subject | None:
    """What one server of the lockfile in `raw` is pinned to, or None if it does not begin like a lockfile."""
    if b"https://toolnotary.dev/lockfile/" not in raw.split(b"\n", 1)[0]:
        return None
    from toolnotary_cli.pinned import pinned_subject

    return pinned_subject(source.paths[0], raw, source.part)
