# SPDX-License-Identifier: Apache-2.0
"""Commands that start a server leave no process behind, whatever that server started and however they end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pinned_servers import YES, Bench, bench
from servers import scripted

__all__ = ["bench"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux alone")

# Starts a daemon as daemons are started (two forks, a session of its own, no stream of ours), then serves.
DAEMON = """
import os, runpy, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        file = os.open({pids!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, b"%d\\n" % os.getpid())
        os.close(file)
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists({pids!r}):
    time.sleep(0.01)
sys.argv = ["x", "--file", {script!r}]
runpy.run_path({scripted!r}, run_name="__main__")
"""


@pytest.fixture
def launch(bench: Bench) -> list[str]:
    """A server that leaves a daemon behind each time it is started."""
    program = bench.folder / "program.py"
    program.write_text(
        DAEMON.format(pids=str(pids(bench)), script=str(bench.script), scripted=scripted.__file__),
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


def pids(bench: Bench) -> Path:
    return bench.folder / "pids"


def daemons(bench: Bench) -> list[int]:
    return [int(line) for line in pids(bench).read_text(encoding="ascii").split()]


def running(found: list[int]) -> list[int]:
    """Those of these processes that exist and are no zombies; ended here, so that a failure leaves none."""
    alive = []
    for pid in found:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        if state.rpartition(")")[2].split()[0] != "Z":
            alive.append(pid)
            os.kill(pid, signal.SIGKILL)
    return alive


def code_of(bench: Bench, *arguments: str) -> int:
    """The exit code of a command in a process of its own."""
    with started(bench, *arguments) as command:
        command.communicate(timeout=60)
        return command.returncode


def started(bench: Bench, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "toolnotary_cli", *arguments],
        cwd=bench.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_neither_a_pin_nor_a_check_nor_an_approval_leaves_a_process(bench: Bench, launch: list[str]) -> None:
    assert bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES).code == 0
    assert len(daemons(bench)) == 2
    assert code_of(bench, "check", "--start") == 0
    bench.shows({"name": "find", "inputSchema": {"type": "object"}})
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    assert len(daemons(bench)) == 4
    assert running(daemons(bench)) == []


def test_no_capture_and_no_comparison_leaves_a_process(bench: Bench, launch: list[str]) -> None:
    assert code_of(bench, "capture", "-o", "files.json", "--", *launch) == 0
    assert len(daemons(bench)) >= 4
    source = "stdio:" + " ".join(launch)
    assert code_of(bench, "diff", "files.json#default", source) == 0
    assert running(daemons(bench)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_leaves_no_process(
    bench: Bench, launch: list[str], number: signal.Signals
) -> None:
    bench.script.write_text(json.dumps({"rules": [{"on": "tools/list", "do": ["hang"]}]}), encoding="utf-8")
    with started(bench, "check", "--server", "files", "--", *launch) as command:
        deadline = time.monotonic() + 60
        while not pids(bench).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        command.send_signal(number)
        command.send_signal(number)  # impatience changes nothing
        _, told = command.communicate(timeout=60)
    assert command.returncode == 130
    assert b"Traceback" not in told
    assert len(daemons(bench)) == 1
    assert running(daemons(bench)) == []


def test_what_somebody_else_started_is_left_alone(bench: Bench, launch: list[str]) -> None:
    """A shell that becomes the command (`exec`) hands it the children that it had."""
    line = f"sleep 600 & echo $!; exec {sys.executable} -m toolnotary_cli check --server files -- $0 $1"
    with subprocess.Popen(
        ["sh", "-c", line, *launch], cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as command:
        assert command.stdout is not None
        other = int(command.stdout.readline())
        assert command.wait(timeout=60) == 1
    assert running(daemons(bench)) == []
    assert running([other]) == [other]
