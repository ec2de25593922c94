# SPDX-License-Identifier: Apache-2.0
"""Asking a person, on the terminal that controls this process and nowhere else.

Standard input is not asked: whoever starts the command controls it, an agent included. Documented limit: a
process with the person's own rights can open a terminal of its own and type into it (docs/threat-model.md).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TextIO

import click

from toolnotary_verifier.errors import Refused

_CONSOLE = ("CONIN$", "CONOUT$") if sys.platform == "win32" else ("/dev/tty", "/dev/tty")
_ATTEMPTS = 3


@contextmanager
def _terminal(otherwise: str = "") -> Iterator[tuple[TextIO, TextIO]]:
    try:
        source = os.open(_CONSOLE[0], os.O_RDWR)
        target = os.open(_CONSOLE[1], os.O_RDWR)
    except OSError:
        raise Refused(
            "no-terminal",
            "this needs a person's answer, and no terminal controls this process",
            remedy="run the command yourself in a terminal" + (f"; {otherwise}" if otherwise else ""),
        ) from None
    with os.fdopen(source, "rb", buffering=0) as reader, os.fdopen(target, "wb", buffering=0) as writer:
        yield (
            TextIOWrapper(reader, encoding="utf-8", errors="replace"),
            TextIOWrapper(writer, encoding="utf-8", errors="replace", write_through=True),
        )


def confirm(question: str, *, lines: tuple[str, ...] = (), otherwise: str = "") -> bool:
    """Whether the person at the terminal answered yes.

    No is an answer, and ends a command with 1; an abort is none, and ends it with 130.

    Args:
        question: one line, text from a server already escaped.
        lines: what the answer is about, shown on the same terminal right before the question.
        otherwise: what can be done where no terminal is, for the error that says so.

    Raises:
        Refused: `no-terminal`, where nobody can be asked.
        click.Abort: the person ended the input (Ctrl-D) or gave no answer that could be read.
    """
    with _terminal(otherwise) as (reader, writer):
        for line in lines:
            writer.write(f"{line}\n")
        for _attempt in range(_ATTEMPTS):
            _forget_what_was_typed(reader)
            writer.write(f"{question} [yes/no] ")
            answer = reader.readline()
            if not answer.endswith("\n"):  # the input ended, perhaps behind a word that was not sent off
                break
            if answer.strip().lower() in ("yes", "y"):
                return True
            if answer.strip().lower() in ("no", "n", ""):
                return False
            writer.write("please type yes or no\n")
    raise click.Abort


def _forget_what_was_typed(reader: TextIO) -> None:
    """What was typed before the question was shown is no answer to it."""
    if sys.platform != "win32":
        import termios

        termios.tcflush(reader.fileno(), termios.TCIFLUSH)


def secret(question: str) -> str:
    """A passphrase typed at the terminal, without echo.

    Raises:
        Refused: `no-terminal`, where nobody can be asked.
        click.Abort: the person ended the input.
    """
    from getpass import getpass

    with _terminal():
        pass  # getpass falls back to standard input where there is no terminal; this does not
    try:
        return getpass(question)
    except EOFError:
        raise click.Abort from None
