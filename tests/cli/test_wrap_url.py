# SPDX-License-Identifier: Apache-2.0
"""`toolnotary wrap` of servers that are reached by URL: through the bridge, where it can lead there."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pinned_servers import Bench, bench

from toolnotary_cli import extras

__all__ = ["bench"]

PROGRAM = str(Path(sys.executable).parent / "toolnotary")
URL = "https://mcp.acme.example/mcp"
CANARY = "c4n4ry-h1dden"


def host_file(bench: Bench, text: str, name: str = "hosts.json") -> Path:
    path = bench.folder / name
    path.write_text(text, encoding="utf-8")
    return path


def outcome(bench: Bench, path: Path, *options: str) -> tuple[int, str, str]:
    code, result = bench.json("wrap", *options, str(path))
    (server,) = result["files"][0]["servers"]
    return code, server["state"], server["note"] or ""


@pytest.mark.parametrize(
    ("host", "before", "after"),
    [
        ("claude-code", {"type": "http", "url": URL}, {"type": "stdio"}),
        ("cursor", {"url": URL, "timeout": 30}, {"timeout": 30}),
        ("windsurf", {"serverUrl": URL, "disabled": False}, {"disabled": False}),
        ("gemini", {"httpUrl": URL, "trust": True}, {"trust": True}),
    ],
)
def test_an_entry_with_a_url_starts_the_bridge(
    bench: Bench, host: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    for text in (
        json.dumps({"mcpServers": {"acme": before}}),
        json.dumps({"x": [1.50], "mcpServers": {"acme": before}}, indent=2),
        json.dumps({"mcpServers": {"acme": before}}, indent="\t").replace("\n", "\r\n"),
    ):
        path = bench.folder / "hosts.json"
        path.write_bytes(text.encode())
        code, state, note = outcome(bench, path, "--host", host)
        assert (code, state) == (0, "wrapped")
        assert "the bridge cannot sign in" in note
        entry = json.loads(path.read_text())["mcpServers"]["acme"]
        assert entry == {**after, "command": PROGRAM, "args": ["run", "--server", "acme", "--url", URL]}
        assert outcome(bench, path, "--host", host)[:2] == (0, "left")
        once = path.read_bytes()
        path.write_bytes(once + b"\n")
        assert bench.run("unwrap", "--host", host, str(path))[0] == 0
        assert json.loads(path.read_bytes()) == json.loads(text), "edited after wrap"
        path.write_bytes(text.encode())
        bench.run("wrap", "--host", host, str(path))
        assert path.read_bytes() == once
        assert bench.run("unwrap", "--host", host, str(path))[0] == 0
        assert path.read_bytes() == text.encode()


def test_values_of_headers_move_into_variables_and_never_into_the_command_line(bench: Bench) -> None:
    headers = {"Authorization": f"Bearer {CANARY}", "X-Team": "${TEAM}"}
    text = json.dumps({"mcpServers": {"acme": {"url": URL, "headers": headers, "env": {"A": "b"}}}})
    path = host_file(bench, text)
    code, out, err = bench.run("wrap", "--dry-run", str(path))
    assert (code, CANARY in out + err) == (0, False)
    assert outcome(bench, path) == (0, "wrapped", outcome_note(bench))
    entry = json.loads(path.read_text())["mcpServers"]["acme"]
    named = ["--header", "Authorization=MCP_HEADER_AUTHORIZATION", "--header", "X-Team=MCP_HEADER_X_TEAM"]
    assert entry["args"] == ["run", "--server", "acme", "--url", URL, *named]
    assert entry["env"] == {
        "A": "b",
        "MCP_HEADER_AUTHORIZATION": f"Bearer {CANARY}",
        "MCP_HEADER_X_TEAM": "${TEAM}",
    }
    assert set(entry) == {"command", "args", "env"}
    _, result = bench.json("scan", str(path))
    (server,) = result["servers"]
    assert (server["launch"], server["guarded"], server["outcome"]) == (URL, True, "unpinned")
    entry["env"] |= {"LATE": "1"}
    path.write_text(json.dumps({"mcpServers": {"acme": {**entry, "timeout": 9}}}), encoding="utf-8")
    assert bench.run("unwrap", str(path))[0] == 0
    found = json.loads(path.read_text())["mcpServers"]["acme"]
    assert found == {"url": URL, "headers": headers, "env": {"A": "b", "LATE": "1"}, "timeout": 9}


def outcome_note(bench: Bench) -> str:
    """What is told of a server that nothing is pinned of, and that sends headers of its own."""
    path = host_file(
        bench, json.dumps({"mcpServers": {"acme": {"url": URL, "headers": {"A": "b"}}}}), "x.json"
    )
    return outcome(bench, path)[2]


def test_other_formats_start_the_bridge_likewise(bench: Bench) -> None:
    lines = [f'url = "{URL}"', 'http_headers = { A = "b" }', "tool_timeout_sec = 9", "", "[x]", ""]
    toml = "\n".join(["# mine", "[mcp_servers.acme] # here", *lines])
    path = host_file(bench, toml, "config.toml")
    assert outcome(bench, path)[:2] == (0, "wrapped")
    entry = tomllib.loads(path.read_text())["mcp_servers"]["acme"]
    argv = ["run", "--server", "acme", "--url", URL, "--header", "A=MCP_HEADER_A"]
    assert entry == {"tool_timeout_sec": 9, "command": PROGRAM, "args": argv, "env": {"MCP_HEADER_A": "b"}}
    path.write_text(path.read_text() + "# late\n", encoding="utf-8")
    assert bench.run("unwrap", str(path))[0] == 0
    assert tomllib.loads(path.read_text()) == tomllib.loads(toml)
    entry_lines = f"    type: streamable_http\n    uri: {URL}\n    timeout: 300\n\n  # next\n"
    yaml = f"extensions:\n  acme:\n{entry_lines}  b: {{cmd: acme}}\n"
    path = host_file(bench, yaml, "config.yaml")
    assert bench.run("wrap", str(path))[0] == 0
    assert "  # next\n  b: {cmd: " in path.read_text()
    assert f'"cmd": "{PROGRAM}"' in path.read_text()
    assert bench.run("unwrap", str(path))[0] == 0
    assert path.read_text() == yaml
    code, result = bench.json("wrap", str(path))
    assert (code, len(result["files"][0]["servers"])) == (0, 2)


def test_a_list_of_words_starts_the_bridge_too(bench: Bench) -> None:
    path = host_file(bench, json.dumps({"mcp": {"acme": {"type": "remote", "url": URL, "enabled": True}}}))
    assert outcome(bench, path)[:2] == (0, "wrapped")
    argv = [PROGRAM, "run", "--server", "acme", "--url", URL]
    assert json.loads(path.read_text())["mcp"]["acme"] == {"type": "local", "command": argv, "enabled": True}


REFUSED = {
    "over SSE": {"type": "sse", "url": URL},
    "signs in": {"url": URL, "oauth": {"clientId": "x"}},
    "holds a secret": {"url": f"https://mcp.acme.example/mcp?key={CANARY}"},
    "not an http or https URL": {"url": "unix:///run/mcp.sock"},
    "headers are no texts": {"url": URL, "headers": {"A": ["b"]}},
    "in one variable": {"url": URL, "headers": {"X-A": "b", "X_A": "c"}},
    "a variable of it": {"url": URL, "headers": {"X-A": "b"}, "env": {"MCP_HEADER_X_A": "c"}},
}


@pytest.mark.parametrize("why", REFUSED)
def test_where_the_bridge_cannot_lead_an_entry_stays_and_says_why(bench: Bench, why: str) -> None:
    text = json.dumps({"mcpServers": {"acme": REFUSED[why]}})
    path = host_file(bench, text)
    code, state, note = outcome(bench, path)
    assert (code, state, why in note) == (1, "refused", True), note
    assert path.read_text() == text
    assert CANARY not in note


def test_what_a_host_takes_from_its_own_variables_is_not_handed_on(bench: Bench) -> None:
    for line in ('bearer_token_env_var = "TOKEN"', 'env_http_headers = { A = "TOKEN" }'):
        path = host_file(bench, f'[mcp_servers.acme]\nurl = "{URL}"\n{line}\n', "config.toml")
        code, state, note = outcome(bench, path)
        assert (code, state, "variables that the host does not hand on" in note) == (1, "refused", True)


def test_gemini_means_sse_by_url(bench: Bench) -> None:
    path = host_file(bench, json.dumps({"mcpServers": {"acme": {"url": URL}}}))
    assert "over SSE" in outcome(bench, path, "--host", "gemini")[2]


def test_comments_in_an_entry_that_would_be_written_anew_are_not_lost(bench: Bench) -> None:
    text = '{"mcpServers": {"acme": {\n  // mine\n  "url": "https://mcp.acme.example/mcp"\n}}}'
    path = host_file(bench, text)
    code, state, note = outcome(bench, path)
    assert (code, state, "comments" in note) == (1, "refused", True)
    assert path.read_text() == text
    path.write_text(text.replace("  // mine\n", "").replace("}}}", "} /* mine */ }}"), encoding="utf-8")
    assert outcome(bench, path)[:2] == (0, "wrapped")
    assert "/* mine */" in path.read_text()


@pytest.mark.parametrize(
    "lines",
    [
        [f'url = "{URL}" # mine'],
        ["# above", f'url = "{URL}"', 'http_headers = { A = "b" } # mine'],
        [f'url = "{URL}"', "[mcp_servers.acme.http_headers] # mine", 'A = "b"'],
        [f'url = "{URL}"', "[mcp_servers.acme.http_headers]", 'A = "b"', "", "# of x"],
    ],
)
def test_comments_in_toml_are_not_lost_either(bench: Bench, lines: list[str]) -> None:
    text = "\n".join(["[mcp_servers.acme]", "startup_timeout_sec = 9 # stays", *lines, "[x]", ""])
    path = host_file(bench, text, "config.toml")
    code, state, note = outcome(bench, path)
    assert (code, state, "comments" in note) == (1, "refused", True)
    assert path.read_text() == text
    path.write_text(text.replace(" # mine", "").replace("# of x", ""), encoding="utf-8")
    assert outcome(bench, path)[:2] == (0, "wrapped")
    assert path.read_text().count("#") == text.replace(" # mine", "").replace("# of x", "").count("#")


def test_a_comment_that_came_after_wrap_is_not_lost_and_what_was_stored_stays(bench: Bench) -> None:
    text = json.dumps({"mcpServers": {"acme": {"url": URL}, "b": {"command": "npx"}}}, indent=2)
    path = host_file(bench, text)
    assert bench.run("wrap", str(path))[0] == 0
    mine = '"acme": { // mine'
    path.write_text(path.read_text().replace('"acme": {', mine), encoding="utf-8")
    code, result = bench.json("unwrap", str(path))
    assert (code, [one["state"] for one in result["files"][0]["servers"]]) == (1, ["refused", "unwrapped"])
    assert mine in path.read_text()
    path.write_text(path.read_text().replace(mine, '"acme": {'), encoding="utf-8")
    assert bench.json("unwrap", str(path))[0] == 0
    assert path.read_text() == text


def test_without_the_extra_it_is_told_which_is_missing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras._MODULES, "gateway", {"no_such_module_here"})  # noqa: SLF001 - as if it were not installed
    path = host_file(bench, json.dumps({"mcpServers": {"acme": {"url": URL}}}))
    code, state, note = outcome(bench, path)
    assert (code, state, "toolnotary[gateway]" in note) == (1, "refused", True)


def test_without_its_original_a_bridged_entry_stays(bench: Bench) -> None:
    import os

    path = host_file(bench, json.dumps({"mcpServers": {"acme": {"url": URL}}}))
    bench.run("wrap", str(path))
    for stored in (Path(os.environ["TOOLNOTARY_HOME"]) / "hosts").iterdir():
        stored.unlink()
    before = path.read_bytes()
    code, result = bench.json("unwrap", str(path))
    assert (code, result["files"][0]["servers"][0]["state"]) == (1, "refused")
    assert "still wrapped acme: what it was before is not stored" in bench.run("unwrap", str(path))[1]
    assert path.read_bytes() == before
