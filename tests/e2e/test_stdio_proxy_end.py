# SPDX-License-Identifier: Apache-2.0
"""How a connection through `toolnotary run` ends, whoever ends it, and that nothing is left behind."""

import json
import os
import select
import signal
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import proxybench
import pytest
from proxybench import DEADLINE, Watched, Wire
from servers import scripted

Json = Any
NAMES = [tool["name"] for tool in scripted.TOOLS]
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc and pidfd")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


def started(script: Json) -> Wire:
    """A pinned server behind the proxy, from the first byte."""
    argv = scripted.command(script)
    proxybench.pin_scripted(argv)
    return Wire(proxybench.run(argv))


def limit(table: str, name: str, value: float) -> None:
    """Add a limit to the personal policy."""
    policy = Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.toml"
    with policy.open("a", encoding="utf-8") as file:
        file.write(f"{table}.{name} = {value}\n")


# How a grandchild tries to get away: not at all, into a session of its own, or as daemons do, by two forks.
ESCAPES = pytest.mark.parametrize("how", [{}, {"new_session": True}, {"daemon": True}], ids=str)


def family(tmp_path: Path, *, stubborn: bool, how: Json) -> Json:
    """A script: a server with a grandchild that ignores SIGTERM; a stubborn one ignores its own end too."""
    step = {"spawn": {"pid_file": str(tmp_path / "pid"), "ignore_sigterm": True, **how}}
    return {
        "ignore_sigterm": stubborn,
        "ignore_eof": stubborn,
        "rules": [{"on": "start", "do": [step]}, {"on": "crash", "do": [{"exit": 9}]}],
    }


class Family:
    """Everything that runs below a proxy: the process that does the work, the server, its grandchild."""

    def __init__(self, host: Wire, tmp_path: Path, stack: ExitStack) -> None:
        host.ask("up", "ping")
        below = proxybench.descendants(host.process.pid)
        grandchild = int((tmp_path / "pid").read_text(encoding="ascii"))
        assert grandchild in below
        (self.worker,) = proxybench.children(host.process.pid)
        (self.server,) = {*proxybench.children(self.worker)} - {grandchild}
        assert {*below} == {self.worker, self.server, grandchild}
        self._watched = [stack.enter_context(Watched(pid)) for pid in below]
        assert not any(process.is_gone(0) for process in self._watched)

    def is_gone(self) -> bool:
        """Whether all of it has ended."""
        return all(process.is_gone() for process in self._watched)


@pytest.mark.parametrize("code", [0, 1, 5, 70, 200])
def test_the_exit_code_is_that_of_the_server(code: int) -> None:
    with started({"rules": [{"on": "ping", "do": ["default", {"exit": code}]}]}) as host:
        assert host.ask(1, "ping")["result"] == {}
        assert host.ended() == code


@posix
def test_a_server_that_a_signal_ended_is_told_as_a_shell_tells_it() -> None:
    argv = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    with Wire(proxybench.run(argv)) as host:
        assert host.ended() == 128 + signal.SIGKILL


def test_a_server_that_exits_at_once_ends_the_connection_with_what_it_said() -> None:
    argv = scripted.command(move="exits-at-once")
    with Wire(proxybench.run(argv)) as host:
        assert host.ended() == 3
    assert host.frames == []
    assert "no token in the environment" in host.said


def test_a_server_that_cannot_be_started_is_named() -> None:
    with Wire(proxybench.run(["no-such-command-at-all"])) as host:
        assert host.ended() == 3
    assert host.said.startswith("error: server-start: no-such-command-at-all")


def test_a_server_that_exits_while_it_is_listed_leaves_nothing_listed() -> None:
    with started({"rules": [{"on": "tools/list", "do": [{"exit": 5}]}]}) as host:
        host.shake_hands()
        host.send("tools/list", {}, id="list")
        assert host.ended() == 5
    assert not any("tools" in json.loads(line).get("result", {}) for line in host.frames)


def test_a_server_that_hangs_is_given_up_after_the_time_that_the_policy_gives() -> None:
    limit("timeouts", "first-start", 0.3)
    limit("timeouts", "listing", 0.2)
    with started({"rules": [{"on": "tools/list", "do": ["hang"]}]}) as host:
        host.shake_hands()
        refused = host.ask("list", "tools/list", {})
        is_refused, text = host.call("echo")
        assert host.end() == 128 + signal.SIGTERM
    assert "not answered by this server within 0.3 seconds" in refused["error"]["message"]
    assert is_refused
    assert "not answered by this server within 0.2 seconds" in text
    assert "[listing-failed]" in host.said


SIGNALLED = """
import os, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os._exit(number + 40))
sys.stdout.write('{"jsonrpc":"2.0","method":"ready"}\\n')
sys.stdout.flush()
while True:
    signal.pause()
"""


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_is_forwarded_to_the_server(name: str) -> None:
    number = getattr(signal, name)
    with Wire(proxybench.run([sys.executable, "-c", SIGNALLED])) as host:
        assert host.message()["method"] == "ready"
        host.process.send_signal(number)
        assert host.ended() == number + 40


