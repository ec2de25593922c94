# SPDX-License-Identifier: Apache-2.0
"""How dangerous a change can be, and the rules that say so: it orders what a person reads, and opens no gate.

The risk of a change is that of its rule, wherever it stands and whatever the server says of itself.
"""

from enum import StrEnum
from typing import Final, NamedTuple


class Risk(StrEnum):
    """What a change can do at worst; members compare by how much.

    `none`: nothing that a model or a host acts on. `low`: less is allowed or said, or a label changed.
    `medium`: a model is told or allowed something else. `high`: a known way to turn a model or a host.
    `critical`: what nobody does by accident.
    """

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place, `none` being 0."""
        return _RANK[self]

    def __lt__(self, other: str) -> bool:
        return self.rank < Risk(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Risk(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Risk(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Risk(other).rank


_RANK: Final = {risk: rank for rank, risk in enumerate(Risk)}


class Rule(NamedTuple):
    """One way in which definitions change.

    Attributes:
        id: stable; what programs compare.
        risk: that of every change of this kind.
        title: what happened, in a few words.
        why: what it can do.
        example: the change, made up.
        remedy: what a person does about it.
        alike: whether all changes of this kind say the same, whatever their values; they make one group.
    """

    id: str
    risk: Risk
    title: str
    why: str
    example: str
    remedy: str
    alike: bool = False

    @property
    def anchor(self) -> str:
        """Where docs/reference/review.md tells about it."""
        return f"review.md#{self.id}"
