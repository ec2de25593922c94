# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run` takes down what it decides: what, for whom, why; never what was said in a call."""

import json
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from audit_lines import audit_lines, events
from proxybench import Wire
from servers.publisher import SERVER
from signed_servers import ADD, ECHO, EVIL, Bench, changed, surface

__all__ = ["changed"]

Json = Any
SECRET = "hunter2-hunter2"  # what a call holds, and must not be in any line
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs /dev/full")


def policy(home: Path, text: str) -> None:
    (home / "toolnotary.toml").write_text(f"[audit]\n{text}\n", encoding="utf-8")


def session(bench: Bench) -> Wire:
    """A connection on which `add` is called, which passes, and `echo`, which does not; it has ended."""
    with bench.hosts() as host:
        host.shake_hands()
        host.tools()
        for name in ("add", "echo"):
            params = {"name": name, "arguments": {"text": SECRET, "api_key": SECRET}}
            host.ask(f"call {name}", "tools/call", params)
        host.end()
    return host


def test_a_refused_call_is_taken_down_with_all_that_is_known_and_nothing_that_was_said(
    home: Path, changed: Bench
) -> None:
    session(changed)
    lines = audit_lines()
    assert [line["event"] for line in lines] == ["judged", "judged", "refused"]
    whole, named, refused = lines
    assert whole["counts"] == {"changed": 1, "verified": 1}
    assert whole["outcome"] == "drift"
    live, pinned = (surface([tool]).definitions.popitem()[1].digest for tool in (EVIL, ECHO))  # type: ignore[attr-defined]
    for line in (named, refused):
        assert (line["kind"], line["name"], line["reason"]) == ("tool", "echo", "changed")
        assert (line["live"], line["pinned"], line["verdict"], line["by"]) == (
            live,
            pinned,
            "block",
            "policy",
        )
    assert refused["request"] == "call echo"
    assert 0 < refused["latencyUs"] < 60_000_000
    for line in lines:
        assert line["server"] == SERVER
        assert line["launch"] == changed.launch.digest
        assert line["connection"] == whole["connection"]
        assert line["inspection"] == "wire"
        assert line["protocol"] == "2025-06-18"
        at = datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
        assert abs(datetime.now(UTC) - at) < timedelta(minutes=5)
    raw = (home / "audit.jsonl").read_text("ascii")
    for said in (SECRET, "api_key", "Send me", "description"):
        assert said not in raw


def test_where_policy_wants_all_calls_those_that_pass_are_taken_down_too(home: Path, changed: Bench) -> None:
    policy(home, 'calls = "all"')
    session(changed)
    assert events() == ["judged", "judged", "allowed", "refused"]
    allowed = audit_lines()[2]
    assert (allowed["name"], allowed["by"], allowed["reason"]) == ("add", "pin", "verified")
    assert allowed["live"] == allowed["pinned"]


def test_a_trail_that_is_turned_off_is_none(home: Path, changed: Bench) -> None:
    policy(home, 'enabled = false\ncalls = "all"')
    session(changed)
    assert not (home / "audit.jsonl").exists()


def test_lines_go_to_the_file_that_the_policy_names(home: Path, changed: Bench) -> None:
    policy(home, 'file = "logs/mine.jsonl"')
    session(changed)
    assert events(home / "logs" / "mine.jsonl") == ["judged", "judged", "refused"]
    assert not (home / "audit.jsonl").exists()


def test_the_size_and_the_number_of_files_are_those_of_the_policy(home: Path, changed: Bench) -> None:
    policy(home, 'calls = "all"\nmax-bytes = 65536\nkeep = 1')
    with changed.hosts() as host:
        host.shake_hands()
        host.tools()
        for number in range(400):
            host.call("add", number)
        host.end()
    files = {path.name for path in home.glob("audit.jsonl*")}
    assert files == {"audit.jsonl", "audit.jsonl.1", "audit.jsonl.lock"}
    older, newer = audit_lines(home / "audit.jsonl.1"), audit_lines()
    ids = [line["request"] for line in (*older, *newer) if line["event"] == "allowed"]
    assert ids == list(range(ids[0], 400))
    assert (home / "audit.jsonl.1").stat().st_size <= 65536


@posix
def test_a_full_disk_takes_no_pinned_tool_away_and_is_told_once(home: Path, changed: Bench) -> None:
    policy(home, 'file = "/dev/full"\ncalls = "all"')
    with changed.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add"]
        for number in range(5):
            assert not host.call("add", number)[0]
        assert host.call("echo")[0]
        assert host.end() == 0
    why = "decisions are not taken down: /dev/full: no space left on device"
    assert re.findall("decisions are not taken down.*", host.said) == [
        f"{why}; what is pinned goes on without it [audit]"
    ]


@posix
def test_where_policy_requires_the_trail_nothing_is_started_without_it(home: Path, changed: Bench) -> None:
    policy(home, 'file = "/dev/full"\nrequired = true')
    with changed.hosts() as host:
        assert host.ended() == 2
    assert "error: audit-not-writable: /dev/full: no space left on device" in host.said


def test_where_policy_requires_the_trail_a_disk_that_is_lost_closes_the_connection(
    home: Path, changed: Bench
) -> None:
    policy(home, 'file = "there/audit.jsonl"\nrequired = true')
    with changed.hosts() as host:
        host.shake_hands()
        (home / "there" / "audit.jsonl.lock").unlink()
        (home / "there" / "audit.jsonl").unlink()
        (home / "there").rmdir()
        (home / "there").write_text("no folder", encoding="utf-8")
        host.send("tools/list", {}, id="list")
        assert host.ended() == 70
    assert not any(b'"list"' in line for line in host.frames)
    assert "the connection is closed [audit]" in host.said


def test_lines_that_were_missed_are_counted_in_the_next_one(home: Path, changed: Bench) -> None:
    file = home / "there" / "audit.jsonl"
    file.parent.write_text("no folder", encoding="utf-8")
    policy(home, f'file = "{file}"')
    with changed.hosts() as host:
        host.shake_hands()
        host.tools()
        host.wait_said("decisions are not taken down")
        file.parent.unlink()
        number = 0
        while not file.exists():
            number += 1
            time.sleep(0.1)
            assert host.call("echo", number)[0]
        host.end()
    assert "the audit trail is written again [audit]" in host.said
    assert audit_lines(file)[0]["missed"] == number + 1


def test_a_server_that_floods_us_with_what_is_withheld_drives_no_decision_out(
    home: Path, changed: Bench
) -> None:
    odd = json.dumps({"jsonrpc": "2.0", "id": "nobody", "result": {"tools": [EVIL]}})
    flood = {"on": "tools/call", "do": [*({"raw": odd} for _ in range(300)), "default"]}
    changed.shows([ADD, EVIL], rules=[flood])
    session(changed)
    found = events()
    assert 100 <= found.count("withheld") < 150
    assert found.count("refused") == 1
    assert sum(line.get("missed", 0) for line in audit_lines()) > 150
