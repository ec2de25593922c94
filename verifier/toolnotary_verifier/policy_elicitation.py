# SPDX-License-Identifier: Apache-2.0
"""What a policy says of questions in the host: `[elicitation]` (docs/reference/policy.md)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

_LEAST: Final = 1
_MOST: Final = 3600


class ElicitationRules(NamedTuple):
    """Whether a host that declares elicitation shows what is withheld, and what an answer there may do.

    Attributes:
        enabled: whether it is asked at all; an answer can then decline.
        grant: whether an answer there can accept what is withheld, too.
        seconds: how long an answer is waited for.
    """

    enabled: bool = True
    grant: bool = False
    seconds: float = 120.0

    def tightened(self, other: "ElicitationRules") -> "ElicitationRules":
        """These rules, without what `other` does not let an answer do; its patience is for the next start."""
        return self._replace(enabled=self.enabled and other.enabled, grant=self.grant and other.grant)


# The options, and what each takes, in words.
ELICITATION_OPTIONS: Final[Mapping[str, str]] = {
    "enabled": "true or false",
    "grant": "true or false",
    "seconds": f"seconds from {_LEAST} to {_MOST}",
}


def elicitation_value(option: str, given: object) -> bool | float | None:
    """The value that a file gives to an option; None if it is not what is expected."""
    if option != "seconds":
        return given if isinstance(given, bool) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not _LEAST <= given <= _MOST:
        return None
    return float(given)
