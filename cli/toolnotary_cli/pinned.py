# SPDX-License-Identifier: Apache-2.0
"""What a lockfile pins a server to, as surfaces: `LOCKFILE#SERVER`. Nothing is judged or trusted here."""

from collections.abc import Mapping
from pathlib import Path

from toolnotary_cli import places
from toolnotary_cli.subject import ALONE, Subject, of_contents
from toolnotary_verifier.canonical import Digest, parse
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.lockfile import Lockfile, SignedEntry, UnsignedEntry
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.surface import Surface


def pinned_subject(path: Path, raw: bytes, server: str | None) -> Subject:
    """What the lockfile `raw` pins `server` to, from the objects that lie beside it.

    Args:
        path: where the lockfile lies.
        raw: its bytes.
        server: the server's name.

    Raises:
        ConfigurationError: `source-part`, if the lockfile does not pin that server exactly once.
        InvalidInput: `lockfile-*`; an object or manifest that is not valid.
        CannotTell: `text-missing`, if the pinned text is not beside the lockfile.
    """
    lockfile = Lockfile.parse(raw, where=escape(str(path), limit=300))
    names = ", ".join(sorted({escape(entry.server, limit=80) for entry in lockfile.entries})) or "nothing"
    if server is None:
        raise ConfigurationError(
            "source-part", "a lockfile holds several surfaces", remedy=f"say FILE#SERVER; it pins {names}"
        )
    label = f"{escape(str(path), limit=200)}#{escape(server, limit=80)}"
    entries = lockfile.named(server)
    if len(entries) != 1:
        raise ConfigurationError(
            "source-part", f"{label} is pinned {len(entries)} times", remedy=f"it pins {names}"
        )
    objects = Objects(places.objects_folder(path.absolute()))
    entry = entries[0]
    if isinstance(entry, UnsignedEntry):
        return Subject(label=label, surfaces={ALONE: _unsigned(entry, objects, label)})
    return _signed(entry, objects, label)


def _signed(entry: SignedEntry, objects: Objects, label: str) -> Subject:
    from toolnotary_verifier.manifest import Manifest

    whole = of_contents(label, Manifest.parse(_content(objects, entry.manifest, label)), None)
    kept = {name: surface for name, surface in whole.surfaces.items() if name in entry.profiles}
    return whole._replace(surfaces=kept)


def _unsigned(entry: UnsignedEntry, objects: Objects, label: str) -> Surface:
    definitions: Mapping[tuple[Kind, str], Definition] = {
        pin.key: Definition.of(pin.kind, parse(_content(objects, pin.exact, label))) for pin in entry.pins
    }
    return Surface(definitions=definitions, inspected=frozenset(Kind))


def _content(objects: Objects, digest: Digest, label: str) -> bytes:
    content = objects.get(digest)
    if content is None:
        raise CannotTell(
            "text-missing",
            f"{label}: the text of {digest} is not beside the lockfile",
            remedy="fetch .toolnotary/objects, or compare with name@version in a registry",
        )
    return content
