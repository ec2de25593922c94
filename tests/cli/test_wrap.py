# SPDX-License-Identifier: Apache-2.0
"""`toolnotary wrap` and `unwrap`: every host's file, byte for byte there and back."""

import json
import os
import stat
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from host_files import CODEX, GOOSE, JSON_SERVERS, ZED, sample
from pinned_servers import YES, Bench, bench

from toolnotary_cli.hosts.surroundings import Surroundings
from toolnotary_cli.hosts.table import ROWS, Row

__all__ = ["bench"]

PROGRAM = str(Path(sys.executable).parent / "toolnotary")
PLAIN = (
    '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes"], "env": {"TOKEN": "hunter2"}}}}\n'
)
CANARY = "c4n4ry-h1dden"


@pytest.fixture(autouse=True)
def _no_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the files of hosts that are installed here."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG", "APPDATA"):
        monkeypatch.delenv(name, raising=False)


def host_file(bench: Bench, text: str = PLAIN, name: str = "hosts/mcp.json") -> Path:
    path = bench.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def states(result: Any) -> dict[str, str]:
    return {server["name"]: server["state"] for file in result["files"] for server in file["servers"]}


def home() -> Path:
    return Path(os.environ["TOOLNOTARY_HOME"])


def spellings(text: str) -> Iterator[bytes]:
    """A text as files hold it: either line ending, tabs, a byte order mark."""
    yield text.encode()
    yield text.replace("\n", "\r\n").encode()
    if "extensions:" not in text and "mcpServers:" not in text:  # YAML allows no tab there
        yield text.replace("  ", "\t").encode()
    yield b"\xef\xbb\xbf" + text.encode()


def goes_there_and_back(bench: Bench, row: Row, before: bytes) -> None:
    path = bench.folder / f"file.{row.dialect.format}"
    path.write_bytes(before)
    code, result = bench.json("wrap", str(path), "--host", row.host)
    assert (code, set(states(result).values())) == (0, {"wrapped"})
    once = path.read_bytes()
    assert once != before
    code, result = bench.json("wrap", str(path), "--host", row.host)
    assert (code, set(states(result).values())) == (0, {"left"})
    assert path.read_bytes() == once, "wrapped twice is wrapped once"
    assert bench.json("unwrap", str(path), "--host", row.host)[0] == 0
    assert path.read_bytes() == before
    assert not list((home() / "hosts").iterdir())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.host}-{row.scope}-{row.pattern}")
def test_every_row_goes_there_and_back_byte_for_byte(bench: Bench, row: Row) -> None:
    goes_there_and_back(bench, row, sample(row.dialect).encode())


DIALECTS = {id(row.dialect): row for row in ROWS}


@pytest.mark.parametrize("row", DIALECTS.values(), ids=lambda row: row.host)
def test_line_endings_tabs_and_byte_order_marks_go_there_and_back(bench: Bench, row: Row) -> None:
    for before in spellings(sample(row.dialect)):
        goes_there_and_back(bench, row, before)


@pytest.mark.parametrize("row", DIALECTS.values(), ids=lambda row: row.host)
def test_a_file_that_was_edited_after_wrap_keeps_the_edit_and_loses_what_is_ours(
    bench: Bench, row: Row
) -> None:
    mark = b"// edited\n" if row.dialect.format == "json" else b"# edited\n"
    path = bench.folder / f"file.{row.dialect.format}"
    for before in spellings(sample(row.dialect)):
        path.write_bytes(before)
        bench.json("wrap", str(path), "--host", row.host)
        path.write_bytes(path.read_bytes() + mark)
        code, result = bench.json("unwrap", str(path), "--host", row.host)
        assert code == 0
        assert "changed after wrap" in result["files"][0]["note"]
        # A command that is written anew has double quotes, whatever it had before.
        assert path.read_bytes().replace(b"'", b'"') == before.replace(b"'", b'"') + mark


