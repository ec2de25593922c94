# SPDX-License-Identifier: Apache-2.0
"""The gate's own listings: asked for, paged to the end, judged, and what waited for them released."""

import math
import os

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.canonical.repeat import Repeat
from toolnotary_verifier.errors import InvalidInput, ToolnotaryError
from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.effects import Turn
from toolnotary_verifier.gate.exchanges import Placing
from toolnotary_verifier.gate.judging import Judging
from toolnotary_verifier.gate.refusal import Held
from toolnotary_verifier.gate.report import Report
from toolnotary_verifier.gate.shape import misspells
from toolnotary_verifier.gate.view import Attempt, Page, Record, View
from toolnotary_verifier.gate.waiting import Waiting
from toolnotary_verifier.jsonrpc import LIST_METHOD, METHOD_NOT_FOUND, frame, notification, request
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.listing import Listing

_FIRST_PAUSE = 1.0
_NOTICES = 32


class Verification:
    """Listings of all views of one connection.

    Attributes:
        judging: decides what of a view may pass.
        prefix: how the ids of our own requests begin; nobody can know it before the first one is sent.
        waiting: requests of the host that wait for it.
        under_way: lists by the ids of our own requests that wait for their answers.
    """

    def __init__(
        self, judging: Judging, report: Report, commands: Commands, *, placing: Placing, limits: Limits
    ) -> None:
        self.judging = judging
        self.prefix = f"toolnotary-{os.urandom(12).hex()}-"
        self.waiting = Waiting(report, commands, placing=placing, limits=limits)
        self._placing = placing
        self._limits = limits
        self._sent = 0
        self.under_way: dict[str, Record] = {}

    def is_current(self, record: Record, now: float) -> bool:
        """Whether what is verified may be used without listing again."""
        return record.fresh and now < self._old_at(record)

    def hold(self, record: Record, held: Held, turn: Turn) -> None:
        """Keep a request until a listing has ended that began late enough for it; begin one if need be."""
        record.fresh = False
        ticket = record.ticket + 1 if record.attempt is None or record.due else record.ticket
        if self.waiting.add(record, held, ticket, turn.effects) and record.attempt is None:
            turn.effects.wake_at = self._begin(record, turn, waited=record.due)

    # Our own requests

    def _begin(self, record: Record, turn: Turn, *, waited: bool) -> float:
        """Ask for a list; returns when that is given up.

        Args:
            record: the list.
            turn: what follows.
            waited: whether an announcement of the server had to wait for that.
        """
        limits = self._limits
        seconds = limits.listing_seconds if self._sent else limits.first_start_seconds
        record.ticket += 1
        listing = Listing(record.kind, limits=limits)
        attempt = Attempt(listing, record.ticket, now=turn.now, seconds=seconds, waited=waited)
        attempt.announced = record.due
        record.attempt = attempt
        record.due = False
        self._ask(record, attempt, turn)
        return attempt.deadline

    def _ask(self, record: Record, attempt: Attempt, turn: Turn) -> None:
        self._sent += 1
        attempt.own_id = f"{self.prefix}{self._sent:08d}"
        self.under_way[attempt.own_id] = record
        params = attempt.listing.params
        if record.view.meta is not None:
            params = {**params, "_meta": record.view.meta}
        if params:
            asked = frame(request(attempt.own_id, LIST_METHOD[record.kind], params))
        else:  # as most are
            asked = b'{"jsonrpc":"2.0","id":"%b","method":"%b"}\n' % (
                attempt.own_id.encode("ascii"),
                LIST_METHOD[record.kind].encode("ascii"),
            )
        turn.effects.of(self._placing.of_own(attempt.own_id)).to_server.append(asked)

    def is_own(self, request_id: JsonValue) -> bool:
        """Whether an id is one of ours, or looks like one."""
        return isinstance(request_id, str) and request_id.startswith(self.prefix)

    def recall(self, line: bytes, turn: Turn) -> bool:
        """Take a page that is, byte for byte, one of the last verified listing; False if it is none."""
        for own_id, record in self.under_way.items():
            attempt = record.attempt
            if attempt is None or not attempt.same or len(attempt.pages) >= len(record.pages):
                continue
            known = record.pages[len(attempt.pages)]
            if known.repeat is not None and known.repeat.answers(line, b'"%s"' % own_id.encode("ascii")):
                del self.under_way[own_id]
                self._receive(record, known, len(line), turn, is_known=True)
                if record.attempt is None and not record.due:
                    turn.effects.wake_at = math.inf  # it is good for longer than it took
                return True
        return False

    def take(self, message: JsonObject, line: bytes, turn: Turn, *, alone: bool) -> None:
        """Take an answer to one of our requests; it never reaches the host.

        Args:
            message: the message, whose id is one of ours.
            line: the frame that it stood in.
            turn: what follows.
            alone: whether nothing else stood in that frame.
        """
        record = self.under_way.pop(message["id"], None)
        if record is None or record.attempt is None:
            turn.effects.note("stray-answer", "an answer to a listing that nobody waits for was dropped")
        elif misspells(message) or ("error" in message) == ("result" in message):
            self._fail(record, "was answered ambiguously by this server", turn)
        elif "error" in message:
            self._take_error(record, message["error"], turn)
        else:
            record.attempt.same = False
            page = Page(Repeat.of(line) if alone else None, message["result"])
            self._receive(record, page, len(line), turn)

    def _take_error(self, record: Record, failed: JsonValue, turn: Turn) -> None:
        code = failed.get("code") if isinstance(failed, dict) else None
        if code == METHOD_NOT_FOUND:
            # A server without this list: nothing is listed (MCP: capabilities).
            record.absent = True
            record.pages = []
            self._complete(record, turn)
            return
        shown = str(int(code)) if isinstance(code, int) else "without a code"
        self._fail(record, f"could not be listed: the server answered with error {shown[:20]}", turn)

    def lose(self, line: bytes, why: str, turn: Turn) -> bool:
        """Fail the listing whose answer this unreadable line is; False if it is none."""
        for own_id, record in self.under_way.items():
            if own_id.encode("ascii") in line:
                del self.under_way[own_id]
                self._fail(record, f"was answered by something unreadable ({why})", turn)
                return True
        return False

    def give_up(self, own_id: str, why: str, turn: Turn) -> None:
        """Fail the listing that waits for the answer to this request of ours, since none will come."""
        record = self.under_way.pop(own_id, None)
        if record is not None:
            self._fail(record, why, turn)

    def _receive(self, record: Record, page: Page, size: int, turn: Turn, *, is_known: bool = False) -> None:
        attempt = record.attempt
        if attempt is None:
            return
        try:
            done = attempt.listing.receive(page.result, size, is_known=is_known)
        except InvalidInput as refused:
            self._fail(record, f"could not be listed: {refused.message} ({refused.code})", turn)
            return
        attempt.pages.append(page)
        if done:
            record.absent = False
            self._complete(record, turn)
        else:
            self._ask(record, attempt, turn)

    def _complete(self, record: Record, turn: Turn) -> None:
        attempt = record.attempt
        if attempt is None:
            return
        same = bool(attempt.pages) and attempt.same and len(attempt.pages) == len(record.pages)
        if not (same and record.snapshot is not None and record.view.judgement is not None):
            record.entries = attempt.listing.entries
            record.first_page = attempt.listing.first_page
            record.pages = attempt.pages
            try:
                self.judging.judge(record.view, turn.effects)
            except ToolnotaryError as refused:
                self._fail(record, f"could not be judged ({refused.code})", turn)
                return
        record.fresh = not record.due
        self._release(record, attempt, turn, failure="")

    def _fail(self, record: Record, why: str, turn: Turn) -> None:
        record.forget()
        turn.effects.unlisted.append((record.kind, why))
        turn.effects.note("listing-failed", f"{record.kind} listing {why}")
        if record.attempt is not None:
            self._release(record, record.attempt, turn, failure=why)

    def _release(self, record: Record, attempt: Attempt, turn: Turn, *, failure: str) -> None:
        """What waited for this listing goes on; what came too late for it begins the next."""
        record.attempt = None
        record.verified_at = turn.now
        if attempt.announced or record.due:
            # Who announces again before the pause is over gets a longer one, however short each listing is.
            doubled = min(max(_FIRST_PAUSE, record.pause * 2), self._limits.quiet_seconds)
            record.pause = doubled if record.due or attempt.waited else _FIRST_PAUSE
            record.not_before = turn.now + record.pause
        self.waiting.release(record, attempt.ticket, turn.effects, failure=failure)
        for key, (ticket, line, exchange) in list(record.notices.items()):
            if ticket <= attempt.ticket:
                turn.effects.of(exchange).to_host.append(line)
                del record.notices[key]
        if record.waiting:
            self._begin(record, turn, waited=record.due)

    # Changes that the server announces

    def announce(self, record: Record, subscription: str, line: bytes, turn: Turn) -> None:
        """A list_changed: verify again, as often as is bearable, and tell the host afterwards.

        Args:
            record: the list.
            subscription: tells notices apart that the host must get one by one.
            line: the notice, to be forwarded.
            turn: what follows.
        """
        record.fresh = False
        was_quiet = turn.now > record.verified_at + self._limits.listing_seconds
        if record.attempt is None and not record.due and was_quiet:
            record.pause, record.not_before = _FIRST_PAUSE, turn.now
        record.due = True
        place = self._placing.place(turn.exchange, subscription)
        if len(record.notices) < _NOTICES or place in record.notices:
            record.notices[place] = (record.ticket + 1, line, turn.exchange)
        if record.attempt is None and turn.now >= record.not_before:
            self._begin(record, turn, waited=False)

    def doubt(self, record: Record) -> None:
        """Verify a list again before it is used next, and after a listing that may have begun too early."""
        record.fresh = False
        record.due = record.due or record.attempt is not None

    # Time

    def deadline(self, views: list[View]) -> float | None:
        """When `wake` has something to do, None if never."""
        times = [record.attempt.deadline for record in self.under_way.values() if record.attempt]
        times += [record.not_before for record in _scheduled(views)]
        times += [self._old_at(record) for view in views for record in view.records.values() if record.fresh]
        return min(times, default=None)

    def wake(self, views: list[View], turn: Turn) -> None:
        """Give up what took too long, begin what had to wait."""
        for own_id, record in list(self.under_way.items()):
            attempt = record.attempt
            if attempt is not None and turn.now >= attempt.deadline:
                del self.under_way[own_id]
                cancelled = {"requestId": own_id, "reason": "it took too long"}
                withdrawn = frame(notification("notifications/cancelled", cancelled))
                turn.effects.of(self._placing.of_own(own_id)).to_server.append(withdrawn)
                why = f"was not answered by this server within {attempt.seconds:g} seconds"
                self._fail(record, why, turn)
        for record in _scheduled(views):
            if turn.now >= record.not_before:
                self._begin(record, turn, waited=True)
        for view in views:
            for record in view.records.values():
                record.fresh = record.fresh and turn.now < self._old_at(record)

    def _old_at(self, record: Record) -> float:
        return record.verified_at + self._limits.reverify_seconds


def _scheduled(views: list[View]) -> list[Record]:
    """Lists that the server said to have changed, and that have to wait for their verification."""
    records = [record for view in views for record in view.records.values()]
    return [record for record in records if record.due and record.attempt is None]
