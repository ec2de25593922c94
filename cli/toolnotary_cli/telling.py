# SPDX-License-Identifier: Apache-2.0
"""How an error is told: in two lines on stderr for people, and with `--format json` on stdout for programs.

Whoever asked for JSON reads one document from stdout, whether it is the result or the error that came in its
place (docs/schemas/error.json).
"""

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from toolnotary_verifier.escape import escape, visible

SCHEMA: Final = "https://toolnotary.dev/output/error/v1"
_GONE: Final = "the working directory does not exist any more"
_CHANGE: Final = "change into a directory that exists"
_NOWHERE: Final = "working-directory"
_LIMIT: Final = 2000


def wants_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also where nothing else of it can be understood.

    Args:
        words: what follows the program's name; what stands behind `--` belongs to another command.
    """
    ours = list(words[: words.index("--")]) if "--" in words else list(words)
    given = [word.partition("=")[2] for word in ours if word.startswith("--format=")]
    given += [value for name, value in pairwise(ours) if name == "--format"]
    return "json" in given


def tell(code: str, message: str, remedy: str = "", *, exit_code: int, as_json: bool = False) -> None:
    """Tell an error; what is not escaped yet is spelled out here.

    Args:
        code: of docs/reference/codes.md.
        message: what happened and where.
        remedy: what to do; where the error has none, the one of its code.
        exit_code: what the command ends with.
        as_json: whether a program waits for a document on stdout.
    """
    if not remedy:
        from toolnotary_cli.remedies import REMEDIES

        remedy = REMEDIES.get(code, "")
    if code != _NOWHERE and is_nowhere():
        remedy = "; ".join(filter(None, (remedy, f"{_GONE}: {_CHANGE}")))
    message, remedy = visible(message, limit=_LIMIT), visible(remedy, limit=_LIMIT)
    say(f"error: {code}: {message}")
    if remedy:
        say(f"  {remedy}")
    if as_json:
        import json

        document = {
            "schema": SCHEMA,
            "code": code,
            "message": message,
            "remedy": remedy or None,
            "exitCode": exit_code,
        }
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True) + "\n")


def tell_of_system(error: OSError, *, exit_code: int, as_json: bool) -> None:
    """Tell what the operating system refused, and the file where it names one."""
    if not error.filename and is_nowhere():
        tell(_NOWHERE, _GONE, _CHANGE, exit_code=exit_code, as_json=as_json)
        return
    where = f"{escape(os.fsdecode(error.filename), limit=300)}: " if error.filename else ""
    why = (error.strerror or type(error).__name__).lower()
    tell("file-system", f"{where}{why}", exit_code=exit_code, as_json=as_json)


def say(line: str) -> None:
    """One line on stderr. Where that is full or closed, the exit code still tells how it ended."""
    try:
        sys.stderr.write(for_log(line) + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        raise
    except OSError:
        return


def for_log(text: str) -> str:
    """Text that ends in a log, where a line can be a command to the runner of GitHub Actions: ours is none.

    A command begins a line with `::`, or stands anywhere as `##[...]`. Whoever means one prints it elsewhere.
    """
    if not is_runner() or not ("::" in text or "##[" in text):
        return text
    lines = (
        f": {line.lstrip()[1:]}" if line.lstrip().startswith("::") else line for line in text.split("\n")
    )
    return "\n".join(lines).replace("##[", "## [")


def is_runner() -> bool:
    """Whether what is printed is read by the runner of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def is_nowhere() -> bool:
    """Whether the working directory was removed, so that no relative name leads anywhere."""
    try:
        os.getcwd()  # noqa: PTH109 - the system's own answer; a `Path` adds nothing to it
    except OSError:
        return True
    return False
