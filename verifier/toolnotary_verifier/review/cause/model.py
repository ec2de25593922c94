# SPDX-License-Identifier: Apache-2.0
"""What is said about the cause of a difference (docs/reference/causes.md)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind

Key = tuple[Kind, str]

# From this many definitions on, "many at once" is meant: one or two differ for any reason.
MANY: Final = 3


class Cause(StrEnum):
    """What makes one version of a server say something else; the value is what programs compare."""

    CONFIGURATION = "configuration-profile"
    REMOTE_LIST = "remote-backed-list"
    DISPATCHER = "dispatcher-tool"
    SCHEMA_VANISHED = "schema-vanished"
    SCHEMA_GENERATOR = "schema-generator"
    SET_ORDER = "set-order"
    ENVIRONMENT = "environment-value"


# What each is called in front of people.
TITLES: Final[Mapping[Cause, str]] = {
    Cause.CONFIGURATION: "configuration profile",
    Cause.REMOTE_LIST: "remote-backed list",
    Cause.DISPATCHER: "dispatcher tool hides operations",
    Cause.SCHEMA_VANISHED: "schema vanished: dependency drift",
    Cause.SCHEMA_GENERATOR: "schema generator",
    Cause.SET_ORDER: "order of a set",
    Cause.ENVIRONMENT: "value of the machine it runs on",
}


class Known(NamedTuple):
    """What is known about two surfaces beyond what they say.

    Attributes:
        is_other_version: whether they belong to different versions, by a manifest or a registry; what a
            server calls its own version proves nothing, and is looked at besides.
        profiles: of each other profile that the pinned signer signed for this server, the digests of all that
            it holds.
    """

    is_other_version: bool = False
    profiles: tuple[frozenset[Digest], ...] = ()


class Explained(NamedTuple):
    """One cause, and what shows it.

    Attributes:
        cause: which.
        accounted: definitions whose difference it accounts for, wholly or together with other causes; sorted.
        evidence: what was seen, in one line that holds no word of the server's.
    """

    cause: Cause
    accounted: tuple[Key, ...]
    evidence: str


class Apart(NamedTuple):
    """A difference that no cause accounts for.

    Attributes:
        kind: what the definition defines.
        name: its name as received (escape before showing).
        members: the members of the definition that differ; empty where it came, went, or has none.
    """

    kind: Kind
    name: str
    members: tuple[str, ...] = ()


class Causes(NamedTuple):
    """The causes of all that differs between two surfaces.

    Attributes:
        named: the causes, each once, in the order of `Cause`.
        apart: what none of them accounts for, sorted; all that differs, where no cause is named.
    """

    named: tuple[Explained, ...] = ()
    apart: tuple[Apart, ...] = ()

    @property
    def account_for_all(self) -> bool:
        """Whether something differs, and the causes account for all of it: an honest variant looks so."""
        return bool(self.named) and not self.apart
