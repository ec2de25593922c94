# SPDX-License-Identifier: Apache-2.0
"""Who is asked before a pin moves, and where: a person at the controlling terminal, or on a review page."""

from typing import TYPE_CHECKING, Protocol

from toolnotary_cli.output import shown
from toolnotary_cli.prompt import confirm
from toolnotary_cli.proposal import question_lines

if TYPE_CHECKING:
    from toolnotary_cli.changes import Question


class Asker(Protocol):
    """Asks a person; nobody else's answer counts."""

    def may_start(self, server: str, launch: str) -> bool:
        """Whether the person lets this line be started.

        Args:
            server: the server's name.
            launch: the line, escaped and masked.

        Raises:
            Refused: `no-terminal`, `no-answer`: nobody was there.
        """

    def agrees(self, question: "Question", *, otherwise: str) -> bool:
        """Whether the person accepts exactly this.

        Args:
            question: all that they are shown.
            otherwise: the command that shows the change where nobody can be asked.

        Raises:
            Refused: `no-terminal`, `no-answer`.
        """

    def concludes(self, text: str) -> None:
        """Tell the person, where they answered, what came of it; the result is printed as well."""


class AtTerminal:
    """Asks on the terminal that controls this process.

    Args:
        check: the command that shows the change without a terminal.
        or_page: whether the command that asks has `--page`, too.
    """

    def __init__(self, check: str, *, or_page: bool) -> None:
        self._check, self._or_page = check, or_page

    def may_start(self, server: str, launch: str) -> bool:
        """As `Asker` says."""
        del server  # the line says what is started
        return confirm(f"start {launch} ?", otherwise=self._instead(self._check))

    def agrees(self, question: "Question", *, otherwise: str) -> bool:
        """As `Asker` says."""
        return confirm(
            f"accept this for {shown(question.server)}?",
            lines=tuple(question_lines(question)),
            otherwise=self._instead(otherwise),
        )

    def concludes(self, text: str) -> None:
        """The result is printed where they look already."""

    def _instead(self, shown_by: str) -> str:
        if not self._or_page:
            return f"to see the change without one: {shown_by}"
        return f"or say --page too, and answer in a browser; to see the change without either: {shown_by}"
