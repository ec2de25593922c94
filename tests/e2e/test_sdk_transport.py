# SPDX-License-Identifier: Apache-2.0
"""A client of the protocol's Python SDK, of either major, is guarded inside its own process as by `run`."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import everything
import injections
import proxybench
import pytest
from audit_lines import audit_lines
from effort import in_turn, some
from links import StdioLink, Transcript
from pinned_servers import FIND
from proxybench import SERVER, Wire
from sdk import majors, pin, relay, told, turning, turning_over_http, ways
from servers import hostile_http, scripted
from servers.hostile_http import HANDSHAKE, STATELESS, Attack
from servers.publisher import SERVER as SIGNED
from servers.registry import RunningRegistry, sqlite_registry
from signed_servers import Bench
from transcripts import CHANGED, NOTIFIED, SESSIONS
from transcripts import told as as_told

from toolnotary_verifier.saved import read_saved

__all__ = ["sqlite_registry"]

Json = Any
GREET = ["call", "greet", {"name": "Ada"}]
TURN = ["call", "turn", {}]
# What comes on a stream of its own.
_BESIDE = {"notifications/resources/updated", "notifications/subscriptions/acknowledged"}
ALL = ["greet", "turn", "wait", "waited"]
eras = in_turn(list(SESSIONS))
BLOCKED = (
    "Blocked by toolnotary: tool greet has a definition that differs from the pinned one (changed)."
    f" Nothing was sent to the server. To see why: toolnotary explain {SERVER}"
)


def host(major: str, mode: str, *steps: Json, **launch: Json) -> Json:
    """What a host read that took these steps; nothing was raised, and nothing was left behind."""
    result, said = told(major, "sdk_host.py", {"server": SERVER, "mode": mode, "steps": steps, **launch})
    assert (result["raised"], result["left"]) == (None, []), said
    return {**result, "said": said}


def raised(major: str, **plan: Json) -> str:
    """Why a host could not connect; nothing was left behind."""
    result, said = told(major, "sdk_host.py", {"server": SERVER, "mode": "session", "steps": [], **plan})
    assert result["left"] == [], said
    return str(result["raised"])


# Rug pulls


@pytest.mark.parametrize(("major", "mode"), ways())
def test_over_stdio_what_changed_is_not_listed_any_more_and_not_called(major: str, mode: str) -> None:
    argv = turning(major)
    pin("--", *argv)
    read = host(major, mode, "list", GREET, TURN, "list", GREET, command=argv)
    assert read["given"] == [ALL, [False, "Hello, Ada."], [False, "turned"], ALL[1:], [True, BLOCKED]]
    assert "drift (inspection: parsed): withheld tool greet (changed)" in read["said"]


@pytest.mark.parametrize(("major", "mode"), ways())
def test_over_http_what_changed_is_not_listed_any_more_and_not_called(major: str, mode: str) -> None:
    with turning_over_http(major) as url:
        pin(url)
        read = host(major, mode, "list", GREET, TURN, "list", GREET, url=url)
    assert read["given"] == [ALL, [False, "Hello, Ada."], [False, "turned"], ALL[1:], [True, BLOCKED]]


@pytest.mark.parametrize("major", majors())
def test_a_host_that_takes_elicitation_is_asked_about_what_changed_and_its_no_is_kept(
    major: str,
) -> None:
    argv = turning(major)
    pin("--", *argv)
    steps = ["list", TURN, "list", ["sleep", 4], "list"]
    asked = [host(major, "session", *steps, command=argv, elicits=True)["asked"] for _ in range(2)]
    assert "tool greet (changed)" in asked[0][0]
    assert asked[1] == [], "who declined it is not asked again"
    assert [line["event"] for line in audit_lines()].count("declined") == 1


def test_a_refusal_reads_as_the_one_of_run_does() -> None:
    argv = turning("mcp2")
    pin("--", *argv)
    with Wire(proxybench.run(argv)) as wire:
        wire.shake_hands()
        wire.call("turn")
        assert (wire.tools(), wire.call("greet", "again")) == (ALL[1:], (True, BLOCKED))


@pytest.mark.parametrize("major", majors())
def test_a_change_that_is_announced_is_verified_before_the_host_hears_of_it(major: str) -> None:
    argv = turning(major)
    pin("--", *argv)
    read = host(major, "session", GREET, TURN, "changed", GREET, "list", command=argv)
    assert read["given"] == [[False, "Hello, Ada."], [False, "turned"], True, [True, BLOCKED], ALL[1:]]
    assert read["notified"] == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("major", majors())
def test_instructions_pass_where_they_are_pinned_and_nothing_passes_of_what_nobody_pinned(major: str) -> None:
    argv = turning(major)
    read = host(major, "session", "instructions", "list", command=argv)
    assert read["given"] == [None, []]
    pin("--", *argv)
    assert host(major, "session", "instructions", "list", command=argv)["given"] == ["Greet first.", ALL]


# The whole of the protocol


class OverHttp(StdioLink):
    """Through the pipes of a host that speaks HTTP."""

    def cancel(self, request_id: Json, exchange: Iterator[Json]) -> None:
        """In the handshake era the server still answers what was given up."""
        super().cancel(request_id, exchange)
        if self.transcript["stdout"][0].get("result", {}).get("protocolVersion") == HANDSHAKE:
            list(exchange)


def transcript(
    argv: list[str], era: str, through: type[StdioLink] = StdioLink
) -> tuple[Transcript, list[str]]:
    """What was read in a session with everything in it."""
    with Wire(argv) as wire:
        link = through(wire)
        SESSIONS[era](link)
        kept = as_told(link.transcript)
        wire.end()
        assert wire.said == ""
    return kept


def apart(kept: Transcript) -> Transcript:
    """What was read over HTTP: the SDK makes one stream of those that a server has, in no order of theirs."""
    read = kept["stdout"]
    beside = [message for message in read if message.get("method") in _BESIDE]
    return {"stdout": [message for message in read if message not in beside], "beside": beside}


@pytest.mark.parametrize("major", majors())
@pytest.mark.parametrize("era", eras())
def test_everything_but_listings_passes_as_the_sdk_itself_passes_it(major: str, era: str) -> None:
    argv = everything.command("--stdio")
    pin("--", *argv)
    read = transcript(relay(major, "--server", SERVER, "--", *argv), era)
    assert read == transcript(relay(major, "--direct", "--", *argv), era)
    assert sum(len(stream) for stream in read[0].values()) > 25


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The URL of an everything-server."""
    with everything.serving() as url:
        yield url


