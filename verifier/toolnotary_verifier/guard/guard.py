# SPDX-License-Identifier: Apache-2.0
"""One guarded server: its files opened, its pins in force, and whatever a gate in front of it needs."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from toolnotary_verifier.errors import Refused, ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate import Commands, Gate, Invitation, Judge, Matter, Report, Streams
from toolnotary_verifier.guard import telemetry
from toolnotary_verifier.guard.announcing import Announcing
from toolnotary_verifier.guard.masking import Masking
from toolnotary_verifier.guard.notes import Notes
from toolnotary_verifier.guard.reached import Reached, may_be_offered, pinned_name, still_needed_for
from toolnotary_verifier.guard.recorder import Recorder
from toolnotary_verifier.guard.secrets import Secrets
from toolnotary_verifier.guard.settings import Settings
from toolnotary_verifier.guard.trail import Trail
from toolnotary_verifier.in_force import InForce
from toolnotary_verifier.overrides import Override
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.policy_rules import AuditRules
from toolnotary_verifier.project import Project, on_policy_alone, torn
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Inspection, Judgement, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.definition import Kind
    from toolnotary_verifier.guard.lookup import LookUp
    from toolnotary_verifier.launch import Launch

# Seconds between two looks at the files; documented as "within two seconds".
_LOOK: Final = 1.0


class Guard:
    """What stands behind the gates of one server: one for a stream, one a session where there are several.

    A shell feeds frames to a gate and does what it asks (`Effects`); what needs files, a registry or a clock
    is here. `record`, `look_up` and `changes` read and write files: never call them where frames are relayed.

    Attributes:
        server: what the server is called for people: the name it is pinned under, else one from its launch.
        log: where people read what was done.
        limits: bounds on what host and server send, for the shell.
        look_up: to be called in a thread of its own when a gate asks (`Effects.look_up`): it gives the judges
            that decide from then on, one after the other, each for `Gate.repin` of every gate. It takes what
            waits so many seconds in between and says whether to go on. None where nothing can be asked; then
            no gate asks.
    """

    def __init__(
        self,
        settings: Settings,
        project: Project,
        reached: Reached,
        *,
        log: Callable[[str], Notes],
        inspection: Inspection,
    ) -> None:
        """See `of_command` and `of_url`.

        Args:
            settings: what the person said.
            project: the files as they are now.
            reached: how the server is started or reached.
            log: makes the log of a server by its name.
            inspection: what of its messages the shell sees.
        """
        launch = reached.launch
        name = settings.server or pinned_name(project, launch)
        self._reached, self._open = reached, settings.open
        self._secrets = Secrets(reached)
        self.server = name or reached.otherwise
        self.limits = project.policy.limits
        self.log: Notes = Masking(log(self.server), self._secrets.masked)
        if line := torn(project.state):
            self.log.line(line)
        # A launch that nobody pinned is nobody's server: it runs, and all that it shows is withheld.
        pins = Pins() if name is None else load_pins(project, server=name, launch=launch)
        self._commands = self._told(settings, project, is_named=name is not None)
        self._report = Report(self._commands)  # all gates tell the same thing once
        self._refuse_other(pins)
        self._trail: Trail | None = None
        self._audit = _expected(project.policy.audit)
        self._recorder = Recorder(
            project,
            launch,
            name,
            self.log,
            keep=self._keep,
            inspection=inspection,
            masked=self._secrets.masked,
        )
        if pins.unrecorded:
            self.log.line(on_policy_alone(project, escape(self.server, limit=200)))
        self._recorder.remember(pins)
        self._in_force = self._held(settings, project, pins, name, inspection)
        self._in_force.held_to()
        self._asking: LookUp | None = None
        if name is not None and not settings.offline and may_be_offered(project, name, pins):
            self._asking = self._registry(settings, name, launch)
        # Without a name there is none under which a person could decide anything.
        self._announcing = None if name is None else self._announced(name)
        self.look_up: Callable[..., Iterator[Judge]] | None = (
            None if self._asking is None else self._asking.judges
        )

    def _told(self, settings: Settings, project: Project, *, is_named: bool) -> Commands:
        """The commands that lead to the files and the registry that were named."""
        return Commands(
            self.server,
            settings.to_files,
            settings.to_registry,
            launch=partial(still_needed_for, project, self.server),
            url=self._reached.url,
            is_named=is_named or not self._reached.url,
        )

    def _held(
        self, settings: Settings, project: Project, pins: Pins, name: str | None, inspection: Inspection
    ) -> InForce:
        """What the server is held to while its files change."""
        return InForce(
            project,
            pins,
            server=name,
            launch=self._reached.launch,
            files=(project.state.path, project.lockfile_path, settings.policy_path),
            reopen=settings.open,
            tell=lambda line: self.log.note("files", line),
            inspection=inspection,
        )

    def _announced(self, name: str) -> Announcing:
        """What tells a person through the host, and takes an answer there."""
        return Announcing(
            name,
            self._reached.launch,
            in_force=self._in_force,
            reopen=self._open,
            log=self.log,
            trail=self._known_trail,
            offered=lambda: () if self._asking is None else self._asking.offered,
            refuse_secrets=self._secrets.refuse_in,
        )

    @classmethod
    def of_command(
        cls,
        argv: Sequence[str],
        settings: Settings,
        *,
        log: Callable[[str], Notes],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        inspection: Inspection = Inspection.WIRE,
    ) -> Self:
        """The guard of a server that is still to be started.

        Args:
            argv: its command.
            settings: what the person said.
            log: makes the log of a server by its name, such as `shells.log.Log`.
            environment: what it is started with; ours if None.
            folder: the working directory that it is started in; ours if None.
            inspection: what of its messages the shell sees.

        Raises:
            Refused: `identity`, where it is not what is pinned under its name; `inspection-refused`; or what
                keeps a signed entry from counting.
            CannotTell: `object-missing`.
            ConfigurationError: `server-ambiguous`, `audit-not-writable`, or a file that cannot be read.
            InvalidInput: `launch-empty`, or a file that is not valid.
        """
        project = settings.open()
        environment = os.environ if environment is None else environment
        reached = Reached.by_command(argv, project, environment=environment, folder=folder or Path.cwd())
        return cls(settings, project, reached, log=log, inspection=inspection)

    @classmethod
    def of_url(
        cls,
        url: str,
        settings: Settings,
        *,
        log: Callable[[str], Notes],
        headers: Mapping[str, str] = MappingProxyType({}),
        inspection: Inspection = Inspection.WIRE,
    ) -> Self:
        """The guard of a server that is still to be reached, told by origin and path of its URL.

        Args:
            url: where it is.
            settings: what the person said.
            log: makes the log of a server by its name.
            headers: what is sent to it with every request; nothing that repeats a value of them is kept.
            inspection: what of its messages the shell sees.

        Raises:
            InvalidInput: `launch-url`, or a file that is not valid.
            Refused, CannotTell, ConfigurationError: as `of_command`.
        """
        reached = Reached.by_url(url, headers=headers)
        return cls(settings, settings.open(), reached, log=log, inspection=inspection)

    def gate(self, streams: Streams = Streams.ONE, *, asks: bool = False) -> Gate:
        """A gate for a connection that was just opened, or for hosts that share streams so.

        Args:
            streams: how they are shared.
            asks: whether the shell brings `Effects.matters` to `attend`.
        """
        judge = self._asking.judge() if self._asking else self._judge
        return Gate(
            judge,
            server=self.server,
            commands=self._commands,
            streams=streams,
            report=self._report,
            every_call=self._audit.every_call or telemetry.is_wanted(),
            asks=asks and self._announcing is not None and self._in_force.policy.elicitation.enabled,
            limits=self.limits,
        )

    def trail(self) -> Trail:
        """What takes down the decisions of one connection, its gates' and ours."""
        trail = Trail(
            self._audit,
            server=self.server,
            launch=self._reached.launch.digest,
            inspection=self._in_force.inspection.value,
            tell=lambda line: self.log.note("audit", line),
            masked=self._secrets.masked,
        )
        self._trail = self._trail or trail
        return trail

    def unlisted(self, kind: "Kind", why: str) -> None:
        """Take note of a list that could not be had (`Effects.unlisted`): quick, in order with judgements."""
        self._recorder.unlisted(self._in_force.held_to, kind, why)

    def record(self) -> None:
        """Record, if it is news, what the gates saw; to be called after they had something to say."""
        self._recorder.record()

    def attend(self, matter: Matter) -> Invitation | None:
        """Do what a gate wants of a person (`Effects.matters`); gives leave to ask, for `Gate.elicit`.

        It writes files: never call it where frames are relayed.
        """
        return None if self._announcing is None else self._announcing.attend(matter)

    def close(self) -> None:
        """It is over: what no host answered may be asked elsewhere."""
        if self._announcing is not None:
            self._announcing.close()

    def conceal(self, credential: str) -> None:
        """Know what a host sends to the server to be let in: what repeats it is neither kept nor asked about.

        Args:
            credential: the value of a header, of which the newest are known.
        """
        self._secrets.know(credential)

    def refresh(self) -> bool:
        """Look whether the files changed; True if every gate is to judge anew (`Gate.rejudge`)."""
        is_changed = self._in_force.refresh()
        for override in self._in_force.over():
            self._end(override)
        return is_changed

    def _end(self, override: Override) -> None:
        """Record that an override is over: no clock that is put back brings it in again."""
        from toolnotary_verifier.approval import end_override

        try:
            if end_override(self._open(), self.server, self._reached.launch.digest, override):
                self._known_trail().event(
                    "expired",
                    kind=override.kind.value,
                    name=override.name,
                    live=override.digest,
                    until=override.until,
                    comment=override.reason,
                    by="break-glass",
                )
        except ToolnotaryError as error:
            self.log.line(f"the end of a break-glass could not be recorded: {error.message} [{error.code}]")

    @property
    def turn(self) -> int:
        """How often `refresh` said so; by it each of several shells of one guard sees what another found."""
        return self._in_force.turn

    def changes(self) -> Iterator[None]:
        """Something whenever `refresh` says so, for as long as somebody asks; waits in between."""
        while True:
            time.sleep(_LOOK)
            if self.refresh():
                yield

    def _judge(self, surface: Surface) -> Judgement:
        """Judge by what is in force, where nobody is to be asked."""
        judgement = self._in_force.decide(self.server, surface)
        self._recorder.seen(surface, judgement)
        return judgement

    def _keep(self, surface: Surface, judgement: Judgement) -> None:
        from toolnotary_verifier.guard.keeping import keep

        keep(
            self.server,
            self._reached.launch,
            surface,
            judgement,
            refuse_secrets=self._secrets.refuse_in,
            log=self.log,
            limits=self.limits,
        )

    def _refuse_other(self, pins: Pins) -> None:
        """Refuse what is not the server that is pinned under the name.

        Raises:
            Refused: `identity`.
        """
        if pins.standing is not None and pins.standing.reason is Reason.IDENTITY:
            raise Refused(
                "identity",
                f"{escape(self.server, limit=120)} was not {self._reached.refused}: {pins.standing.detail}",
                remedy=f"if it is right, pin this launch too: {self._commands.lock}",
            )

    def _registry(self, settings: Settings, name: str, launch: "Launch") -> "LookUp | None":
        """What asks the registry that was named, or that of the policy; None where neither names one."""
        url = settings.registry or self._in_force.policy.registry_url
        if url is None:
            return None
        from toolnotary_verifier.guard.lookup import LookUp

        return LookUp(
            name,
            launch,
            in_force=self._in_force,
            reopen=settings.open,
            registry=url,
            log=self.log,
            seen=self._recorder.seen,
            pinned=self._pinned,
        )

    def _known_trail(self) -> Trail:
        """Some trail of this server, where what is taken down belongs to no connection."""
        return self._trail or self.trail()

    def _pinned(self, signer: str, manifest: str) -> None:
        """Take down that a signature moved the pin, once for all connections."""
        self._known_trail().event("pinned", by=f"signer {signer}", pinned=manifest)


def _expected(audit: AuditRules) -> AuditRules:
    """The rules of the audit trail, once what they require can be written."""
    if audit.required:
        from toolnotary_verifier.audit.opening import expect

        expect(audit)
    return audit
