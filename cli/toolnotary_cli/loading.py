# SPDX-License-Identifier: Apache-2.0
"""Reading a SOURCE: a command, a URL, a published version, or files."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli.reading import about
from toolnotary_cli.source import STANDARD_INPUT, Command, Published, Saved, Source, Url, looks_published
from toolnotary_cli.subject import ALONE, Subject, of_contents
from toolnotary_verifier.canonical import parse_message
from toolnotary_verifier.errors import CannotTell, ConfigurationError, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.manifest import Contents
    from toolnotary_verifier.surface import Surface


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
        return _published(source, registry, offline=offline, limits=limits)
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


def _published(source: Published, registry: str | None, *, offline: bool, limits: Limits) -> Subject:
    from toolnotary_cli.registries import no_registry
    from toolnotary_verifier.fetch import Registry

    if registry is None:
        raise no_registry(f"the registry that has {_name(source)}")
    client = Registry(registry, offline=offline, limits=limits)
    try:
        return _fetched(client, source, limits)
    except Refused as error:
        # A version may hold a #: what follows the last one is a profile only where no version is called so.
        version, mark, profile = source.version.rpartition("#")
        if error.code != "not-in-registry" or not mark or not version:
            raise
        return _fetched(client, source._replace(version=version), limits).only(profile)


def _fetched(client: "Registry", version: Published, limits: Limits) -> Subject:
    from toolnotary_verifier.manifest import Manifest

    found = client.manifest(version.server, version.version)
    return of_contents(_name(version), Manifest.parse(found.manifest, limits=limits))


def _name(version: Published) -> str:
    return f"{version.server}@{escape(version.version, limit=80)}"


def _label(name: str) -> str:
    """How to call files; what is written like a published version is told to be none."""
    label = escape(name, limit=200)
    if not looks_published(name):
        return label
    from toolnotary_cli.telling import say

    say(f"{label} is read as the file of that name, and not as a version in a registry")
    return f"file ./{label}"


def _saved(source: Saved, limits: Limits) -> Subject:
    label = _label("+".join(map(str, source.paths)))
    contents = [_read(path, limits) for path in source.paths]
    locked = _lockfile(source, contents[0], limits) if len(contents) == 1 else None
    if locked is not None:
        return locked
    found = None
    if len(contents) == 1:
        with about(_called(source.paths[0])):
            found = _manifest(source, label, contents[0], limits)
    if found is not None:
        return found
    if source.part is not None:
        raise ConfigurationError(
            "source-part",
            f"{label} is neither a manifest nor a lockfile: it has no part {escape(source.part, limit=80)}",
            remedy="give the file without # and what follows it",
        )
    return Subject(label=label, surfaces={ALONE: _answers(source.paths, contents, label, limits)})


def _answers(paths: Sequence[Path], contents: Sequence[bytes], label: str, limits: Limits) -> "Surface":
    """The surface of saved answers; what is wrong with one of several files is told of that one."""
    from toolnotary_verifier.saved import Answers

    answers = Answers(limits=limits)
    for path, raw in zip(paths, contents, strict=True):
        with about(_called(path)):
            answers.add(raw)
    with about(_called(paths[0]) if len(paths) == 1 else label):
        return answers.surface()


def _called(path: Path) -> str | Path:
    return "standard input" if path == STANDARD_INPUT else path


def _read(path: Path, limits: Limits) -> bytes:
    """At most one byte more than is parsed, so that the parser can say that there is too much."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read(limits.frame_bytes + 1)
    with path.open("rb") as file:
        return file.read(limits.frame_bytes + 1)


def _manifest(source: Saved, label: str, raw: bytes, limits: Limits) -> Subject | None:
    """The manifest in `raw`, or None if it does not claim to be one; the cheap test spares a second parse."""
    if b"https://toolnotary.dev/manifest/" not in raw:
        return None
    document = parse_message(raw, max_bytes=limits.frame_bytes)
    schema = document.get("schema") if isinstance(document, dict) else None
    if (
        not isinstance(document, dict)
        or not isinstance(schema, str)
        or not schema.startswith("https://toolnotary.dev/manifest/")
    ):
        return None
    from toolnotary_verifier.manifest import Manifest, UnnamedManifest

    kind = Manifest if "server" in document else UnnamedManifest
    found: Contents = kind.parse(raw, limits=limits)
    return of_contents(label, found).only(source.part)


def _lockfile(source: Saved, raw: bytes, limits: Limits) -> Subject | None:
    """What one server of the lockfile in `raw` is pinned to, or None if it does not begin like a lockfile."""
    if b"https://toolnotary.dev/lockfile/" not in raw.split(b"\n", 1)[0]:
        return None
    from toolnotary_cli.pinned import pinned_subject

    return pinned_subject(source.paths[0], raw, source.part, limits)