# 1.x does not speak the stateless era over HTTP: it has no place for the headers of a message.
_OVER_HTTP = [("mcp1", HANDSHAKE), ("mcp2", HANDSHAKE), ("mcp2", STATELESS)]


@pytest.mark.parametrize(("major", "era"), some(_OVER_HTTP, 2), ids=str)
def test_over_http_too_everything_but_listings_passes_as_the_sdk_itself_passes_it(
    major: str, era: str, served: str
) -> None:
    pin(served)
    read, changes = transcript(relay(major, "--server", SERVER, "--url", served), era, OverHttp)
    direct, direct_changes = transcript(relay(major, "--direct", "--url", served), era, OverHttp)
    assert apart(read) == apart(direct)
    assert changes == direct_changes == CHANGED
    assert {message["method"] for message in read["stdout"] if "method" in message} == NOTIFIED[era]


@pytest.mark.parametrize("major", majors())
def test_a_call_that_is_given_up_while_it_waits_here_never_reaches_the_server(
    major: str, tmp_path: Path
) -> None:
    record = tmp_path / "received"
    held = {
        "record": str(record),
        "rules": [{"on": "tools/list", "do": [{"await": "notifications/initialized"}, "default"]}],
    }
    argv = scripted.command(held)
    proxybench.pin_scripted(argv)
    with Wire(relay(major, "--server", SERVER, "--", *argv)) as wire:
        wire.shake_hands()
        wire.send("tools/call", {"name": "echo", "arguments": {"text": "given up"}}, id="a")
        wire.send("notifications/cancelled", {"requestId": "a"})
        wire.send("tools/call", {"name": "echo", "arguments": {"text": "kept"}}, id="b")
        wire.send("notifications/initialized")
        assert "kept" in wire.answer("b")["result"]["content"][0]["text"]
    assert b"given up" not in record.read_bytes()


@pytest.mark.parametrize(("major", "mode"), ways())
def test_a_call_that_is_given_up_on_the_way_leaves_the_session_as_it_is(major: str, mode: str) -> None:
    argv = turning(major)
    pin("--", *argv)
    read = host(major, mode, ["cancel", "wait"], ["call", "waited", {}], "list", command=argv)
    # In 1.x a host that stops waiting tells nobody.
    assert read["given"] == ["cancelled", [False, "0" if major == "mcp1" else "1"], ALL]
    assert read["notified"] == ["notifications/progress"]


# What is hostile

