# SPDX-License-Identifier: Apache-2.0
"""`toolnotary wrap`: have hosts start their servers behind the gate."""

from pathlib import Path
from typing import Final

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output

SCHEMA: Final = "https://toolnotary.dev/output/wrap/v1"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), shell_complete=completion.files)
@options.host
@options.dry_run
@options.lockfile
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    files: tuple[Path, ...],
    host: tuple[str, ...],
    dry_run: bool,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Have hosts start the servers of their FILES through `toolnotary run`.

    Without FILES, those of your own that the hosts on this machine read; a project's, a plugin's and an
    administrator's only if you name them. Each server keeps its variables, folder and time limits; comments,
    order and formatting stay. What is wrapped already is left alone. What a file was is kept in your personal
    directory for `unwrap`. End the hosts first: some write their files when they end.

    The options --lockfile, --policy, --registry and --offline are handed on to `run`.

    Exit code 0: every server is wrapped. 1: one cannot be, and why. 2: a file cannot be read or written, or
    its host is not known. 4: a file is not valid.
    """
    from toolnotary_cli import places
    from toolnotary_cli.opening import open_project
    from toolnotary_cli.rewritten import rewrite
    from toolnotary_cli.wrapping import naming, to_wrap

    named = naming(open_project(lockfile=lockfile, policy=policy, nearby=False))
    led = [
        *places.options(lockfile=lockfile, policy=policy, registry=registry),
        *(["--offline"] if offline else []),
    ]
    return rewrite(
        files,
        host,
        lambda document: to_wrap(document, named=named, options=led),
        schema=SCHEMA,
        dry_run=dry_run,
        output=output,
    )
