# SPDX-License-Identifier: Apache-2.0
"""Keeping a signal from falling between two steps that belong together.

A signal's handler runs between any two steps of the main thread. One that raises, as Ctrl-C does, while a
process is being started leaves that process to nobody: it runs, and there is nothing to end it by.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Final

# What asks a command to end; not every system has all of them.
ENDING: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off the handlers of `ENDING` until the block has ended, for what must not be left half done.

    Whoever starts something in the block makes sure in it that it is ended: the handler of a signal that came
    meanwhile runs as the block is left, and may raise. Blocking the signals would not do: a process that is
    started then begins with them blocked. Only the main thread is ever interrupted; elsewhere, and for
    signals that no handler of ours takes, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    met: list[int] = []
    handlers = {number: signal.getsignal(number) for number in ENDING}
    taken = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in taken:
        signal.signal(number, lambda number, _frame: met.append(number))
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)
        for number in met:
            signal.raise_signal(number)
