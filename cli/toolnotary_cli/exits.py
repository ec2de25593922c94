# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and the one place where an error becomes one of them (docs/reference/cli.md)."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from toolnotary_cli.telling import say, tell, tell_of_system
from toolnotary_verifier.errors import ToolnotaryError

if TYPE_CHECKING:
    from types import FrameType

    import click

FINE: Final = 0
OBJECTION: Final = 1  # drift, refusal, an invalid signature
USAGE: Final = 2  # usage, configuration, a file that cannot be read or written, a missing extra
UNREACHED: Final = 3  # could not inspect or reach what was asked about
INVALID: Final = 4  # input that is not valid
INTERNAL: Final = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED: Final = 130  # 128 + SIGINT: Ctrl-C, SIGTERM, SIGHUP, or an aborted prompt
PIPE_CLOSED: Final = 141  # 128 + SIGPIPE: the reader of our output went away


def guard(call: Callable[[], int | None], *, as_json: bool = False) -> int:
    """The exit code of `call`, whatever it raises; what it raised is told.

    Args:
        call: a command; None is 0.
        as_json: whether a program waits for a document on stdout, and gets one about an error too.
    """
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _guarded(call, as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        # Otherwise the interpreter tries to flush again while it ends, and prints a complaint of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:  # nobody can read the rest of the result: say so, and not that all went well
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        error.filename = error.filename or "standard output"
        tell_of_system(error, exit_code=USAGE, as_json=False)
        return USAGE
    return code


def _open_what_is_closed() -> None:
    """A command started without one of its standard streams must not open its files in their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest number that is free is taken, and the ones below are not.
            descriptor = os.open(os.devnull, os.O_RDWR)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


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


def _guarded(call: Callable[[], int | None], as_json: bool) -> int:  # noqa: FBT001 - passed on
    try:
        return call() or FINE
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        raise
    except ToolnotaryError as error:
        tell(error.code, error.message, error.remedy, exit_code=error.exit_code, as_json=as_json)
        return error.exit_code
    except OSError as error:
        tell_of_system(error, exit_code=USAGE, as_json=as_json)
        return USAGE
    except Exception as error:
        code = _of_click(error, as_json)
        if code is not None:
            return code
        # The last door: no traceback reaches a person who did not ask for one.
        if os.environ.get("TOOLNOTARY_DEBUG"):
            raise
        tell("internal", f"{type(error).__name__}: {error}", exit_code=INTERNAL, as_json=as_json)
        return INTERNAL


def _of_click(error: Exception, as_json: bool) -> int | None:  # noqa: FBT001 - passed on
    """The code of what click raises to end a command, told; None for anything else."""
    if "click" not in sys.modules:  # `run` starts without it (see `entry`)
        return None
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        return _interrupted()
    if not isinstance(error, click.ClickException):
        return None
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # since click 8.2
        error.show()
    else:
        said = error.format_message().strip().rstrip(".")
        message = said[:1].lower() + said[1:]
        tell("usage", message, _usage(error), exit_code=USAGE, as_json=as_json)
    return USAGE


def _usage(error: "click.ClickException") -> str:
    """How the command is called that was called wrongly."""
    context = getattr(error, "ctx", None)
    if context is None:
        return "toolnotary --help lists the commands"
    path = context.command_path
    return (
        f"usage: {' '.join([path, *context.command.collect_usage_pieces(context)])}; {path} --help says more"
    )


def _interrupted() -> int:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C changes nothing any more
    say("\nstopped")
    return INTERRUPTED
