# SPDX-License-Identifier: Apache-2.0
"""`toolnotary approve`: a person looks at what changed in a pinned server, and accepts or declines it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.trailing import TrailingCommand
from toolnotary_verifier.shellwords import command as told

if TYPE_CHECKING:
    from toolnotary_cli.looking import Seen
    from toolnotary_cli.source import Published, Source
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.moves import Move
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.verdict import Judgement

SCHEMA: Final = "https://toolnotary.dev/output/approve/v1"


@click.command(cls=TrailingCommand)
@click.argument("server", type=options.SERVER, shell_complete=completion.servers)
@click.argument("source", required=False, shell_complete=completion.files)
@click.option(
    "--digest", metavar="CHANGESET", help="Refuse anything but this set of changes, as check or run told it."
)
@click.option("--start", is_flag=True, help="Start the command that the lockfile records without asking.")
@click.option("--no-texts", is_flag=True, help="Keep the definitions' texts out of the lockfile's folder.")
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    server: str,
    source: str | None,
    argv: tuple[str, ...],
    digest: str | None,
    start: bool,
    no_texts: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Show what SERVER shows now and is not pinned, and pin exactly that once you say yes.

    The server is started as the lockfile records it, after you agreed to the line; or give a command after
    --, a URL, or a saved listing. With NAME@VERSION nothing is started: the pin moves to that version of the
    registry. The answer is read from your terminal and from nowhere else.

    Exit code 0: accepted. 1: declined, or it cannot be accepted.
    """
    from toolnotary_cli import source as sources
    from toolnotary_cli.offers import offers
    from toolnotary_cli.opening import open_project, tell_file_too, tell_unaccepted
    from toolnotary_cli.source import Published
    from toolnotary_verifier.approval import accept
    from toolnotary_verifier.decide import decide
    from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome

    project = open_project(lockfile=lockfile, policy=policy, server=server)
    tell_unaccepted(project.policy, output)
    given = sources.one(source, argv, deciding=True) if source is not None or argv else None
    if source is not None and isinstance(given, Published):
        tell_file_too(source, output)
        return _move(
            project,
            server,
            given,
            digest=digest,
            texts=not no_texts,
            registry=registry,
            offline=offline,
            output=output,
        )
    looked = _look(project, server, given, start=start, offline=offline)
    if looked is None:
        text = f"{styled('declined', 'warn')}: {shown(server)} was not started, and stays as it was pinned"
        output.result(_document(project, server, None, accepted=False), text)
        return exits.OBJECTION
    seen, launch = looked
    pins = load_pins(project, server=server, launch=launch)
    signed = offers(project, server, registry=registry, offline=offline, output=output).signed
    candidates = [one.verified for one in signed]
    judgement = decide(server, seen.surface, pins, policy=project.policy, candidates=candidates)
    _refuse_other(judgement, digest)
    move = accept(project, seen.surface, judgement, launch=launch, candidates=signed)
    from toolnotary_cli.proposal import change_lines

    lines = list(change_lines(seen.surface, judgement, pins))
    otherwise = _without_terminal(server)
    if not _agreed(project, judgement, move, lines, launch=launch, output=output, otherwise=otherwise):
        return exits.OBJECTION
    moved = move.apply(project, texts=not no_texts)
    after = judge_for(moved, server=server, launch=launch)(seen.surface)
    record_outcome(moved, after, server=server, launch=launch)
    text = f"{styled('accepted', 'good')}: {shown(server)}, in {shown(str(project.lockfile_path))}"
    output.result(_document(project, judgement.server, judgement.change_set, accepted=True), text)
    return exits.FINE


