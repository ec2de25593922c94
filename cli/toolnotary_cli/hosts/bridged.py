# SPDX-License-Identifier: Apache-2.0
"""A server behind a URL, reached through `toolnotary run --url`: what its entry becomes, and was before.

The bridge cannot sign in, and speaks Streamable HTTP alone. Values of headers move into variables of the same
entry, since a command line can be read by others.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from toolnotary_cli.hosts.dialects import Dialect
from toolnotary_cli.hosts.entries import Entry
from toolnotary_verifier.secrecy import is_placeholder, url_credentials

_VARIABLE: Final = "MCP_HEADER_"
_HEADER: Final = re.compile(r"[A-Za-z0-9_-]+")
# What `type` says of a server that is started, where it said that it is reached.
_STARTED: Final = {"remote": "local"}


class Bridged(NamedTuple):
    """What an entry becomes, or why it stays."""

    value: dict[str, object]
    why: str = ""


def bridged(
    entry: Entry, value: dict[str, object], dialect: Dialect, program: Sequence[str], words: Sequence[str]
) -> Bridged:
    """The entry of a server that is reached by URL, as one that starts the bridge.

    Args:
        entry: the server.
        value: its entry as it stands in the file.
        dialect: how the file spells servers.
        program: what starts us.
        words: what stands between that and `--url`.
    """
    why = _why_not(entry)
    if why:
        return Bridged({}, why)
    keys = dialect.keys
    variables = {_variable(name): text for name, text in entry.headers.items()}
    told = [word for name in entry.headers for word in ("--header", f"{name}={_variable(name)}")]
    argv = [*program, *words, "--url", str(entry.url), *told]
    started: dict[str, object] = {keys.command: argv}
    if keys.args:
        started = {keys.command: argv[0], keys.args: argv[1:]}
    after: dict[str, object] = {}
    for key, one in value.items():
        if key in keys.urls and one == entry.url:
            after |= started
        elif key == "type" and isinstance(one, str):
            after[key] = _STARTED.get(one, "stdio")
        elif key not in (keys.headers, keys.env):
            after[key] = one
    given = value.get(keys.env)
    set_for = {**(given if isinstance(given, dict) else {}), **variables}
    return Bridged({**after, keys.env: set_for} if set_for else after)


def _why_not(entry: Entry) -> str:
    """Why a server behind a URL cannot be led through the bridge; empty where it can."""
    if entry.transport == "sse":
        return "it is reached over SSE, which the bridge does not speak"
    if entry.signs_in:
        return "its host signs in there, which the bridge cannot"
    if entry.variables or entry.bearer:
        return "its headers come from variables that the host does not hand on to what it starts"
    if any(not is_placeholder(one) for one in url_credentials(entry.url or "") if one):
        return "its URL holds a secret, which others could read in a command line"
    if not all(isinstance(text, str) and _HEADER.fullmatch(name) for name, text in entry.headers.items()):
        return "its headers are no texts"
    taken = [*entry.environment, *map(_variable, entry.headers)]
    if len(set(taken)) < len(taken):
        return "two of its headers, or a header and a variable of it, would stand in one variable"
    return ""


def unbridged(value: dict[str, object], before: dict[str, object], dialect: Dialect) -> dict[str, object]:
    """An entry as it was before, with what was changed in it since.

    Args:
        value: the entry as it is.
        before: the entry as it was stored.
        dialect: how the file spells servers.
    """
    keys = dialect.keys
    ours = {keys.command, keys.args, "type", keys.env, keys.headers, *keys.urls}
    found = {
        key: one if key in ours else value[key] for key, one in before.items() if key in ours or key in value
    }
    found |= {key: one for key, one in value.items() if key not in ours and key not in found}
    now = value.get(keys.env)
    mine = {name: one for name, one in (now if isinstance(now, dict) else {}).items() if not _is_ours(name)}
    if mine or keys.env in before:
        found[keys.env] = mine
    return found


def _is_ours(name: str) -> bool:
    return name.startswith(_VARIABLE)


def _variable(header: str) -> str:
    """The variable that holds the value of a header."""
    return _VARIABLE + header.upper().replace("-", "_")