_MOVES = [
    name
    for name, script in scripted.MOVES.items()
    if scripted.POISON in str(script) or "$poison" in str(script)
]


@pytest.mark.parametrize("major", majors())
@pytest.mark.parametrize("move", some(_MOVES, 9))
def test_whatever_a_server_spells_no_listing_that_nobody_verified_is_read(major: str, move: str) -> None:
    argv = scripted.command(move=move)
    proxybench.pin_scripted(argv)
    with Wire(relay(major, "--server", SERVER, "--", *argv)) as wire:
        wire.shake_hands()
        if move == "not-utf8":  # at such a line 1.x ends the connection, and 2.x reads nothing more
            with contextlib.suppress(BrokenPipeError):
                wire.send("tools/list", {}, id="list")
            wire.end()
        else:
            wire.ask("list", "tools/list", {})
            wire.ask("call", "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            wire.ask("ping", "ping")
            wire.ask("again", "tools/list", {})
        assert not [frame for frame in wire.frames if b"POISON" in frame]


@pytest.mark.parametrize("major", majors())
@pytest.mark.parametrize("attack", injections.FOUR, ids=str)
def test_none_of_the_four_places_for_another_listing_over_http_fools_the_sdk(
    major: str, attack: Attack
) -> None:
    with hostile_http.serve() as served:
        pin(served.url)
        served.arm(attack)
        result, said = told(
            major, "sdk_host.py", {"server": SERVER, "mode": "session", "url": served.url, "steps": ["tools"]}
        )
        assert served.fired
    assert "POISON" not in str(result["given"]), said
    assert result["left"] == []


_TWICE = (
    '{"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"find","description":"POISON",'
    '"inputSchema":{"type":"object"},"description":"Find a record."}]$modern}}'
)


@pytest.mark.parametrize("major", majors())
def test_a_key_that_hides_behind_its_like_is_seen_by_run_alone_and_every_record_says_so(major: str) -> None:
    hidden = scripted.command({"tools": [FIND], "rules": [{"on": "tools/list", "do": [{"raw": _TWICE}]}]})
    _pin_find(hidden)
    with Wire(proxybench.run(hidden)) as wire:
        wire.shake_hands()
        assert wire.tools() == []
        wire.wait_said("withheld tool find (invalid")
    assert _seen()[:2] == ["drift", "wire"]
    assert host(major, "session", "list", command=hidden)["given"] == [["find"]]
    assert _seen()[:2] == ["verified", "parsed"]
    told_of = told_by("explain", SERVER)["entries"][0]["lastSeen"]
    assert told_of["inspection"] == "parsed"


def _pin_find(argv: list[str]) -> None:
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": scripted.DEFAULTS["serverInfo"],
        "instructions": scripted.DEFAULTS["instructions"],
    }
    proxybench.pin(read_saved([json.dumps(opening).encode(), json.dumps({"tools": [FIND]}).encode()]), argv)


def told_by(command: str, *words: str) -> Json:
    """What a command says in JSON."""
    lockfile = str(home() / "toolnotary.lock")
    argv = [
        sys.executable,
        "-m",
        "toolnotary_cli",
        command,
        *words,
        "--lockfile",
        lockfile,
        "--format",
        "json",
    ]
    return json.loads(subprocess.run(argv, capture_output=True, check=False, cwd=home()).stdout)


def _seen() -> list[str]:
    """State and inspection of the only server, as `status` tells them."""
    (server,) = told_by("status")["servers"]
    return [server["outcome"], server["inspection"]]


def home() -> Path:
    """The personal directory of this test."""
    return Path(os.environ["TOOLNOTARY_HOME"])


# What the files say


@pytest.mark.parametrize("major", majors())
def test_a_policy_that_asks_for_the_bytes_refuses_before_anything_is_started(
    major: str, tmp_path: Path
) -> None:
    record = tmp_path / "started"
    argv = scripted.command({"record": str(record)})
    proxybench.pin_scripted(argv)
    assert host(major, "session", command=argv)["given"] == []
    record.unlink()
    (home() / "toolnotary.toml").write_text('inspection = "wire"\n', encoding="utf-8")
    assert raised(major, command=argv).startswith("Refused: inspection-refused: ")
    assert not record.exists()
    with Wire(proxybench.run(argv)) as wire:
        wire.shake_hands()
        assert wire.tools() == [tool["name"] for tool in scripted.TOOLS]


