# SPDX-License-Identifier: Apache-2.0
"""Manifest v1: server and version to definitions by kind and name, in profiles (docs/spec/manifest.md).

The bytes of a manifest equal their own canonical form, and each key is its definition's name. No digest of a
part is stored: all are computed at every load, so that what a reviewer reads is what is enforced.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from toolnotary_verifier.canonical import RECIPE, Digest, JsonObject, canonical_bytes, parse_message
from toolnotary_verifier.contents import (
    MEMBER,
    MEMBERS,
    SCHEMA,
    Contents,
    Key,
    Variant,
    artifact_order,
    load,
    parts,
)
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.naming import Artifact, server_name, server_version
from toolnotary_verifier.profile import Profile
from toolnotary_verifier.shape import members
from toolnotary_verifier.surface import Surface

__all__ = ["SCHEMA", "Artifact", "Contents", "Key", "Manifest", "Profile", "UnnamedManifest", "Variant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnnamedManifest(Contents):
    """A manifest without `server`: what a capture writes, and what a publisher puts a name to."""

    @classmethod
    def parse(cls, raw: bytes, *, limits: Limits = DEFAULT_LIMITS) -> Self:
        """The capture that these bytes are. White space and member order may be anyone's: nobody signed them.

        Raises:
            CanonicalError: the bytes are not strict JSON, or too large.
            InvalidInput: `manifest-schema`, `manifest-canonicalization`, `manifest-shape`, `manifest-limit`,
                `manifest-inconsistent`, `artifact`, `remote-url`.
        """
        document, canonical = load(raw, limits)
        if "server" in document:
            raise InvalidInput(
                "manifest-shape",
                "this manifest already names its server",
                remedy="sign the file that toolnotary capture wrote",
            )
        members(document, "the manifest", code="manifest-shape", required=MEMBERS)
        return cls(canonical=canonical, digest=Digest.of(canonical), **parts(document, limits))

    @classmethod
    def build(
        cls,
        *,
        profiles: Mapping[str, tuple[Profile, Surface | Sequence[Surface]]],
        artifacts: Iterable[Artifact] = (),
        remotes: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """The manifest of these surfaces, equal definitions stored once.

        Several surfaces of one profile are several looks at it: it then has whatever any of them showed.

        Raises:
            CanonicalError: too large, or a value without canonical form.
            InvalidInput: `surface-faults` if a surface holds entries that are no definitions;
                `manifest-shape`, `manifest-limit`, `remote-url`.
        """
        document: JsonObject = {
            "schema": SCHEMA,
            "canonicalization": RECIPE,
            "artifacts": [artifact.to_json() for artifact in sorted(set(artifacts), key=artifact_order)],
            "remotes": sorted(set(remotes)),
            "profiles": {name: about.to_json() for name, (about, _) in profiles.items()},
            "instructions": [],
            **{member: {} for member in MEMBER.values()},
        }
        for key, variants in _merge({name: looks for name, (_, looks) in profiles.items()}).items():
            _store(document, key, variants)
        return cls.parse(canonical_bytes(document, max_depth=limits.message_depth), limits=limits)

    def named(
        self,
        *,
        server: str,
        version: str,
        artifacts: Iterable[Artifact] = (),
        remotes: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Manifest":
        """The manifest of this server and version, with further artifacts and remotes.

        Raises:
            CanonicalError: too large.
            InvalidInput: `server-name`, `server-version`, `artifact`, `remote-url`.
        """
        document = parse_message(self.canonical, max_bytes=limits.manifest_bytes)
        document["server"] = {"name": server_name(server), "version": server_version(version)}
        together = sorted({*self.artifacts, *artifacts}, key=artifact_order)
        document["artifacts"] = [artifact.to_json() for artifact in together]
        document["remotes"] = sorted({*self.remotes, *remotes})
        return Manifest.parse(canonical_bytes(document, max_depth=limits.message_depth), limits=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Contents):
    """The manifest of one server version.

    Attributes:
        server: the server's name.
        version: the version as published.
    """

    server: str
    version: str

    @classmethod
    def parse(cls, raw: bytes, *, limits: Limits = DEFAULT_LIMITS) -> Self:
        """The manifest that these bytes are; `canonical` is `raw`.

        Raises:
            CanonicalError: the bytes are not strict JSON, or too large.
            InvalidInput: `manifest-inconsistent` if the bytes are not their own canonical form, a key is not
                its definition's name, a profile does not exist or an array is out of order;
                `manifest-schema`, `manifest-canonicalization`, `manifest-shape`, `manifest-limit`,
                `server-name`, `server-version`, `artifact`, `remote-url`.
        """
        document, canonical = load(raw, limits)
        if canonical != raw:
            place = next(
                (i for i, (got, want) in enumerate(zip(raw, canonical, strict=False)) if got != want),
                len(canonical),
            )
            raise InvalidInput(
                "manifest-inconsistent",
                f"the bytes differ from their canonical form from byte {place} on",
                remedy="take the file as toolnotary sign wrote it, byte for byte",
            )
        if "server" not in document:
            raise InvalidInput(
                "manifest-shape",
                "this is a capture: it names no server and no version",
                remedy="toolnotary sign gives it both, and a signature",
            )
        members(document, "the manifest", code="manifest-shape", required=(*MEMBERS, "server"))
        server = members(document["server"], "server", code="manifest-shape", required=("name", "version"))
        return cls(
            server=server_name(server["name"]),
            version=server_version(server["version"]),
            canonical=raw,
            digest=Digest.of(raw),
            **parts(document, limits),
        )

    @classmethod
    def build(
        cls,
        *,
        server: str,
        version: str,
        profiles: Mapping[str, tuple[Profile, Surface | Sequence[Surface]]],
        artifacts: Iterable[Artifact] = (),
        remotes: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Manifest":
        """The manifest of these surfaces of this server; errors as `UnnamedManifest.build` and `named`."""
        unnamed = UnnamedManifest.build(
            profiles=profiles, artifacts=artifacts, remotes=remotes, limits=limits
        )
        return unnamed.named(server=server, version=version, limits=limits)


def _merge(profiles: Mapping[str, Surface | Sequence[Surface]]) -> Mapping[Key, Sequence[Variant]]:
    found: dict[Key, dict[Digest, Variant]] = {}
    for name in sorted(profiles):
        looks = profiles[name]
        for surface in (looks,) if isinstance(looks, Surface) else looks:
            if surface.faults:
                _refuse_faults(name, surface)
            for key, definition in surface.definitions.items():
                variants = found.setdefault(key, {})
                before = variants.get(definition.digest)
                shown = before.profiles if before else ()
                variants[definition.digest] = Variant(definition, tuple(sorted({*shown, name})))
    return {key: [variants[digest] for digest in sorted(variants)] for key, variants in found.items()}


def _refuse_faults(profile: str, surface: Surface) -> None:
    named = "; ".join(
        f"{fault.kind} {escape(fault.name, limit=80)}: {fault.code} ({escape(fault.message, limit=200)})"
        for fault in surface.faults[:5]
    )
    more = f"; and {len(surface.faults) - 5} more" if len(surface.faults) > 5 else ""
    raise InvalidInput(
        "surface-faults",
        f"in profile {escape(profile, limit=80)}: {named}{more}",
        remedy="mend the server: nobody can compare a definition that cannot be read",
    )


def _store(document: JsonObject, key: Key, variants: Sequence[Variant]) -> None:
    kind, name = key
    if kind is Kind.INSTRUCTIONS:
        document["instructions"] = [
            {"profiles": list(v.profiles), "text": v.definition.value} for v in variants
        ]
    else:
        document[MEMBER[kind]][name] = [
            {"profiles": list(v.profiles), "definition": v.definition.value} for v in variants
        ]
