# SPDX-License-Identifier: Apache-2.0
"""From files to pins: what of a lockfile counts for this user, and the judge that the gate asks.

A signed entry counts after its bundle verified under the user's policy; an unsigned one where the user's own
state accepted exactly that digest for that server under that launch. Name and launch are looked up together,
and nothing is read from anywhere but the files that the caller names (DESIGN: lockfile).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from toolnotary_verifier.canonical import Digest, parse
from toolnotary_verifier.decide import decide
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.errors import CannotTell, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.history import History, accepted_manifest, inspected
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.lockfile import Pin, SignedEntry, UnsignedEntry
from toolnotary_verifier.looks import Look
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.pins import Key, KnownProfile, PinnedDefinition, Pins, Standing
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement, Reason

if TYPE_CHECKING:
    from datetime import datetime

    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.overrides import Override
    from toolnotary_verifier.verify import VerifiedManifest

Judge = Callable[[Surface], Judgement]


def load_pins(
    project: Project, *, server: str, launch: "Launch | None", at: "datetime | None" = None
) -> Pins:
    """What `server` under `launch` is held to.

    Args:
        project: the files.
        server: the name that the user gave.
        launch: how it is started or reached; None for a saved listing, which is judged by name alone.
        at: now.

    Raises:
        InvalidInput: `object-corrupt`, or a manifest or bundle that is not valid.
        Refused: the bundle of a signed entry proves nothing (see `verify`).
        CannotTell: `object-missing` if a signed entry's manifest or bundle is not at hand,
            `launch-ambiguous`.
        ConfigurationError: `policy-key`.
    """
    entry = project.lockfile.entry(server, launch.identity) if launch else project.entry_named(server)
    unpinned = Pins(
        overrides=_overrides(project, server, launch, at),
        known=project.state.knows(server),
        revoked=project.state.revoked(server),
        signer=project.state.signer_of(server),
        sequence=project.state.highest_sequence(server),
    )
    if entry is None:
        others = project.lockfile.named(server) if launch else ()
        if launch and others:
            told = "; ".join(launch.differences(others[0].launch)) or "another launch"
            return unpinned._replace(standing=Standing(Reason.IDENTITY, told))
        return unpinned
    if isinstance(entry, UnsignedEntry):
        return _unsigned(project, entry, unpinned)
    from datetime import UTC, datetime

    return _signed(project, entry, unpinned, launch, at or datetime.now(UTC))


def _overrides(
    project: Project, server: str, launch: "Launch | None", at: "datetime | None"
) -> "tuple[Override, ...]":
    """What passes for a while by the user's own word, and by the policy that is in force."""
    history = project.state.history
    if launch is None or project.policy.forbids_overrides:
        return ()
    found = history.overrides.get((server, launch.digest))
    if not found:
        return ()
    from datetime import UTC, datetime

    from toolnotary_verifier.overrides import live

    most = project.policy.limits.override_seconds
    latest = project.state.latest if at is None else history.latest
    return live(found.values(), at=at or datetime.now(UTC), latest=latest, most=most)


def judge_for(
    project: Project,
    *,
    server: str,
    launch: "Launch | None",
    candidates: "Sequence[VerifiedManifest]" = (),
    at: "datetime | None" = None,
) -> Judge:
    """The judge of a connection to `server`: errors as `load_pins`, none when it judges."""
    pins = load_pins(project, server=server, launch=launch, at=at)
    policy = project.policy

    def judge(surface: Surface) -> Judgement:
        return decide(server, surface, pins, policy=policy, candidates=candidates)

    return judge


def _unsigned(project: Project, entry: UnsignedEntry, unpinned: Pins) -> Pins:
    place = entry.place
    accepted = [
        pin
        for pin in entry.pins
        if project.accept_project or project.state.accepts(*place, pin.kind, pin.name, pin.exact)
    ]
    rest = frozenset((pin.kind, pin.name, pin.exact) for pin in entry.pins if pin not in accepted)
    if not accepted:
        return unpinned._replace(unaccepted=rest)
    profile = KnownProfile(
        definitions=_by_key(project, accepted),
        server_info=entry.server_info,
        capabilities=entry.capabilities,
    )
    return unpinned._replace(profiles=(profile,), unaccepted=rest, known=True)


def _by_key(project: Project, pins: Iterable[Pin]) -> dict[Key, tuple[PinnedDefinition, ...]]:
    return {pin.key: (_pinned(project.objects, pin, project.policy.limits),) for pin in pins}


def _pinned(objects: Objects, pin: Pin, limits: Limits) -> PinnedDefinition:
    def text() -> Definition | None:
        content = objects.get(pin.exact)
        if content is None:
            return None
        value = parse(content, max_bytes=limits.definition_bytes, max_depth=limits.definition_depth)
        return Definition.of(pin.kind, value, limits=limits)

    return PinnedDefinition(pin.exact, lambda: pin.normal, text)


