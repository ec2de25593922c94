# SPDX-License-Identifier: Apache-2.0
"""The state of one configured server: by what is recorded, or by a look where a person said so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_cli import exits
from toolnotary_cli.hosts.documents import Document
from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.guarded import Guarded, seen_through
from toolnotary_cli.hosts.starting import launch_of, start_folder
from toolnotary_cli.scan.findings import Finding, of_entry
from toolnotary_cli.shadowed import held_by_pins
from toolnotary_cli.verdicts import Row
from toolnotary_cli.wording import override_line
from toolnotary_verifier.errors import CannotTell, ConfigurationError, Refused, ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review.shadowing import NOTHING_HELD, Held
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.verdict import Judgement, Outcome, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Entry as Pinned
    from toolnotary_verifier.looks import Look
    from toolnotary_verifier.pins import Pins
    from toolnotary_verifier.project import Project

# Gives the files that a wrapped entry is led to, those in force where it names none.
Projects = Callable[[Guarded | None], "list[Project]"]


class _Candidate(NamedTuple):
    """Files, and what a server is in them: how it is started, and the name for its pins."""

    project: "Project"
    launch: "Launch"
    name: str | None


class _Held(NamedTuple):
    """What a server is held to: under which name, in which files."""

    project: "Project"
    name: str
    pinned: "Pinned | None"
    pins: "Pins"


@dataclass(slots=True)
class Configured:
    """One server of a host's file, in exactly one state.

    Attributes:
        document: the file.
        entry: its entry.
        through: what its command line is seen through as, where it is ours.
        launch: how it is really started or reached; None where that cannot be told.
        name: the name that its pins are looked up by; None where its launch is under none.
        is_pinned: whether the lockfile has it.
        lockfile: that lockfile; None where it is not pinned.
        outcome: its state.
        why: why, where that is not plain; escaped.
        error: what kept it from being judged.
        look: the recorded look that counts.
        judgement: what a look of now came to.
        held: its tools and what it says, as far as they are known.
        findings: what else a person should know.
    """

    document: Document
    entry: Entry
    through: Guarded | None
    launch: "Launch | None" = None
    name: str | None = None
    is_pinned: bool = False
    lockfile: Path | None = None
    outcome: Outcome = Outcome.NOT_INSPECTED
    why: str = ""
    error: ToolnotaryError | None = None
    look: "Look | None" = None
    judgement: Judgement | None = None
    held: Held = NOTHING_HELD
    findings: list[Finding] = field(default_factory=list)

    @property
    def argv(self) -> tuple[str, ...]:
        """What starts the server itself, as it is written; empty where nothing does."""
        return self.entry.argv if self.through is None else self.through.argv

    @property
    def url(self) -> str | None:
        """Where it is reached, as it is written."""
        return self.entry.url if self.through is None else self.through.options.get("url")

    @property
    def folder(self) -> Path:
        """The folder that the host starts it in, if its entry does not say."""
        return start_folder(self.document, self.entry)

    @property
    def exit_code(self) -> int:
        """What this server alone would end the command with: 0 where its host leaves it alone."""
        if self.entry.is_disabled:
            return exits.FINE
        if self.error is not None:
            return Row("", "", error=self.error).exit_code
        if self.outcome in (Outcome.DRIFT, Outcome.UNPINNED) or any(one.objects for one in self.findings):
            return exits.OBJECTION
        return exits.FINE if self.outcome is Outcome.VERIFIED else exits.UNREACHED

    @property
    def is_startable(self) -> bool:
        """Whether it is looked at where a person says so.

        Not where nobody knows how it is started, where its host leaves it alone, or where it is another
        server than is pinned.
        """
        if self.launch is None or self.entry.is_disabled:
            return False
        return self.error is None or self.error.code != "identity"

    def fail(self, error: ToolnotaryError) -> None:
        """Put it into the state of one that could not be inspected, and say why."""
        self.error, self.outcome = error, Outcome.NOT_INSPECTED
        self.why = f"{error.code}: {error.message}"


def configured(document: Document, entry: Entry, projects: Projects) -> Configured:
    """A server and the state that is recorded of it; nothing is started or reached."""
    found = Configured(document, entry, seen_through(entry.argv))
    found.findings += of_entry(entry, found.through, found.argv)
    try:
        held = _held(found, projects)
        _recorded(found, held)
    except ToolnotaryError as error:
        found.fail(error)
    return found


def look_at(found: Configured, projects: Projects) -> None:
    """Start or reach a server, and put it into the state that it is seen in. The caller has shown the line.

    What does not belong to the name that it is pinned under is not started; that was found out before.
    """
    if not found.is_startable:
        return
    from toolnotary_cli.scan.looking import seen
    from toolnotary_verifier.decide import decide

    try:
        held = _held(found, projects)
        surface = seen(
            found.entry,
            found.argv,
            found.url,
            named=() if found.through is None else found.through.headers,
            folder=found.folder,
            limits=held.project.policy.limits,
        )
        judgement = decide(held.name, surface, held.pins, policy=held.project.policy)
    except ToolnotaryError as error:
        found.look = None
        found.fail(error)
        return
    found.judgement, found.look, found.error, found.why = judgement, None, None, ""
    found.outcome = judgement.outcome
    found.held = Held.of(surface.definitions.values())


def _held(found: Configured, projects: Projects) -> _Held:
    from toolnotary_verifier.pinning import load_pins

    tried = [_candidate(found, project) for project in projects(found.through)]
    project, launch, name = next(
        (one for one in tried if one.name is not None and one.project.lockfile.named(one.name)), tried[-1]
    )
    found.launch = launch
    found.name = name
    shown = name if name is not None else found.entry.name
    pinned = None if name is None else project.lockfile.entry(name, launch.identity)
    found.is_pinned = pinned is not None
    found.lockfile = project.lockfile_path if pinned is not None else None
    pins = load_pins(project, server=shown, launch=launch)
    standing = pins.standing
    if standing is not None and standing.reason is Reason.IDENTITY:
        where = ("--server", shown, "--lockfile", str(project.lockfile_path.absolute()))
        lock = command("lock", None, *where, behind="-- COMMAND")
        told = f"{escape(shown, limit=120)}: {standing.detail}"
        raise Refused("identity", told, remedy=f"undo that; if it is right, pin it too: {lock}")
    return _Held(project, shown, pinned, pins)


def _candidate(found: Configured, project: "Project") -> _Candidate:
    launch = _launch(found, project)
    return _Candidate(project, launch, _name(found, project, launch))


def _launch(found: Configured, project: "Project") -> "Launch":
    if found.entry.problem:
        raise CannotTell("host-entry", found.entry.problem)
    return launch_of(found.entry, project, folder=found.folder, argv=found.argv, url=found.url)


def _name(found: Configured, project: "Project", launch: "Launch") -> str | None:
    """The name that `run` would look it up by, else that under which it is pinned by its launch."""
    given = None if found.through is None else found.through.options.get("server")
    if given:
        return given
    names = sorted({entry.server for entry in project.lockfile.launched(launch.identity)})
    if len(names) > 1:
        shown = ", ".join(escape(name, limit=80) for name in names)
        raise ConfigurationError(
            "server-ambiguous",
            f"this launch is pinned under {shown}",
            remedy="say --server NAME in the entry",
        )
    if names:
        return names[0]
    return found.entry.name if project.lockfile.named(found.entry.name) else None


def _recorded(found: Configured, held: _Held) -> None:
    """The state by what is recorded."""
    from toolnotary_cli.recorded import recorded

    if held.pinned is None:
        found.outcome = Outcome.UNPINNED
        return
    found.held = held_by_pins(held.pins)
    found.findings += [Finding("override", override_line(one)) for one in held.pins.overrides]
    if not held.pins.profiles and held.pins.standing is None:
        found.outcome, found.why = Outcome.UNPINNED, "what the lockfile pins of it is not accepted by you"
        return
    known = recorded(held.project, held.pinned, held.pins)
    found.look, found.why = known.look, known.why
    found.outcome = Outcome.NOT_INSPECTED if known.look is None else known.look.outcome
