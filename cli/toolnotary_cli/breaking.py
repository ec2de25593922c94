# SPDX-License-Identifier: Apache-2.0
"""What `break-glass` does: shows what is withheld, asks a person, and lets exactly that pass until a moment.

No pin moves. What is not what it claims to be stays withheld, whoever asks (docs/reference/break-glass.md).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli import exits
from toolnotary_cli.approving import Approving
from toolnotary_cli.asking import Asker
from toolnotary_cli.auditing import Audit, act
from toolnotary_cli.changes import Question, changes_of
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.prompt import confirm
from toolnotary_cli.proposal import question_lines
from toolnotary_cli.wording import called, counted
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.grounds import Grounds
from toolnotary_verifier.overrides import moment
from toolnotary_verifier.project import Project
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.verdict import OVERRIDABLE, Judgement, Verdict

if TYPE_CHECKING:
    from toolnotary_cli.looking import Seen
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.policy import Policy
    from toolnotary_verifier.sightings import Sighting

SCHEMA: Final = "https://toolnotary.dev/output/break-glass/v1"
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_LONGEST_REASON: Final = 300


def seconds_of(text: str, policy: "Policy") -> int:
    """How long something may pass: `90s`, `30m`, `2h`.

    Raises:
        ConfigurationError: `override-time`, for another spelling or more than policy lets pass.
    """
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smh])", text)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    most = policy.limits.override_seconds
    if not found or seconds > most:
        raise ConfigurationError(
            "override-time",
            f"got --for {shown(text, limit=40)}, expected a time such as 30m or 2h, at most {most:g} seconds",
            remedy="say a shorter time; a change that is to stay is approved: toolnotary approve SERVER",
        )
    return seconds


class Terms(NamedTuple):
    """What a person asks for.

    Attributes:
        reason: why.
        seconds: how long it lasts from the answer on.
        names: the definitions that it is for; all that can be overridden if empty.
    """

    reason: str
    seconds: int
    names: Sequence[str] = ()


class Breaking(Approving):
    """One `break-glass`; it looks at the server as an approval does, and asks something else."""

    def __init__(
        self,
        project: Project,
        server: str,
        output: Output,
        *,
        asker: Asker,
        reopen: Callable[[], Project],
        terms: Terms,
    ) -> None:
        super().__init__(project, server, output, asker=asker, reopen=reopen, digest=None, texts=True)
        self._terms = terms
        self._reason = terms.reason.strip()

    def allow(self) -> None:
        """Refuse where policy forbids it, or where the clock was put back.

        Raises:
            Refused: `override-forbidden`, `clock-behind`.
            ConfigurationError: `override-reason`, `audit-not-writable`.
        """
        project = self._project
        if project.policy.forbids_overrides:
            raise Refused(
                "override-forbidden",
                "the policy lets nothing pass by break-glass",
                remedy=f"approve the change: {command('approve', self._server)}",
            )
        if not self._reason or len(self._reason) > _LONGEST_REASON:
            raise ConfigurationError(
                "override-reason",
                f"a reason has 1 to {_LONGEST_REASON} characters, got {len(self._reason)}",
                remedy="say why, for whoever reads the audit trail",
            )
        latest = project.state.latest
        if moment(datetime.now(UTC) + timedelta(seconds=5)) < latest:
            raise Refused(
                "clock-behind",
                f"the clock shows an earlier time than {latest}, when something was recorded last: no end"
                " could be kept",
                remedy="put the clock right",
            )
        # It is not to be had without its record.
        Audit(project.policy.audit._replace(required=True), self._output.note).expect()

    def _judged(
        self,
        seen: "Seen",
        launch: "Launch",
        sighting: "Sighting | None" = None,
        *,
        registry: str | None,
        offline: bool,
    ) -> int:
        """Ask about a surface, and let it pass for a while after a yes."""
        project, server, surface = self._project, self._server, seen.surface
        # That somebody else signed it is to be noticed; that its publisher did moves no pin here.
        pins, _, judgement = self._weigh(surface, launch, registry=registry, offline=offline)
        wanted = self._wanted(judgement, is_pinned=bool(pins.profiles))
        until = moment(datetime.now(UTC) + timedelta(seconds=self._terms.seconds))
        question = Question(
            server=server,
            launch=launch.display,
            lockfile=project.lockfile_path,
            change_set=judgement.change_set,
            changes=changes_of(surface, judgement, pins),
            seen=sighting,
        )
        lines = (*question_lines(question), *self._conditions(judgement, wanted, until))
        question_text = f"let {counted(len(wanted), 'definition')} of {shown(server)} pass until {until}?"
        if not confirm(question_text, lines=lines, otherwise=f"to see the change without one: {self._check}"):
            return self._declined(judgement.change_set, "goes on without what is withheld")
        until = moment(datetime.now(UTC) + timedelta(seconds=self._terms.seconds))
        rows = [(Kind(v.kind), v.name, v.live) for v in wanted if v.live is not None]
        event = history.overridden(server, launch.digest, rows, until=until, reason=self._reason)
        self._grounds.expect(Grounds.of(self._reopen(), server))
        project.state.append(event, unless=self._grounds.unmoved(self._reopen))
        self._take_down("broke-glass", judgement, wanted, launch, until)
        text = list(self._told(wanted, until))
        self._output.result(self._result(judgement.change_set, wanted, until), text)
        return exits.FINE

    def _wanted(self, judgement: Judgement, *, is_pinned: bool) -> list[Verdict]:
        """What would pass; the rest stays withheld.

        Raises:
            Refused: `nothing-withheld`, `not-overridable`.
        """
        server = shown(self._server)
        objections = [v for v in judgement.objections if not self._terms.names or v.name in self._terms.names]
        if not objections:
            raise Refused(
                "nothing-withheld", f"nothing that {server} shows is withheld, or nothing so called"
            )
        can = [v for v in objections if v.reason in OVERRIDABLE and v.live is not None and is_pinned]
        if not can:
            told = ", ".join(sorted({v.reason.value for v in objections}))
            raise Refused("not-overridable", f"{server}: what is withheld stays so ({told})")
        return can

    def _conditions(self, judgement: Judgement, wanted: list[Verdict], until: str) -> Iterator[str]:
        for one in wanted:
            yield styled(f"would pass: {called(one.kind, one.name)} ({one.reason.value}) {one.live}", "bad")
        passing = {(one.kind, one.name) for one in wanted}
        for one in judgement.objections:
            if (one.kind, one.name) not in passing:
                yield f"stays withheld: {called(one.kind, one.name)} ({one.reason.value})"
        yield f"until {until}; then it is withheld again, and no pin has moved"
        yield f"reason: {shown(self._reason, limit=_LONGEST_REASON)}"

    def _told(self, wanted: list[Verdict], until: str) -> Iterator[str]:
        for one in wanted:
            what = f"{called(one.kind, one.name)} of {shown(self._server)}"
            yield f"{styled('OVERRIDE', 'bad')}: {what} passes until {until}"
        yield f"to end it before: {command('revoke', self._server, '--override')}"

    def _declined(self, change_set: Digest | None, what: str) -> int:
        """The end after a no: to the line that would be started, or to what it showed."""
        text = f"{styled('declined', 'warn')}: {shown(self._server)} {what}"
        self._output.result(self._result(change_set, [], None), text)
        return exits.OBJECTION

    def _take_down(
        self, event: str, judgement: Judgement, wanted: list[Verdict], launch: "Launch", until: str
    ) -> None:
        base = act(event, self._server, launch, change_set=judgement.change_set)
        self._audit.write(
            *(
                base._replace(
                    kind=one.kind.value,
                    name=one.name,
                    live=one.live,
                    pinned=one.pinned,
                    reason=one.reason.value,
                    until=until,
                    comment=self._reason,
                )
                for one in wanted
            )
        )

    def _result(
        self, change_set: Digest | None, wanted: Sequence[Verdict], until: str | None
    ) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "server": self._server,
            "changeSet": change_set,
            "until": until,
            "reason": self._reason,
            "definitions": [
                {
                    "kind": one.kind.value,
                    "name": one.name,
                    "reason": one.reason.value,
                    "live": one.live,
                    "pinned": one.pinned,
                }
                for one in wanted
            ],
        }