@linux
@ESCAPES
def test_where_the_host_hangs_up_server_and_grandchildren_end(tmp_path: Path, how: Json) -> None:
    with ExitStack() as stack, started(family(tmp_path, stubborn=False, how=how)) as host:
        below = Family(host, tmp_path, stack)
        assert host.end() == 0
        assert below.is_gone()


@linux
@ESCAPES
@pytest.mark.parametrize("end", ["SIGTERM", "SIGINT", "SIGHUP", "exit", "crash"])
def test_however_a_connection_ends_no_grandchild_is_left(tmp_path: Path, how: Json, end: str) -> None:
    with ExitStack() as stack, started(family(tmp_path, stubborn=False, how=how)) as host:
        below = Family(host, tmp_path, stack)
        if end == "exit":
            host.send("crash", id=1)
            assert host.ended() == 9
        elif end == "crash":
            os.kill(below.server, signal.SIGSEGV)
            assert host.ended() == 128 + signal.SIGSEGV
        else:
            host.process.send_signal(getattr(signal, end))
            host.ended()
        assert below.is_gone()


@linux
@ESCAPES
def test_a_server_that_ignores_its_end_and_sigterm_is_killed_with_its_grandchildren(
    tmp_path: Path, how: Json
) -> None:
    with ExitStack() as stack, started(family(tmp_path, stubborn=True, how=how)) as host:
        below = Family(host, tmp_path, stack)
        assert host.end() == 128 + signal.SIGKILL
        assert below.is_gone()


@linux
@ESCAPES
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_killed_proxy_leaves_nothing_behind(tmp_path: Path, how: Json, whole_group: bool) -> None:
    argv = scripted.command(family(tmp_path, stubborn=True, how=how))
    proxybench.pin_scripted(argv)
    with ExitStack() as stack, Wire(proxybench.run(argv), new_session=True) as host:
        below = Family(host, tmp_path, stack)
        kill = os.killpg if whole_group else os.kill
        kill(host.process.pid, signal.SIGKILL)
        assert host.process.wait(DEADLINE) == -signal.SIGKILL
        assert below.is_gone()


@linux
@ESCAPES
def test_where_the_process_that_does_the_work_is_killed_nothing_is_left_behind(
    tmp_path: Path, how: Json
) -> None:
    with ExitStack() as stack, started(family(tmp_path, stubborn=True, how=how)) as host:
        below = Family(host, tmp_path, stack)
        os.kill(below.worker, signal.SIGKILL)
        assert host.ended() == 128 + signal.SIGKILL
        assert below.is_gone()


# Without the seconds for which a host that is gone may leave something behind for a slow server.
IMPATIENT = """
import sys
from toolnotary_verifier.shells import ending
ending._STUCK = 0.2
from toolnotary_cli.main import main
sys.exit(main())
"""
READS_NOTHING = """
import time
time.sleep(600)
"""


@posix
def test_a_host_that_goes_while_the_server_reads_nothing_is_noticed() -> None:
    words = proxybench.run([sys.executable, "-c", READS_NOTHING])[3:]
    with Wire([sys.executable, "-c", IMPATIENT, *words]) as host:
        assert host.process.stdin is not None
        pipe = host.process.stdin.fileno()
        os.set_blocking(pipe, False)
        line = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"%s"}}\n' % (b"x" * 1000)
        written = 0
        while select.select([], [pipe], [], 1.0)[1]:  # until pipes and buffers are full
            written += os.write(pipe, line)
        assert written > 64 << 10
        host.process.stdin.close()
        assert host.ended() == 128 + signal.SIGTERM


@posix
def test_a_hang_up_that_is_ignored_reaches_no_server() -> None:
    argv = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *proxybench.run([sys.executable, "-c", SIGNALLED])]
    with Wire(argv) as host:
        assert host.message()["method"] == "ready"
        host.process.send_signal(signal.SIGHUP)
        host.process.send_signal(signal.SIGTERM)
        assert host.ended() == signal.SIGTERM + 40


def test_what_the_server_still_answers_when_the_host_hangs_up_goes_out() -> None:
    with started({}) as host:
        host.shake_hands()
        host.send("tools/list", {}, id="list")
        host.send("tools/call", {"name": "echo", "arguments": {}}, id="call")
        assert host.end() == 0
    answered = {json.loads(line).get("id"): json.loads(line) for line in host.frames}
    assert [tool["name"] for tool in answered["list"]["result"]["tools"]] == NAMES
    assert answered["call"]["result"]["content"][0]["text"] == "echo {}"


@pytest.mark.parametrize("side", ["host", "server"])
def test_a_line_over_the_limit_ends_the_connection_and_nothing_of_it_passes(
    side: str, tmp_path: Path
) -> None:
    limit("limits", "line-bytes", 256 << 10)
    record = tmp_path / "record"
    step = {"text": {"$repeat": ["x", 600_000]}}
    with started({"record": str(record), "rules": [{"on": "evil", "do": [step, "silence"]}]}) as host:
        assert host.ask(1, "ping")["result"] == {}
        if side == "server":
            host.send("evil")
        else:
            with suppress(BrokenPipeError):  # nobody reads the rest
                host.write(b"x" * 600_000)
        assert host.ended() == 1
    assert len(host.frames) == 1
    assert b"xxx" not in record.read_bytes()
    assert "a line of more than 262144 bytes ends the connection" in host.said
