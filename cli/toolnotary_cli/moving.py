# SPDX-License-Identifier: Apache-2.0
"""Moving a pinned server to a version that a person named: what that would change, and the move itself."""

from typing import TYPE_CHECKING, NamedTuple

from toolnotary_cli.changes import Changes, changes_of
from toolnotary_cli.offers import named_version
from toolnotary_cli.output import shown
from toolnotary_cli.proposal import signed_lines
from toolnotary_cli.source import Published
from toolnotary_verifier.decide import decide
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.lockfile import SignedEntry
from toolnotary_verifier.moves import pin_signed
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.manifest import Manifest
    from toolnotary_verifier.moves import Move
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.verdict import Judgement


class Proposal(NamedTuple):
    """A move, and what a person is shown before it.

    Attributes:
        move: what is applied after a yes.
        surface: what the version shows, in the profile that is compared.
        judgement: that surface, judged by what is pinned now.
        changes: everything that changes.
        signed: lines about its signature.
    """

    move: "Move"
    surface: Surface
    judgement: "Judgement"
    changes: Changes
    signed: tuple[str, ...]


def to_version(
    project: "Project",
    entry: "Entry",
    launch: "Launch",
    version: Published,
    *,
    registry: str | None,
    offline: bool,
) -> Proposal:
    """What moving `entry` to a published version of its server would do.

    Raises:
        Refused: `other-server`, `nothing-to-approve`, and what keeps the version from being pinned.
        ConfigurationError, CannotTell, InvalidInput: see `named_version`.
    """
    if version.server != entry.server:
        raise Refused(
            "other-server",
            f"got a version of {shown(version.server)}, expected one of {shown(entry.server)}",
            remedy="pin the other one: "
            + command("lock", f"{version.server}@{version.version}", behind="-- COMMAND"),
        )
    trusted = project.trusted(entry.server)
    signed = named_version(project, version, registry=registry, offline=offline, trusted=trusted)
    manifest = signed.verified.manifest
    move = pin_signed(project, signed, launch=launch, allow_older=True)
    if isinstance(entry, SignedEntry) and entry.manifest == manifest.digest:
        raise Refused("nothing-to-approve", f"{shown(entry.server)} is pinned to this version")
    kept = [name for name in _profiles(entry) if name in manifest.profiles]
    surface = _surface(manifest, (kept or sorted(manifest.profiles))[0])
    pins = load_pins(project, server=entry.server, launch=launch)._replace(overrides=())
    judgement = decide(entry.server, surface, pins, policy=project.policy, candidates=[signed.verified])
    changes = changes_of(surface, judgement, pins)
    return Proposal(move, surface, judgement, changes, tuple(signed_lines(signed)))


def _profiles(entry: "Entry") -> tuple[str, ...]:
    return entry.profiles if isinstance(entry, SignedEntry) else ()


def _surface(manifest: "Manifest", profile: str) -> Surface:
    about = manifest.profiles[profile]
    return Surface(
        definitions={key: definitions[0] for key, definitions in manifest.profile(profile).items()},
        inspected=frozenset(Kind),
        protocol_version=about.protocol_version,
        server_info=about.server_info,
        capabilities=about.capabilities,
    )
