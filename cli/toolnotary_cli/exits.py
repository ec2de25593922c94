# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and the one place where an error becomes a message and a code (docs/reference/cli.md)."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from types import FrameType

FINE: Final = 0
OBJECTION: Final = 1  # drift, refusal, an invalid signature
USAGE: Final = 2  # usage, configuration, a file that cannot be read or written, a missing extra
UNREACHED: Final = 3  # could not inspect or reach what was asked about
INVALID: Final = 4  # input that is not valid
INTERNAL: Final = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED: Final = 130  # 128 + SIGINT: Ctrl-C, SIGTERM, SIGHUP, or an aborted prompt
PIPE_CLOSED: Final = 141  # 128 + SIGPIPE: the reader of our output went away

_REPORT = "set TOOLNOTARY_DEBUG=1 to see where, and report it"


def guard(call: Callable[[], int | None]) -> int:
    """The exit code of `call`, whatever it raises; what it raised is told on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _guarded(call)
        sys.stdout.flush()
    except BrokenPipeError:
        # Otherwise the interpreter tries to flush again while it ends, and prints a complaint of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


@contextmanager
def orderly() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end what runs in the block: what it started is ended first.

    Once is enough: who repeats the signal does not interrupt the tidying up. A signal that somebody ignores
    or handles already is left to them (`nohup`), and so are all of them outside of the main thread.
    """
    import signal

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    untouched = (signal.SIG_DFL, signal.default_int_handler)
    taken = {number: handler for number, handler in before.items() if handler in untouched}

    def interrupt(_number: int, _frame: "FrameType | None") -> None:
        for number in taken:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in taken:
            signal.signal(number, interrupt)
    except ValueError:  # not in the main thread, which alone is ever interrupted
        taken = {}
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)


def _guarded(call: Callable[[], int | None]) -> int:
    try:
        return call() or FINE
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        raise
    except ToolnotaryError as error:
        report(error)
        return error.exit_code
    except OSError as error:
        where = f": {escape(os.fsdecode(error.filename), limit=300)}" if error.filename else ""
        tell("file-system", f"{(error.strerror or type(error).__name__).lower()}{where}")
        return USAGE
    except Exception as error:
        code = _of_click(error)
        if code is not None:
            return code
        # The last door: no traceback reaches a person who did not ask for one.
        if os.environ.get("TOOLNOTARY_DEBUG"):
            raise
        tell("internal", f"{type(error).__name__}: {error}", _REPORT)
        return INTERNAL


def _of_click(error: Exception) -> int | None:
    """The code of what click raises to end a command, told; None for anything else."""
    if "click" not in sys.modules:  # `run` starts without it (see `entry`)
        return None
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        return _interrupted()
    if isinstance(error, click.ClickException):
        error.show()
        return USAGE
    return None


def _interrupted() -> int:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C changes nothing any more
    _say("\nstopped")
    return INTERRUPTED


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def report(error: ToolnotaryError) -> None:
    """Tell an error on stderr, with its code and its remedy."""
    tell(error.code, error.message, error.remedy)


def tell(code: str, message: str, remedy: str = "") -> None:
    """One error on stderr; what could come from a server is escaped here once more."""
    _say(f"error: {code}: {escape(message, limit=2000)}")
    if remedy:
        _say(f"  {escape(remedy, limit=2000)}")
