# SPDX-License-Identifier: Apache-2.0
"""What the gate wants done: it does nothing itself."""

from dataclasses import dataclass, field
from enum import Enum

from toolnotary_verifier.escape import escape

_SHOWN = 600


class Side(Enum):
    """Where a frame came from."""

    HOST = "host"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line for people.

    Attributes:
        code: what happened, kebab-case (docs/reference/proxy.md).
        text: the line, escaped and cut to a length that people can read.
    """

    code: str
    text: str


@dataclass(slots=True)
class Effects:
    """What follows from one frame or from the passing of time, in order.

    Attributes:
        to_host: frames to write to the host.
        to_server: frames to write to the server.
        log: lines for people.
        close: why the connection must be closed, None while it goes on.
    """

    to_host: list[bytes] = field(default_factory=list)
    to_server: list[bytes] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)
    close: str | None = None

    def note(self, code: str, text: str) -> None:
        """Add a line for people; text from the server in it is escaped already.

        What was forgotten is spelled out here, and escapes stay as they are: a second pass over them would
        only make them unreadable.
        """
        self.log.append(Entry(code, escape(text, keep="\\", limit=_SHOWN)))


@dataclass(frozen=True, slots=True)
class Turn:
    """One moment of the gate: what time it is, and what follows so far."""

    now: float
    effects: Effects = field(default_factory=Effects)
