# SPDX-License-Identifier: Apache-2.0
"""What fails around a connection: what is pinned goes on, nothing unverified passes, and nobody hangs.

| failure | `run` | `run --url`, `gateway` |
|---|---|---|
| the registry is away, slow or none | here, test_look_up.py | here |
| what was signed, or a certificate, has expired | test_expiry.py | test_expiry.py; the judge is the same |
| the lockfile is broken | here, test_stdio_proxy.py, test_in_force.py | here |
| the disk is full | here, test_stdio_proxy.py | here |
| two share one lockfile | here | here |
| the host is killed | here | test_killed.py, which has the transports in a process, too |
| the server is killed during a call | here | test_killed.py; breaks off a call: here |
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import guards
import pytest
import shells
from guards import FULL_DISK, KINDS, MORE, NAMES, TOOLS, Bridge, Dialled, Kind, Piped, Run, home, kind_of
from links import HttpLink
from proxybench import DEADLINE, Watched, Wire, descendants, run
from servers import hostile_http
from shells import SERVER
from signed_servers import Bench

from toolnotary_verifier.lockfile import Lockfile

Json = Any
posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and signals are POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc and pidfd")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    """A shell and the server that it stands before."""
    with kind_of(request.param, tmp_path) as made:
        yield made


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """The URL of something that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextlib.contextmanager
def down() -> Iterator[str]:
    """The URL of nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("registry", [down, silent])
def test_without_a_registry_what_is_pinned_works_and_what_is_new_is_blocked(
    kind: Kind, registry: Any
) -> None:
    kind.pin()
    kind.shows(*TOOLS, MORE)
    with registry() as url, kind.guard("--registry", url) as guard:
        for _ in range(2):
            assert guard.tools() == NAMES
            assert guard.call("echo")
            assert not guard.call("more")


def test_what_was_signed_for_a_time_that_is_over_stays_pinned_and_is_accepted_nowhere_else(
    tmp_path: Path,
) -> None:
    signing = Bench(tmp_path)
    signing.trust(None)
    signing.shows(TOOLS)
    then = datetime(2020, 1, 1, tzinfo=UTC)
    signing.pin(signing.signed("1.0.0", TOOLS, at=then, expires_at=then + timedelta(days=1)))
    with signing.hosts() as host:
        host.shake_hands()
        assert host.tools() == NAMES
        assert host.call("echo")[0] is False
        assert host.end() == 0
    (home() / "state.jsonl").unlink()  # as on another machine, where nobody accepted it in time
    with signing.hosts() as host:
        assert host.end() == 1
    assert host.frames == []
    assert "expired" in host.said


def test_with_a_broken_lockfile_no_shell_stands_before_the_server(kind: Kind) -> None:
    kind.pin()
    lockfile = home() / "toolnotary.lock"
    lockfile.write_text('{"version": 1, "servers": {', encoding="utf-8")
    with pytest.raises(AssertionError, match=r"toolnotary\.lock"), kind.guard():
        pass


def test_while_the_lockfile_is_broken_nothing_passes_and_then_all_does_again(kind: Kind) -> None:
    kind.pin()
    lockfile = home() / "toolnotary.lock"
    whole = lockfile.read_bytes()
    with kind.guard() as guard:
        assert guard.call("echo")
        lockfile.write_bytes(b"{")
        guard.wait_said("toolnotary.lock")
        deadline = datetime.now(UTC) + timedelta(seconds=DEADLINE)
        while guard.tools():  # it is told a moment before it counts
            assert datetime.now(UTC) < deadline
        assert not guard.call("echo")
        lockfile.write_bytes(whole)
        deadline = datetime.now(UTC) + timedelta(seconds=DEADLINE)
        while not guard.call("echo"):
            assert datetime.now(UTC) < deadline
        assert guard.tools() == NAMES


@posix
def test_where_nothing_can_be_recorded_what_is_pinned_works_and_nothing_else(kind: Kind) -> None:
    kind.pin()
    kind.shows(*TOOLS, MORE)
    state = home() / "state.jsonl"
    before = state.read_bytes()
    with kind.guard(before=FULL_DISK) as guard:
        assert guard.tools() == NAMES
        assert guard.call("echo")
        assert not guard.call("more")
    assert state.read_bytes() == before


def test_two_that_share_one_lockfile_each_show_what_is_pinned_and_leave_it_whole(kind: Kind) -> None:
    kind.pin()
    lockfile = home() / "toolnotary.lock"
    before = lockfile.read_bytes()
    with kind.guard() as one, kind.guard() as other:
        assert guards.at_once(one, other) == [NAMES, NAMES]
        kind.shows(*TOOLS, MORE)
        for guard in (one, other):
            assert guard.call("echo")
            assert not guard.call("more")
    assert lockfile.read_bytes() == before
    assert [entry.server for entry in Lockfile.load(lockfile).entries][:1] == [SERVER]
    for line in (home() / "state.jsonl").read_bytes().splitlines():
        json.loads(line)


# The host

HOST = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
child.stdin.flush()
child.stdout.readline()
print("answered", flush=True)
time.sleep(600)
"""


