# SPDX-License-Identifier: Apache-2.0
"""The versions of a server in a registry: how much each says to a model, and what it changed.

What the registry serves is taken as it is: its bytes have the digests that it names, and nothing else is
verified (`toolnotary verify` judges a signature).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli.comparison import Comparison, compare
from toolnotary_cli.subject import Subject, of_contents
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.manifest import Manifest

if TYPE_CHECKING:
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.fetch.answers import PublishedVersion
    from toolnotary_verifier.limits import Limits
    from toolnotary_verifier.surface import Surface

# English prose and JSON take three to five bytes a token in the vocabularies of 2024 to 2026.
BYTES_PER_TOKEN: Final = 4
_DEFAULT: Final = "default"


class Size(NamedTuple):
    """How much of a surface a host hands to a model: its tools, and the instructions.

    Attributes:
        tools: how many there are.
        bytes: of the canonical form of all of them, and of the instructions.
    """

    tools: int
    bytes: int

    @classmethod
    def of(cls, surface: "Surface") -> "Size":
        """The size of one surface."""
        tools = surface.of_kind(Kind.TOOL)
        told = (*tools, *surface.of_kind(Kind.INSTRUCTIONS))
        return cls(len(tools), sum(len(one.canonical) for one in told))

    @property
    def tokens(self) -> int:
        """About how many tokens that is: an estimate from the number of bytes, by no model's vocabulary."""
        return -(-self.bytes // BYTES_PER_TOKEN)


class Version(NamedTuple):
    """One version, and what it changed.

    Attributes:
        published: what the registry says of it.
        size: of its first profile.
        comparison: with the version before it; None for the first one.
        is_signed_by_another: whether another identity signed it than the version before.
    """

    published: "PublishedVersion"
    size: Size
    comparison: Comparison | None
    is_signed_by_another: bool


def versions(client: "Registry", server: str, *, last: int, limits: "Limits") -> list[Version]:
    """The last versions of a server, newest first, over one connection.

    Args:
        client: the registry.
        server: the server's name.
        last: how many.
        limits: bounds on what is read.

    Raises:
        InvalidInput: `server-name`; a manifest that is not valid.
        Refused: `not-in-registry`, `registry-digest`, `other-version`.
        CannotTell: the registry could not be asked.
        ConfigurationError: `missing-extra`, if something changed and deepdiff is not installed.
    """
    with client.session() as within:
        listed = within.versions(server, most=last + 1)
        told = [(one, _subject(within, one, limits)) for one in listed]
    return list(_compared(told))[:last]


def _compared(told: "Iterable[tuple[PublishedVersion, Subject]]") -> Iterator[Version]:
    rows = list(told)
    for (one, subject), (before, older) in pairwise(rows):
        yield Version(one, _size(subject), compare(older, subject), one.signer != before.signer)
    for one, subject in rows[-1:]:
        yield Version(one, _size(subject), None, is_signed_by_another=False)


def _size(subject: Subject) -> Size:
    first = _DEFAULT if _DEFAULT in subject.surfaces else min(subject.surfaces)
    return Size.of(subject.surfaces[first])


def _subject(client: "Registry", one: "PublishedVersion", limits: "Limits") -> Subject:
    made = Manifest.parse(client.blob(one.manifest), limits=limits)
    label = f"{one.server}@{escape(one.version, limit=80)}"
    if (made.server, made.version) != (one.server, one.version):
        said = f"{made.server}@{escape(made.version, limit=80)}"
        raise Refused("other-version", f"the registry serves the manifest of {said} for {label}")
    return of_contents(label, made, sequence=one.sequence, signer=one.signer)