def test_a_wrapped_entry_is_led_to_the_files_that_were_named(bench: Bench) -> None:
    bench.pin()
    Path("mine.toml").write_text("", encoding="utf-8")
    path = host_file(bench)
    given = [
        "--lockfile",
        "toolnotary.lock",
        "--policy",
        "mine.toml",
        "--registry",
        "https://r.example",
        "--offline",
    ]
    assert bench.json("wrap", *given, str(path))[0] == 0
    entry = json.loads(path.read_text())["mcpServers"]["notes"]
    assert entry["command"] == PROGRAM
    assert entry["env"] == {"TOKEN": "hunter2"}
    lock, policy = str(bench.folder / "toolnotary.lock"), str(bench.folder / "mine.toml")
    led = ["--lockfile", lock, "--policy", policy, "--registry", "https://r.example", "--offline"]
    assert entry["args"] == ["run", "--server", "notes", *led, "--", "npx", "-y", "notes"]


def test_a_server_is_wrapped_under_the_name_that_its_launch_is_pinned_under(bench: Bench) -> None:
    bench.pin("io.github.acme/files")
    entry = {"command": bench.launch[0], "args": bench.launch[1:]}
    path = host_file(bench, json.dumps({"mcpServers": {"mine": entry}}))
    code, result = bench.json("wrap", "--lockfile", "toolnotary.lock", str(path))
    assert (code, result["files"][0]["servers"][0]["note"]) == (0, None)
    assert json.loads(path.read_text())["mcpServers"]["mine"]["args"][:3] == [
        "run",
        "--server",
        "io.github.acme/files",
    ]


def test_a_server_that_nothing_is_pinned_of_is_told_with_the_command_that_pins_it(bench: Bench) -> None:
    path = host_file(bench)
    (server,) = bench.json("wrap", str(path))[1]["files"][0]["servers"]
    lockfile = home() / "toolnotary.lock"
    assert f"toolnotary lock --server notes --lockfile {lockfile} -- COMMAND" in server["note"]
    told = ["lock", "--server", "notes", "--lockfile", str(lockfile), "--", *bench.launch]
    assert bench.at_terminal(*told, answers=YES).code == 0


def test_another_launch_under_the_same_name_is_told(bench: Bench) -> None:
    bench.pin("notes")
    path = host_file(bench)
    (server,) = bench.json("wrap", "--lockfile", "toolnotary.lock", str(path))[1]["files"][0]["servers"]
    assert server["note"].startswith("another launch is pinned under this name, and run refuses this one")


def test_without_files_the_users_own_are_wrapped_and_no_others(bench: Bench) -> None:
    own = host_file(bench, name="user/.cursor/mcp.json")
    other = host_file(bench, JSON_SERVERS.replace("KEY", "mcpServers"), name="user/.kiro/settings/mcp.json")
    theirs = host_file(bench, name=".mcp.json")
    plugin = host_file(bench, name="user/.cursor/plugins/local/a/mcp.json")
    before = theirs.read_bytes(), plugin.read_bytes(), other.read_bytes()
    code, result = bench.json("wrap", "--host", "cursor")
    assert (code, [file["file"] for file in result["files"]]) == (0, [str(own)])
    assert bench.json("wrap")[1]["files"][1]["file"] == str(other)
    assert (theirs.read_bytes(), plugin.read_bytes()) == before[:2]
    assert bench.json("unwrap")[0] == 0
    assert (own.read_text(), other.read_bytes()) == (PLAIN, before[2])


def test_a_dry_run_writes_nothing_and_shows_no_secret(bench: Bench) -> None:
    secret = f'"{CANARY}"'
    text = JSON_SERVERS.replace("KEY", "mcpServers").replace('"${input:token}"', secret)
    text = text.replace('"--root"', f'"--api-key", {secret}').replace('"dark"', secret)
    text = text.replace("{\n", f"{{ // {CANARY}\n", 1)
    path = host_file(bench, text)
    files = bench.files
    code, out, err = bench.run("wrap", "--dry-run", str(path))
    assert code == 0
    assert bench.files == files
    assert CANARY not in out + err
    assert '+      "command": ' in out
    assert '"--api-key", "***"' in out
    assert CANARY not in json.dumps(bench.json("wrap", "--dry-run", str(path))[1])
    assert bench.run("wrap", str(path))[0] == 0
    assert CANARY not in bench.run("unwrap", "--dry-run", str(path))[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.toml", CODEX.replace("secret", CANARY).replace("# mine", f"# {CANARY}")),
        ("config.yaml", GOOSE.replace("secret", CANARY).replace("# goose", f"# {CANARY}")),
        (
            "config.yaml",
            GOOSE.replace("{TOKEN: secret}", f"\n      TOKEN: >\n        {CANARY}\n        {CANARY}"),
        ),
        ("settings.json", ZED.replace('"b"', f'"{CANARY}"').replace("// settings", f"// {CANARY}")),
    ],
)
def test_no_format_shows_a_secret_in_the_difference(bench: Bench, name: str, text: str) -> None:
    path = host_file(bench, text, name=f"hosts/{name}")
    code, out, err = bench.run("wrap", "--dry-run", str(path))
    assert code == 0
    assert "+++" in out
    assert CANARY not in out + err


