# SPDX-License-Identifier: Apache-2.0
"""What the review page shows now, and the one answer to it. No socket and no markup of texts is known here.

Its methods are called by the thread that asks and by those that serve. A question is answered once; an answer
names what was shown, so that one to anything else is none.
"""

import hmac
import threading
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from toolnotary_cli.page.markup import Markup


class Shown(NamedTuple):
    """One question as it is shown.

    Attributes:
        subject: the digest of what an answer is about.
        title: what is asked, in a line.
        lead: what an answer means.
        sheets: all that is to be read before.
        yes: what the button says that agrees.
        no: what the button says that does not.
        until: until when it can be answered, for people.
    """

    subject: str
    title: str
    lead: str
    sheets: Sequence[Markup]
    yes: str
    no: str
    until: str


class Taken(Enum):
    """What became of an answer."""

    ACCEPTED = "it is the answer"
    STALE = "it is about something else than what is shown, or something was answered already"
    UNREAD = "it agrees to sheets that nobody opened"


class Board:
    """One review from the first question to the end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._shown: Shown | None = None
        self._opened: set[int] = set()
        self._answer: bool | None = None
        self._end: tuple[str, str] | None = None
        self._is_end_seen = False
        self._is_visited = False

    def put(self, shown: Shown) -> None:
        """Show this question; nothing of it has been opened or answered."""
        with self._changed:
            self._shown, self._opened, self._answer = shown, set(), None

    def wait(self, seconds: float) -> bool | None:
        """The answer, once there is one; None where the time is over, and no answer counts any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._answer is not None, seconds)
            self._shown = None
            return self._answer

    def conclude(self, title: str, text: str) -> None:
        """Show from now on what came of it."""
        with self._changed:
            self._shown, self._end = None, (title, text)

    def linger(self, seconds: float) -> bool:
        """Wait until somebody has seen what came of it, where somebody is there; whether somebody is."""
        with self._changed:
            if self._is_visited:
                self._changed.wait_for(lambda: self._is_end_seen, seconds)
            return self._is_visited

    def open(self, number: int) -> tuple[Shown | None, frozenset[int], tuple[str, str] | None]:
        """What is to be shown on a sheet, which counts as opened.

        Args:
            number: which, from 1 on.

        Returns:
            The question, None where none is open; the sheets of it that nobody opened; how it ended, once it
            has: a title and a line.
        """
        with self._changed:
            self._is_visited = True
            if self._shown is None:
                return None, frozenset(), self._end
            if 0 < number <= len(self._shown.sheets):
                self._opened.add(number)
            return self._shown, self._unread(self._shown), None

    def is_delivered(self) -> None:
        """Take note that a page went out; after the end it was the last that matters."""
        with self._changed:
            self._is_end_seen = self._end is not None
            self._changed.notify_all()

    def take(self, subject: str, *, agrees: bool) -> tuple[Taken, frozenset[int]]:
        """Take an answer.

        Args:
            subject: the digest of what it is about.
            agrees: whether it is a yes; a no needs no reading.

        Returns:
            What became of it, and the sheets that are still to be opened.
        """
        with self._changed:
            shown = self._shown
            is_meant = shown is not None and hmac.compare_digest(subject.encode(), shown.subject.encode())
            if shown is None or not is_meant or self._answer is not None:
                return Taken.STALE, frozenset()
            unread = self._unread(shown)
            if agrees and unread:
                return Taken.UNREAD, unread
            self._answer, self._shown = agrees, None
            self._changed.notify_all()
            return Taken.ACCEPTED, frozenset()

    def _unread(self, shown: Shown) -> frozenset[int]:
        return frozenset(range(1, len(shown.sheets) + 1)) - self._opened
