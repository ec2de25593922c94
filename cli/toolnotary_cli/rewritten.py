# SPDX-License-Identifier: Apache-2.0
"""The frame of `wrap` and `unwrap`: which files are meant, and that all are read before one is written."""

from collections.abc import Callable, Sequence
from pathlib import Path

from toolnotary_cli import exits
from toolnotary_cli.hosts.discovery import files as there
from toolnotary_cli.hosts.discovery import reader_of
from toolnotary_cli.hosts.documents import Document, load
from toolnotary_cli.hosts.surroundings import Surroundings
from toolnotary_cli.output import Output
from toolnotary_cli.wrapping import Change, change_document, change_lines, diff_lines, write
from toolnotary_verifier.errors import ToolnotaryError


def documents(files: Sequence[Path], hosts: Sequence[str], surroundings: Surroundings) -> list[Document]:
    """The files that were named, else the user's own of these hosts.

    Raises:
        ConfigurationError: `host-ambiguous`; see `documents.load`.
        InvalidInput, Refused: see `documents.load`.
    """
    host = reader_of(files, hosts)
    if files:
        return [load(path, surroundings, host=host) for path in files]
    return [load(one.path, surroundings) for one in there(surroundings, hosts=hosts, scopes=("user",))]


def rewrite(
    files: Sequence[Path],
    hosts: Sequence[str],
    change_of: Callable[[Document], Change],
    *,
    schema: str,
    dry_run: bool,
    output: Output,
) -> int:
    """Read files, work out what becomes of each, write them, and tell it; returns the exit code.

    Nothing is written before all of them were read and worked out.

    Raises:
        ToolnotaryError: what the files raise; where some were written already, that is told before.
    """
    changes = [change_of(document) for document in documents(files, hosts, Surroundings.here())]
    if not dry_run:
        _write(changes, output)
    told = [(change, diff_lines(change) if dry_run else None) for change in changes]
    output.result(
        {"schema": schema, "files": [change_document(*one) for one in told]},
        [line for one in told for line in change_lines(*one)] or "no file of a host was found",
    )
    return exits.OBJECTION if any(change.exit_code for change in changes) else exits.FINE


def _write(changes: Sequence[Change], output: Output) -> None:
    done: list[str] = []
    for change in changes:
        try:
            write(change)
        except ToolnotaryError:
            if done:
                output.note(f"written before that: {', '.join(done)}")
            raise
        if change.is_made:
            done.append(change.document.shown)
