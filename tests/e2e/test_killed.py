# SPDX-License-Identifier: Apache-2.0
"""A host or a server is killed in the middle of a call: what is between them ends it on the other side.

`run` and its host are in test_failures.py, what the server of `run` leaves behind in test_stdio_proxy_end.py.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bridged
import everything
import guards
import proxybench
import pytest
import sdk
import shells
from effort import EFFORT
from guards import Dialled, home
from links import HttpLink
from proxybench import DEADLINE, Watched, Wire, children
from servers import scripted, streaming
from servers.hostile_http import HANDSHAKE
from servers.streaming import Exchange, Served
from shells import SERVER

from toolnotary_verifier.lockfile import Lockfile

Json = Any
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are watched through /proc and pidfd"
)
_MESSAGE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
# Seconds, fewer than a host that says no more is given to read what it still waits for.
_AT_ONCE = 8.0
_ERROR = ["jsonrpc", "id", "error"]
_PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}


def waiting(exchange: Exchange) -> bool:
    """A server whose calls are under way, and whose streams stay open, until nobody reads them any more."""
    if exchange.asked not in ("tools/call", "GET") or _name(exchange) == "find":
        return False
    exchange.open_stream()
    exchange.event(_PROGRESS if exchange.asked == "tools/call" else _MESSAGE)
    exchange.wait_gone()
    return True


def _name(exchange: Exchange) -> str:
    return str(((exchange.message or {}).get("params") or {}).get("name"))


def files_are_whole() -> None:
    """Whatever was killed, what it wrote can be read."""
    assert Lockfile.load(home() / "toolnotary.lock").entries
    for line in (home() / "state.jsonl").read_bytes().splitlines():
        json.loads(line)


# The host

# It begins a call, and lives until it is killed.
PIPED = """
import json, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def say(**message):
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    child.stdin.flush()
about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}
say(id=1, method="initialize", params=about)
child.stdout.readline()
say(method="notifications/initialized")
say(id=2, method="tools/call", params={"name": "echo", "arguments": {}})
assert any(b"progress" in line for line in child.stdout)
print("begun", flush=True)
time.sleep(600)
"""


def test_where_the_host_of_a_bridge_is_killed_during_a_call_the_server_is_left_and_nothing_runs() -> None:
    with streaming.serve(waiting) as served, contextlib.ExitStack() as stack:
        bridged.pin(served.url)
        argv = [sys.executable, "-c", PIPED, *bridged.bridge(served.url)]
        host = stack.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE))
        stack.callback(host.kill)
        assert host.stdout is not None
        assert host.stdout.readline() == b"begun\n"
        below = [stack.enter_context(Watched(pid)) for pid in proxybench.descendants(host.pid)]
        assert below
        os.kill(host.pid, signal.SIGKILL)
        assert all(one.is_gone(_AT_ONCE) for one in below)
        call = served.wait_for("tools/call")
        served.wait(lambda: call in served.ended)
    files_are_whole()


DIALLING = """
import http.client, json, sys, time
place, open_streams = sys.argv[1], []
headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
def ask(verb, **message):
    connection = http.client.HTTPConnection(place)
    body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else None
    connection.request(verb, "/mcp", body, headers)
    response = connection.getresponse()
    open_streams.append(response)
    return response
