# SPDX-License-Identifier: Apache-2.0
"""How a pin comes into being: from a signed manifest, or from what a server shows.

A `Move` says what would be written, and writes it when it is applied: what a person confirmed is what is
pinned, whatever the server says by then. Nothing here asks; the caller does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest, JsonObject
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import Entry, Lockfile, Pin, SignedEntry, UnsignedEntry
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.pins import capabilities_digest, server_info_digest
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.verify import VerifiedManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A verified manifest together with the bundle that proves it, as they are stored."""

    verified: "VerifiedManifest"
    bundle: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What would be written.

    Attributes:
        entry: the entry that the lockfile would hold.
        events: what the user's state would record.
        objects: what would be stored beside the lockfile.
        notes: escaped lines that the person should read before agreeing.
    """

    entry: Entry
    events: tuple[JsonObject, ...]
    objects: tuple[bytes, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def apply(
        self,
        project: Project,
        *,
        texts: bool = True,
        unless: Callable[[history.History], bool] | None = None,
    ) -> Project:
        """Write it: objects, then state, then lockfile; an interruption leaves stricter files, never laxer.

        What other processes pinned meanwhile stays: state and lockfile are written under one lock, and the
        lockfile is read again under it.

        Args:
            project: the files.
            texts: whether the objects go beside the lockfile; else into the user's own folder only.
            unless: asked under that lock about what is recorded by then; True moves nothing.

        Raises:
            Refused: `decided-meanwhile`, by `unless`.
            ConfigurationError: `file-not-writable`.
            Refused: `leads-outside`; nothing was written.
            InvalidInput: `state-corrupt`.
        """
        store = project.objects if texts else Objects(project.own_objects)
        for content in self.objects:
            store.put(content)
        moved = project

        def pin() -> None:
            nonlocal moved
            lockfile = Lockfile.load(project.lockfile_path).with_entry(self.entry)
            lockfile.save(project.lockfile_path, root=project.root)
            moved = project._replace(lockfile=lockfile)

        if not project.state.append(*self.events, unless=unless, then=pin):
            raise Refused(
                "decided-meanwhile",
                f"another process decided about {escape(self.entry.server, limit=120)} in the meantime",
                remedy="look at what is pinned now: toolnotary status",
            )
        return moved


def pin_signed(
    project: Project,
    signed: Signed,
    *,
    launch: Launch,
    profiles: Iterable[str] = (),
    allow_older: bool = False,
) -> Move:
    """Pin a server to a signed manifest.

    Args:
        project: the files.
        signed: what `verify_publish` proved.
        launch: how the server is started or reached.
        profiles: which profiles of the manifest are accepted; all of them if none is named.
        allow_older: accept a lower sequence or another signer than before: only after a person agreed.

    Raises:
        Refused: `identity`, `rollback`, `signer-changed`, `revoked`.
        InvalidInput: `profile-unknown`.
    """
    verified = signed.verified
    manifest, signer = verified.manifest, verified.signer.identity
    version = escape(manifest.version, limit=80)
    chosen = tuple(sorted(set(profiles) or manifest.profiles))
    unknown = [name for name in chosen if name not in manifest.profiles]
    if unknown:
        raise InvalidInput(
            "profile-unknown",
            f"the manifest has no profile {escape(unknown[0], limit=80)}",
            remedy=f"it has {', '.join(sorted(manifest.profiles))}",
        )
    if not launch.belongs_to(manifest):
        raise Refused(
            "identity",
            f"{launch.display} is no artifact or remote of {manifest.server}@{version}",
            remedy="check the launch line, or ask the publisher to name this artifact in the manifest",
        )
    if manifest.digest in project.policy.revoked:
        raise Refused("revoked", f"the policy revokes the manifest {manifest.digest}")
    if not allow_older:
        _not_backwards(project, verified)
    entry = SignedEntry(
        server=manifest.server,
        launch=launch.identity,
        recorded=launch.recorded,
        version=manifest.version,
        sequence=verified.sequence,
        signer=signer,
        manifest=manifest.digest,
        bundle=Digest.of(signed.bundle),
        profiles=chosen,
    )
    event = history.accepted_manifest(
        manifest.server, launch.digest, manifest=manifest.digest, sequence=verified.sequence, signer=signer
    )
    return Move(entry=entry, events=(event,), objects=(manifest.canonical, signed.bundle))


def _not_backwards(project: Project, verified: "VerifiedManifest") -> None:
    server = verified.manifest.server
    signer, sequence = project.state.signer_of(server), project.state.highest_sequence(server)
    if signer is not None and signer != verified.signer.identity:
        raise Refused(
            "signer-changed",
            f"{server} is signed by {verified.signer.identity}, accepted was {signer}",
            remedy="if the publisher confirms the new key elsewhere, toolnotary approve can accept it",
        )
    if sequence is not None and verified.sequence < sequence:
        raise Refused(
            "rollback",
            f"{server} has sequence {verified.sequence}, accepted was {sequence}",
            remedy="pin a newer version; toolnotary approve can accept an older one",
        )


def pin_surface(surface: Surface, *, server: str, launch: Launch, before: Entry | None = None) -> Move:
    """Pin a server to what it shows, without anybody's signature.

    Args:
        surface: what it shows; entries that are no definitions are pinned by nothing.
        server: the name that the user gives it.
        launch: how it is started or reached.
        before: the entry that is moved; what it pins and the server does not show now stays pinned.

    Raises:
        Refused: `empty-surface`.
    """
    if not surface.definitions:
        raise Refused(
            "empty-surface",
            "the server shows nothing that could be pinned",
            remedy="an empty listing would make everything that comes later an addition; look at the server",
        )
    kept = before.pins if isinstance(before, UnsignedEntry) else ()
    pins = {pin.key: pin for pin in kept} | {live.key: _pin(live) for live in surface.definitions.values()}
    entry = UnsignedEntry(
        server=server,
        launch=launch.identity,
        recorded=launch.recorded,
        pins=tuple(pins[key] for key in sorted(pins)),
        server_info=_known(server_info_digest(surface.server_info), before, "server_info"),
        capabilities=_known(capabilities_digest(surface.capabilities), before, "capabilities"),
    )
    live = surface.definitions.values()
    event = history.accepted(server, launch.digest, [(one.kind, one.name, one.digest) for one in live])
    notes: tuple[str, ...] = ()
    if isinstance(before, SignedEntry):
        notes = (
            f"this replaces the signed pin of version {escape(before.version, limit=80)} by an unsigned one",
        )
    return Move(entry=entry, events=(event,), objects=tuple(one.canonical for one in live), notes=notes)


def _pin(definition: Definition) -> Pin:
    return Pin(definition.kind, definition.name, definition.digest, normal_digest(definition))


def _known(digest: Digest | None, before: Entry | None, member: str) -> Digest | None:
    """What a saved listing does not say is kept from the entry before."""
    if digest is None and isinstance(before, UnsignedEntry):
        return before.server_info if member == "server_info" else before.capabilities
    return digest