def test_what_was_stored_is_for_its_owner_alone_and_the_mode_of_the_file_stays(bench: Bench) -> None:
    path = host_file(bench)
    path.chmod(0o640)
    bench.run("wrap", str(path))
    (stored,) = (home() / "hosts").iterdir()
    if os.name != "nt":
        assert stat.S_IMODE(stored.stat().st_mode) == 0o600
        assert stat.S_IMODE(stored.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not [one for one in path.parent.iterdir() if one != path]


def test_a_link_stays_one_and_leads_to_the_wrapped_file(bench: Bench) -> None:
    target = host_file(bench, name="dotfiles/mcp.json")
    link = bench.folder / "user" / ".cursor" / "mcp.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    assert bench.run("wrap", "--host", "cursor")[0] == 0
    assert link.is_symlink()
    assert PROGRAM in target.read_text()
    assert bench.run("unwrap", str(target))[0] == 0
    assert target.read_text() == PLAIN


def test_a_project_leads_no_command_out_of_it(bench: Bench) -> None:
    outside = bench.folder.parent / "outside.json"
    outside.write_text(PLAIN, encoding="utf-8")
    (bench.folder / ".mcp.json").symlink_to(outside)
    code, _, err = bench.run("wrap", ".mcp.json")
    assert (code, "leads-outside" in err) == (1, True)
    assert outside.read_text() == PLAIN


ENTRIES = {
    "url": ({"url": "https://x.example/mcp", "type": "sse"}, "over SSE"),
    "number": ({"command": "npx", "args": ["--port", 80]}, "its arguments are no list of texts"),
    "shell": ({"command": "npx a | tee log"}, "a line for a shell"),
    "nothing": ({"settings": {}}, "neither a command nor a URL"),
    "text": ("npx", "its entry is no object"),
    "redirected": (
        {"command": "npx", "env": {"TOOLNOTARY_HOME": "./theirs"}},
        "would lead run to other pins",
    ),
    "unseen\u200b": ({"command": "npx"}, "holds characters that cannot be seen"),
    "long": ({"command": "npx", "args": ["-"] * 4096}, "its command has more than 4096 words"),
    "forged": ({"command": "/evil/toolnotary", "args": ["run", "--", "npx"]}, "another program than this"),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_cannot_be_wrapped_stays_as_it_is_and_says_why(bench: Bench, name: str) -> None:
    entry, why = ENTRIES[name]
    path = host_file(bench, json.dumps({"mcpServers": {name: entry, "fine": {"command": "acme"}}}))
    code, result = bench.json("wrap", str(path))
    assert (code, states(result)) == (1, {name: "refused", "fine": "wrapped"})
    assert why in result["files"][0]["servers"][0]["note"]
    assert json.loads(path.read_text())["mcpServers"][name] == entry


def test_a_yaml_alias_is_not_edited_since_it_stands_for_other_places_too(bench: Bench) -> None:
    shared = "extensions:\n  a: &a\n    cmd: npx\n    args: [x]\n  b: *a\n  c: {<<: *a, args: [y]}\n"
    text = f"{shared}  d: {{cmd: acme}}\n"
    path = host_file(bench, text, name="hosts/config.yaml")
    code, result = bench.json("wrap", str(path))
    found = states(result)
    assert (code, found["a"], found["b"], found["d"]) == (1, "refused", "refused", "wrapped")
    assert path.read_text().startswith(shared)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a0: &a0 [x, x, x, x, x, x, x, x, x]\n", "its aliases stand for more than"),
        ("a0: &a0 {x: *a0}\n", "an alias stands for a value that it is a part of"),
    ],
)
def test_aliases_of_aliases_hold_nobody_up(bench: Bench, text: str, why: str) -> None:
    for level in range(12):
        text += f"a{level + 1}: &a{level + 1} [{', '.join([f'*a{level}'] * 9)}]\n"
    path = host_file(bench, f"{text}extensions: {{d: {{cmd: acme}}}}\n", name="hosts/config.yaml")
    code, _, told = bench.run("wrap", str(path))
    assert code == 4
    assert why in told


