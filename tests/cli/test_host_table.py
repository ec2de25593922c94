# SPDX-License-Identifier: Apache-2.0
"""The table of hosts: where each row lies on each platform, and that a path leads back to its row."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from toolnotary_cli.hosts import dialects
from toolnotary_cli.hosts.dialects import by_key
from toolnotary_cli.hosts.surroundings import Platform, Surroundings
from toolnotary_cli.hosts.table import HOSTS, ROWS, Row, row_for

LINUX = Surroundings("linux", {"HOME": "/home/u"})
MACOS = Surroundings("macos", {"HOME": "/Users/u"})
WINDOWS = Surroundings(
    "windows",
    {
        "USERPROFILE": r"C:\Users\u",
        "APPDATA": r"C:\Users\u\AppData\Roaming",
        "PROGRAMDATA": r"C:\ProgramData",
        "PROGRAMFILES": r"C:\Program Files",
    },
)
EVERYWHERE = {"linux": LINUX, "macos": MACOS, "windows": WINDOWS}

# Where the hosts' documentation says that a file lies: host, platform, file.
TOLD = [
    ("claude-desktop", "macos", "/Users/u/Library/Application Support/Claude/claude_desktop_config.json"),
    ("claude-desktop", "windows", r"C:\Users\u\AppData\Roaming\Claude\claude_desktop_config.json"),
    ("claude-desktop", "linux", "/home/u/.config/Claude/claude_desktop_config.json"),
    ("claude-code", "linux", "/home/u/.claude.json"),
    ("claude-code", "linux", "/home/u/code/acme/.mcp.json"),
    ("claude-code", "linux", "/home/u/.claude/plugins/cache/a/b/.mcp.json"),
    ("claude-code", "linux", "/etc/claude-code/managed-mcp.json"),
    ("claude-code", "macos", "/Library/Application Support/ClaudeCode/managed-mcp.json"),
    ("claude-code", "windows", r"C:\Program Files\ClaudeCode\managed-mcp.json"),
    ("cursor", "linux", "/home/u/.cursor/mcp.json"),
    ("cursor", "windows", r"D:\code\acme\.cursor\mcp.json"),
    ("cursor", "linux", "/home/u/.cursor/plugins/local/acme/mcp.json"),
    ("vscode", "linux", "/home/u/.config/Code/User/mcp.json"),
    ("vscode", "macos", "/Users/u/Library/Application Support/Code - Insiders/User/profiles/p1/mcp.json"),
    ("vscode", "windows", r"C:\Users\u\AppData\Roaming\Code\User\settings.json"),
    ("vscode", "linux", "/srv/acme/.vscode/mcp.json"),
    ("copilot-cli", "linux", "/home/u/.copilot/mcp-config.json"),
    ("windsurf", "macos", "/Users/u/.codeium/windsurf/mcp_config.json"),
    ("zed", "macos", "/Users/u/.config/zed/settings.json"),
    ("zed", "windows", r"C:\Users\u\AppData\Roaming\Zed\settings.json"),
    ("zed", "linux", "/srv/acme/.zed/settings.json"),
    ("codex", "linux", "/home/u/.codex/config.toml"),
    ("codex", "linux", "/home/u/.codex/work.config.toml"),
    ("codex", "linux", "/etc/codex/config.toml"),
    ("codex", "windows", r"C:\ProgramData\OpenAI\Codex\config.toml"),
    ("gemini", "linux", "/home/u/.gemini/settings.json"),
    ("gemini", "linux", "/home/u/.gemini/extensions/acme/gemini-extension.json"),
    ("antigravity", "linux", "/home/u/.gemini/antigravity/mcp_config.json"),
    ("kiro", "linux", "/home/u/.kiro/agents/acme.json"),
    ("amazon-q", "linux", "/home/u/.aws/amazonq/agents/default.json"),
    ("opencode", "linux", "/home/u/.config/opencode/opencode.jsonc"),
    ("opencode", "linux", "/srv/acme/opencode.json"),
    (
        "cline",
        "linux",
        "/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    ("roo", "linux", "/srv/acme/.roo/mcp.json"),
    ("continue", "linux", "/home/u/.continue/config.yaml"),
    ("goose", "linux", "/home/u/.config/goose/config.yaml"),
    ("goose", "windows", r"C:\Users\u\AppData\Roaming\Block\goose\config\config.yaml"),
    ("lm-studio", "linux", "/home/u/.lmstudio/mcp.json"),
    ("junie", "linux", "/srv/acme/.junie/mcp/mcp.json"),
]


@pytest.mark.parametrize(("host", "platform", "path"), TOLD)
def test_a_file_is_known_by_its_path(host: str, platform: Platform, path: str) -> None:
    pure = PureWindowsPath(path) if platform == "windows" else PurePosixPath(path)
    rows = [row for row in ROWS if row.matches(pure, EVERYWHERE[platform])]
    assert {row.host for row in rows} == {host}


# What lies in one place of a platform: neither a project's file, nor one that a variable alone names.
SOMEWHERE = [
    (row, platform)
    for row in ROWS
    for platform in row.platforms
    if row.scope != "project" and row.pattern != "{opencode}"
]


@pytest.mark.parametrize(
    ("row", "platform"),
    SOMEWHERE,
    ids=lambda one: one if isinstance(one, str) else f"{one.host}-{one.pattern}",
)
def test_every_row_lies_somewhere_absolute_and_is_found_again_there(row: Row, platform: Platform) -> None:
    here = EVERYWHERE[platform]
    path = here.path(row.pattern)
    assert path is not None
    assert path.is_absolute()
    pure = type(path)(str(path).replace("**", "one").replace("*", "two"))
    assert row.matches(pure, here)
    assert not row.matches(type(path)(str(pure) + ".bak"), here)


def test_the_hosts_of_the_table_are_all_there() -> None:
    wanted = {"claude-desktop", "claude-code", "cursor", "vscode", "copilot-cli", "windsurf", "zed", "codex"}
    wanted |= {"gemini", "antigravity", "kiro", "amazon-q", "opencode", "cline", "roo", "continue", "goose"}
    assert set(HOSTS) == wanted | {"lm-studio", "junie"}


@pytest.mark.parametrize(
    ("variable", "value", "pattern", "path"),
    [
        ("CODEX_HOME", "/srv/codex", "{codex}/config.toml", "/srv/codex/config.toml"),
        ("CLAUDE_CONFIG_DIR", "/srv/c", "{claude}/.claude.json", "/srv/c/.claude.json"),
        ("CLAUDE_CONFIG_DIR", "/srv/c", "{claude-folder}/plugins", "/srv/c/plugins"),
        ("OPENCODE_CONFIG", "/srv/o.json", "{opencode}", "/srv/o.json"),
        ("XDG_CONFIG_HOME", "/srv/x", "{support}/Claude", "/srv/x/Claude"),
        ("XDG_CONFIG_HOME", "relative", "{support}/Claude", "/home/u/.config/Claude"),
    ],
)
def test_variables_move_files(variable: str, value: str, pattern: str, path: str) -> None:
    here = Surroundings("linux", {"HOME": "/home/u", variable: value})
    assert str(here.path(pattern)) == path


def test_what_no_variable_names_is_nowhere() -> None:
    assert LINUX.path("{opencode}") is None
    assert Surroundings("linux", {}).path("~/.cursor/mcp.json") is None
    assert WINDOWS.path("/etc/codex/config.toml") is None


def test_only_rows_of_a_host_that_is_named_count() -> None:
    path = Path("/home/u/.cursor/mcp.json")
    assert row_for(Path("/srv/x.json"), LINUX) is None
    assert row_for(path, LINUX, host="cursor") == row_for(path, LINUX)
    assert row_for(path, LINUX, host="gemini") is None


@pytest.mark.parametrize(
    ("value", "place", "stands"),
    [
        ({"a": {"b": 1}}, ("a", "b"), True),
        ({"a": {"b": 1}}, ("a", "c"), False),
        ({"a": {"b": {"c": 1}}}, ("a", "*", "c"), True),
        ({"a": {"b": {}}}, ("a", "*", "c"), False),
        ({}, (), True),
        ([], (), False),
        ([], ("a",), False),
    ],
)
def test_a_place_is_found_by_its_keys(value: object, place: tuple[str, ...], stands: bool) -> None:
    assert dialects.stands_at(value, place) is stands


@pytest.mark.parametrize(
    ("form", "value", "dialect"),
    [
        ("json", {"mcpServers": {}}, dialects.SERVERS),
        ("json", {"servers": {}, "inputs": []}, dialects.VSCODE),
        ("json", {"context_servers": {}}, dialects.ZED),
        ("json", {"mcp": {"servers": {}}}, dialects.VSCODE_SETTINGS),
        ("json", {"mcp.servers": {}}, dialects.VSCODE_SETTINGS),
        ("json", {"mcp": {"x": {"type": "local"}}}, dialects.OPENCODE),
        ("toml", {"mcp_servers": {}}, dialects.CODEX),
        ("yaml", {"mcpServers": []}, dialects.CONTINUE),
        ("yaml", {"extensions": {}}, dialects.GOOSE),
        ("json", {"tools": []}, None),
        ("json", [], None),
    ],
)
def test_a_top_level_key_tells_the_dialect(form: dialects.Format, value: object, dialect: object) -> None:
    assert by_key(form, value) is dialect
