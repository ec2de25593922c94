# SPDX-License-Identifier: Apache-2.0
"""What counts as pinned for one server, after lockfile, objects, policy and state had their say.

`pinning` makes it, `decide` compares with it. No file is touched here; a pinned text is fetched through the
function that was given for it, and only where the gate needs it.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.limits import DEFAULT_LIMITS
from toolnotary_verifier.verdict import Reason

if TYPE_CHECKING:
    from toolnotary_verifier.contents import Contents
    from toolnotary_verifier.overrides import Override

Key = tuple[Kind, str]


class PinnedDefinition(NamedTuple):
    """One definition that a name may have.

    Attributes:
        exact: its digest.
        normal: gives the digest of its normal form.
        text: gives the definition itself, or None where its text is not at hand.
    """

    exact: Digest
    normal: Callable[[], Digest]
    text: Callable[[], Definition | None]

    @classmethod
    def of(cls, definition: Definition) -> "PinnedDefinition":
        """A pin to this definition, whose text is at hand; the normal form is computed at most once."""
        return cls(definition.digest, cache(lambda: normal_digest(definition)), lambda: definition)

    def legible(self) -> Definition | None:
        """The definition for whoever explains what was decided: None too where its text cannot be read."""
        try:
            return self.text()
        except ToolnotaryError:
            return None


class KnownProfile(NamedTuple):
    """Definitions that may be shown together: a profile of a manifest, or an unsigned entry.

    Attributes:
        definitions: by kind and name; several where one name may have several definitions.
        name: the profile's name, empty for an unsigned entry.
        manifest: the digest of the manifest, None for an unsigned entry.
        server_info: digest of what the server called itself, without its version; None where unknown.
        capabilities: digest of what the server advertised; None where unknown.
    """

    definitions: Mapping[Key, tuple[PinnedDefinition, ...]]
    name: str = ""
    manifest: Digest | None = None
    server_info: Digest | None = None
    capabilities: Digest | None = None

    @classmethod
    def of(cls, manifest: "Contents", name: str) -> "KnownProfile":
        """The profile `name` of a manifest.

        Raises:
            KeyError: there is no such profile.
        """
        about = manifest.profiles[name]
        return cls(
            name=name,
            manifest=manifest.digest,
            definitions={
                key: tuple(PinnedDefinition.of(definition) for definition in definitions)
                for key, definitions in manifest.profile(name).items()
            },
            server_info=server_info_digest(about.server_info),
            capabilities=capabilities_digest(about.capabilities),
        )

    @property
    def identity(self) -> JsonValue:
        """What tells it from any other profile: its manifest and name, or else all that it holds."""
        if self.manifest is not None:
            return [self.manifest, self.name]
        held = [
            [kind.value, name, one.exact]
            for (kind, name), definitions in self.definitions.items()
            for one in definitions
        ]
        return [sorted(held), self.server_info, self.capabilities]


class Standing(NamedTuple):
    """A finding about the server as a whole that precedes every comparison.

    Attributes:
        reason: `identity`, `signer-changed`, `rollback` or `signer-unknown`.
        detail: one escaped line for people.
    """

    reason: Reason
    detail: str


class Pins(NamedTuple):
    """What one server is held to.

    Attributes:
        profiles: what is accepted; empty where nothing is pinned, or nothing that is pinned counts.
        others: profiles of the pinned manifest that were not accepted.
        signer: the identity that signed what was accepted last, None where nothing signed was.
        sequence: no manifest below this sequence passes.
        standing: a finding that precedes every comparison.
        known: whether this user ever decided anything about the server; then nothing is a first sight.
        revoked: digests of definitions and manifests that were withdrawn.
        unaccepted: what the lockfile pins without the user's acceptance; it is not in `profiles`.
        overrides: what passes for a while although it is not pinned, of a server of which something is.
        unrecorded: whether `profiles` count by policy alone, since nothing was ever recorded of the server:
            no older version and no withdrawal of before can be noticed.
    """

    profiles: tuple[KnownProfile, ...] = ()
    others: tuple[KnownProfile, ...] = ()
    signer: str | None = None
    sequence: int | None = None
    standing: Standing | None = None
    known: bool = False
    revoked: frozenset[Digest] = frozenset()
    unaccepted: frozenset[tuple[Kind, str, Digest]] = frozenset()
    overrides: "tuple[Override, ...]" = ()
    unrecorded: bool = False

    def digest(self) -> Digest:
        """Identifies what the server is held to: an outcome that was recorded for other pins says nothing.

        Taken from what is accepted, withdrawn and not accepted, and from what holds back the server itself.
        """
        held: JsonObject = {
            "profiles": [profile.identity for profile in self.profiles],
            "standing": None if self.standing is None else self.standing.reason.value,
            "revoked": sorted(self.revoked),
            "unaccepted": sorted([kind.value, name, digest] for kind, name, digest in self.unaccepted),
        }
        if self.overrides:
            held["overrides"] = sorted([*one.pinned, one.until] for one in self.overrides)
        return Digest.of(canonical_bytes(held))


def server_info_digest(server_info: JsonObject) -> Digest | None:
    """The digest of what a server calls itself, without its version, which says nothing; None if empty."""
    named = {name: value for name, value in server_info.items() if name != "version"}
    return _digest(named)


def capabilities_digest(capabilities: JsonObject) -> Digest | None:
    """The digest of what a server advertises; None if empty."""
    return _digest(capabilities)


def _digest(value: JsonObject) -> Digest | None:
    return Digest.of(canonical_bytes(value, max_depth=DEFAULT_LIMITS.message_depth)) if value else None
