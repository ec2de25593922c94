# SPDX-License-Identifier: Apache-2.0
"""`toolnotary status`: every pinned server and the state it was last seen in. It only reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolnotary_cli import exits, options
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.wording import counted, override_document, override_line

if TYPE_CHECKING:
    from toolnotary_verifier.errors import ToolnotaryError
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.looks import Look
    from toolnotary_verifier.overrides import Override
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.verdict import Outcome

SCHEMA: Final = "https://toolnotary.dev/output/status/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One pinned server: the look that counts for what is pinned now, or why there is none."""

    entry: "Entry"
    launch: str
    look: "Look | None" = None
    why: str = ""
    error: "ToolnotaryError | None" = None
    overrides: "tuple[Override, ...]" = ()

    @property
    def outcome(self) -> "Outcome":
        from toolnotary_verifier.verdict import Outcome

        return Outcome.NOT_INSPECTED if self.look is None else self.look.outcome

    @property
    def exit_code(self) -> int:
        from toolnotary_cli.verdicts import Row
        from toolnotary_verifier.verdict import Outcome

        if self.look is None or self.outcome is Outcome.NOT_INSPECTED:
            return Row(server=self.entry.server, launch=self.launch, error=self.error).exit_code
        return exits.FINE if self.outcome is Outcome.VERIFIED else exits.OBJECTION


@click.command()
@options.lockfile
@options.policy
@options.output
def command(*, lockfile: Path | None, policy: Path | None, output: Output) -> int:
    """List every pinned server and the state it was last seen in.

    States are those that `run` recorded, and `approve` and `lock` where they looked at the server; a pin to a
    published version is made without a look. A server is not-inspected until one of them saw it under what is
    pinned now: a pin that moved, a withdrawal and an acceptance begin anew. Nothing is started or written.

    Exit code 1: a server drifted. 3: a server was not inspected. 0: all verified.
    """
    from toolnotary_cli.opening import open_project
    from toolnotary_cli.verdicts import worst

    project = open_project(lockfile=lockfile, policy=policy)
    lines = [_line(project, entry) for entry in project.lockfile.entries]
    output.result(_document(lines), list(_text(lines, project)))
    return worst(line.exit_code for line in lines)


def _line(project: "Project", entry: "Entry") -> _Line:
    from toolnotary_cli.looking import entry_launch
    from toolnotary_cli.recorded import recorded
    from toolnotary_verifier.errors import ToolnotaryError
    from toolnotary_verifier.pinning import load_pins

    launch = entry_launch(project, entry)
    try:
        pins = load_pins(project, server=entry.server, launch=launch)
    except ToolnotaryError as error:
        why = f"{error.code}: {error.message}"
        return _Line(entry=entry, launch=launch.display, why=why, error=error)
    found = recorded(project, entry, pins)
    return _Line(entry=entry, launch=launch.display, look=found.look, why=found.why, overrides=pins.overrides)


def _pinned_to(entry: "Entry") -> str:
    from toolnotary_verifier.lockfile import SignedEntry

    if isinstance(entry, SignedEntry):
        return f"version {shown(entry.version, limit=80)}, signed by {shown(entry.signer, limit=90)}"
    return f"{counted(len(entry.pins), 'definition')}, without a signature"


def _document(lines: Sequence[_Line]) -> dict[str, object]:
    from toolnotary_cli.verdicts import counts

    return {
        "schema": SCHEMA,
        "servers": [
            {
                "server": line.entry.server,
                "launch": line.launch,
                "pinnedTo": _pinned_to(line.entry),
                "outcome": line.outcome.value,
                "at": None if line.look is None else line.look.at,
                "counts": {} if line.look is None else dict(line.look.counts),
                "inspection": None if line.look is None else line.look.inspection.value,
                "note": line.why or None,
                "overrides": [override_document(one) for one in line.overrides],
            }
            for line in lines
        ],
        "counts": counts(line.outcome for line in lines),
    }


def _seen(look: "Look") -> str:
    """How much was looked at, where it was less than what the server sent."""
    from toolnotary_verifier.verdict import Inspection

    return "" if look.inspection is Inspection.WIRE else f", inspection: {look.inspection.value}"


def _text(lines: Sequence[_Line], project: "Project") -> Iterator[str]:
    from toolnotary_cli.verdicts import counts
    from toolnotary_verifier.verdict import Outcome

    for line in lines:
        state = styled(f"{line.outcome.value:<13}", "good" if line.outcome is Outcome.VERIFIED else "warn")
        since = "" if line.look is None else f"  (since {shown(line.look.at, limit=40)}{_seen(line.look)})"
        yield f"{state} {shown(line.entry.server)}  {_pinned_to(line.entry)}{since}"
        yield f"  {line.launch}"
        for one in line.overrides:
            yield f"  {styled('OVERRIDE', 'bad')} {override_line(one)}"
        if line.why:
            yield f"  {shown(line.why, limit=400)}"
    told = ", ".join(f"{number} {state}" for state, number in counts(one.outcome for one in lines).items())
    where = shown(str(project.lockfile_path), limit=300)
    yield f"{counted(len(lines), 'server')} pinned in {where}: {told}"