def test_variables_for_a_python_server_do_not_reach_the_gate(bench: Bench) -> None:
    text = json.dumps(
        {"mcpServers": {"a": {"command": "python", "args": ["s.py"], "env": {"PYTHONPATH": "src"}}}}
    )
    path = host_file(bench, text)
    assert bench.run("wrap", str(path))[0] == 0
    entry = json.loads(path.read_text())["mcpServers"]["a"]
    assert [entry["command"], *entry["args"][:5]] == [
        sys.executable,
        "-E",
        "-P",
        "-m",
        "toolnotary_cli",
        "run",
    ]
    assert states(bench.json("wrap", str(path))[1]) == {"a": "left"}
    assert bench.run("unwrap", str(path))[0] == 0
    assert path.read_text() == text


def test_servers_that_came_after_wrap_are_wrapped_too_and_all_go_back(bench: Bench) -> None:
    path = host_file(bench)
    bench.run("wrap", str(path))
    more = path.read_text().replace('{"mcpServers": {', '{"mcpServers": {"late": {"command": "uvx late"}, ')
    path.write_text(more, encoding="utf-8")
    code, result = bench.json("wrap", str(path))
    assert (code, states(result)) == (0, {"late": "wrapped", "notes": "left"})
    assert bench.run("unwrap", str(path))[0] == 0
    assert path.read_text() == PLAIN.replace(
        '{"mcpServers": {', '{"mcpServers": {"late": {"command": "uvx late"}, '
    )


def test_without_its_original_a_file_loses_what_is_ours_and_that_is_said(bench: Bench) -> None:
    path = host_file(bench)
    bench.run("wrap", str(path))
    for stored in (home() / "hosts").iterdir():
        stored.unlink()
    code, result = bench.json("unwrap", str(path))
    assert code == 0
    assert "nothing is stored of what it was before" in result["files"][0]["note"]
    assert path.read_text() == PLAIN


@pytest.mark.parametrize(
    ("content", "code", "exit_code"),
    [
        (b'{"mcpServers": {', "host-file-invalid", 4),
        (b'{"mcpServers": {}, "mcpServers": {}}', "host-file-invalid", 4),
        (b"\xff\xfe{\x00}\x00", "host-file-invalid", 4),
        (b'{"tools": []}', "host-dialect", 2),
        (b"[]", "host-dialect", 2),
        (b" " * ((16 << 20) + 1), "host-file-unreadable", 2),
    ],
)
def test_a_file_that_is_none_is_refused_whole(
    bench: Bench, content: bytes, code: str, exit_code: int
) -> None:
    path = host_file(bench, "", name="hosts/some.json")
    fine = host_file(bench, name="hosts/fine.json")
    path.write_bytes(content)
    for command in ("wrap", "unwrap"):
        ended, _, err = bench.run(command, str(fine), str(path))
        assert (ended, f"error: {code}: " in err) == (exit_code, True), err
        assert str(path) in err
    assert fine.read_text() == PLAIN, "nothing is written before all are read"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "[mcp_servers.a\n"),
        ("a.toml", "mcp_servers = " + "[" * 5000),
        ("a.yaml", "mcpServers: [\n"),
        ("a.yaml", "mcpServers:\n  a: 1\n  a: 2\n"),
        ("a.yaml", "mcpServers: " + "[" * 5000),
        ("a.yaml", "mcpServers: " + "- " * 5000),
        ("a.toml", ".".join("a" * 100_000) + " = 1"),
        ("a.toml", "# " + "x" * (1 << 20)),
        ("a.yaml", "mcpServers: {" + "a: 1,\n" * 40_000 + "}"),
        ("a.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nmcpServers: !!python/object:os.system {}\n---\n"),
    ],
)
def test_other_formats_are_refused_likewise(bench: Bench, name: str, text: str) -> None:
    path = host_file(bench, text, name=f"hosts/{name}")
    code, _, err = bench.run("wrap", str(path))
    assert (code, "error: host-file-invalid: " in err) == (4, True), err
    assert path.read_text() == text


