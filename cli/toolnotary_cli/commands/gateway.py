# SPDX-License-Identifier: Apache-2.0
"""`toolnotary gateway`: servers that speak HTTP, behind the gate, until SIGTERM or Ctrl-C."""

from pathlib import Path

import click

from toolnotary_cli import extras, options


@click.command()
@click.option("--upstream", metavar="URL", help="The server's MCP endpoint (Streamable HTTP).")
@click.option(
    "--server",
    metavar="NAME",
    type=options.SERVER,
    help="The name that the server is pinned under; else its URL decides.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Servers to stand before, each under a path of its own, in place of --upstream.",
)
@options.header
@options.ca_file
@click.option(
    "--connect-to",
    "address",
    metavar="HOST:PORT",
    help="Reach the server there, where its own name leads to this gateway.",
)
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8378,
    show_default=True,
    help="TCP port to listen on; 0 takes a free one.",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="HOST",
    multiple=True,
    help="Let in requests that were sent to this name, beside those of this machine.",
)
@click.option(
    "--allow-origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="Let in web pages of this origin, such as https://app.acme.example.",
)
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Listen where other machines reach it.",
)
@click.option(
    "--tls-certificate",
    "certificate",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Serve TLS with the certificate, and its chain, in this PEM file.",
)
@click.option(
    "--tls-key",
    "key",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The key of the certificate, if it stands in a file of its own.",
)
@options.lockfile
@options.policy
@options.registry
@options.offline
def command(
    *,
    upstream: str | None,
    server: str | None,
    config: Path | None,
    headers: tuple[str, ...],
    ca_file: Path | None,
    address: str | None,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    allow_remote: bool,
    certificate: Path | None,
    key: Path | None,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
) -> None:
    """Stand before servers that speak HTTP, and let only pinned definitions through.

    A host dials the URL that is told on stderr, in one line, once connections are accepted. Everything that
    is no listing and no call passes: headers, sessions, streams and cancellation too. What is withheld, and
    what counts from when, is as with `run`.

    Exit code: 1: the URL is not what is pinned under the name.
    """
    with extras.needs("gateway"):
        from toolnotary_cli.gatekeeping import keep
        from toolnotary_verifier.shells.gateway.access import Access
        from toolnotary_verifier.shells.gateway.serve import Listening
    from toolnotary_verifier.guard import Settings

    keep(
        upstream=upstream,
        config=config,
        headers=headers,
        ca_file=ca_file,
        settings=Settings(server, lockfile, policy, registry, offline),
        address=address,
        listening=Listening(host, port, allow_remote, certificate, key),
        access=Access(hosts, origins=origins),
    )
