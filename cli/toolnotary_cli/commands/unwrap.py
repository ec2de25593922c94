# SPDX-License-Identifier: Apache-2.0
"""`toolnotary unwrap`: have hosts start their servers as they did before `wrap`."""

from pathlib import Path
from typing import Final

import click

from toolnotary_cli import completion, options
from toolnotary_cli.output import Output

SCHEMA: Final = "https://toolnotary.dev/output/unwrap/v1"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), shell_complete=completion.files)
@options.host
@options.dry_run
@options.output
def command(*, files: tuple[Path, ...], host: tuple[str, ...], dry_run: bool, output: Output) -> int:
    """Take out of FILES what `wrap` put in.

    A file that is as `wrap` left it gets its bytes of before back. Of one that was changed since, only what
    `wrap` put in is taken out, and that is said. Without FILES, those that `wrap` takes without any.

    Exit code 0: no server of these files is wrapped. 1: one still is, and why. 2: a file cannot be read or
    written, or its host is not known. 4: a file is not valid.
    """
    from toolnotary_cli.rewritten import rewrite
    from toolnotary_cli.wrapping import to_unwrap

    return rewrite(files, host, to_unwrap, schema=SCHEMA, dry_run=dry_run, output=output)