@pytest.mark.parametrize("major", majors())
def test_a_policy_that_comes_to_ask_for_the_bytes_leaves_nothing_to_call(major: str) -> None:
    argv = turning(major)
    pin("--", *argv)
    policy = ["write", str(home() / "toolnotary.toml"), 'inspection = "wire"\n']
    read = host(major, "session", GREET, policy, "changed", GREET, command=argv)
    assert read["given"][0] == [False, "Hello, Ada."]
    assert read["given"][3][0] is True
    assert "(inspection-refused)" in read["said"]


@pytest.mark.parametrize("major", majors())
def test_a_pin_that_is_withdrawn_while_a_session_is_open_stops_its_calls(major: str) -> None:
    argv = turning(major)
    pin("--", *argv)
    lockfile = home() / "toolnotary.lock"
    header = lockfile.read_text(encoding="utf-8").splitlines()[0]
    emptied = ["write", str(lockfile), f"{header}\n"]
    read = host(major, "session", GREET, emptied, "changed", GREET, "list", command=argv)
    assert [read["given"][0][0], read["given"][3][0], read["given"][4]] == [False, True, []]


@pytest.mark.parametrize("major", majors())
def test_another_launch_than_the_pinned_one_is_not_started(major: str, tmp_path: Path) -> None:
    argv = scripted.command({"record": str(tmp_path / "started")})
    proxybench.pin_scripted(argv[:-1])
    assert raised(major, command=argv).startswith("Refused: identity: acme/files was not started: ")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("major", majors())
def test_a_trail_that_must_be_kept_and_cannot_be_ends_the_connection(major: str, tmp_path: Path) -> None:
    argv = turning(major)
    pin("--", *argv)
    trail = tmp_path / "trail" / "audit.jsonl"
    rules = f'[audit]\nfile = "{trail}"\nrequired = true\n'
    (home() / "toolnotary.toml").write_text(rules, encoding="utf-8")
    assert host(major, "session", GREET, command=argv)["given"] == [[False, "Hello, Ada."]]
    lines = [json.loads(line) for line in trail.read_text(encoding="utf-8").splitlines()]
    assert {line["inspection"] for line in lines} == {"parsed"}
    plan = {"server": SERVER, "mode": "session", "command": argv}
    lost = ["unwritable", str(trail)]
    result, said = told(major, "sdk_host.py", {**plan, "steps": [GREET, lost, TURN, "list", GREET]})
    assert result["given"][0] == [False, "Hello, Ada."]
    assert "greet" not in str(result["given"][1:]), said
    assert "onnection closed" in result["raised"]
    assert "decisions are not taken down" in said
    assert result["left"] == []


@pytest.mark.parametrize("major", majors())
def test_a_server_that_ends_ends_the_session_and_nothing_is_left(major: str) -> None:
    argv = scripted.command({"rules": [{"on": "tools/call", "do": [{"exit": 3}]}]})
    proxybench.pin_scripted(argv)
    echo = ["call", "echo", {"text": "x"}]
    result, said = told(
        major, "sdk_host.py", {"server": SERVER, "mode": "session", "command": argv, "steps": [echo]}
    )
    assert (result["given"], result["left"]) == ([], []), said
    assert "onnection closed" in result["raised"]


@pytest.mark.parametrize("major", majors())
def test_what_the_sdk_could_not_read_reaches_the_host_as_the_exception_that_it_is(major: str) -> None:
    argv = scripted.command(move="banner")
    proxybench.pin_scripted(argv)
    read = host(major, "session", "list", command=argv)
    assert read["given"] == [[tool["name"] for tool in scripted.TOOLS]]
    assert "ValidationError" in read["notified"]


@pytest.mark.parametrize("major", majors())
def test_what_a_known_signer_signed_is_looked_up_pinned_and_announced(
    major: str, tmp_path: Path, sqlite_registry: RunningRegistry
) -> None:
    bench = Bench(tmp_path)
    bench.shows(scripted.TOOLS)
    bench.publish(sqlite_registry, bench.signed("1.0.0", scripted.TOOLS))
    plan = {"server": SIGNED, "mode": "session", "command": bench.argv, "steps": ["list", "changed", "list"]}
    result, said = told(major, "sdk_host.py", plan)
    assert result["given"] == [[], True, [tool["name"] for tool in scripted.TOOLS]], said
    assert result["left"] == []
    assert "pinned to version 1.0.0, sequence 1" in said


# Without the extra


def test_without_the_extra_the_import_names_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import toolnotary_verifier.shells.mcp"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "ImportError: " in done.stderr
    assert "pip install 'toolnotary-verifier[mcp]'" in done.stderr
