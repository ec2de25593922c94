# SPDX-License-Identifier: Apache-2.0
"""`toolnotary status`: every pinned server and the state it was last seen in. It only reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import exits, options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.wording import counted

if TYPE_CHECKING:
    from toolnotary_verifier.canonical import JsonObject
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.verdict import Outcome

SCHEMA: Final = "https://toolnotary.dev/output/status/v1"


@dataclass(frozen=True, slots=True)
class _Line:
    entry: "Entry"
    launch: str
    outcome: "Outcome"
    event: "JsonObject"


@click.command()
@options.lockfile
@options.policy
@options.output
def command(*, lockfile: Path | None, policy: Path | None, output: Output) -> int:
    """List every pinned server and the state it was last seen in.

    States are those that `run`, `approve` and `lock` recorded; a server that none of them saw is
    not-inspected. Nothing is started or written.

    Exit code 1: a server drifted. 3: a server was not inspected. 0: all verified.
    """
    from toolnotary_cli.opening import open_project
    from toolnotary_verifier.verdict import Outcome

    project = open_project(lockfile=lockfile, policy=policy)
    lines = [_line(project, entry) for entry in project.lockfile.entries]
    output.result(_document(lines), list(_text(lines, project)))
    outcomes = {line.outcome for line in lines}
    if outcomes & {Outcome.DRIFT, Outcome.UNPINNED}:
        return exits.OBJECTION
    return exits.UNREACHED if Outcome.NOT_INSPECTED in outcomes else exits.FINE


def _line(project: "Project", entry: "Entry") -> _Line:
    from toolnotary_cli.looking import entry_launch
    from toolnotary_verifier.verdict import Outcome

    event = project.state.history.outcomes.get(entry.place, {})
    outcome = Outcome(event.get("outcome", Outcome.NOT_INSPECTED))
    return _Line(entry, entry_launch(project, entry).display, outcome, event)


def _pinned_to(entry: "Entry") -> str:
    from toolnotary_verifier.lockfile import SignedEntry

    if isinstance(entry, SignedEntry):
        return f"version {shown(entry.version, limit=80)}, signed by {shown(entry.signer, limit=90)}"
    return f"{counted(len(entry.pins), 'definition')}, without a signature"


def _document(lines: Sequence[_Line]) -> dict[str, object]:
    from toolnotary_verifier.verdict import Outcome

    return {
        "schema": SCHEMA,
        "servers": [
            {
                "server": line.entry.server,
                "launch": line.launch,
                "pinnedTo": _pinned_to(line.entry),
                "outcome": line.outcome.value,
                "at": line.event.get("at"),
                "counts": line.event.get("counts", {}),
                "note": line.event.get("note") or None,
            }
            for line in lines
        ],
        "counts": {outcome.value: sum(line.outcome is outcome for line in lines) for outcome in Outcome},
    }


def _text(lines: Sequence[_Line], project: "Project") -> Iterator[str]:
    from toolnotary_verifier.verdict import Outcome

    for line in lines:
        look = styled(f"{line.outcome.value:<13}", "good" if line.outcome is Outcome.VERIFIED else "warn")
        when = line.event.get("at", "never looked at")
        yield f"{look} {shown(line.entry.server)}  {_pinned_to(line.entry)}  ({when})"
        yield f"  {line.launch}"
        if line.event.get("note"):
            yield f"  {shown(str(line.event['note']), limit=300)}"
    counts = ", ".join(
        f"{sum(one.outcome is outcome for one in lines)} {outcome.value}" for outcome in Outcome
    )
    where = shown(str(project.lockfile_path), limit=300)
    yield f"{counted(len(lines), 'server')} pinned in {where}: {counts}"