def test_a_folder_and_a_pipe_are_no_files_and_nothing_waits(bench: Bench) -> None:
    (bench.folder / "folder").mkdir()
    code, _, err = bench.run("wrap", "folder")
    assert (code, "host-file-unreadable" in err) == (2, True)
    code, _, err = bench.run("wrap", "nowhere.json")
    assert (code, "nowhere.json: no such file" in err) == (2, True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(bench.folder / "pipe.json")
        code, _, err = bench.run("wrap", "pipe.json")
        assert (code, "host-file-unreadable" in err) == (2, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_written(bench: Bench) -> None:
    path = host_file(bench)
    os.chown(path, 12345, 12345)
    code, _, err = bench.run("wrap", str(path))
    assert (code, "host-file-foreign" in err) == (1, True)
    assert path.read_text() == PLAIN
    assert path.stat().st_uid == 12345
    assert not (home() / "hosts").exists()


def test_a_file_that_changed_meanwhile_is_not_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = host_file(bench)
    from toolnotary_cli.hosts import originals

    store = originals.store

    def slow(*arguments: Any) -> None:
        store(*arguments)
        path.write_text("{}", encoding="utf-8")

    monkeypatch.setattr(originals, "store", slow)
    code, _, err = bench.run("wrap", str(path))
    assert (code, "host-file-changed" in err) == (1, True)
    assert path.read_text() == "{}"


def test_a_corrupt_original_is_named_and_nothing_is_written(bench: Bench) -> None:
    path = host_file(bench)
    bench.run("wrap", str(path))
    wrapped = path.read_bytes()
    (stored,) = (home() / "hosts").iterdir()
    stored.write_text('{"schema": "x"}', encoding="utf-8")
    code, _, err = bench.run("unwrap", str(path))
    assert (code, "original-corrupt" in err, str(stored) in err) == (4, True, True)
    assert path.read_bytes() == wrapped


def test_a_host_that_nobody_knows_is_told_with_those_that_are(bench: Bench) -> None:
    code, _, err = bench.run("wrap", "--host", "emacs")
    assert code == 2
    assert "known are claude-desktop, claude-code, cursor" in err
    code, _, err = bench.run("wrap", "--host", "cursor", "--host", "zed", str(host_file(bench)))
    assert (code, "host-ambiguous" in err) == (2, True)


def test_where_no_host_is_nothing_is_done(bench: Bench) -> None:
    for command in ("wrap", "unwrap"):
        code, out, _ = bench.run(command)
        assert (code, out) == (0, "no file of a host was found\n")


def test_placeholders_and_odd_values_stay_as_they_are_written(bench: Bench) -> None:
    path = host_file(bench, CODEX, name="hosts/config.toml")
    bench.run("wrap", str(path))
    found = tomllib.loads(path.read_text())["mcp_servers"]
    assert found["notes"]["args"][-3:] == ["-y", "notes", "${HOME}"]
    assert found["notes"]["startup_timeout_sec"] == 20
    assert found["bare"] == {
        "command": PROGRAM,
        "args": ["run", "--server", "bare", "--", "acme"],
        "env": {"A": "b"},
    }
    assert "# tab" in path.read_text()


def test_the_table_of_this_machine_is_read_with_its_variables(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(bench.folder / "codex"))
    path = host_file(bench, CODEX, name="codex/config.toml")
    assert Surroundings.here().path("{codex}/config.toml") is not None
    assert [file["file"] for file in bench.json("wrap")[1]["files"]] == [str(path)]
