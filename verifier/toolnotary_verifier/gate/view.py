# SPDX-License-Identifier: Apache-2.0
"""What one connection knows of its server, under one protocol revision and set of client capabilities."""

from dataclasses import dataclass, field

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.canonical.repeat import Repeat
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.refusal import Held
from toolnotary_verifier.gate.snapshot import Snapshot
from toolnotary_verifier.listing import Listing
from toolnotary_verifier.verdict import Judgement


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing: its bytes without the id where that can be cut out, and its result."""

    repeat: Repeat | None
    result: JsonValue


@dataclass(slots=True)
class Attempt:
    """A listing under way.

    Attributes:
        listing: what came so far.
        own_id: the id of the request that waits for its answer.
        ticket: its number within its record; requests with this ticket are answered when it ends.
        deadline: when it is given up.
        pages: what came so far, for recognizing the same pages later.
        same: whether every page so far was, byte for byte, that of the last verified listing.
    """

    listing: Listing
    own_id: str
    ticket: int
    deadline: float
    pages: list[Page] = field(default_factory=list)
    same: bool = True


@dataclass(slots=True, eq=False)
class Record:
    """The state of one list.

    Attributes:
        view: under which it is seen.
        kind: which list.
        attempt: the listing under way.
        snapshot: what was verified last; None before, and after a listing that failed.
        fresh: whether nothing happened since then that asks for another verification.
        due: whether the server said since the last listing began that the list changed.
        absent: whether the server does not know this list.
        verified_at: when the last listing ended.
        ticket: the number of the last listing that was begun.
        waiting: requests of the host, in order.
        notices: list_changed frames of the server with their tickets, by subscription.
        not_before: when the next listing may begin that nobody but the server asked for.
        pause: seconds between such listings, doubled while they trigger each other.
        pages: those of the last verified listing.
        entries: those of the last verified listing.
        first_page: the first page's result.
    """

    view: "View"
    kind: Kind
    attempt: Attempt | None = None
    snapshot: Snapshot | None = None
    fresh: bool = False
    due: bool = False
    absent: bool = False
    verified_at: float = 0.0
    ticket: int = 0
    waiting: list[Held] = field(default_factory=list)
    notices: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    not_before: float = 0.0
    pause: float = 0.0
    pages: list[Page] = field(default_factory=list)
    entries: list[JsonValue] | None = None
    first_page: JsonObject = field(default_factory=dict)

    @property
    def is_busy(self) -> bool:
        """Whether something waits for a listing."""
        return self.attempt is not None or bool(self.waiting) or self.due

    def forget(self) -> None:
        """Nothing is verified any more."""
        self.fresh, self.snapshot, self.entries, self.pages = False, None, None, []


@dataclass(slots=True)
class About:
    """What the server said of itself in answer to `initialize` or `server/discover`."""

    protocol_version: str | None = None
    server_info: JsonObject = field(default_factory=dict)
    capabilities: JsonObject = field(default_factory=dict)
    instructions: JsonValue = None
    is_known: bool = False


@dataclass(slots=True, eq=False)
class View:
    """One side of a server.

    Attributes:
        meta: `_meta` for our own requests in the stateless era; None in the handshake era.
        about: what the server said of itself.
        records: its lists, as far as somebody asked for them.
        tools: the one that every call needs, found without looking it up.
        judgement: what was decided about all that is known; None where it must be decided anew.
    """

    meta: JsonObject | None = None
    about: About = field(default_factory=About)
    records: dict[Kind, Record] = field(default_factory=dict)
    tools: Record | None = None
    judgement: Judgement | None = None

    def record(self, kind: Kind) -> Record:
        """The record of one list, made when it is first needed."""
        record = self.records.get(kind)
        if record is None:
            record = self.records[kind] = Record(self, kind)
            if kind is Kind.TOOL:
                self.tools = record
        return record

    @property
    def is_busy(self) -> bool:
        """Whether something waits for a listing under this view."""
        return any(record.is_busy for record in self.records.values())
