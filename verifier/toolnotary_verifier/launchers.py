# SPDX-License-Identifier: Apache-2.0
"""Programs that start others: package runners, containers and interpreters (docs/spec/launch.md).

Each function takes the words behind the program and adds what it made of them to a `CommandLine`. Flags that
nobody listed here are kept as they are: an unknown flag makes two launches differ, never alike.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from toolnotary_verifier.arguments import CommandLine, Word, arguments, flag, is_path
from toolnotary_verifier.codeloading import loads_code
from toolnotary_verifier.secrecy import mask, mask_assignment, mask_value, names_secret


class _Words:
    """A set of words, written as a pattern that is compiled when first asked: a launch asks few of them."""

    __slots__ = ("_flags", "_pattern")

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._pattern = pattern
        self._flags = flags

    def fullmatch(self, word: str) -> re.Match[str] | None:
        """What the whole word matches."""
        return re.fullmatch(self._pattern, word, self._flags)


_NOTHING = _Words(r"(?!)")
_NPM_SPEC = _Words(r"(@[^@/\s:]+/[^@/\s:]+|[^@/\s:.][^@/\s:]*)(?:@([^:/]*))?")
_PYPI_SPEC = _Words(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[^\]]*\])?\s*((?:===?|>=|<=|~=|!=|<|>|@)[^:/]*)?"
)
# Flags that change nothing about what is started.
_IDLE = _Words(r"-y|--yes|-q|--quiet|--silent|-s|-v|--verbose|--no-progress|--")
# Flags of `docker run` that take no value.
_SWITCHES = _Words(
    r"-[itdPq]+|--(?:rm|interactive|tty|init|privileged|read-only|detach|publish-all|no-healthcheck"
    r"|oom-kill-disable|sig-proxy|quiet|disable-content-trust)"
)


class _Runner(NamedTuple):
    """A program that fetches a package and starts it.

    Attributes:
        values: its flags that take a value.
        code: its flags whose value is a piece of code.
        specs: its flags whose value names the package.
        spec: reads the name of a package.
    """

    values: _Words
    code: _Words
    specs: _Words
    spec: Callable[[CommandLine, str], Word]


class _Interpreter(NamedTuple):
    """A program that runs a script or a piece of code: the same of its flags, and its subcommands."""

    values: _Words
    code: _Words
    before_script: _Words


def pypi_name(name: str) -> str:
    """The normalized name of a Python package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _npm_spec(line: CommandLine, text: str) -> Word:
    found = _NPM_SPEC.fullmatch(text)
    if found is None:  # a file, a repository or an alias, which is not a version but the whole source
        return Word.argument(text)
    line.packages.append(("npm", found[1]))
    return Word(found[1], text)


def _pypi_spec(line: CommandLine, text: str) -> Word:
    found = _PYPI_SPEC.fullmatch(text)
    if found is None:
        return Word.argument(text)
    line.packages.append(("pypi", pypi_name(found[1])))
    return Word(pypi_name(found[1]) + (found[2] or ""), text)


NPM: Final = _Runner(
    _Words(
        r"--registry|--prefix|--(?:user|global)config|--cache|-w|--workspace|-n|--node-(?:options|arg)"
        r"|--script-shell"
    ),
    _Words(r"-c|--call"),
    _Words(r"-p|--package"),
    _npm_spec,
)
PYPI: Final = _Runner(
    _Words(
        r"--with(?:-editable|-requirements)?|-p|--python|--(?:extra-|default-)?index(?:-url|-strategy)?|-i|-f"
        r"|--find-links|--keyring-provider|-c|--constraints|--overrides|-b|--build-constraints|--directory"
        r"|--project|--cache-dir|--config-file|--env-file|-P|--(?:refresh|upgrade)-package|--prerelease"
        r"|--resolution|--exclude-newer|--link-mode|-C|--config-setting|--color|--allow-insecure-host|--pip-args"
    ),
    _NOTHING,
    _Words(r"--from|--spec"),
    _pypi_spec,
)
INTERPRETERS: Final = {
    "python": _Interpreter(_Words(r"-[WX]|--check-hash-based-pycs"), _Words(r"-c"), _NOTHING),
    "node": _Interpreter(
        _Words(r"-r|--require|--import|--(?:experimental-)?loader|-C|--conditions"),
        _Words(r"-e|--eval|-p|--print|-pe"),
        _NOTHING,
    ),
    "bun": _Interpreter(
        _Words(r"-r|--preload|--cwd|-c|--config"), _Words(r"-e|--eval|-p|--print"), _Words(r"run")
    ),
    "deno": _Interpreter(
        _Words(r"-c|--config|--import-map|--lock|--preload"),
        _Words(r"eval"),
        _Words(r"run|serve"),
    ),
    "java": _Interpreter(_Words(r"-cp|-classpath|--class-path|-p|--module-path"), _NOTHING, _Words(r"-jar")),
    "shell": _Interpreter(
        _Words(r"-o"), _Words(r"-[a-z]*c|-(?:Encoded)?Command", re.IGNORECASE), _Words(r"-File")
    ),
}


