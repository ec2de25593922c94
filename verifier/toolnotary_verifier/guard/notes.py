# SPDX-License-Identifier: Apache-2.0
"""Where people read what is done for them; whoever embeds the verifier decides where that is."""

from typing import Protocol

from toolnotary_verifier.gate import Entry


class Notes(Protocol):
    """Lines about one server, told by any thread; `shells.log.Log` writes them to standard error."""

    def entry(self, entry: Entry) -> None:
        """Tell what the gate did; the text is escaped already."""

    def note(self, code: str, text: str) -> None:
        """Tell what was done around the gate; the text is escaped there."""

    def line(self, text: str) -> None:
        """One line without a code; likewise."""
