# SPDX-License-Identifier: Apache-2.0
"""What a manifest says, member by member: profiles, the variants of each name, artifacts, remotes.

The format is docs/spec/manifest.md. Arrays whose order means nothing are sorted and hold nothing twice, so
that one content has one form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypedDict

from toolnotary_verifier.canonical import (
    RECIPE,
    Digest,
    JsonObject,
    JsonValue,
    canonical_bytes,
    parse_message,
)
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.naming import Artifact, profile_name, remote_url
from toolnotary_verifier.profile import Profile
from toolnotary_verifier.shape import array, ascending, members

SCHEMA = "https://toolnotary.dev/manifest/v1"
# Where the definitions of each kind stand. `instructions` have no name and are an array of texts.
MEMBER = {
    Kind.TOOL: "tools",
    Kind.PROMPT: "prompts",
    Kind.RESOURCE: "resources",
    Kind.TEMPLATE: "resourceTemplates",
}
MEMBERS = (
    "artifacts",
    "canonicalization",
    "instructions",
    "profiles",
    "remotes",
    "schema",
    *MEMBER.values(),
)

Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the definitions that a name may have, and the profiles in which it may have it."""

    definition: Definition
    profiles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a manifest says, whoever's it is.

    Attributes:
        profiles: by name.
        variants: by kind and name, each at least one, in order of their digests.
        artifacts: what the server is distributed as, sorted.
        remotes: where it can be reached, sorted.
        canonical: the canonical form of the whole document.
        digest: the digest of those bytes.
    """

    profiles: Mapping[str, Profile]
    variants: Mapping[Key, tuple[Variant, ...]] = field(repr=False)
    artifacts: tuple[Artifact, ...] = ()
    remotes: tuple[str, ...] = ()
    canonical: bytes = field(repr=False)
    digest: Digest

    def profile(self, name: str) -> Mapping[Key, tuple[Definition, ...]]:
        """The definitions that this profile may show, by kind and name.

        Raises:
            KeyError: there is no such profile.
        """
        if name not in self.profiles:
            raise KeyError(name)
        shown = {
            key: tuple(variant.definition for variant in variants if name in variant.profiles)
            for key, variants in self.variants.items()
        }
        return {key: definitions for key, definitions in shown.items() if definitions}

    def digests(self) -> Mapping[Key, frozenset[Digest]]:
        """The digests that each name may have, over all profiles."""
        return {
            key: frozenset(v.definition.digest for v in variants) for key, variants in self.variants.items()
        }


class Parts(TypedDict):
    """The members of `Contents` that are read from a document."""

    profiles: Mapping[str, Profile]
    variants: Mapping[Key, tuple[Variant, ...]]
    artifacts: tuple[Artifact, ...]
    remotes: tuple[str, ...]


def artifact_order(artifact: Artifact) -> tuple[str, str]:
    """The order of `artifacts`: by purl, then digest."""
    return (artifact.purl, artifact.digest or "")


def load(raw: bytes, limits: Limits) -> tuple[JsonObject, bytes]:
    """The document that `raw` is, and its canonical form.

    Raises:
        CanonicalError: the bytes are not strict JSON, or too large.
        InvalidInput: `manifest-schema`, `manifest-canonicalization`.
    """
    document = parse_message(raw, max_bytes=limits.manifest_bytes)
    canonical = canonical_bytes(document, max_depth=limits.message_depth, parsed=True)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InvalidInput(
            "manifest-schema",
            f"this is no manifest: its schema is not {SCHEMA}",
            remedy="toolnotary capture SOURCE -o FILE makes one without a name, toolnotary sign gives it one",
        )
    if document.get("canonicalization") != RECIPE:
        raise InvalidInput(
            "manifest-canonicalization",
            f"the manifest does not say that its canonical form is {RECIPE}",
            remedy="verify it with the release of toolnotary that knows its form",
        )
    return document, canonical


def parts(document: JsonObject, limits: Limits) -> Parts:
    """All of a document but its server.

    Raises:
        InvalidInput: `manifest-shape`, `manifest-inconsistent`, `manifest-limit`, `artifact`, `remote-url`.
    """
    profiles = members(document["profiles"], "profiles", code="manifest-shape", optional=None)
    if not 1 <= len(profiles) <= limits.profiles:
        raise InvalidInput("manifest-limit", f"got {len(profiles)} profiles, expected 1 to {limits.profiles}")
    artifacts = [
        Artifact.parse(entry) for entry in array(document["artifacts"], "artifacts", code="manifest-shape")
    ]
    remotes = [remote_url(entry) for entry in array(document["remotes"], "remotes", code="manifest-shape")]
    ascending([artifact_order(artifact) for artifact in artifacts], "artifacts", code="manifest-inconsistent")
    ascending(remotes, "remotes", code="manifest-inconsistent")
    parsed = {profile_name(name): Profile.parse(value, f"profile {name}") for name, value in profiles.items()}
    return {
        "profiles": MappingProxyType(parsed),
        "variants": MappingProxyType(_variants(document, frozenset(parsed), limits)),
        "artifacts": tuple(artifacts),
        "remotes": tuple(remotes),
    }


def _variants(
    document: JsonObject, profiles: frozenset[str], limits: Limits
) -> dict[Key, tuple[Variant, ...]]:
    found: dict[Key, tuple[Variant, ...]] = {}
    for kind, member in MEMBER.items():
        named = members(document[member], member, code="manifest-shape", optional=None)
        if len(named) > limits.tools:
            raise InvalidInput(
                "manifest-limit", f"{member} has {len(named)} names, at most {limits.tools} are accepted"
            )
        for name, entries in named.items():
            where = f"{member} {escape(name, limit=80)}"
            found[kind, name] = _of_one_name(
                (kind, name), entries, where=where, profiles=profiles, limits=limits
            )
    if array(document["instructions"], "instructions", code="manifest-shape"):
        key = (Kind.INSTRUCTIONS, Kind.INSTRUCTIONS.value)
        found[key] = _of_one_name(
            key, document["instructions"], where="instructions", profiles=profiles, limits=limits
        )
    return {key: found[key] for key in sorted(found)}


def _of_one_name(
    key: Key, entries: JsonValue, *, where: str, profiles: frozenset[str], limits: Limits
) -> tuple[Variant, ...]:
    kind, name = key
    content = "text" if kind is Kind.INSTRUCTIONS else "definition"
    found = []
    if not 1 <= len(array(entries, where, code="manifest-shape")) <= limits.variants:
        raise InvalidInput(
            "manifest-limit", f"{where} has {len(entries)} definitions, expected 1 to {limits.variants}"
        )
    for entry in entries:
        members(entry, where, code="manifest-shape", required=("profiles", content))
        shown = array(entry["profiles"], f"profiles of {where}", code="manifest-shape")
        if not shown or not all(isinstance(profile, str) and profile in profiles for profile in shown):
            raise InvalidInput(
                "manifest-inconsistent", f"{where} names no profile, or one that the manifest does not have"
            )
        ascending(shown, f"profiles of {where}", code="manifest-inconsistent")
        definition = Definition.of(kind, entry[content], limits=limits)
        if definition.name != name:
            raise InvalidInput(
                "manifest-inconsistent",
                f"{where} holds a definition of another name, {escape(definition.name, limit=80)}",
            )
        found.append(Variant(definition, tuple(shown)))
    ascending(
        [variant.definition.digest for variant in found],
        f"definitions of {where} (by digest)",
        code="manifest-inconsistent",
    )
    return tuple(found)
