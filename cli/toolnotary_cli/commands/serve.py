# SPDX-License-Identifier: Apache-2.0
"""`toolnotary serve`: a registry, until SIGTERM or Ctrl-C."""

import click

from toolnotary_cli import extras, options


@click.command()
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8377,
    show_default=True,
    help="TCP port to listen on; 0 takes a free one.",
)
@options.database
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Listen where other machines reach it. The registry speaks plain HTTP: put TLS in front of it.",
)
@options.color
def command(*, host: str, port: int, database: str | None, allow_remote: bool) -> None:
    """Run a registry.

    Its URL is told on stderr, in one line, once it accepts connections. Who may publish under which name is
    decided with `toolnotary registry add-key`, also while it runs.
    """
    with extras.needs("registry"):
        from toolnotary_registry_api.serve import serve
        from toolnotary_registry_api.settings import Settings
    from toolnotary_cli import places

    serve(
        Settings(database=database or places.registry_database()),
        host=host,
        port=port,
        allow_remote=allow_remote,
        announce=lambda url: click.echo(f"registry listening on {url}", err=True),
    )
