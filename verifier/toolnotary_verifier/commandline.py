# SPDX-License-Identifier: Apache-2.0
"""Command lines of servers, taken apart: which program, which package, which words say what is started.

Shells and wrappers that only pass a command on are removed, launchers are one program under all their
spellings (docs/spec/launch.md). Pure: no file is touched.
"""

import re
from collections.abc import Sequence

from toolnotary_verifier.arguments import CommandLine, Word, arguments
from toolnotary_verifier.launchers import (
    INTERPRETERS,
    NPM,
    PYPI,
    run_container,
    run_package,
    run_script,
)

_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|com|ps1)$", re.IGNORECASE)
_PYTHON = re.compile(r"(?:python|pypy)w?[0-9.]*|py")
_SHELL = re.compile(r"(?:ba|z|da|fi|k)?sh|powershell|pwsh")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def take_apart(argv: Sequence[str]) -> CommandLine:
    """The command line of these words, of which there is at least one."""
    words = list(argv)
    line = CommandLine()
    while True:
        name = program_name(words[0])
        rest = _behind_cmd(words) if name == "cmd" else _behind_env(words, line) if name == "env" else None
        if rest is None:
            break
        words = rest
    line.program = program_name(words[0])
    _parse(line, words[0], words[1:])
    return line


def program_name(word: str) -> str:
    r"""The name of an executable: no folder, no Windows suffix (`C:\node\npx.cmd` is `npx`)."""
    name = re.split(r"[/\\]", word)[-1]
    bare = _SUFFIX.sub("", name)
    return bare.lower() if bare != name else name


def _behind_cmd(words: list[str]) -> list[str] | None:
    """What `cmd /c` starts, or None where it is not a plain list of words."""
    for place, word in enumerate(words[1:], start=1):
        if word.lower() in ("/c", "/k"):
            rest = words[place + 1 :]
            if len(rest) == 1 and not re.search(r"[&|<>^%\"']", rest[0]):
                rest = rest[0].split()
            return rest if rest and not any(re.search(r"[&|<>]", one) for one in rest) else None
        if not word.startswith("/"):
            return None
    return None


def _behind_env(words: list[str], line: CommandLine) -> list[str] | None:
    """What `env NAME=value ...` starts, its assignments noted; None where it does more than that."""
    rest = words[1:]
    found = {}
    while rest and _ASSIGNMENT.match(rest[0]):
        name, _, value = rest.pop(0).partition("=")
        found[name] = value
    if not rest or rest[0].startswith("-"):
        return None
    line.variables.update(found)
    return rest


def _parse(line: CommandLine, first: str, rest: list[str]) -> None:
    name = line.program
    # Launchers are one program under all their spellings; what is started by its path is that file.
    line.words.append(Word.same(first, is_path=True) if re.search(r"[/\\]", first) else Word.same(name))
    two = f"{name} {rest[0]}" if rest else name
    if name in ("npx", "bunx", "pnpx"):
        run_package(line, NPM, rest)
    elif name == "uvx":
        run_package(line, PYPI, rest)
    elif two in ("pnpm dlx", "yarn dlx", "npm exec", "npm x", "bun x", "pipx run"):
        line.words.append(Word.same(rest[0]))
        run_package(line, PYPI if name == "pipx" else NPM, rest[1:])
    elif name == "uv" and rest[:2] == ["tool", "run"]:
        started = line.words.pop()
        line.words.append(Word("uvx", started.recorded) if started.identity == "uv" else started)
        line.words.extend(Word(None, word) for word in rest[:2])
        run_package(line, PYPI, rest[2:])
    elif two in ("docker run", "podman run", "nerdctl run"):
        line.words.append(Word.same("run"))
        run_container(line, rest[1:])
    else:
        interpreter = _interpreter(name)
        if interpreter is None:
            line.words.extend(arguments(rest))
        else:
            run_script(line, INTERPRETERS[interpreter], rest, modules=interpreter == "python")


def _interpreter(name: str) -> str | None:
    if _PYTHON.fullmatch(name):
        return "python"
    if _SHELL.fullmatch(name):
        return "shell"
    return "node" if name == "nodejs" else name if name in INTERPRETERS else None
