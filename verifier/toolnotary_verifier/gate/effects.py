# SPDX-License-Identifier: Apache-2.0
"""What the gate wants done: it does nothing itself."""

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate.decisions import Decision
from toolnotary_verifier.gate.exchanges import Exchange

if TYPE_CHECKING:
    from toolnotary_verifier.gate.question import Matter

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
        exchange: the exchange that `to_host` and `to_server` belong to.
        others: what follows for other exchanges: nothing but frames.
        to_host: frames to write to the host.
        to_server: frames to write to the server.
        log: lines for people.
        decisions: what was decided, for programs: an audit trail takes them down before anything goes on.
        look_up: whether to ask, elsewhere and without waiting for it, who signed what the server shows; the
            answer is a judge for `Gate.repin`. Not again before that.
        matters: what is withheld and a person may be asked about in the host, and how such a question ended:
            for whoever writes files (`Guard.attend`), elsewhere and without waiting for it.
        unlisted: lists that could not be had, and why, behind "tool listing"; nothing of them passes.
        is_judged: whether the judge was asked.
        is_stale: whether the server announced a change: what other gates verified of the same session may be
            old by now (`Gate.doubt`). Told where there are exchanges alone.
        wake_at: the only deadline that may be earlier since; None where `Gate.deadline` must be asked.
        close: why the connection must be closed, None while it goes on.
    """

    __slots__ = (
        "close",
        "decisions",
        "exchange",
        "is_judged",
        "is_stale",
        "log",
        "look_up",
        "matters",
        "others",
        "to_host",
        "to_server",
        "unlisted",
        "wake_at",
    )

    def __init__(self, exchange: Exchange = None, *, close: str | None = None) -> None:
        self.exchange = exchange
        self.others: dict[Exchange, Effects] = {}
        self.to_host: list[bytes] = []
        self.to_server: list[bytes] = []
        self.log: list[Entry] = []
        self.decisions: list[Decision] = []
        self.look_up = False
        self.is_judged = self.is_stale = False
        self.matters: list[Matter] = []
        self.unlisted: list[tuple[Kind, str]] = []
        self.close = close
        self.wake_at: float | None = None

    def of(self, exchange: Exchange) -> "Effects":
        """Where the frames of an exchange go."""
        if exchange == self.exchange:
            return self
        found = self.others.get(exchange)
        if found is None:
            found = self.others[exchange] = Effects(exchange)
        return found

    @property
    def is_news(self) -> bool:
        """Whether it is more than frames."""
        return bool(
            self.is_judged
            or self.log
            or self.decisions
            or self.look_up
            or self.matters
            or self.unlisted
            or self.close is not None
        )

    def drop(self, why: str) -> None:
        """Let nothing of it go on, and close the connection."""
        self.to_host, self.to_server, self.others, self.close = [], [], {}, why

    def note(self, code: str, text: str) -> None:
        """Add a line for people; text from the server in it is escaped already.

        What was forgotten is spelled out here, and escapes stay as they are: a second pass over them would
        only make them unreadable.
        """
        self.log.append(Entry(code, escape(text, keep="\\", limit=_SHOWN)))


class Turn:
    """One moment of the gate: what time it is, and what follows so far."""

    __slots__ = ("effects", "now")

    def __init__(self, now: float, exchange: Exchange = None) -> None:
        self.now = now
        self.effects = Effects(exchange)

    @property
    def exchange(self) -> Exchange:
        """Where the frame stood from which all of it follows; None where it follows from time."""
        return self.effects.exchange
