# SPDX-License-Identifier: Apache-2.0
"""What a judge lets through of all that is known of a server, and when what it does not know is looked up."""

from collections.abc import Callable, Iterator

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import NAME_MEMBER, Definition, Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.gate.decisions import judged, traced_of
from toolnotary_verifier.gate.effects import Effects
from toolnotary_verifier.gate.elicitation import Elicitation
from toolnotary_verifier.gate.report import Report
from toolnotary_verifier.gate.snapshot import Snapshot
from toolnotary_verifier.gate.view import Record, View
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface, assemble
from toolnotary_verifier.verdict import Judgement, Reason

Judge = Callable[[Surface], Judgement]


class Judging:
    """The judge of a connection, and what it said last."""

    def __init__(
        self,
        judge: Judge,
        report: Report,
        elicitation: Elicitation,
        *,
        every_call: bool = False,
        limits: Limits,
    ) -> None:
        self._judge = judge
        self._elicitation = elicitation
        self._every_call = every_call
        self._report = report
        self._limits = limits
        self._is_looking_up = False

    def judge(self, view: View, effects: Effects) -> list[Kind]:
        """Judge all that is known under a view and replace its snapshots; returns the lists that changed.

        Raises:
            ToolnotaryError: the judge could not tell; nothing is verified then.
        """
        listed = {kind: record.entries for kind, record in view.records.items() if record.entries is not None}
        about = view.about
        surface = assemble(
            listed,
            instructions=about.instructions,
            inspected=(Kind.INSTRUCTIONS,) if about.is_known else (),
            protocol_version=about.protocol_version,
            server_info=about.server_info,
            capabilities=about.capabilities,
            limits=self._limits,
            parsed=True,
        )
        before, view.judgement = view.judgement, None
        was_fresh = {kind: view.records[kind].fresh for kind in listed}
        for kind in listed:
            view.records[kind].fresh = False  # in case that the judge raises
        effects.is_judged = True
        view.judgement = judgement = self._judge(surface)
        is_final = not self._look_up(judgement, effects)
        changed = []
        for kind, entries in listed.items():
            record = view.records[kind]
            record.fresh = was_fresh[kind]
            passing = list(_in_order(kind, entries, judgement))
            traced = traced_of(judgement, passing, every_call=self._every_call)
            if self._show(record, passing, traced, is_final=is_final):
                changed.append(kind)
        effects.decisions += judged(judgement, before, protocol=view.protocol)
        self._report.judged(judgement, effects)
        self._elicitation.judged(view, surface, judgement)
        return changed

    def repin(self, judge: Judge, views: list[View], effects: Effects) -> list[tuple[View, Kind]]:
        """Judge everything by another judge, with which a look-up ended; returns the lists that changed."""
        self._judge = judge
        self._is_looking_up = False
        return self.rejudge(views, effects)

    def rejudge(self, views: list[View], effects: Effects) -> list[tuple[View, Kind]]:
        """Judge everything again; returns the lists that changed, and those that failed and may not now."""
        changed = []
        for view in views:
            lost = [(view, kind) for kind, record in view.records.items() if record.is_lost]
            try:
                if view.about.is_known or any(one.entries is not None for one in view.records.values()):
                    changed += [(view, kind) for kind in self.judge(view, effects)]
                changed += lost
            except ToolnotaryError as refused:
                changed += [(view, kind) for kind, record in view.records.items() if record.snapshot]
                for record in view.records.values():
                    record.forget()
                effects.note("listing-failed", f"what is known could not be judged again ({refused.code})")
        return changed

    def _look_up(self, judgement: Judgement, effects: Effects) -> bool:
        """Have looked up what is pending, unless that is under way; whether anything is pending."""
        is_pending = any(verdict.reason is Reason.PENDING for verdict in judgement.verdicts)
        if is_pending and not self._is_looking_up:
            self._is_looking_up = effects.look_up = True
        return is_pending

    def _show(
        self, record: Record, passing: list[Definition], traced: frozenset[str], *, is_final: bool
    ) -> bool:
        """Have a list show what passes; whether that is something else than before."""
        before = record.snapshot
        is_changed = before is None or before.definitions != passing
        if before is None or is_changed or (before.is_final, before.traced) != (is_final, traced):
            record.snapshot = Snapshot(
                record.kind,
                passing,
                first_page=record.first_page,
                is_final=is_final,
                traced=traced,
                limits=self._limits,
            )
        return is_changed


def _in_order(kind: Kind, entries: list[JsonValue], judgement: Judgement) -> Iterator[Definition]:
    """What passes, once each, in the order in which the server lists it."""
    seen = set()
    for entry in entries:
        name = entry.get(NAME_MEMBER[kind]) if isinstance(entry, dict) else None
        if isinstance(name, str) and name not in seen and (kind, name) in judgement.forward:
            seen.add(name)
            yield judgement.forward[kind, name]
