# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run` while its files change: what is tighter counts at once, what is looser at the next start.

Nothing here depends on time: a host waits until it is told that the list changed, or until people are told.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pinned_servers import YES
from proxybench import Wire
from proxybench import run as run_command
from servers import scripted
from servers.publisher import SERVER, Publisher
from signed_servers import ADD, ECHO, READ, Bench, surface
from terminal import at_terminal

Json = Any
NAMES = ["add", "echo", "read_file"]
MORE = scripted.tool("more", "More.", text="string")


@pytest.fixture
def weather(tmp_path: Path) -> Bench:
    """A server, and the user who pins it."""
    return Bench(tmp_path)


def started(bench: Bench, tools: Json, pinned: Json) -> Wire:
    """A host that has listed the tools of a server, of which these are pinned without a signature."""
    bench.shows(tools)
    bench.pin_unsigned(pinned)
    return opened(bench.hosts())


def opened(host: Wire) -> Wire:
    host.shake_hands()
    host.tools("before")
    return host


def command(*arguments: str) -> None:
    """A command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *arguments], check=False, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


# What a person withdraws or accepts


def test_what_is_withdrawn_is_refused_on_the_connection_that_is_open(home: Path, weather: Bench) -> None:
    with started(weather, [ADD, ECHO, READ], [ADD, ECHO, READ]) as host:
        assert not host.call("add", "first")[0]
        command("revoke", SERVER, "add")
        host.told()
        is_refused, text = host.call("add")
        assert is_refused
        assert "(revoked)" in text
        assert host.tools() == ["echo", "read_file"]
        assert not host.call("echo", "other")[0]
        command("revoke", SERVER)
        host.told(2)
        assert host.call("echo", "third")[0]
        assert host.tools("none") == []
        assert host.end() == 0
    assert "tool add (revoked); to review: toolnotary approve" in host.said


def test_what_is_approved_at_a_terminal_works_on_the_connection_that_is_open(weather: Bench) -> None:
    with started(weather, [ADD, ECHO, MORE], [ADD, ECHO]) as host:
        assert host.call("more", "first")[0]
        session = at_terminal(["approve", SERVER], *YES, *YES)
        assert session.code == 0, session.shown
        host.told()
        assert host.tools() == ["add", "echo", "more"]
        assert not host.call("more")[0]
        command("revoke", SERVER, "more")
        host.told(2)
        assert host.call("more", "again")[0]
        session = at_terminal(["approve", SERVER], *YES, *YES)
        assert session.code == 0, session.shown
        host.told(3)
        assert not host.call("more", "at last")[0]
        assert host.end() == 0


def test_a_server_that_nobody_had_pinned_works_once_it_is_pinned(home: Path, weather: Bench) -> None:
    weather.shows([ADD, ECHO])
    with opened(Wire(run_command(weather.argv, server=None))) as host:
        assert host.call("add", "first")[0]
        session = at_terminal(
            ["lock", "--server", SERVER, "--lockfile", str(home / "toolnotary.lock"), "--", *weather.argv],
            *YES,
            *YES,
        )
        assert session.code == 0, session.shown
        host.told()
        assert not host.call("add")[0]
        assert host.end() == 0


def test_a_tool_of_a_signed_version_is_withdrawn_and_accepted_again_while_it_runs(weather: Bench) -> None:
    weather.shows([ADD, ECHO])
    weather.trust(None)
    weather.pin(weather.signed("1.0.0", [ADD, ECHO]))
    with opened(weather.hosts()) as host:
        assert host.tools("all") == ["add", "echo"]
        command("revoke", SERVER, "add")
        host.told()
        assert host.call("add")[0]
        assert host.tools() == ["echo"]
        session = at_terminal(["approve", SERVER], *YES, *YES)
        assert session.code == 0, session.shown
        host.told(2)
        assert not host.call("add", "again")[0]
        assert host.end() == 0


# What a project's files say


def test_a_lockfile_that_changes_alone_takes_away_and_grants_nothing(home: Path, weather: Bench) -> None:
    with started(weather, [ADD, ECHO, MORE], [ADD, ECHO, MORE]) as first:
        lockfile = home / "toolnotary.lock"
        everything = lockfile.read_bytes()
        lines = everything.splitlines(keepends=True)
        less = b"".join(line for line in lines if b'"more"' not in line)
        lockfile.write_bytes(less)
        first.told()
        assert first.call("more")[0]
        with opened(Wire([*first.process.args])) as second:  # type: ignore[misc]  # it is a list
            assert second.call("more", "first")[0]
            lockfile.write_bytes(everything)
            first.told(2)
            assert not first.call("more", "as at the start")[0]
            second.wait_said("counts from the next start on [files]")
            assert second.tools() == ["add", "echo"]
            assert second.call("more")[0]
            assert not second.call("add", "other")[0]
            assert second.end() == 0
        assert first.end() == 0


def test_another_signed_version_in_the_lockfile_counts_from_the_next_start(weather: Bench) -> None:
    old, new = weather.signed("1.0.0", [ADD, ECHO]), weather.signed("2.0.0", [ADD, MORE])
    weather.trust(None)
    weather.shows([ADD, MORE])
    weather.pin(new)
    lockfile = weather.home / "toolnotary.lock"
    state = weather.home / "state.jsonl"
    newer = lockfile.read_bytes()
    lockfile.unlink()
    state.unlink()
    weather.pin(old)
    with opened(weather.hosts()) as host:
        assert not host.call("add", "first")[0]
        lockfile.write_bytes(newer)
        host.wait_said("counts from the next start on [files]")
        assert host.call("more")[0]
        assert host.tools() == []
        assert host.end() == 0
    with opened(weather.hosts()) as host:
        assert not host.call("more")[0]
        assert host.end() == 0


# Policy


def test_a_policy_that_tightens_counts_at_once_and_one_that_loosens_at_the_next_start(
    home: Path, weather: Bench
) -> None:
    weather.trust(None)
    weather.shows([ADD, ECHO])
    weather.pin(weather.signed("1.0.0", [ADD, ECHO]))
    policy = home / "toolnotary.toml"
    before = policy.read_text(encoding="utf-8")
    add = surface([ADD]).definitions
    revoked = next(iter(add.values())).digest
    with opened(weather.hosts()) as host:
        policy.write_text(f'revoked = ["{revoked}"]\n{before}', encoding="utf-8")
        host.told()
        assert host.tools() == ["echo"]
        assert host.call("add")[0]
        policy.write_text(before, encoding="utf-8")
        host.wait_said("counts from the next start on [files]")
        assert host.tools("still") == ["echo"]
        weather.publisher = Publisher()
        weather.trust(None)
        host.told(2)
        assert host.tools("another signer") == []
        assert host.call("echo", "other")[0]
        assert host.end() == 0
    policy.write_text(before, encoding="utf-8")
    with opened(weather.hosts()) as host:
        assert host.tools() == ["add", "echo"]
        assert host.end() == 0


# Files that cannot be read


@pytest.mark.parametrize("name", ["state.jsonl", "toolnotary.lock", "toolnotary.toml"])
def test_a_file_that_is_corrupted_withholds_everything_until_it_is_whole_again(
    home: Path, weather: Bench, name: str
) -> None:
    (home / "toolnotary.toml").write_text('[verdicts]\nmissing = "note"\n', encoding="utf-8")
    with started(weather, [ADD, ECHO, READ], [ADD, ECHO, READ]) as host:
        whole = (home / name).read_bytes()
        (home / name).write_bytes(b"<<<<<<< here\n" + whole)
        host.told()
        said = host.wait_said("everything is withheld: ")
        assert str(home / name) in said
        assert host.call("add")[0]
        assert "result" not in host.ask("closed", "tools/list", {})
        (home / name).write_bytes(whole)
        host.told(2)
        assert host.tools() == NAMES
        assert not host.call("add", "again")[0]
        assert host.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_pipe_in_the_place_of_the_lockfile_keeps_nobody_from_noticing_what_changes(
    home: Path, weather: Bench
) -> None:
    with started(weather, [ADD], [ADD]) as host:
        lockfile = home / "toolnotary.lock"
        whole = lockfile.read_bytes()
        lockfile.unlink()
        os.mkfifo(lockfile)
        host.told()
        assert "it is a pipe" in host.wait_said("everything is withheld: ")
        assert host.call("add")[0]
        lockfile.unlink()
        lockfile.write_bytes(whole)
        host.told(2)
        assert not host.call("add", "again")[0]
        assert host.end() == 0


def test_a_state_that_forgets_what_was_withdrawn_withholds_everything(home: Path, weather: Bench) -> None:
    with started(weather, [ADD, ECHO], [ADD, ECHO]) as host:
        state, lockfile = home / "state.jsonl", home / "toolnotary.lock"
        before = state.read_bytes(), lockfile.read_bytes()
        command("revoke", SERVER, "add")
        host.told()
        state.write_bytes(before[0])
        lockfile.write_bytes(before[1])
        host.told(2)
        assert "state-corrupt" in host.wait_said("everything is withheld: ")
        assert host.call("add")[0]
        assert host.call("echo", "other")[0]
        assert host.end() == 0


def test_a_state_that_others_may_write_withholds_everything(home: Path, weather: Bench) -> None:
    with started(weather, [ADD], [ADD]) as host:
        (home / "state.jsonl").chmod(0o666)
        host.told()
        assert "state-permissions" in host.wait_said("everything is withheld: ")
        assert host.call("add")[0]
        assert host.end() == 0
