# SPDX-License-Identifier: Apache-2.0
"""Asks on a page in a browser on this machine: `Asker` without a terminal, for people behind a GUI.

The page opens with the first question, is answered once, and ends by itself: with the command, or when nobody
answered in time. Where no browser can be opened its URL is told and waited for all the same; then nothing is
granted but by whoever opens it.
"""

import os
import secrets
import sys
import threading
import time
import webbrowser
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from toolnotary_cli.output import Output, shown
from toolnotary_cli.page.board import Board, Shown
from toolnotary_cli.page.door import Door
from toolnotary_cli.page.markup import element
from toolnotary_cli.page.sheets import sheets
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import Refused, ToolnotaryError
from toolnotary_verifier.escape import visible

if TYPE_CHECKING:
    from toolnotary_cli.changes import Question

WAIT: Final = 600  # seconds, by default
# How long the page stays for a browser that has yet to show what came of it, and for other tabs after that.
_LAST_PAGE: Final = 15.0
_OTHER_TABS: Final = 1.0
_SILENCE: Final = "no-answer"
_NOTHING: Final = "Nothing was accepted"
# A browser that is still starting after so many seconds was found, at least.
_STARTING: Final = 3.0


class ReviewPage:
    """Asks a person on a page; to be used in a `with` block, at the end of which the page is gone.

    Args:
        output: where the URL is told.
        wait: how long a question waits for its answer, in seconds.
        opens: whether a browser is opened.
    """

    def __init__(self, output: Output, *, wait: float = WAIT, opens: bool = True) -> None:
        self._output, self._wait, self._opens = output, wait, opens
        self._board = Board()
        self._door: Door | None = None

    def __enter__(self) -> Self:
        """The page itself, which opens with the first question."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell whoever looks how it ended, and close the page."""
        if self._door is None:
            return
        if isinstance(error, ToolnotaryError):
            self._board.conclude(_NOTHING, f"{visible(error.message)}. {visible(error.remedy)}")
        elif error is not None:
            self._board.conclude(_NOTHING, "The command ended.")
        is_told = error is None or (isinstance(error, ToolnotaryError) and error.code != _SILENCE)
        if is_told and self._board.linger(_LAST_PAGE):
            time.sleep(_OTHER_TABS)
        self._door.shutdown()
        self._door.server_close()

    def may_start(self, server: str, launch: str) -> bool:
        """As `Asker` says."""
        facts = element(
            "dl",
            element("dt", "Server"),
            element("dd", element("code", shown(server))),
            element("dt", "Command"),
            element("dd", element("code", launch)),
            class_="facts",
        )
        asked = Shown(
            subject=Digest.of(f"start {server} {launch}".encode("utf-8", "surrogatepass")),
            title=f"Start {shown(server)}?",
            lead="What changed is found out by starting the server. It runs with your rights.",
            sheets=[facts],
            yes="Start it",
            no="Do not start it",
            until=self._until(),
        )
        return self._ask(asked)

    def agrees(self, question: "Question", *, otherwise: str) -> bool:
        """As `Asker` says."""
        del otherwise  # somebody can be asked
        asked = Shown(
            subject=question.change_set,
            title=f"{shown(question.server)} is not as it was pinned",
            lead="Read what changed. A yes accepts exactly this and nothing that comes later; it does not say"
            " that the server does no harm. A no is remembered.",
            sheets=sheets(question),
            yes="Accept",
            no="Decline",
            until=self._until(),
        )
        return self._ask(asked)

    def concludes(self, text: str) -> None:
        """As `Asker` says."""
        self._board.conclude("Done", text)

    def _ask(self, asked: Shown) -> bool:
        self._board.put(asked)
        if self._door is None:
            self._open(asked)
        answer = self._board.wait(self._wait)
        if answer is None:
            raise Refused(
                _SILENCE,
                f"nobody answered on the review page within {self._wait:g} seconds; "
                "nothing was accepted or declined",
                remedy="ask again, and say --wait SECONDS to wait longer",
            )
        return answer

    def _open(self, asked: Shown) -> None:
        self._door = door = Door(self._board, secrets.token_urlsafe(32))
        threading.Thread(target=door.serve_forever, args=(0.1,), name="review-page", daemon=True).start()
        self._output.note(f"review it until {asked.until} at {door.url}")
        if self._opens and not _opened(door.url):
            self._output.note(
                "no browser could be opened: open that URL yourself, in a browser on this machine"
            )

    def _until(self) -> str:
        return datetime.fromtimestamp(time.time() + self._wait).astimezone().strftime("%H:%M:%S")


def _opened(url: str) -> bool:
    """Whether a browser could be told to open the page; one that runs in the terminal is not."""
    if sys.platform not in ("win32", "darwin"):
        has_screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
        if not has_screen:
            return False
    found: list[bool] = []
    # Some browsers are waited for until they end: never by the thread that waits for the answer.
    starter = threading.Thread(target=lambda: found.append(_told(url)), name="browser", daemon=True)
    starter.start()
    starter.join(_STARTING)
    return found[0] if found else True


def _told(url: str) -> bool:
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False