def _signed(
    project: Project, entry: SignedEntry, unpinned: Pins, launch: "Launch | None", at: "datetime"
) -> Pins:
    verified = verify_entry(project, entry, at=at)
    if verified is None:
        detail = f"signed by {escape(entry.signer, limit=100)}, whom no policy of yours names"
        return unpinned._replace(standing=Standing(Reason.SIGNER_UNKNOWN, detail))
    manifest, signer = verified.manifest, verified.signer.identity
    if launch is not None and not launch.belongs_to(manifest):
        detail = "what is started is no artifact or remote of the signed manifest"
        return unpinned._replace(standing=Standing(Reason.IDENTITY, detail))
    names = {name: name in entry.profiles for name in manifest.profiles}
    pins = unpinned._replace(
        profiles=tuple(KnownProfile.of(manifest, name) for name, pinned in names.items() if pinned),
        others=tuple(KnownProfile.of(manifest, name) for name, pinned in names.items() if not pinned),
        signer=unpinned.signer or signer,
        sequence=max(unpinned.sequence or 0, verified.sequence),
        known=True,
        unrecorded=not unpinned.known and not project.accept_project,
    )
    if pins.signer != signer:
        detail = f"signed by {signer}, accepted was {pins.signer}"
        return pins._replace(standing=Standing(Reason.SIGNER_CHANGED, detail))
    if unpinned.sequence is not None and verified.sequence < unpinned.sequence:
        detail = f"the lockfile pins sequence {verified.sequence}, accepted was {unpinned.sequence}"
        return pins._replace(standing=Standing(Reason.ROLLBACK, detail))
    return pins


def verify_entry(project: Project, entry: SignedEntry, *, at: "datetime") -> "VerifiedManifest | None":
    """What a signed entry's bundle proves under the user's policy; None if policy names no such signer.

    Raises:
        InvalidInput, Refused, CannotTell, ConfigurationError: see `load_pins`.
    """
    from toolnotary_verifier.verify import verify_publish

    manifest, bundle = _object(project, entry.manifest, "manifest"), _object(project, entry.bundle, "bundle")
    trusted = project.trusted(entry.server)
    try:
        verified = verify_publish(
            manifest,
            bundle,
            trusted=trusted,
            at=at,
            server=entry.server,
            version=entry.version,
            already_pinned=project.accept_project
            or project.state.accepts_manifest(*entry.place, entry.manifest),
            limits=project.policy.limits,
        )
    except Refused as error:
        if error.code == "unknown-key":
            return None
        raise
    said = (entry.sequence, entry.signer)
    if said != (verified.sequence, verified.signer.identity) or not {*entry.profiles} <= {
        *verified.manifest.profiles
    }:
        raise Refused(
            "lockfile-mismatch",
            f"the lockfile's entry of {escape(entry.server, limit=120)} does not say what its bundle proves",
            remedy="restore the lockfile from version control, or pin the server again",
        )
    return verified


def _object(project: Project, digest: Digest, what: str) -> bytes:
    content = project.objects.get(digest)
    if content is None:
        raise CannotTell(
            "object-missing",
            f"the {what} {digest} is not in {escape(str(project.objects.folder), limit=300)}",
            remedy="commit .toolnotary/objects with the lockfile, or pin the version from the registry again",
        )
    return content


def remember(project: Project, *, server: str, launch: "Launch") -> None:
    """Record that a signed entry is in use, so that no older one can take its place (`rollback`).

    For an entry that `load_pins` found to count, and that came with a checkout rather than by `lock`. Its
    acceptance is the user's policy. What was withdrawn stays so; once recorded, nothing is written again.

    Args:
        project: the files.
        server: the server's name.
        launch: how it is started or reached.

    Raises:
        ConfigurationError: `file-not-writable`.
        InvalidInput: `state-corrupt`.
    """
    entry = project.lockfile.entry(server, launch.identity)
    if not isinstance(entry, SignedEntry) or project.state.accepts_manifest(*entry.place, entry.manifest):
        return
    event = accepted_manifest(
        server, launch.digest, manifest=entry.manifest, sequence=entry.sequence, signer=entry.signer
    )

    def decided(known: History) -> bool:
        # Another process may have accepted a newer one meanwhile, or withdrawn this one.
        newer = known.sequences.get(server, 0) > entry.sequence
        return newer or entry.manifest in known.withdrawn.get(server, ())

    project.state.append(event, unless=decided)


def record_outcome(project: Project, judgement: Judgement, *, server: str, launch: "Launch") -> bool:
    """Remember in which state a server was seen, for `status` and `explain`; the same again writes nothing.

    Args:
        project: the files.
        judgement: what was decided.
        server: its name.
        launch: how it was started or reached.

    Returns:
        Whether it was seen otherwise before.

    Raises:
        ConfigurationError: `file-not-writable`.
        InvalidInput: `state-corrupt`.
    """
    return record_look(project, Look.of(judgement), server=server, launch=launch)


def record_look(project: Project, look: Look, *, server: str, launch: "Launch") -> bool:
    """As `record_outcome`, of a look that may have ended without a judgement."""
    place = (server, launch.digest)

    def seen(known: History) -> bool:
        last = known.looks.get(place)
        return last is not None and last._replace(at="") == look

    return project.state.append(inspected(server, launch.digest, look), unless=seen)
