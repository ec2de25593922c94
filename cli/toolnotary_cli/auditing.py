# SPDX-License-Identifier: Apache-2.0
"""Where the decisions of a command are taken down, and what follows where they cannot be.

A person's act is written after it took place, and a policy that requires the trail has it tried before the
person is asked: what is told as accepted is both.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolnotary_verifier.audit.opening import expect, failure, file_of

if TYPE_CHECKING:
    from toolnotary_verifier.audit.line import Line
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.policy_rules import AuditRules
    from toolnotary_verifier.verdict import Judgement


class Audit:
    """The trail of one command that is a person's act."""

    def __init__(self, rules: "AuditRules", note: Callable[[str], None]) -> None:
        """Nothing is opened yet.

        Args:
            rules: what policy says of it.
            note: told, for people, that a line could not be written.
        """
        self._rules = rules
        self._note = note

    def expect(self) -> None:
        """Refuse to begin what could not be taken down, where policy requires that it is.

        Raises:
            ConfigurationError: `audit-not-writable`.
        """
        expect(self._rules)

    def write(self, *lines: "Line") -> None:
        """Take down what took place.

        Raises:
            ConfigurationError: `audit-not-writable`, where policy requires that it is.
        """
        if not self._rules.enabled:
            return
        try:
            file_of(self._rules).append(b"".join(line.encode() for line in lines))
        except OSError as error:
            missing = failure(self._rules, error, "what was decided counts, and is not taken down")
            if self._rules.required:
                raise missing from None
            self._note(missing.message)


def act(
    event: str,
    server: str,
    launch: "Launch | None",
    *,
    name: str | None = None,
    change_set: str | None = None,
    judgement: "Judgement | None" = None,
    by: str = "user",
) -> "Line":
    """The line of a person's act, or of what was done by a signature that policy lets decide.

    Args:
        event: what was done, such as `approved`.
        server: the name that the user gave it.
        launch: how it is started or reached; None for all of them.
        name: the definition that it is about; None for the server as a whole.
        change_set: what was shown.
        judgement: the same, judged.
        by: who decided.
    """
    from toolnotary_verifier.audit.line import Line

    return Line(
        event,
        server=server,
        launch=None if launch is None else launch.digest,
        name=name,
        change_set=change_set,
        counts=None if judgement is None else {reason.value: n for reason, n in judgement.counts.items()},
        by=by,
    )
