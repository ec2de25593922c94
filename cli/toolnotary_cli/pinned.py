# SPDX-License-Identifier: Apache-2.0
"""What a lockfile pins a server to, as surfaces: `LOCKFILE#SERVER`. Nothing is judged or trusted here."""

from pathlib import Path

from toolnotary_cli import places
from toolnotary_cli.subject import ALONE, Subject, of_contents
from toolnotary_cli.wording import enumerated
from toolnotary_verifier.canonical import Digest, parse
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.lockfile import Lockfile, SignedEntry, UnsignedEntry
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.surface import Surface


def pinned_subject(path: Path, raw: bytes, part: str | None, limits: Limits) -> Subject:
    """What the lockfile `raw` pins a server to, from the objects that lie beside it.

    Args:
        path: where the lockfile lies.
        raw: its bytes.
        part: the server's name, or SERVER#PROFILE where no server has that name.
        limits: bounds on manifests and definitions.

    Raises:
        ConfigurationError: `source-part`, if the lockfile does not pin that server exactly once, or the
            server's manifest has no such profile.
        InvalidInput: `lockfile-*`; an object or manifest that is not valid.
        CannotTell: `text-missing`, if the pinned text is not beside the lockfile.
    """
    lockfile = Lockfile.parse(raw, where=escape(str(path), limit=300))
    where = escape(str(path), limit=200)
    names = enumerated(entry.server for entry in lockfile.entries) or "nothing"
    if part is None:
        raise ConfigurationError(
            "source-part",
            f"{where} is a lockfile, and one server of it is needed",
            remedy=f"say FILE#SERVER; it pins {names}",
        )
    server, profile = _named(lockfile, part)
    label = f"{where}#{escape(server, limit=80)}"
    entries = lockfile.named(server)
    if len(entries) != 1:
        how = f"under {len(entries)} launches" if entries else "nowhere in it"
        raise ConfigurationError("source-part", f"{label} is pinned {how}", remedy=f"it pins {names}")
    objects = Objects(places.objects_folder(path.absolute()))
    entry = entries[0]
    if isinstance(entry, SignedEntry):
        return _signed(entry, objects, label, profile, limits)
    if profile is not None:
        raise ConfigurationError(
            "source-part",
            f"{label} is pinned without a signature, and so without the profile {escape(profile, limit=80)}",
            remedy=f"say {label}",
        )
    return Subject(label=label, surfaces={ALONE: _unsigned(entry, objects, label, limits)})


def _named(lockfile: Lockfile, part: str) -> tuple[str, str | None]:
    """Server and profile that `part` names; a server's own name, whatever is in it, goes before."""
    server, mark, profile = part.rpartition("#")
    if mark and not lockfile.named(part) and lockfile.named(server):
        return server, profile
    return part, None


def _signed(entry: SignedEntry, objects: Objects, label: str, profile: str | None, limits: Limits) -> Subject:
    from toolnotary_verifier.manifest import Manifest

    manifest = Manifest.parse(_content(objects, entry.manifest, label), limits=limits)
    whole = of_contents(label, manifest, sequence=entry.sequence, signer=entry.signer)
    kept = {name: surface for name, surface in whole.surfaces.items() if name in entry.profiles}
    if not kept:
        raise InvalidInput(
            "profile-unknown",
            f"{label}: the pinned manifest has none of the profiles that the lockfile accepts",
            remedy="restore the lockfile from version control",
        )
    return whole._replace(surfaces=kept).only(profile)


def _unsigned(entry: UnsignedEntry, objects: Objects, label: str, limits: Limits) -> Surface:
    definitions: dict[tuple[Kind, str], Definition] = {}
    for pin in entry.pins:
        value = parse(_content(objects, pin.exact, label), max_bytes=limits.definition_bytes)
        definitions[pin.key] = Definition.of(pin.kind, value, limits=limits)
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
