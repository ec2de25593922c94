# SPDX-License-Identifier: Apache-2.0
"""How pins move, by a person's word: what was shown is accepted, or what was accepted is withdrawn.

Pins move by an approval or by a signed manifest that policy accepts, and by nothing else (DESIGN: state).
Which move an approval makes is decided here; the caller shows it, asks, and applies it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest, JsonObject
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import Entry, Lockfile, SignedEntry, UnsignedEntry
from toolnotary_verifier.moves import Move, Signed, pin_signed, pin_surface
from toolnotary_verifier.overrides import Override
from toolnotary_verifier.pinning import verify_entry
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import NEVER_APPROVED, Aspect, Judgement, Outcome, Reason

_SIGNER = "name the signer's key in your policy, or: toolnotary lock NAME@VERSION --key PUB -- COMMAND"
# What leads on where no approval does.
_INSTEAD = {
    Reason.IDENTITY: "another launch is another server: toolnotary lock --server NAME -- COMMAND pins it",
    Reason.MIXED: "the listing is no single version of the server; ask its publisher",
    Reason.SIGNER_UNKNOWN: _SIGNER,
    Reason.PENDING: "wait until the look-up is done",
}


def accept(
    project: Project,
    surface: Surface,
    judgement: Judgement,
    *,
    launch: Launch,
    candidates: Sequence[Signed] = (),
) -> Move:
    """The move that makes a judged surface the pinned one, once a person agrees.

    Args:
        project: the files.
        surface: what was judged.
        judgement: the judgement that the person was shown.
        launch: how the server is started or reached.
        candidates: the signed manifests that were offered to `decide`.

    Raises:
        Refused: `not-approvable` where no approval helps, `nothing-to-approve`.
    """
    reasons = {verdict.reason for verdict in judgement.verdicts}
    for reason in (reason for reason in Reason if reason in NEVER_APPROVED & reasons):
        raise Refused("not-approvable", f"{reason} cannot be approved", remedy=_INSTEAD[reason])
    changed = [v for v in judgement.objections if v.live is not None]
    about = [v for v in judgement.changes if isinstance(v.kind, Aspect)]
    if not changed and not about and judgement.outcome is not Outcome.DRIFT:
        raise Refused("nothing-to-approve", f"{escape(judgement.server, limit=120)} shows what is pinned")
    if any(v.live in project.policy.revoked for v in changed):
        raise Refused("revoked", "the policy revokes what the server shows", remedy="change the policy first")
    return _moved(project, surface, judgement, launch=launch, candidates=candidates)


def _moved(
    project: Project,
    surface: Surface,
    judgement: Judgement,
    *,
    launch: Launch,
    candidates: Sequence[Signed],
) -> Move:
    before = project.lockfile.entry(judgement.server, launch.identity)
    objections = judgement.objections
    reasons = {verdict.reason for verdict in objections if verdict.live is not None}
    offered = next((c for c in candidates if c.verified.manifest.digest == judgement.offered), None)
    if offered is not None and reasons:
        return pin_signed(project, offered, launch=launch, allow_older=True)
    if isinstance(before, SignedEntry):
        if reasons & {Reason.ROLLBACK, Reason.SIGNER_CHANGED}:
            return pin_signed(
                project, _stored(project, before), launch=launch, profiles=before.profiles, allow_older=True
            )
        if reasons == {Reason.PROFILE_CHANGED} and judgement.profile is not None:
            profiles = (*before.profiles, judgement.profile)
            return pin_signed(project, _stored(project, before), launch=launch, profiles=profiles)
        if reasons == {Reason.REVOKED}:
            return _restored(before, launch, judgement)
        if not reasons and judgement.outcome is not Outcome.DRIFT:
            raise Refused(
                "not-approvable",
                "the server says something else of itself than its publisher signed, "
                "and an approval would give up the signature of its definitions",
                remedy="the definitions work as they are; ask the publisher for a version that says this",
            )
    return pin_surface(surface, server=judgement.server, launch=launch, before=before)


def _stored(project: Project, entry: SignedEntry) -> Signed:
    """The signed manifest that an entry pins, verified again."""
    verified, bundle = verify_entry(project, entry, at=datetime.now(UTC)), project.objects.get(entry.bundle)
    if verified is None or bundle is None:
        raise Refused("not-approvable", "signer-unknown cannot be approved", remedy=_SIGNER)
    return Signed(verified=verified, bundle=bundle)


def _restored(entry: SignedEntry, launch: Launch, judgement: Judgement) -> Move:
    """The entry as it is, what was withdrawn of it accepted again."""
    pins = [
        (verdict.kind, verdict.name, verdict.live)
        for verdict in judgement.objections
        if isinstance(verdict.kind, Kind) and verdict.live is not None
    ]
    again = history.accepted_manifest(
        entry.server, launch.digest, manifest=entry.manifest, sequence=entry.sequence, signer=entry.signer
    )
    return Move(entry=entry, events=(history.accepted(entry.server, launch.digest, pins), again), objects=())


def declined(server: str, change_set: Digest, move: Move | None) -> list[JsonObject]:
    """What is recorded of a no, so that what was declined is known by whatever it is offered as.

    Args:
        server: the server's name.
        change_set: what a person was shown.
        move: what a yes would have done; None where it could have done nothing.
    """
    # A no to a signed version is a no to it wherever else it is offered; `lock` knows it by its manifest.
    signed = {move.entry.manifest} if move is not None and isinstance(move.entry, SignedEntry) else set()
    return [history.declined(server, no) for no in sorted({change_set, *signed})]


def withdraw(project: Project, server: str, *, name: str | None = None) -> Project:
    """Take back what was accepted of a server, all of it or every definition of one name.

    The entry, or the pin, leaves the lockfile; a signed entry stays where only one name is withdrawn, and
    state alone keeps that name out. Both are written under one lock, and what is withdrawn is what the
    lockfile pins then: what another process pins at the same time is either withdrawn too or comes later.

    Args:
        project: the files.
        server: the server's name.
        name: a tool, prompt, resource or template; None for everything.

    Raises:
        Refused: `not-pinned`.
        ConfigurationError: `file-not-writable`.
        InvalidInput, CannotTell: a signed entry's manifest cannot be read.
    """
    entries = project.lockfile.named(server)
    digests = {digest for entry in entries for digest in _digests(project, entry, name)}
    digests |= {one.digest for _, one in _overrides(project, server, name)}
    if not digests:
        what = server if name is None else f"{name} of {server}"
        where = escape(str(project.lockfile_path), limit=300)
        raise Refused(
            "not-pinned",
            f"{escape(what, limit=200)} is not pinned in {where}",
            remedy="toolnotary status lists what is pinned",
        )
    lockfile = project.lockfile

    def is_moved(_known: history.History) -> bool:
        nonlocal lockfile
        lockfile = Lockfile.load(project.lockfile_path)
        return lockfile.named(server) != entries

    def unpin() -> None:
        nonlocal lockfile
        before, lockfile = lockfile, _without(lockfile, entries, name)
        if lockfile != before:
            lockfile.save(project.lockfile_path, root=project.root)

    is_recorded = project.state.append(history.revoked(server, digests), unless=is_moved, then=unpin)
    project = project._replace(lockfile=lockfile)
    return project if is_recorded else withdraw(project, server, name=name)


def _without(lockfile: Lockfile, entries: Sequence[Entry], name: str | None) -> Lockfile:
    for entry in entries:
        if name is None:
            lockfile = lockfile.without_entry(entry)
        elif isinstance(entry, UnsignedEntry):
            left = tuple(pin for pin in entry.pins if pin.name != name)
            lockfile = lockfile.with_entry(entry._replace(pins=left))
    return lockfile


def _digests(project: Project, entry: Entry, name: str | None) -> set[Digest]:
    if isinstance(entry, UnsignedEntry):
        return {pin.exact for pin in entry.pins if name in (None, pin.name)}
    if name is None:
        return {entry.manifest}
    from toolnotary_verifier.manifest import Manifest

    content = project.objects.get(entry.manifest)
    if content is None:
        raise CannotTell("object-missing", f"the manifest {entry.manifest} is not beside the lockfile")
    found = Manifest.parse(content, limits=project.policy.limits).digests()
    return {digest for (_, named), held in found.items() if named == name for digest in held}


def _overrides(project: Project, server: str, name: str | None) -> list[tuple[Digest, Override]]:
    """What passes for a while under each launch, whether or not its time is up."""
    return [
        (launch, one)
        for (owner, launch), held in project.state.history.overrides.items()
        for one in held.values()
        if owner == server and name in (None, one.name)
    ]


def end_overrides(project: Project, server: str, *, name: str | None = None) -> list[Override]:
    """End what passes by break-glass, and leave the pins as they are; returns what was ended.

    Args:
        project: the files.
        server: the server's name.
        name: a tool, prompt or resource; None for everything.

    Raises:
        Refused: `no-override`.
        ConfigurationError: `file-not-writable`.
        InvalidInput: `state-corrupt`.
    """
    found = _overrides(project, server, name)
    if not found:
        raise Refused("no-override", f"nothing of {escape(server, limit=200)} passes by break-glass")
    for launch, one in found:
        end_override(project, server, launch, one)
    return [one for _, one in found]


def end_override(project: Project, server: str, launch: Digest, override: Override) -> bool:
    """Record that an override is over; False where somebody else did before.

    Raises:
        ConfigurationError: `file-not-writable`.
        InvalidInput: `state-corrupt`.
    """

    def is_over(known: history.History) -> bool:
        held = known.overrides.get((server, launch), {}).get(override.pinned)
        return held is None or held.since > override.since

    event = history.override_ended(server, launch, [override.pinned], since=override.since)
    return project.state.append(event, unless=is_over)
