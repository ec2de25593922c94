# SPDX-License-Identifier: Apache-2.0
"""Lines for people without what a server was sent to be let in: it may repeat that wherever it speaks."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolnotary_verifier.gate import Entry
from toolnotary_verifier.guard.notes import Notes

if TYPE_CHECKING:
    from toolnotary_verifier.capture.concealed import Concealed


class Masking:
    """Notes that are told elsewhere, masked."""

    def __init__(self, notes: Notes, concealed: "Callable[[], Concealed | None]") -> None:
        """Nothing is told yet.

        Args:
            notes: tells what is left.
            concealed: gives what is secret at this moment; None where nothing is.
        """
        self._notes = notes
        self._concealed = concealed

    def entry(self, entry: Entry) -> None:
        """As `Notes.entry`."""
        self._notes.entry(entry._replace(text=self._masked(entry.text)))

    def note(self, code: str, text: str) -> None:
        """As `Notes.note`."""
        self._notes.note(code, self._masked(text))

    def line(self, text: str) -> None:
        """As `Notes.line`."""
        self._notes.line(self._masked(text))

    def _masked(self, text: str) -> str:
        concealed = self._concealed()
        return text if concealed is None else concealed.mask_unmistakable(text)
