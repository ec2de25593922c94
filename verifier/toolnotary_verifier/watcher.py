# SPDX-License-Identifier: Apache-2.0
"""Work in a process of its own, watched by the one that was started: none of the two can be killed unnoticed.

A process that is killed cleans up nothing, and what it started lives on. So the process that a host started
only waits, passes signals on and gives the exit code; its child does the work, in a session of its own, so
that whoever kills the host's process group does not kill both. Where the watcher is killed, a pipe tells the
worker, which ends all that it started. Where the worker is killed, the watcher adopts what it started (Linux)
and ends that. A fork costs less than the start of any other program, and the watcher shares its memory.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from toolnotary_verifier import descendants
from toolnotary_verifier.interrupts import ENDING


def watched(work: Callable[[int | None], int]) -> int:
    """Do `work` in a child, and wait for it; returns its exit code as a shell counts it, in both processes.

    Call it early, before there are threads, and return what it returned: in the child it returns when the
    work is done, and raises what the work raised.

    Args:
        work: is given a descriptor on which a read ends once this process has ended; None where nothing
            watches: on Windows, and where there is no process to be had.
    """
    if sys.platform == "win32":
        return work(None)
    lifeline, ours = os.pipe()
    descendants.adopt_orphans(adopting=True)
    # Ignored, as some hosts leave it, no child could be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        worker = os.fork()
    except OSError:
        os.close(lifeline)
        os.close(ours)
        return work(None)
    if worker == 0:
        os.close(ours)
        os.setsid()
        return work(lifeline)
    os.close(lifeline)
    return _watch(worker)


def _watch(worker: int) -> int:
    def forward(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            os.kill(worker, number)

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, forward)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    if code >= 0:
        return code
    descendants.kill(_left, _left())
    return 128 - code


def _left() -> list[int]:
    """What the worker left behind and we adopted, and all below it."""
    with contextlib.suppress(OSError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return descendants.below([os.getpid()], descendants.children())
