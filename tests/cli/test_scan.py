# SPDX-License-Identifier: Apache-2.0
"""`toolnotary scan`: every configured server in exactly one state, and nothing started without a word."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench
from servers import scripted

__all__ = ["bench"]

CANARY = "c4n4ry-h1dden"
PROGRAM = str(Path(sys.executable).parent / "toolnotary")


@pytest.fixture(autouse=True)
def _no_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the files of hosts that are installed here."""
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG", "APPDATA"):
        monkeypatch.delenv(name, raising=False)


def hosts(bench: Bench, servers: dict[str, Any], name: str = "hosts.json") -> str:
    path = bench.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return str(path)


def entry(argv: list[str], **more: Any) -> dict[str, Any]:
    return {"command": argv[0], "args": argv[1:], **more}


def wrapped(bench: Bench, name: str = "files") -> dict[str, Any]:
    lockfile = str(bench.folder / "toolnotary.lock")
    return entry([PROGRAM, "run", "--server", name, "--lockfile", lockfile, "--", *bench.launch])


def states(result: Any) -> dict[str, str]:
    assert sum(result["counts"].values()) == len(result["servers"])
    return {server["name"]: server["outcome"] for server in result["servers"]}


def findings(result: Any, name: str) -> set[str]:
    return {
        one["kind"] for server in result["servers"] if server["name"] == name for one in server["findings"]
    }


def test_a_pinned_and_wrapped_server_is_seen_through_and_nothing_is_objected_to(bench: Bench) -> None:
    bench.pin()
    file = hosts(bench, {"mine": wrapped(bench)})
    code, result = bench.json("scan", file)
    (server,) = result["servers"]
    assert (code, server["outcome"], server["guarded"], server["pinnedAs"]) == (0, "verified", True, "files")
    assert server["launch"].startswith(bench.launch[0])
    assert "run" not in server["launch"].split()


def test_it_tells_what_run_recorded(bench: Bench) -> None:
    bench.pin()
    file = hosts(bench, {"mine": wrapped(bench)})
    bench.shows(POISONED, LOSE)
    bench.hosted()
    code, result = bench.json("scan", file)
    assert (code, states(result)) == (1, {"mine": "drift"})
    assert result["servers"][0]["counts"] == {"verified": 1, "changed": 1}
    assert "to see why: toolnotary explain files --lockfile" in bench.run("scan", file)[1]


def test_what_is_started_without_us_is_objected_to_although_it_is_as_pinned(bench: Bench) -> None:
    bench.pin()
    code, result = bench.json("scan", hosts(bench, {"files": entry(bench.launch)}))
    (server,) = result["servers"]
    assert (code, server["outcome"], server["guarded"]) == (1, "verified", False)
    assert findings(result, "files") == {"unguarded"}


def test_a_server_that_nobody_pinned_is_unpinned_and_the_command_that_pins_it_works(bench: Bench) -> None:
    file = hosts(bench, {"files": entry(bench.launch)})
    code, result = bench.json("scan", file)
    assert (code, states(result)) == (1, {"files": "unpinned"})
    assert "to pin it: toolnotary lock --server files -- COMMAND" in bench.run("scan", file)[1]
    bench.pin()
    assert states(bench.json("scan", file)[1]) == {"files": "verified"}


def test_another_launch_under_a_pinned_name_is_no_server_that_anybody_approved(bench: Bench) -> None:
    bench.pin()
    file = hosts(bench, {"files": entry(["npx", "evil"])})
    code, result = bench.json("scan", file)
    (server,) = result["servers"]
    assert (code, server["outcome"], server["error"]["code"]) == (1, "not-inspected", "identity")
    marker = bench.folder / "started"
    code, result = bench.json("scan", hosts(bench, {"files": entry(["touch", str(marker)])}), "--start")
    assert (code, marker.exists()) == (1, False), "what is not the pinned server is not started"


