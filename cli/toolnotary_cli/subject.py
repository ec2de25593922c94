# SPDX-License-Identifier: Apache-2.0
"""What a source holds: surfaces, one a profile where it is a manifest."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli.wording import counted, enumerated
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import Release
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.manifest import Contents

Key = tuple[Kind, str]

# The profile of a source that knows of none: one surface, seen once.
ALONE: Final = ""
# The profile that a command names where it suggests one.
_DEFAULT: Final = "default"


class Subject(NamedTuple):
    """What a source holds.

    Attributes:
        label: how to call it, escaped, without secrets.
        surfaces: by profile; a single one under `ALONE` where the source has no profiles. Where a manifest
            has several definitions for one name, the surface holds one of them.
        variants: by profile of a manifest, every name with all of its definitions.
        part: the profile that was named; empty where none was.
        release: which release a named manifest is; None where the source knows of none.
    """

    label: str
    surfaces: Mapping[str, Surface]
    variants: Mapping[str, Mapping[Key, Sequence[Definition]]] = MappingProxyType({})
    part: str = ""
    release: Release | None = None

    @property
    def is_single(self) -> bool:
        """Whether one surface is meant: the source knows no profiles, or one of them was named."""
        return ALONE in self.surfaces or bool(self.part)

    def only(self, part: str | None) -> "Subject":
        """The source with the profile `part` alone; all of it where none is named.

        Raises:
            ConfigurationError: `source-part`, if there is no such profile.
        """
        if part is None:
            return self
        if part not in self.surfaces:
            raise ConfigurationError(
                "source-part",
                f"{self.label} has no profile {escape(part, limit=80)}",
                remedy=f"it has {enumerated(self.surfaces)}",
            )
        label = f"{self.label}#{part}"
        return self._replace(label=label, surfaces={part: self.surfaces[part]}, part=part)

    def one(self) -> Surface:
        """The surface of a source that is to hold a single one.

        Raises:
            ConfigurationError: `source-part`, naming the profiles that are there.
        """
        if len(self.surfaces) == 1:
            return next(iter(self.surfaces.values()))
        first = _DEFAULT if _DEFAULT in self.surfaces else min(self.surfaces)
        raise ConfigurationError(
            "source-part",
            f"{self.label} holds {counted(len(self.surfaces), 'profile')}, and one is needed: "
            f"{enumerated(self.surfaces)}",
            remedy=f"name one, such as {self.label}#{first}",
        )


def of_contents(
    label: str, contents: "Contents", *, sequence: int | None = None, signer: str = ""
) -> Subject:
    """The surfaces of a manifest, one a profile.

    Args:
        label: how to call it.
        contents: the manifest.
        sequence: its number in the server's history, where that is at hand.
        signer: who signed it, where that is at hand.
    """
    from toolnotary_verifier.manifest import Manifest

    variants = {name: contents.profile(name) for name in sorted(contents.profiles)}
    surfaces = {}
    for name, held in variants.items():
        about = contents.profiles[name]
        surfaces[name] = Surface(
            definitions={key: found[0] for key, found in held.items()},
            inspected=frozenset(Kind),
            protocol_version=about.protocol_version,
            server_info=about.server_info,
            capabilities=about.capabilities,
        )
    release = None
    if isinstance(contents, Manifest):
        release = Release(contents.server, contents.version, sequence, signer)
    return Subject(label=label, surfaces=surfaces, variants=variants, release=release)
