# SPDX-License-Identifier: Apache-2.0
"""How hosts spell their servers: the format of a file, where servers stand in it, and what its keys mean.

Sources: the hosts' own documentation, as of 2026-11. A file whose path says nothing is told by its top-level
key (`by_key`).
"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Format = Literal["json", "toml", "yaml"]
Transport = Literal["http", "sse"]


class Keys(NamedTuple):
    """What the members of one server's entry are called.

    Attributes:
        command: what is started; a string, a list of words, or an object (`path`, `args`, `env`).
        args: its arguments.
        env: variables that are set for it.
        urls: where a server is reached, with the transport that the key means; None where `type` says it.
        headers: headers that are sent with each request, as they are.
        named_headers: headers that take their value from the variable that is named.
        bearer: the variable that holds a bearer token.
    """

    command: str = "command"
    args: str = "args"
    env: str = "env"
    urls: Mapping[str, Transport | None] = {"url": None}
    headers: str = "headers"
    named_headers: str = ""
    bearer: str = ""


class Dialect(NamedTuple):
    """How one kind of file spells its servers.

    Attributes:
        format: JSON is read with comments and trailing commas, which most hosts accept.
        places: where servers stand: the keys from the top, `*` for every key. An empty place is the top
            itself, whose members count as far as they look like servers.
        keys: what the members of an entry mean.
        named: the member that names a server, where they stand in a list.
        built_in: values of `type` that stand for a part of the host rather than for a server.
    """

    format: Format
    places: tuple[tuple[str, ...], ...]
    keys: Keys = Keys()
    named: str = ""
    built_in: frozenset[str] = frozenset()


_ANY_URL: Final[Mapping[str, Transport | None]] = {"url": None, "serverUrl": None, "httpUrl": "http"}

SERVERS: Final = Dialect("json", (("mcpServers",),), Keys(urls=_ANY_URL))
CLAUDE_CODE: Final = Dialect("json", (("mcpServers",), ("projects", "*", "mcpServers")))
PLUGIN: Final = Dialect("json", (("mcpServers",), ()))  # wrapped or flat
VSCODE: Final = Dialect("json", (("servers",),))
VSCODE_SETTINGS: Final = Dialect("json", (("mcp", "servers"), ("mcp.servers",)))
WINDSURF: Final = Dialect("json", (("mcpServers",),), Keys(urls={"serverUrl": None, "url": None}))
ZED: Final = Dialect("json", (("context_servers",),))
GEMINI: Final = Dialect("json", (("mcpServers",),), Keys(urls={"httpUrl": "http", "url": "sse"}))
KIRO: Final = Dialect("json", (("mcpServers",), ("powers", "mcpServers")))
OPENCODE: Final = Dialect("json", (("mcp",),), Keys(args="", env="environment"))
CODEX: Final = Dialect(
    "toml",
    (("mcp_servers",),),
    Keys(headers="http_headers", named_headers="env_http_headers", bearer="bearer_token_env_var"),
)
GOOSE: Final = Dialect(
    "yaml",
    (("extensions",),),
    Keys(command="cmd", env="envs", urls={"uri": None}),
    built_in=frozenset({"builtin", "platform", "frontend"}),
)
CONTINUE: Final = Dialect("yaml", (("mcpServers",),), named="name")

# By format and top-level key, where the path of a file says nothing.
_BY_KEY: Final[Mapping[Format, tuple[tuple[str, Dialect], ...]]] = {
    "json": (("mcpServers", SERVERS), ("servers", VSCODE), ("context_servers", ZED)),
    "toml": (("mcp_servers", CODEX),),
    "yaml": (("mcpServers", CONTINUE), ("extensions", GOOSE)),
}


def stands_at(value: object, place: tuple[str, ...]) -> bool:
    """Whether something stands at a place of a dialect; at the top, whether that is an object."""
    if not place:
        return isinstance(value, dict)
    if not isinstance(value, dict):
        return False
    inner = list(value.values()) if place[0] == "*" else [value[place[0]]] if place[0] in value else []
    return any(len(place) == 1 or stands_at(one, place[1:]) for one in inner)


def by_key(form: Format, value: object) -> Dialect | None:
    """The dialect that the top-level keys of a file tell; None where they tell none."""
    if not isinstance(value, dict):
        return None
    for key, dialect in _BY_KEY[form]:
        if isinstance(value.get(key), (dict, list)):
            return dialect
    if form != "json":
        return None
    mcp = value.get("mcp")
    if isinstance(value.get("mcp.servers"), dict) or (
        isinstance(mcp, dict) and isinstance(mcp.get("servers"), dict)
    ):
        return VSCODE_SETTINGS
    return OPENCODE if isinstance(mcp, dict) else None