def test_another_url_under_a_pinned_name_stays_refused_offline(bench: Bench) -> None:
    bench.pin()
    file = hosts(bench, {"files": {"url": "http://127.0.0.1:9/mcp"}})
    code, result = bench.json("scan", file, "--start", "--offline")
    assert (code, result["servers"][0]["error"]["code"]) == (1, "identity")


def test_a_pin_that_moved_makes_a_server_not_inspected(bench: Bench) -> None:
    bench.pin()
    assert bench.run("revoke", "files", "find")[0] == 0
    code, result = bench.json("scan", hosts(bench, {"files": wrapped(bench)}))
    assert (code, states(result)) == (3, {"files": "not-inspected"})
    assert "under other pins than now" in result["servers"][0]["note"]


def test_what_a_lockfile_of_others_pins_is_unpinned_until_it_is_accepted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bench.pin()
    file = hosts(bench, {"files": entry(bench.launch)})
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path_factory.mktemp("other")))
    code, result = bench.json("scan", file)
    assert (code, states(result)) == (1, {"files": "unpinned"})
    assert "not accepted by you" in result["servers"][0]["note"]


def test_a_lockfile_that_is_named_and_the_personal_one_are_looked_at(bench: Bench) -> None:
    other = str(bench.folder / "other.lock")
    own = str(Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.lock")
    lock = ["lock", "--server", "x", "--lockfile"]
    assert bench.at_terminal(*lock, other, "--", *bench.launch, answers=YES).code == 0
    file = hosts(bench, {"files": entry(bench.launch)})
    assert states(bench.json("scan", file)[1]) == {"files": "unpinned"}
    assert states(bench.json("scan", "--lockfile", other, file)[1]) == {"files": "verified"}
    assert bench.at_terminal(*lock, own, "--", *bench.launch, answers=YES).code == 0
    (server,) = bench.json("scan", file)[1]["servers"]
    assert (server["pinnedAs"], server["outcome"]) == ("x", "verified")


def test_what_leads_on_names_the_lockfile_that_has_the_server(bench: Bench) -> None:
    """The personal one, from inside of a repository; one that the command was given."""
    own = str(Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.lock")
    file = hosts(bench, {"files": entry(bench.launch)})
    for lockfile, options in ((own, []), (str(bench.folder / "other.lock"), ["--lockfile", "other.lock"])):
        bench.shows(FIND, LOSE)
        lock = ["lock", "--server", "files", "--lockfile", lockfile, "--", *bench.launch]
        assert bench.at_terminal(*lock, answers=YES).code == 0
        bench.shows(POISONED, LOSE)
        _, out, _ = bench.run("scan", "--start", *options, file)
        told = f"explain files --lockfile {lockfile}"
        assert f"to see why: toolnotary {told}\n" in out
        assert bench.run(*told.split())[0] == 0
        Path(own).unlink(missing_ok=True)


def test_nothing_is_started_reached_or_written_without_a_word(bench: Bench) -> None:
    marker = bench.folder / "marker"
    servers = {"touch": entry(["touch", str(marker)]), "url": {"url": "http://127.0.0.1:9/mcp"}}
    file = hosts(bench, servers)
    before = bench.files
    assert states(bench.json("scan", file)[1]) == {"touch": "unpinned", "url": "unpinned"}
    assert bench.files == before


def test_with_a_word_each_line_is_shown_first_and_every_server_looked_at(bench: Bench) -> None:
    """One that is as pinned, one that ends at once, one behind no port, one that the host fills in."""
    bench.pin()
    servers = {
        "files": wrapped(bench),
        "ends": entry([sys.executable, "-c", "raise SystemExit(1)"]),
        "silent": {"url": "http://127.0.0.1:9/mcp"},
        "asked": entry(["npx", "--token", "${input:token}"]),
        "off": entry(["touch", str(bench.folder / "off")], disabled=True),
        "late": entry([sys.executable, *scripted.command()[1:]]),
    }
    file = hosts(bench, servers)
    code, result = bench.json("scan", file, "--start")
    assert states(result) == {
        "files": "verified",
        "ends": "not-inspected",
        "silent": "not-inspected",
        "asked": "not-inspected",
        "off": "unpinned",
        "late": "unpinned",
    }
    errors = {server["name"]: (server["error"] or {}).get("code") for server in result["servers"]}
    assert errors["asked"] == "host-fills"
    assert errors["silent"] == "unreachable"
    assert code == 1
    assert not (bench.folder / "off").exists()
    _, _, err = bench.run("scan", file, "--start")
    assert "starting ends: " in err
    assert "asking silent: http://127.0.0.1:9/mcp" in err
    _, result = bench.json("scan", file, "--start", "--offline")
    assert {s["name"]: s["error"] for s in result["servers"]}["silent"]["code"] == "offline"


def test_a_look_of_now_finds_drift_and_records_nothing(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    file = hosts(bench, {"files": wrapped(bench)})
    before = bench.files
    code, result = bench.json("scan", file, "--start")
    assert (code, states(result)) == (1, {"files": "drift"})
    assert bench.files == before


def test_a_server_is_started_with_what_its_host_sets_for_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.folder / "server").mkdir()
    monkeypatch.setenv("WHERE", str(bench.script))
    script = (
        "import os, sys; os.execv(sys.executable, [sys.executable, sys.argv[1], '--file', os.environ['X']])"
    )
    argv = [sys.executable, "-c", script, str(scripted.command()[1])]
    servers = {"files": entry(argv, env={"X": "${WHERE}"}, cwd=str(bench.folder / "server"))}
    _, result = bench.json("scan", hosts(bench, servers), "--start")
    assert result["servers"][0]["counts"] == {"first-unsigned": 2}


def test_a_projects_server_is_started_in_the_folder_of_its_project(bench: Bench) -> None:
    """In a repository, and outside of one."""
    name = bench.script.name
    argv = [sys.executable, str(scripted.command()[1]), "--file", name]
    file = hosts(bench, {"files": entry(argv)}, ".cursor/mcp.json")
    for _ in range(2):
        _, result = bench.json("scan", file, "--start")
        assert result["servers"][0]["counts"] == {"first-unsigned": 2}
        if (bench.folder / ".git").exists():
            (bench.folder / ".git").rmdir()


def test_all_files_that_are_there_are_read_and_host_narrows_them(bench: Bench) -> None:
    hosts(bench, {"a": entry(["npx", "a"])}, "user/.cursor/mcp.json")
    hosts(bench, {"b": entry(["npx", "b"])}, "user/.claude.json")
    hosts(bench, {"c": entry(["npx", "c"])}, ".mcp.json")
    hosts(bench, {"d": entry(["npx", "d"])}, "user/.claude/plugins/cache/x/y/.mcp.json")
    _, result = bench.json("scan")
    assert states(result).keys() == {"a", "b", "c", "d"}
    assert {file["scope"] for file in result["files"]} == {"user", "project", "plugin"}
    _, result = bench.json("scan", "--host", "cursor")
    assert states(result).keys() == {"a"}
    code, result = bench.json("scan", "--host", "zed")
    assert (code, result["servers"], result["files"]) == (0, [], [])


def test_a_file_that_cannot_be_read_is_told_and_hides_no_other(bench: Bench) -> None:
    bench.pin()
    hosts(bench, {"files": wrapped(bench)}, "user/.cursor/mcp.json")
    bad = bench.folder / "user" / ".kiro" / "settings" / "mcp.json"
    bad.parent.mkdir(parents=True)
    bad.write_text('{"mcpServers": {', encoding="utf-8")
    code, result = bench.json("scan")
    assert (code, states(result)) == (3, {"files": "verified"})
    failed = [file for file in result["files"] if file["error"]]
    assert [(file["file"], file["error"]["code"]) for file in failed] == [(str(bad), "host-file-invalid")]
    assert bench.json("scan", str(bad))[0] == 4
    assert bench.json("scan", "nowhere.json")[0] == 2
    assert "1 file not read" in bench.run("scan")[1]


def test_comments_trailing_commas_and_a_mark_hide_no_server(bench: Bench) -> None:
    path = bench.folder / "hosts.json"
    path.write_bytes(b'\xef\xbb\xbf{ // mine\n"mcpServers": {"a": {"command": "x",},},}')
    assert states(bench.json("scan", str(path))[1]) == {"a": "unpinned"}


def test_an_entry_that_says_nothing_is_told_all_the_same(bench: Bench) -> None:
    code, result = bench.json("scan", hosts(bench, {"odd": {"settings": {}}, "text": "npx"}))
    assert (code, states(result)) == (3, {"odd": "not-inspected", "text": "not-inspected"})
    assert {server["error"]["code"] for server in result["servers"]} == {"host-entry"}


def test_a_server_that_its_host_leaves_alone_counts_for_nothing(bench: Bench) -> None:
    code, result = bench.json("scan", hosts(bench, {"a": entry(["npx", "a"], disabled=True)}), "--strict")
    assert (code, states(result), result["servers"][0]["disabled"]) == (0, {"a": "unpinned"}, True)


FLOATING = [
    (["npx", "-y", "x"], 1),
    (["npx", "x@latest"], 1),
    (["npx", "@acme/x@^1.2"], 1),
    (["npx", "@acme/x@1.2.3"], 0),
    (["cmd", "/c", "npx", "x"], 1),
    (["npx", "github:acme/x"], 1),
    (["npx", "github:acme/x#" + "a" * 40], 0),
    (["uvx", "x"], 1),
    (["uvx", "x>=1"], 1),
    (["uvx", "x==1.0"], 0),
    (["uvx", "x@1.0"], 0),
    (["uvx", "--from", "My_Pkg[cli]==1.2", "cmd"], 0),
    (["uvx", "--from", "git+https://x.example/a", "cmd"], 1),
    (["pipx", "run", "x"], 1),
    (["uv", "tool", "run", "x"], 1),
    (["docker", "run", "-i", "acme/x"], 1),
    (["docker", "run", "acme/x:1.0"], 1),
    (["docker", "run", "acme/x@sha256:" + "a" * 64], 0),
    (["python", "-m", "x"], 0),
    (["/opt/acme/x"], 0),
]


@pytest.mark.parametrize(
    ("argv", "count"), FLOATING, ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ""
)
def test_versions_that_move_are_told(bench: Bench, argv: list[str], count: int) -> None:
    _, result = bench.json("scan", hosts(bench, {"a": entry(argv)}))
    kinds = [one["kind"] for one in result["servers"][0]["findings"]]
    assert kinds.count("floating-version") == count


def test_secrets_are_told_by_the_name_of_their_key_and_never_by_their_value(bench: Bench) -> None:
    servers = {
        "a": entry(
            ["acme", "--api-key", CANARY, f"--token={CANARY}", "-e", f"PASSWORD={CANARY}", "-e", "MODE=fast"],
            env={"API_KEY": CANARY, "MODE": "fast", "TOKEN": "${TOKEN}", "KEY": "${input:key}"},
        ),
        "b": {
            "url": f"https://user:{CANARY}@x.example/mcp?key={CANARY}",
            "headers": {"Authorization": f"Bearer {CANARY}", "X-Other": "Bearer ${TOKEN}"},
        },
    }
    file = hosts(bench, servers)
    _, result = bench.json("scan", file)
    told = {
        server["name"]: [
            one["detail"].split(" holds")[0] for one in server["findings"] if one["kind"] == "plain-secret"
        ]
        for server in result["servers"]
    }
    assert told == {
        "a": ["env API_KEY", "argument --api-key", "argument --token", "argument -e PASSWORD"],
        "b": ["headers Authorization", "url"],
    }
    for options in ([], ["--start"], ["--format", "json"], ["--strict"]):
        _, out, err = bench.run("scan", file, *options)
        assert CANARY not in out + err


def test_a_file_that_reads_like_ours_and_is_not_is_unguarded(bench: Bench) -> None:
    bench.pin()
    forged = wrapped(bench)
    forged["command"] = "/opt/evil/toolnotary"
    moved = {**wrapped(bench), "env": {"TOOLNOTARY_HOME": "./theirs"}}
    code, result = bench.json(
        "scan", hosts(bench, {"forged": forged, "moved": moved, "fine": wrapped(bench)})
    )
    assert code == 1
    guarded = {server["name"]: server["guarded"] for server in result["servers"]}
    assert guarded == {"forged": False, "moved": False, "fine": True}


def test_ours_that_loads_other_code_is_unguarded(bench: Bench) -> None:
    """By a variable, or from the folder that it starts in; `-E -P` keeps both from it, as wrap writes it."""
    bench.pin()
    run = wrapped(bench)["args"]
    theirs = {"PYTHONPATH": "./theirs"}
    servers = {
        "variable": {**wrapped(bench), "env": theirs},
        "folder": entry([sys.executable, "-m", "toolnotary_cli", *run]),
        "half": entry([sys.executable, "-P", "-m", "toolnotary_cli", *run], env=theirs),
        "fine": entry([sys.executable, "-E", "-P", "-m", "toolnotary_cli", *run], env=theirs),
        "isolated": entry([sys.executable, "-I", "-m", "toolnotary_cli", *run], env=theirs),
    }
    code, result = bench.json("scan", hosts(bench, servers))
    assert code == 1
    guarded = {server["name"]: server["guarded"] for server in result["servers"]}
    assert guarded == {"variable": False, "folder": False, "half": False, "fine": True, "isolated": True}


def test_one_server_under_two_names_is_told_once_of_each_and_its_tools_not_at_all(bench: Bench) -> None:
    bench.pin()
    servers = {"files": wrapped(bench), "again": entry(bench.launch)}
    _, result = bench.json("scan", hosts(bench, servers))
    assert "configured-twice" in findings(result, "files") & findings(result, "again")
    told = {
        server["name"]: one["detail"]
        for server in result["servers"]
        for one in server["findings"]
        if one["kind"] == "configured-twice"
    }
    assert told == {
        "files": "the same server is configured as again too",
        "again": "the same server is configured as files too",
    }
    assert result["shadows"] == []


def test_tools_of_several_servers_that_can_be_confused_are_told(bench: Bench) -> None:
    """Exactly, once a host has replaced characters, and to a reader: Cyrillic a and e, other separators."""
    lookalike = {**FIND, "name": "f\u0456nd"}
    dotted, under = {**FIND, "name": "get.item"}, {**FIND, "name": "get_item"}
    bench.shows(FIND, LOSE, dotted)
    bench.pin()
    other = Path("other.json")
    other.write_text(json.dumps({"tools": [LOSE, under, lookalike]}), encoding="utf-8")
    second = [*scripted.command()[:2], "--file", str(other.absolute())]
    assert bench.at_terminal("lock", "--server", "other", "--", *second, answers=YES).code == 0
    file = hosts(bench, {"files": entry(bench.launch), "other": entry(second)})
    code, result = bench.json("scan", file)
    assert code == 1
    found = {(one["rule"], tuple(one["names"])) for one in result["shadows"]}
    assert found == {
        ("same-name", ("lose",)),
        ("same-name-to-hosts", ("get.item", "get_item")),
        ("look-alike-name", ("find", "f\u0456nd")),
    }
    assert {tuple(one["servers"]) for one in result["shadows"]} == {("files", "other")}
    assert {one["host"] for one in result["shadows"]} == {str(Path(file))}
    text = bench.run("scan", file)[1]
    assert "f\\u{456}nd" in text


def test_names_of_servers_that_hosts_take_for_one_are_told(bench: Bench) -> None:
    servers = {"my.server": entry(["npx", "a"]), "my_server": entry(["npx", "b"])}
    _, result = bench.json("scan", hosts(bench, servers))
    assert "server-name" in findings(result, "my.server") & findings(result, "my_server")


def test_strict_objects_to_every_finding(bench: Bench) -> None:
    bench.pin()
    fine = hosts(bench, {"files": wrapped(bench)})
    assert bench.json("scan", "--strict", fine)[0] == 0
    noted = hosts(bench, {"files": {**wrapped(bench), "env": {"API_KEY": "hunter2"}}})
    assert bench.json("scan", noted)[0] == 0
    assert bench.json("scan", "--strict", noted)[0] == 1


def test_names_from_files_are_escaped(bench: Bench) -> None:
    _, out, _ = bench.run("scan", hosts(bench, {"a\u202e\x1b[2J": entry(["npx", "x"])}))
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_what_passes_by_break_glass_is_told_with_its_reason(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    words = ["break-glass", "files", "--reason", "index is down", "--start"]
    session = bench.at_terminal(*words, answers=YES)
    assert session.code == 0, session.shown
    _, result = bench.json("scan", hosts(bench, {"files": wrapped(bench)}))
    (told,) = [one["detail"] for one in result["servers"][0]["findings"] if one["kind"] == "override"]
    assert "tool find passes by break-glass until" in told
    assert "index is down" in told
    bench.hosted()
    _, result = bench.json("scan", hosts(bench, {"files": wrapped(bench)}))
    assert result["servers"][0]["counts"] == {"override": 1, "verified": 1}


def test_what_is_there_and_cannot_be_looked_at_is_told(bench: Bench) -> None:
    """A link that leads back to itself; also in the place of a folder."""
    (bench.folder / "user" / ".cursor").mkdir()
    (bench.folder / "user" / ".cursor" / "mcp.json").symlink_to("mcp.json")
    (bench.folder / "user" / ".lmstudio").symlink_to(".lmstudio")
    code, result = bench.json("scan")
    assert code == 3
    failed = {file["host"]: file["error"]["code"] for file in result["files"]}
    assert failed == {"cursor": "host-file-unreadable", "lm-studio": "host-file-unreadable"}


def test_folders_that_are_not_searched_are_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolnotary_cli.hosts import discovery

    deep = "user/.claude/plugins/cache/" + "/".join("abcdefghijk")
    hosts(bench, {"a": entry(["npx", "a"])}, f"{deep}/.mcp.json")
    code, result = bench.json("scan")
    assert (code, states(result)) == (3, {})
    assert {file["error"]["code"] for file in result["files"]} == {"host-folder"}
    monkeypatch.setattr(discovery, "_MOST_DEPTH", 20)
    assert states(bench.json("scan")[1]) == {"a": "unpinned"}
    monkeypatch.setattr(discovery, "_MOST_FOLDERS", 3)
    assert bench.json("scan")[0] == 3


def test_a_lockfile_that_is_not_valid_hides_no_server(bench: Bench) -> None:
    Path("toolnotary.lock").write_text("garbage\n", encoding="utf-8")
    code, result = bench.json("scan", hosts(bench, {"a": entry(["npx", "a"]), "b": entry(["npx", "b"])}))
    assert (code, states(result)) == (4, {"a": "not-inspected", "b": "not-inspected"})
    assert {server["error"]["code"] for server in result["servers"]} == {"lockfile-corrupt"}


def test_the_policy_that_is_named_is_the_one_that_counts(bench: Bench) -> None:
    bench.pin()
    file = hosts(bench, {"files": entry(bench.launch)})
    Path("mine.toml").write_text("", encoding="utf-8")
    assert states(bench.json("scan", "--policy", "mine.toml", file)[1]) == {"files": "verified"}
    Path("mine.toml").write_text("[nonsense]\n", encoding="utf-8")
    code, out, err = bench.run("scan", "--policy", "mine.toml", file)
    assert (code, out) == (2, "")
    assert "policy-unknown-key" in err
