# SPDX-License-Identifier: Apache-2.0
"""One look at a configured server, started or reached as its host would. Whoever calls it was told to."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.placeholders import unfilled
from toolnotary_cli.hosts.starting import filling, variables
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from toolnotary_verifier.limits import Limits
    from toolnotary_verifier.surface import Surface


def seen(
    entry: Entry,
    argv: Sequence[str],
    url: str | None,
    *,
    named: Sequence[str] = (),
    folder: Path,
    limits: "Limits",
) -> "Surface":
    """What a server shows.

    Args:
        entry: what is set for it.
        argv: what starts the server itself.
        url: where it is reached; None where it is started.
        named: headers that the bridge sends, each NAME=VARIABLE.
        folder: where its host starts it, if its entry does not say.
        limits: bounds on sizes and times.

    Raises:
        CannotTell: `host-fills`, if a placeholder is left that only the host can fill; see `inspect`.
        InvalidInput, Refused, ConfigurationError: see `inspect`.
    """
    from toolnotary_verifier.capture.inspection import inspect
    from toolnotary_verifier.capture.source import CommandSource, Source, UrlSource

    fill = filling(folder)
    source: Source
    if url is not None:
        source = UrlSource(url=_whole(fill(url)), headers=_headers(entry, folder, named))
    else:
        given = {name: _whole(value) for name, value in variables(entry, folder).items()}
        source = CommandSource(
            argv=tuple(_whole(fill(word)) for word in argv),
            directory=Path(_whole(fill(entry.cwd))) if entry.cwd else folder,
            environment={**os.environ, **given},
            handed=frozenset(given),
            contained=True,
        )
    return inspect(source, limits=limits)


def _headers(entry: Entry, folder: Path, named: Sequence[str]) -> dict[str, str]:
    """The headers that a host would send."""
    fill = filling(folder)
    headers = {name: _whole(fill(value)) for name, value in entry.headers.items() if isinstance(value, str)}
    headers |= {name: _variable(of) for name, of in entry.variables.items()}
    given = variables(entry, folder)
    for name, _, variable in (one.partition("=") for one in named):
        headers[name] = _whole(given[variable]) if variable in given else _variable(variable)
    return {**headers, "Authorization": f"Bearer {_variable(entry.bearer)}"} if entry.bearer else headers


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise _host_fills(f"the variable {escape(name, limit=80)}")
    return value


def _whole(text: str) -> str:
    """A text in which no placeholder is left."""
    left = unfilled(text)
    if left:
        raise _host_fills(escape(left, limit=80))
    return text


def _host_fills(what: str) -> CannotTell:
    return CannotTell("host-fills", f"{what} is filled in by the host, and is not at hand")
