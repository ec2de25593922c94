# SPDX-License-Identifier: Apache-2.0
"""What one connection knows of its server, under one protocol revision and set of client capabilities."""

from typing import NamedTuple

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.canonical.repeat import Repeat
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.exchanges import Exchange, Place
from toolnotary_verifier.gate.refusal import Held
from toolnotary_verifier.gate.snapshot import Snapshot
from toolnotary_verifier.jsonrpc import META_VERSION
from toolnotary_verifier.listing import Listing
from toolnotary_verifier.surface import NOTHING
from toolnotary_verifier.verdict import Judgement


class Page(NamedTuple):
    """One page of a listing: its bytes without the id where that can be cut out, and its result."""

    repeat: Repeat | None
    result: JsonValue


class Attempt:
    """A listing under way.

    Attributes:
        listing: what came so far.
        own_id: the id of the request that waits for its answer.
        ticket: its number within its record; requests with this ticket are answered when it ends.
        seconds: how long it may take.
        deadline: when it is given up.
        pages: what came so far, for recognizing the same pages later.
        same: whether every page so far was, byte for byte, that of the last verified listing.
        announced: whether the server had announced a change, rather than the host asked alone.
        waited: whether the server had announced a change so soon after the last one that it had to wait.
    """

    __slots__ = ("announced", "deadline", "listing", "own_id", "pages", "same", "seconds", "ticket", "waited")

    def __init__(
        self, listing: Listing, ticket: int, *, now: float, seconds: float, waited: bool = False
    ) -> None:
        self.listing = listing
        self.own_id = ""
        self.ticket = ticket
        self.seconds = seconds
        self.deadline = now + seconds
        self.pages: list[Page] = []
        self.same = True
        self.announced = False
        self.waited = waited


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
        notices: list_changed frames of the server with their tickets and exchanges, by where they go.
        not_before: when the next listing may begin that nobody but the server asked for.
        pause: seconds between such listings, doubled while they trigger each other.
        pages: those of the last verified listing.
        entries: those of the last verified listing.
        first_page: the first page's result.
    """

    def __init__(self, view: "View", kind: Kind) -> None:
        self.view = view
        self.kind = kind
        self.attempt: Attempt | None = None
        self.snapshot: Snapshot | None = None
        self.fresh = False
        self.due = False
        self.absent = False
        self.verified_at = 0.0
        self.ticket = 0
        self.waiting: list[Held] = []
        self.notices: dict[Place, tuple[int, bytes, Exchange]] = {}
        self.not_before = 0.0
        self.pause = 0.0
        self.pages: list[Page] = []
        self.entries: list[JsonValue] | None = None
        self.first_page: JsonObject = {}

    @property
    def is_busy(self) -> bool:
        """Whether something waits for a listing."""
        return self.attempt is not None or bool(self.waiting) or self.due

    @property
    def is_lost(self) -> bool:
        """Whether the last listing failed, and no other one is under way."""
        return bool(self.ticket) and self.entries is None and not self.absent and self.attempt is None

    def forget(self) -> None:
        """Nothing is verified any more."""
        self.fresh, self.snapshot, self.entries, self.pages = False, None, None, []


class About(NamedTuple):
    """What the server said of itself in answer to `initialize` or `server/discover`."""

    protocol_version: str | None = None
    server_info: JsonObject = NOTHING
    capabilities: JsonObject = NOTHING
    instructions: JsonValue = None
    is_known: bool = False


class View:
    """One side of a server.

    Attributes:
        meta: `_meta` for our own requests in the stateless era; None in the handshake era.
        about: what the server said of itself.
        records: its lists, as far as somebody asked for them.
        tools: the one that every call needs, found without looking it up.
        judgement: what was decided about all that is known; None where it must be decided anew.
    """

    def __init__(self, meta: JsonObject | None = None) -> None:
        self.meta = meta
        self.about = About()
        self.records: dict[Kind, Record] = {}
        self.tools: Record | None = None
        self.judgement: Judgement | None = None

    def record(self, kind: Kind) -> Record:
        """The record of one list, made when it is first needed."""
        record = self.records.get(kind)
        if record is None:
            record = self.records[kind] = Record(self, kind)
            if kind is Kind.TOOL:
                self.tools = record
        return record

    @property
    def protocol(self) -> str | None:
        """The protocol revision that was agreed on; None where nobody said one yet."""
        said = self.about.protocol_version if self.meta is None else self.meta.get(META_VERSION)
        return said if isinstance(said, str) else None

    @property
    def is_busy(self) -> bool:
        """Whether something waits for a listing under this view."""
        return any(record.is_busy for record in self.records.values())
