# SPDX-License-Identifier: Apache-2.0
"""Who descends from whom among the processes of this machine, as far as the system tells.

A process whose parent ended is given another one: on Linux the nearest ancestor that asked for such orphans,
elsewhere always the first process of the system, and then nobody can tell where it came from.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h
_PR_GET_CHILD_SUBREAPER: Final = 37
_ROUNDS: Final = 50


def children() -> dict[int, list[int]]:
    """The living children of every process, where the system shows them."""
    found: dict[int, list[int]] = {}
    for process, parent in _processes():
        found.setdefault(parent, []).append(process)
    return found


def own_children() -> frozenset[int]:
    """The children that this process has now; empty where only Linux could say."""
    if sys.platform != "linux":
        return frozenset()
    try:  # most processes that ask have none, and need not read through all processes to know it
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    return frozenset(children().get(os.getpid(), ()))


def below(roots: Collection[int], known: dict[int, list[int]]) -> list[int]:
    """All processes below `roots`, and not these themselves, in what `children` told."""
    waiting = [child for root in roots for child in known.get(root, ())]
    found = []
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting.extend(known.get(process, ()))
    return found


def adopt_orphans(*, adopting: bool) -> bool:
    """Become, or stop being, the parent of descendants whose own parent ends; whether we were it before.

    Only Linux can do that (prctl(2), PR_SET_CHILD_SUBREAPER); nothing happens elsewhere.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    before = ctypes.c_int(0)
    with contextlib.suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
        prctl(_PR_SET_CHILD_SUBREAPER, int(adopting), 0, 0, 0)
    return bool(before.value)


def kill(find: Callable[[], list[int]], found: list[int]) -> None:
    """Kill processes, on POSIX, and look again until none is left, since they may start others.

    Args:
        find: what there is to kill now; collects what has ended.
        found: what it found before.
    """
    empty = 0
    for _ in range(_ROUNDS):
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        found = find()
        empty = 0 if found else empty + 1
        # Twice: they are read one by one, and one that ends meanwhile hides its children for a moment.
        if empty == 2:
            return


def _processes() -> Iterator[tuple[int, int]]:
    """Every process that is no zombie of somebody else, with its parent."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(["ps", "-axo", "pid=,ppid="], check=False, capture_output=True).stdout
        for line in listed.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError, ValueError):
                # The command's name, in parentheses, may hold anything; state and parent follow its end.
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state != b"Z" or int(parent) == os.getpid():
                    yield int(folder.name), int(parent)