@linux
def test_where_the_host_is_killed_the_proxy_and_its_server_are_gone(tmp_path: Path) -> None:
    made = Run(tmp_path)
    made.pin()
    argv = [sys.executable, "-c", HOST, *run(made.argv, server=SERVER)]
    with contextlib.ExitStack() as stack:
        host = stack.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE))
        assert host.stdout is not None
        assert host.stdout.readline() == b"answered\n"
        below = [stack.enter_context(Watched(pid)) for pid in descendants(host.pid)]
        assert len(below) == 3, "the proxy is two processes, and the server is one"
        os.kill(host.pid, signal.SIGKILL)
        assert all(one.is_gone() for one in below)


def test_where_a_host_goes_during_a_listing_the_gateway_serves_the_next_one() -> None:
    with hostile_http.serve() as served:
        shells.pin(home(), served.url)
        with shells.gateway(served.url, home()) as front:
            place = front.url.removeprefix("http://").partition("/")[0]
            body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
            head = f"POST /mcp HTTP/1.1\r\nHost: {place}\r\nContent-Length: {len(body)}\r\n"
            for _ in range(3):
                name, _, port = place.partition(":")
                with socket.create_connection((name, int(port))) as gone:
                    gone.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
            with HttpLink(front.url, hostile_http.HANDSHAKE) as link:
                assert Dialled(front, link).tools() == ["echo"]


# The server


def test_where_the_server_is_killed_during_a_call_the_connection_ends(tmp_path: Path) -> None:
    made = Run(tmp_path)
    made.rules = [{"on": "tools/call", "do": [{"notify": "notifications/progress", "params": {}}, "hang"]}]
    made.shows(*TOOLS)
    made.pin()
    with made.guard() as guard:
        assert isinstance(guard, Piped)
        wire: Wire = guard.wire
        assert guard.tools() == NAMES
        wire.send("tools/call", {"name": "echo", "arguments": {}}, id="hangs")
        assert wire.message()["method"] == "notifications/progress"
        (worker,) = [pid for pid in descendants(guard.pid) if not descendants(pid)]
        os.kill(worker, signal.SIGKILL)
        assert wire.ended() == 128 + signal.SIGKILL
    assert not any(json.loads(line).get("id") == "hangs" for line in wire.frames)


@pytest.mark.parametrize("name", ["run --url", "gateway"])
def test_where_the_server_breaks_off_a_call_the_host_is_told_and_the_next_one_passes(
    name: str, tmp_path: Path
) -> None:
    with kind_of(name, tmp_path) as made:
        assert isinstance(made, Bridge)
        made.pin()
        with made.guard() as guard:
            assert guard.tools() == NAMES
            made.served.script["move"] = "close"
            assert not guard.call("echo")
            made.served.script["move"] = ""
            assert guard.call("echo")
