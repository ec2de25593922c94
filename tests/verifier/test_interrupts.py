# SPDX-License-Identifier: Apache-2.0
"""A signal in the worst moment: while a process is started, and while it is ended."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import scripted

from toolnotary_cli.main import main
from toolnotary_verifier.interrupts import ENDING, uninterrupted
from toolnotary_verifier.process import Process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are a Unix matter")


class Starts:
    """Every process that is started, and a signal for the one that `at` counts."""

    def __init__(self, *, at: int, number: int = signal.SIGINT) -> None:
        self.pids: list[int] = []
        self._at = at
        self._number = number

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        start = subprocess.Popen._execute_child  # type: ignore[attr-defined]  # noqa: SLF001 - the very moment

        def interrupted(process: Any, *arguments: Any) -> None:
            start(process, *arguments)
            self.pids.append(process.pid)
            if len(self.pids) == self._at:
                signal.raise_signal(self._number)

        monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)

    @property
    def running(self) -> list[int]:
        """The processes that are neither gone nor zombies; ended here, so that a failure leaves none."""
        shown = subprocess.run(
            ["ps", "-o", "pid=,stat=", "-p", ",".join(map(str, self.pids))], capture_output=True, check=False
        ).stdout.splitlines()
        found = [int(line.split()[0]) for line in shown if not line.split()[1].startswith(b"Z")]
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        return found


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Signals as a command finds them that a person starts; a test runner may have set them otherwise."""
    before = {number: signal.getsignal(number) for number in ENDING}
    for number in ENDING:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_was_just_started_is_ended(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = Starts(at=1, number=number)
    starts.install(monkeypatch)
    assert main(["check", "--server", "files", "--", *scripted.command()]) == 130
    assert "stopped" in capsys.readouterr().err
    assert starts.pids
    assert starts.running == []


def test_a_server_that_is_being_ended_is_ended_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starts, end = Starts(at=0), Process.end

    def interrupted(process: Process) -> int:
        signal.raise_signal(signal.SIGINT)
        return end(process)

    starts.install(monkeypatch)
    monkeypatch.setattr(Process, "end", interrupted)
    argv = scripted.command({"ignore_eof": True, "ignore_sigterm": True})
    assert main(["check", "--server", "files", "--", *argv]) == 130
    assert "stopped" in capsys.readouterr().err
    assert starts.running == []


@pytest.mark.parametrize("at", range(1, 7), ids=["keygen", "capture", "sign", "serve", "add-key", "publish"])
def test_a_step_of_the_demo_that_was_just_started_makes_no_files_afterwards(
    at: int, temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = Starts(at=at)
    starts.install(monkeypatch)
    assert main(["demo"]) == 130
    assert "stopped" in capsys.readouterr().err
    assert len(starts.pids) == at
    assert starts.running == []
    assert list(temporary.iterdir()) == []


def test_a_signal_that_came_meanwhile_is_handled_when_the_block_ends() -> None:
    steps = []

    def interrupted() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            steps.append("done")
        steps.append("not reached")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == ["done"]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_the_main_thread_nothing_changes() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def look() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]
