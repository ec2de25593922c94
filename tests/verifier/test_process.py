# SPDX-License-Identifier: Apache-2.0
"""Starting servers and ending all that they started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers import scripted

from toolnotary_verifier import process
from toolnotary_verifier.errors import CannotTell

posix = pytest.mark.skipif(sys.platform == "win32", reason="process groups and signals are POSIX")


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False).stdout
    return bool(shown.strip()) and not shown.strip().startswith(b"Z")


def spawning(pid_file: Path, **how: object) -> list[str]:
    """A server that starts a grandchild before it reads anything, then answers a ping."""
    step = {"spawn": {"pid_file": str(pid_file), **how}}
    return scripted.command({"rules": [{"on": "start", "do": [step]}]})


def ping(server: process.Process) -> bytes:
    """One answer, so that everything before it has happened."""
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    server.stdin.flush()
    return server.stdout.readline()


def test_a_server_is_started_with_the_environment_and_directory_that_are_given(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ.get('COLOUR'), os.environ.get('HOME'))"
    environment = {"COLOUR": "blue"}
    with process.start([sys.executable, "-c", code], environment=environment, directory=tmp_path) as server:
        assert server.stdout.read().split() == [os.fsencode(tmp_path), b"blue", b"None"]
        assert server.wait(30) == 0


def test_a_command_that_does_not_exist_is_a_server_that_cannot_be_inspected() -> None:
    with pytest.raises(CannotTell) as caught:
        process.start(["no-such-command-\u202e"])
    assert caught.value.code == "server-start"
    assert "\u202e" not in caught.value.message


@posix
def test_the_exit_code_of_a_killed_server_is_that_of_a_shell() -> None:
    with process.start([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]) as server:
        assert server.wait(30) == 128 + signal.SIGKILL
        assert server.end() == 128 + signal.SIGKILL


def test_waiting_for_a_server_that_runs_on_gives_none() -> None:
    with process.start(scripted.command()) as server:
        assert server.wait(0) is None


@posix
@pytest.mark.parametrize("how", [{}, {"ignore_sigterm": True}, {"new_session": True}])
def test_ending_a_server_ends_its_grandchildren(tmp_path: Path, how: dict[str, bool]) -> None:
    pid_file = tmp_path / "pid"
    with process.start(spawning(pid_file, **how)) as server:
        assert b"result" in ping(server)
        grandchild = int(pid_file.read_text(encoding="ascii"))
        assert is_running(grandchild)
    assert not is_running(grandchild)


@posix
def test_a_server_that_ignores_everything_is_ended() -> None:
    with process.start(scripted.command(move="ignores-sigterm")) as server:
        assert b"result" in ping(server)
        server.stdin.close()
        server.terminate()
        assert server.wait(0) is None
        assert server.end() == 128 + signal.SIGKILL


CONTAINED = """
import os, sys
from toolnotary_verifier import process
server = process.start(sys.argv[1:], contained=True)
server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n'); server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
sys.stdin.read()
server.end()
print("ended", flush=True)
"""


@posix
def test_a_contained_server_and_its_group_die_with_a_killed_parent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    argv = [sys.executable, "-c", CONTAINED, *spawning(pid_file, ignore_sigterm=True)]
    parent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    grandchild = int(pid_file.read_text(encoding="ascii"))
    assert is_running(server)
    parent.kill()
    parent.communicate()
    # The guard needs a moment that nothing can be waited for on: it is nobody's child any more.
    assert eventually_gone(server)
    assert eventually_gone(grandchild)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "w") as file:
            file.write(str(os.getpid()))
        os.write(1, b"ready\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
sys.stdin.readline()
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="adopting orphans is a call of Linux")
def test_a_daemon_that_a_contained_server_started_does_not_outlive_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    argv = [sys.executable, "-c", CONTAINED, sys.executable, "-c", DAEMON, str(pid_file)]
    parent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()
    daemon = int(pid_file.read_text(encoding="ascii"))
    assert is_running(daemon)
    told, _ = parent.communicate()
    assert told == b"ended\n"
    assert not is_running(daemon)


def eventually_gone(pid: int) -> bool:
    """Whether the process ends; asks the system again and again, for as long as a minute."""
    waiting = subprocess.run(
        ["sh", "-c", f"for _ in $(seq 600); do kill -0 {pid} 2>/dev/null || exit 0; sleep 0.1; done; exit 1"],
        check=False,
    )
    return waiting.returncode == 0 or not is_running(pid)
