# SPDX-License-Identifier: Apache-2.0
"""What a policy says beside verdicts and signers: of the audit trail, and of questions in the host."""

from pathlib import Path
from typing import Literal, NamedTuple

Calls = Literal["refused", "all"]


class AuditRules(NamedTuple):
    """Where decisions are taken down, which, and what follows where they cannot be.

    Attributes:
        enabled: whether they are.
        file: where; None for `audit.jsonl` in the personal directory.
        calls: which calls are: the refused ones, or those that pass too.
        max_bytes: the size from which the file is put aside and a new one begun.
        keep: how many of those that were put aside are kept.
        required: whether nothing passes while a decision cannot be taken down.
    """

    enabled: bool = True
    file: Path | None = None
    calls: Calls = "refused"
    max_bytes: int = 10 << 20
    keep: int = 5
    required: bool = False

    @property
    def every_call(self) -> bool:
        """Whether each call that passes is taken down."""
        return self.enabled and self.calls == "all"

    def with_stricter(self, other: "AuditRules") -> "AuditRules":
        """These rules, with what a project's policy may ask for besides."""
        return self._replace(
            enabled=self.enabled or other.enabled,
            calls="all" if "all" in (self.calls, other.calls) else "refused",
            required=self.required or other.required,
        )


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
