# SPDX-License-Identifier: Apache-2.0
"""The table of hosts: which files each reads on which platform, and in which dialect.

One row a kind of file. Sources: the hosts' own documentation as of 2026-11; docs/reference/hosts.md says
which rows are not told there.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, Literal, NamedTuple

from toolnotary_cli.hosts import dialects
from toolnotary_cli.hosts.dialects import Dialect
from toolnotary_cli.hosts.surroundings import Platform, Surroundings

# user: this person's own; project: of a folder that others write too; plugin: kept by the host, which
# overwrites it; managed: an administrator's.
Scope = Literal["user", "project", "plugin", "managed"]

_ALL: Final[tuple[Platform, ...]] = ("linux", "macos", "windows")
_LINUX: Final[tuple[Platform, ...]] = ("linux",)
_MACOS: Final[tuple[Platform, ...]] = ("macos",)
_WINDOWS: Final[tuple[Platform, ...]] = ("windows",)
_UNIX: Final[tuple[Platform, ...]] = ("linux", "macos")


class Row(NamedTuple):
    """One kind of file that a host reads.

    Attributes:
        host: the host's name, as `--host` takes it.
        pattern: see `Surroundings.path`; for a project's file, relative to a folder of the project.
        dialect: how it spells servers.
        scope: whose it is.
        platforms: where this row holds.
    """

    host: str
    pattern: str
    dialect: Dialect
    scope: Scope = "user"
    platforms: tuple[Platform, ...] = _ALL

    def matches(self, path: PurePath, surroundings: Surroundings) -> bool:
        """Whether a path is a file of this row here."""
        if surroundings.platform not in self.platforms:
            return False
        if self.scope == "project":
            return _fits(f"**/{self.pattern}", path, surroundings)
        found = surroundings.path(self.pattern)
        return found is not None and _fits(found.as_posix(), path, surroundings)


def _vscode(folder: str) -> Iterator[Row]:
    """One edition of VS Code: its servers, its profiles, and the extensions that are hosts themselves."""
    user = f"{{support}}/{folder}/User"
    yield Row("vscode", f"{user}/mcp.json", dialects.VSCODE)
    yield Row("vscode", f"{user}/profiles/*/mcp.json", dialects.VSCODE)
    yield Row("vscode", f"{user}/settings.json", dialects.VSCODE_SETTINGS)
    stored = f"{user}/globalStorage"
    cline = f"{stored}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
    yield Row("cline", cline, dialects.SERVERS)
    roo = f"{stored}/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
    yield Row("roo", roo, dialects.SERVERS)


ROWS: Final[tuple[Row, ...]] = (
    Row("claude-desktop", "{support}/Claude/claude_desktop_config.json", dialects.SERVERS),
    Row("claude-code", "{claude}/.claude.json", dialects.CLAUDE_CODE),
    Row("claude-code", "{claude-folder}/plugins/cache/**/.mcp.json", dialects.PLUGIN, "plugin"),
    Row("claude-code", "{claude-folder}/plugins/repos/**/.mcp.json", dialects.PLUGIN, "plugin"),
    Row("claude-code", "{claude-folder}/plugins/cache/**/plugin.json", dialects.SERVERS, "plugin"),
    Row("claude-code", "{claude-folder}/plugins/repos/**/plugin.json", dialects.SERVERS, "plugin"),
    Row("claude-code", "/etc/claude-code/managed-mcp.json", dialects.SERVERS, "managed", _LINUX),
    Row(
        "claude-code",
        "/Library/Application Support/ClaudeCode/managed-mcp.json",
        dialects.SERVERS,
        "managed",
        _MACOS,
    ),
    Row("claude-code", "{programfiles}/ClaudeCode/managed-mcp.json", dialects.SERVERS, "managed", _WINDOWS),
    Row("claude-code", ".mcp.json", dialects.SERVERS, "project"),
    Row("cursor", "~/.cursor/mcp.json", dialects.SERVERS),
    Row("cursor", "~/.cursor/plugins/cache/**/mcp.json", dialects.PLUGIN, "plugin"),
    Row("cursor", "~/.cursor/plugins/local/**/mcp.json", dialects.PLUGIN, "plugin"),
    Row("cursor", ".cursor/mcp.json", dialects.SERVERS, "project"),
    *_vscode("Code"),
    *_vscode("Code - Insiders"),
    Row("vscode", ".vscode/mcp.json", dialects.VSCODE, "project"),
    Row("vscode", ".vscode/settings.json", dialects.VSCODE_SETTINGS, "project"),
    Row("copilot-cli", "~/.copilot/mcp-config.json", dialects.SERVERS),
    Row("windsurf", "~/.codeium/windsurf/mcp_config.json", dialects.WINDSURF),
    Row("zed", "{dotconfig}/zed/settings.json", dialects.ZED, "user", _UNIX),
    Row("zed", "{appdata}/Zed/settings.json", dialects.ZED, "user", _WINDOWS),
    Row("zed", ".zed/settings.json", dialects.ZED, "project"),
    Row("codex", "{codex}/config.toml", dialects.CODEX),
    Row("codex", "{codex}/*.config.toml", dialects.CODEX),
    Row("codex", "{codex}/plugins/**/.mcp.json", dialects.PLUGIN, "plugin"),
    Row("codex", "/etc/codex/config.toml", dialects.CODEX, "managed", _UNIX),
    Row("codex", "{programdata}/OpenAI/Codex/config.toml", dialects.CODEX, "managed", _WINDOWS),
    Row("codex", ".codex/config.toml", dialects.CODEX, "project"),
    Row("gemini", "~/.gemini/settings.json", dialects.GEMINI),
    Row("gemini", "~/.gemini/extensions/*/gemini-extension.json", dialects.GEMINI, "plugin"),
    Row("gemini", ".gemini/settings.json", dialects.GEMINI, "project"),
    Row("antigravity", "~/.gemini/antigravity/mcp_config.json", dialects.WINDSURF),
    Row("antigravity", "~/.gemini/config/mcp_config.json", dialects.WINDSURF),
    Row("kiro", "~/.kiro/settings/mcp.json", dialects.KIRO),
    Row("kiro", "~/.kiro/agents/*.json", dialects.SERVERS),
    Row("kiro", ".kiro/settings/mcp.json", dialects.KIRO, "project"),
    Row("amazon-q", "~/.aws/amazonq/mcp.json", dialects.SERVERS),
    Row("amazon-q", "~/.aws/amazonq/agents/*.json", dialects.SERVERS),
    Row("opencode", "{dotconfig}/opencode/opencode.json", dialects.OPENCODE),
    Row("opencode", "{dotconfig}/opencode/opencode.jsonc", dialects.OPENCODE),
    Row("opencode", "~/.opencode/opencode.json", dialects.OPENCODE),
    Row("opencode", "~/.opencode/opencode.jsonc", dialects.OPENCODE),
    Row("opencode", "{opencode}", dialects.OPENCODE),
    Row("opencode", "/etc/opencode/opencode.json", dialects.OPENCODE, "managed", _UNIX),
    Row("opencode", "/etc/opencode/opencode.jsonc", dialects.OPENCODE, "managed", _UNIX),
    Row("opencode", "opencode.json", dialects.OPENCODE, "project"),
    Row("opencode", "opencode.jsonc", dialects.OPENCODE, "project"),
    Row("roo", ".roo/mcp.json", dialects.SERVERS, "project"),
    Row("continue", "~/.continue/config.yaml", dialects.CONTINUE),
    Row("continue", "~/.continue/mcpServers/*.yaml", dialects.CONTINUE),
    Row("continue", ".continue/mcpServers/*.yaml", dialects.CONTINUE, "project"),
    Row("goose", "{dotconfig}/goose/config.yaml", dialects.GOOSE, "user", _UNIX),
    Row("goose", "{appdata}/Block/goose/config/config.yaml", dialects.GOOSE, "user", _WINDOWS),
    Row("lm-studio", "~/.lmstudio/mcp.json", dialects.SERVERS),
    Row("junie", "~/.junie/mcp/mcp.json", dialects.SERVERS),
    Row("junie", ".junie/mcp/mcp.json", dialects.SERVERS, "project"),
)
# Some hosts also load a file of another host's; it is told once, as that host's.
HOSTS: Final[tuple[str, ...]] = tuple(dict.fromkeys(row.host for row in ROWS))


def rows_of(host: str) -> Iterator[Row]:
    """The rows of a host."""
    return (row for row in ROWS if row.host == host)


def row_for(path: Path, surroundings: Surroundings, *, host: str | None = None) -> Row | None:
    """The row that a file belongs to by its path, of this host where one is named; None where none does.

    Args:
        path: the file, absolute.
        surroundings: where the table is read.
        host: take rows of this host only.
    """
    rows = ROWS if host is None else rows_of(host)
    return next((row for row in rows if row.matches(path, surroundings)), None)


def format_of(path: PurePath) -> dialects.Format:
    """The format that the name of a file tells; JSON where it tells none."""
    suffix = path.suffix.lower()
    return "toml" if suffix == ".toml" else "yaml" if suffix in (".yaml", ".yml") else "json"


def _fits(pattern: str, path: PurePath, surroundings: Surroundings) -> bool:
    """Whether a path fits a pattern: `*` is a part of one name, `**/` any folders, none included."""
    parts = re.split(r"(\*\*/|\*)", pattern)
    stand_for = {"**/": r"(?:[^/]+/)*", "*": r"[^/]*"}
    # A path on POSIX begins with a slash, which the folders of a project's pattern do not hold.
    lead = "(?:/|[A-Za-z]:/)?" if pattern.startswith("**/") else ""
    regex = lead + "".join(stand_for.get(part, re.escape(part)) for part in parts)
    flags = re.NOFLAG if surroundings.platform == "linux" else re.IGNORECASE
    return re.fullmatch(regex, path.as_posix(), flags) is not None
