# SPDX-License-Identifier: Apache-2.0
"""What `gateway` does: find out what each server is held to, and serve them."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click

from toolnotary_cli.variables import headers_of, variable
from toolnotary_verifier.capture.endpoint import Endpoint
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.guard import Guard, Settings
from toolnotary_verifier.local_name import fault
from toolnotary_verifier.shells.gateway.access import Access
from toolnotary_verifier.shells.gateway.serve import Guarded, Listening, serve
from toolnotary_verifier.shells.log import Log

_KEYS: Final = frozenset(("ca_file", "connect_to", "headers", "server", "url"))
_MOST_BYTES: Final = 1 << 20
_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class _Named(NamedTuple):
    """A server, the path it is reached under, and the name that it is pinned under."""

    path: str
    server: str | None
    source: UrlSource
    address: tuple[str, int] | None = None


def keep(
    *,
    upstream: str | None,
    config: Path | None,
    headers: Sequence[str],
    ca_file: Path | None,
    address: str | None,
    settings: Settings,
    listening: Listening,
    access: Access,
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Raises:
        click.UsageError: neither or both of `--upstream` and `--config`; a variable that there is not.
        Refused: `identity`; or what keeps a signed entry from counting.
        CannotTell: `object-missing`.
        ConfigurationError: `gateway-file`, `url`, `header`, `ca-file`, `not-loopback`, `cannot-listen`, or a
            file that cannot be read.
        InvalidInput: a file that is not valid.
    """
    if upstream is not None and config is None:
        path = Endpoint.parse(upstream).target.partition("?")[0]
        source = UrlSource(url=upstream, headers=headers_of(headers), ca_file=ca_file)
        at = None if address is None else _address(address)
        if address is not None and at is None:
            raise click.UsageError("--connect-to expects HOST:PORT")
        named = [_Named(path.rstrip("/") or "/", settings.server, source, at)]
    elif upstream is not None or config is None:
        raise click.UsageError("say which server to stand before: --upstream URL, or --config FILE")
    elif headers or ca_file or settings.server or address:
        told = "--server, --header, --ca-file and --connect-to are for --upstream; the file says its own"
        raise click.UsageError(told)
    else:
        named = _servers(config)
    servers = {}
    for path, server, source, at in named:
        own = settings._replace(server=server)
        guard = Guard.of_url(source.url, own, log=partial(Log, place="in an answer"), headers=source.headers)
        servers[path] = Guarded(guard, source, at)

    def announce(url: str) -> None:
        for path, guarded in servers.items():
            told = escape(guarded.guard.server, limit=200)
            click.echo(f"gateway to {told} listening on {url}{path}", err=True)

    serve(servers, listening, access=access, announce=announce)


def _address(text: str) -> tuple[str, int] | None:
    """Where to connect, as HOST:PORT says it; None where it says something else."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        return None
    return host.strip("[]"), int(port)


def _servers(file: Path) -> list[_Named]:
    """The servers of a gateway's file, by their names in it.

    Raises:
        click.UsageError: there is no such variable as it names.
        ConfigurationError: `gateway-file`.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise _bad(file, f"has more than {_MOST_BYTES} bytes")
        said = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _bad(file, f"is no TOML: {escape(str(error), limit=200)}") from None
    upstreams = said.pop("upstreams", None)
    if said or not isinstance(upstreams, dict) or not upstreams:
        raise _bad(file, "must hold tables [upstreams.NAME] and nothing else")
    return [_server(file, name, table) for name, table in upstreams.items()]


def _server(file: Path, name: str, table: object) -> _Named:
    shown = f"[upstreams.{escape(name, limit=80)}]"
    if not name or not _NAME.issuperset(name) or name.startswith("."):
        raise _bad(
            file, f"{shown}: the name stands in a path, and can hold letters, digits, '-', '_' and '.'"
        )
    if not isinstance(table, dict) or not isinstance(table.get("url"), str):
        raise _bad(file, f"{shown} has no url")
    if unknown := sorted(set(table) - _KEYS):
        raise _bad(file, f"{shown}: {escape(unknown[0], limit=80)} is no key of it")
    server, headers, ca_file = table.get("server"), table.get("headers", {}), table.get("ca_file")
    if server is not None and (not isinstance(server, str) or fault(server)):
        raise _bad(file, f"{shown}: server is no name of a server")
    if not isinstance(headers, Mapping) or not all(isinstance(value, str) for value in headers.values()):
        raise _bad(file, f'{shown}: headers must name variables, as in {{ X-Api-Key = "ACME_KEY" }}')
    if ca_file is not None and not isinstance(ca_file, str):
        raise _bad(file, f"{shown}: ca_file is no path")
    at = table.get("connect_to")
    address = _address(at) if isinstance(at, str) else None
    if at is not None and address is None:
        raise _bad(file, f"{shown}: connect_to is no HOST:PORT")
    where = f"{escape(str(file), limit=300)} {shown}: headers"
    given = {header: variable(where, named) for header, named in headers.items()}
    certificates = None if ca_file is None else file.parent / ca_file
    return _Named(
        f"/{name}", server, UrlSource(url=table["url"], headers=given, ca_file=certificates), address
    )


def _bad(file: Path, why: str) -> ConfigurationError:
    message = f"{escape(str(file), limit=300)} {why}"
    return ConfigurationError("gateway-file", message, remedy="see docs/reference/gateway.md for its form")