def run_package(line: CommandLine, runner: _Runner, words: list[str]) -> None:
    """`npx`, `uvx` and their like: flags, the package, and what the package gets to read."""
    rest = list(words)
    runs_code = False
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if _IDLE.fullmatch(word):
            line.words.append(Word(None, word))
            if word == "--":
                break
            continue
        takes = next((p for p in (runner.specs, runner.code, runner.values) if p.fullmatch(name)), None)
        if takes is None or not (equals or rest):
            line.words.append(flag(word))
            continue
        text = value if equals else rest.pop(0)
        line.words.append(Word.same(name))
        if takes is runner.specs:
            line.words.append(runner.spec(line, text))
        elif takes is runner.code:
            runs_code = True
            line.words.append(Word.code(text))
        else:
            line.words.append(Word.argument(text))
    if runs_code:
        line.packages.clear()  # what is started is the code, whatever packages are at hand for it
    elif rest and not line.packages:
        line.words.append(runner.spec(line, rest.pop(0)))
    line.words.extend(arguments(rest))


def run_container(line: CommandLine, words: list[str]) -> None:
    """`docker run`: flags, the image, and what the image gets to read."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in ("-e", "--env", "-l", "--label"):
            text = value if equals else rest.pop(0) if rest else ""
            line.words += [Word.same(name), Word.same(_variable(text))]
        elif word.startswith("-e") and not word.startswith("--"):
            line.words += [Word.same("-e"), Word.same(_variable(word[2:]))]
        elif equals or _SWITCHES.fullmatch(word):
            line.words.append(flag(word))
        else:
            line.words.append(Word.same(word))
            if rest:
                text = rest.pop(0)
                line.words.append(Word.same(mask_value(text) if names_secret(name) else mask(text)))
    if rest:
        line.words.append(_image(line, rest.pop(0)))
    line.words.extend(arguments(rest))


def _variable(text: str) -> str:
    """`NAME=value` for a container: masked, unless the variable loads code and so says what is started."""
    name, _, value = text.partition("=")
    return f"{name}={mask(value)}" if value and loads_code(name) else mask_assignment(text)


def _image(line: CommandLine, text: str) -> Word:
    """An image: its digest is identity, its tag is not."""
    name, at, digest = text.partition("@")
    repository, colon, tag = name.rpartition(":")
    untagged = repository if colon and "/" not in tag else name
    line.packages.append(("oci", untagged + at + digest))
    return Word(untagged + at + digest, text)


def run_script(line: CommandLine, interpreter: _Interpreter, words: list[str], *, modules: bool) -> None:
    """An interpreter: flags, a script, a piece of code or (`-m`) a module, and what that gets to read."""
    line.interpreter = True
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if interpreter.code.fullmatch(word) and rest:
            line.words += [Word.same(word), Word.code(rest.pop(0))]
            break
        if modules and word == "-m" and rest:
            module = rest.pop(0)
            line.packages.append(("pypi", pypi_name(module)))
            line.words += [Word.same(word), Word.same(module)]
            break
        if interpreter.values.fullmatch(word) and rest:
            line.words += [Word.same(word), Word.argument(rest.pop(0))]
        elif interpreter.before_script.fullmatch(word):
            line.words.append(Word.same(word))
        elif word.startswith("-") and word != "-":
            line.words.append(flag(word))
        else:
            line.script = word
            line.words.append(Word.argument(word) if is_path(word) else _script(word))
            break
    line.words.extend(arguments(rest))


def _script(text: str) -> Word:
    """What an interpreter runs: a file, unless it is a URL or the standard input."""
    return Word.same(mask(text), is_path=":" not in text and text != "-")