def _move(
    project: "Project",
    server: str,
    version: "Published",
    *,
    digest: str | None,
    texts: bool,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Move the pin to a published version, after a yes."""
    from toolnotary_cli.looking import entry_launch
    from toolnotary_cli.moving import to_version

    entry = _entry(project, server)
    launch = entry_launch(project, entry)
    proposal = to_version(project, entry, launch, version, registry=registry, offline=offline)
    judgement = proposal.judgement
    _refuse_other(judgement, digest)
    difference = told("diff", f"{project.lockfile_path}#{server}", f"{version.server}@{version.version}")
    if not _agreed(
        project,
        judgement,
        proposal.move,
        proposal.lines,
        launch=launch,
        output=output,
        otherwise=f"to see the change without one: {difference}",
    ):
        return exits.OBJECTION
    proposal.move.apply(project, texts=texts)
    text = f"{styled('accepted', 'good')}: {shown(server)}@{shown(version.version)}"
    output.result(_document(project, judgement.server, judgement.change_set, accepted=True), text)
    return exits.FINE


def _refuse_other(judgement: "Judgement", digest: str | None) -> None:
    from toolnotary_verifier.errors import Refused

    if digest is not None and digest != judgement.change_set:
        raise Refused(
            "change-set-differs",
            f"the server now shows the change set {judgement.change_set}, asked for was {shown(digest)}",
            remedy=f"what it shows now: {told('check', None, '--server', judgement.server, '--start')}",
        )


def _entry(project: "Project", server: str) -> "Entry":
    from toolnotary_verifier.errors import Refused

    entry = project.entry_named(server)
    if entry is None:
        where = shown(str(project.lockfile_path), limit=300)
        raise Refused(
            "not-pinned",
            f"{shown(server)} is not pinned in {where}",
            remedy=f"pin it first: {told('lock', None, '--server', server, behind='-- COMMAND')}",
        )
    return entry


def _look(
    project: "Project", server: str, given: "Source | None", *, start: bool, offline: bool
) -> "tuple[Seen, Launch] | None":
    """What the server shows, and the launch that it is pinned under; None where it is not to be started."""
    from toolnotary_cli.looking import entry_launch, entry_source, is_file, look, recorded_source
    from toolnotary_cli.prompt import confirm
    from toolnotary_cli.source import Command

    if given is not None and not is_file(given):
        seen = look(project, given, offline=offline)
        if seen.launch is not None:
            return seen, seen.launch
    entry = _entry(project, server)
    launch = entry_launch(project, entry)
    if given is not None:
        return look(project, given, launched=recorded_source(project, entry)), launch
    recorded = entry_source(project, entry)
    asks = isinstance(recorded, Command) and not start
    if asks and not confirm(f"start {launch.display} ?", otherwise=_without_terminal(server)):
        return None
    return look(project, recorded, offline=offline), launch


def _agreed(
    project: "Project",
    judgement: "Judgement",
    move: "Move",
    lines: list[str],
    *,
    launch: "Launch",
    output: Output,
    otherwise: str,
) -> bool:
    """Whether the person said yes; a no is remembered.

    `otherwise` is what shows the change where nobody can be asked.
    """
    from toolnotary_cli.prompt import confirm
    from toolnotary_verifier import history
    from toolnotary_verifier.earlier import taken_back
    from toolnotary_verifier.lockfile import SignedEntry

    server, entry = judgement.server, move.entry
    about = (
        f"{shown(server)}: {launch.display}",
        *lines,
        *move.notes,
        *(styled(line, "warn") for line in taken_back(project.state.history, entry, judgement.change_set)),
        f"change set {judgement.change_set}",
    )
    if confirm(f"accept this for {shown(server)}?", lines=about, otherwise=otherwise):
        return True
    # A no to a signed version is a no to it wherever else it is offered; `lock` knows it by its manifest.
    signed = {entry.manifest} if isinstance(entry, SignedEntry) else set()
    project.state.append(*(history.declined(server, no) for no in sorted({judgement.change_set, *signed})))
    text = f"{styled('declined', 'warn')}: {shown(server)} stays as it was pinned"
    output.result(_document(project, judgement.server, judgement.change_set, accepted=False), text)
    return False


def _without_terminal(server: str) -> str:
    return f"to see the change without one: {told('check', None, '--server', server, '--start')}"


def _document(
    project: "Project", server: str, change_set: str | None, *, accepted: bool
) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "server": server,
        "changeSet": change_set,
        "accepted": accepted,
        "lockfile": str(project.lockfile_path),
    }
