# SPDX-License-Identifier: Apache-2.0
"""Lines for people without what a server was given or sent to be let in: it may repeat that anywhere."""

from collections.abc import Callable

from toolnotary_verifier.gate import Entry
from toolnotary_verifier.guard.notes import Notes


class Masking:
    """Notes that are told elsewhere, masked."""

    def __init__(self, notes: Notes, masked: Callable[[str], str]) -> None:
        """Nothing is told yet.

        Args:
            notes: tells what is left.
            masked: gives a text without what is secret at this moment.
        """
        self._notes = notes
        self._masked = masked

    def entry(self, entry: Entry) -> None:
        """As `Notes.entry`."""
        self._notes.entry(entry._replace(text=self._masked(entry.text)))

    def note(self, code: str, text: str) -> None:
        """As `Notes.note`."""
        self._notes.note(code, self._masked(text))

    def line(self, text: str) -> None:
        """As `Notes.line`."""
        self._notes.line(self._masked(text))
