# SPDX-License-Identifier: Apache-2.0
"""What the gate wants done: it does nothing itself."""

from enum import Enum
from typing import NamedTuple

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape

_SHOWN = 2000  # the command that stands at the end must not be cut off


class Side(Enum):
    """Where a frame came from."""

    HOST = "host"
    SERVER = "server"


class Entry(NamedTuple):
    """One line for people.

    Attributes:
        code: what happened, kebab-case (docs/reference/proxy.md).
        text: the line, escaped and cut to a length that people can read.
    """

    code: str
    text: str


class Effects:
    """What follows from one frame or from the passing of time, in order.

    Attributes:
        to_host: frames to write to the host.
        to_server: frames to write to the server.
        log: lines for people.
        look_up: whether to ask, elsewhere and without waiting for it, who signed what the server shows; the
            answer is a judge for `Gate.repin`. Not again before that.
        unlisted: lists that could not be had, and why, behind "tool listing"; nothing of them passes.
        close: why the connection must be closed, None while it goes on.
    """

    __slots__ = ("close", "log", "look_up", "to_host", "to_server", "unlisted")

    def __init__(self, *, close: str | None = None) -> None:
        self.to_host: list[bytes] = []
        self.to_server: list[bytes] = []
        self.log: list[Entry] = []
        self.look_up = False
        self.unlisted: list[tuple[Kind, str]] = []
        self.close = close

    def note(self, code: str, text: str) -> None:
        """Add a line for people; text from the server in it is escaped already.

        What was forgotten is spelled out here, and escapes stay as they are: a second pass over them would
        only make them unreadable.
        """
        self.log.append(Entry(code, escape(text, keep="\\", limit=_SHOWN)))


class Turn:
    """One moment of the gate: what time it is, and what follows so far."""

    __slots__ = ("effects", "now")

    def __init__(self, now: float, effects: Effects | None = None) -> None:
        self.now = now
        self.effects = effects or Effects()
