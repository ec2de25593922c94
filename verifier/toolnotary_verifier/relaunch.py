# SPDX-License-Identifier: Apache-2.0
"""The command to start again from what a lockfile recorded of a launch (docs/spec/launch.md)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.errors import CannotTell, ToolnotaryError
from toolnotary_verifier.lockfile import Entry
from toolnotary_verifier.secrecy import MASK

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


def startable(recorded: JsonObject, *, base: Path, environment: Mapping[str, str]) -> list[str]:
    """The command to start from what a lockfile recorded.

    Args:
        recorded: how the launch was written, secrets masked.
        base: the lockfile's folder, which `./` stands for.
        environment: what fills `${NAME}` placeholders, each once: a value is never expanded again.

    Raises:
        CannotTell: `launch-masked` if a secret, code or variable of the command line is not at hand;
            `launch-remote` if it is a URL.
    """
    argv = recorded.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise CannotTell("launch-remote", "what was recorded is no command line")
    return [_located(_expanded(word, environment), base, environment) for word in argv]


def still_needed(entries: Sequence[Entry], *, base: Path, environment: Mapping[str, str]) -> str:
    """What a command about a server must end with, where a lockfile does not say all of how it is started.

    Args:
        entries: those of the server.
        base: the lockfile's folder.
        environment: as `startable` has it.

    Returns:
        `-- COMMAND` or `URL`; empty where the server's name is enough.
    """
    if len(entries) > 1:
        return "-- COMMAND"
    for entry in entries:
        if entry.launch.get("type") == "http":
            return "URL" if MASK in str(entry.launch.get("url")) else ""
        try:
            startable(entry.recorded, base=base, environment=environment)
        except ToolnotaryError:
            return "-- COMMAND"
    return ""


def _expanded(word: str, environment: Mapping[str, str]) -> str:
    if MASK not in word and not word.startswith("sha256:"):
        try:
            return _PLACEHOLDER.sub(lambda found: environment[found[1]], word)
        except KeyError:
            pass  # told below
    raise CannotTell(
        "launch-masked",
        "the recorded command line leaves out a secret, a piece of code or a variable",
        remedy="give the command behind --",
    )


def _located(word: str, base: Path, environment: Mapping[str, str]) -> str:
    if word.startswith("./"):
        return str(base / word[2:])
    if word.startswith("~/"):
        return str(Path(environment.get("HOME") or Path.home()) / word[2:])
    return word