about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}
opened = ask("POST", id=1, method="initialize", params=about)
headers["Mcp-Session-Id"] = opened.getheader("Mcp-Session-Id")
opened.read()
call = {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
for response in (ask("GET"), ask("POST", **call)):
    assert any(b"notifications/" in line for line in response)
print("begun", flush=True)
time.sleep(600)
"""


@pytest.fixture
def served() -> Iterator[Served]:
    """A server whose calls never end, pinned."""
    with streaming.serve(waiting) as running:
        bridged.pin(running.url)
        yield running


def test_where_a_host_of_the_gateway_is_killed_its_call_and_its_stream_are_given_up_and_others_go_on(
    served: Served,
) -> None:
    with shells.gateway(served.url, home()) as front:
        before = _sockets(front.process.pid)
        with HttpLink(front.url, HANDSHAKE) as link:
            other = Dialled(front, link)
            for _ in range(3):
                _dial_and_die(front, served, other)
            assert other.tools() == [tool["name"] for tool in streaming.TOOLS]
        deadline = time.monotonic() + DEADLINE
        while _sockets(front.process.pid) > before:
            assert time.monotonic() < deadline, "something is kept of hosts that are gone"
            time.sleep(0.01)
    files_are_whole()


def _dial_and_die(front: shells.Front, served: Served, other: Dialled) -> None:
    """Kill a host during a call, while its stream is open, and see that both are given up at the server."""
    place = urllib.parse.urlsplit(front.url).netloc
    with subprocess.Popen([sys.executable, "-c", DIALLING, place], stdout=subprocess.PIPE) as host:
        try:
            assert host.stdout is not None
            assert host.stdout.readline() == b"begun\n"
            assert other.call("find")
        finally:
            host.kill()
    waiting = [one for one in [*served.of("GET"), *served.of("tools/call")] if _name(one) != "find"]
    served.wait(lambda: all(one in served.ended for one in waiting))
    assert other.call("find")


def _sockets(pid: int) -> int:
    """How many sockets a process has open."""
    found = 0
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found += str(descriptor.readlink()).startswith("socket:")
    return found


@pytest.mark.parametrize("major", sdk.MAJORS)
def test_where_a_host_is_killed_that_guards_itself_the_server_it_started_ends(major: str) -> None:
    rule = {"on": "tools/call", "do": [{"notify": "notifications/progress", "params": {}}]}
    argv = scripted.command({"rules": [rule]})
    proxybench.pin_scripted(argv)
    with Wire(sdk.relay(major, "--server", proxybench.SERVER, "--", *argv)) as wire:
        wire.shake_hands()
        wire.send("tools/call", {"name": "echo", "arguments": {"text": "x"}}, id="hangs")
        while wire.message().get("method") != "notifications/progress":
            pass
        (server,) = children(wire.process.pid)
        with Watched(server) as started:
            os.kill(wire.process.pid, signal.SIGKILL)
            assert started.is_gone()
    files_are_whole()


def test_where_a_process_is_killed_that_guards_its_http_client_its_call_is_given_up(served: Served) -> None:
    with shells.SHELLS["httpx2"](served.url, home()) as front:
        place = urllib.parse.urlsplit(front.url).netloc
        with subprocess.Popen([sys.executable, "-c", DIALLING, place], stdout=subprocess.PIPE) as host:
            try:
                assert host.stdout is not None
                assert host.stdout.readline() == b"begun\n"
                front.process.kill()
                for name in ("GET", "tools/call"):
                    under_way = served.of(name)[0]
                    served.wait(lambda one=under_way: one in served.ended)  # type: ignore[misc]
            finally:
                host.kill()
    files_are_whole()


# The server


# The bridge takes up a stream five times, over half a minute, before it gives it up.
@pytest.mark.parametrize("kind", ["gateway", "run --url"] if EFFORT == "full" else ["gateway"])
def test_where_a_server_behind_http_is_killed_during_a_call_the_host_is_told(kind: str) -> None:
    with everything.running() as (server, url):
        shells.pin(home(), url)
        with _guarded(kind, url) as guard:
            assert "test_wait" in guard.tools()
            read = []
            for message in guard.begin("test_wait"):
                read.append(message)
                server.kill()
            assert read[0]["method"] == "notifications/progress"
            # As without a gateway: the stream ends, and no answer was on it.
            answers = [message for message in read if message.get("id") == "waits"]
            assert [list(answer) for answer in answers] == ([_ERROR] if kind == "run --url" else [])
            assert not guard.call("test_simple_text")


class _Piped(guards.Piped):
    def begin(self, name: str) -> Iterator[Json]:
        params = {"name": name, "arguments": {}, "_meta": {"progressToken": "w"}}
        self.wire.send("tools/call", params, id="waits")
        while True:
            message = self.wire.message()
            yield message
            if message.get("id") == "waits":
                return


class _Dialled(Dialled):
    def __init__(self, front: shells.Front, link: HttpLink) -> None:
        super().__init__(front, link)
        self._link = link

    def begin(self, name: str) -> Iterator[Json]:
        params = {"name": name, "arguments": {}, "_meta": {"progressToken": "w"}}
        yield from self._link.exchange(
            {"jsonrpc": "2.0", "id": "waits", "method": "tools/call", "params": params}
        )


@contextlib.contextmanager
def _guarded(kind: str, url: str) -> Iterator[_Piped | _Dialled]:
    if kind == "gateway":
        with shells.gateway(url, home()) as front, HttpLink(front.url, HANDSHAKE) as link:
            yield _Dialled(front, link)
    else:
        words = ["run", "--server", SERVER, "--url", url]
        with Wire([sys.executable, "-m", "toolnotary_cli", *words]) as wire:
            yield _Piped(wire)
