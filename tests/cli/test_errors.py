# SPDX-License-Identifier: Apache-2.0
"""Every error says what, where and what to do, to people on stderr and with `--format json` to programs."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from pinned_servers import FIND, Bench, bench

from toolnotary_cli import exits
from toolnotary_cli.main import COMMANDS, toolnotary
from toolnotary_cli.remedies import REMEDIES
from toolnotary_cli.telling import wants_json
from toolnotary_verifier.errors import Refused

__all__ = ["bench"]

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "error.json").read_text(encoding="utf-8"))
PROGRAM = [sys.executable, "-m", "toolnotary_cli"]
DOCUMENTED = set(
    re.findall(
        r"^\| `([a-z0-9-]+)` \|",
        (ROOT / "docs" / "reference" / "codes.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)
REGISTRY = ["--registry", "http://127.0.0.1:9"]

# What a newcomer gets wrong: the command line, the exit code and the code of the error.
MISTAKES = [
    ("nope", 2, "usage"),
    ("diff l.json", 2, "usage"),
    ("diff l.json l.json --nope", 2, "usage"),
    ("diff nope l.json", 2, "source"),
    ("diff a.folder l.json", 2, "source"),
    ("diff empty l.json", 4, "not-json"),
    ("diff object l.json", 4, "no-surface"),
    ("diff ftp://x l.json", 2, "source"),
    ("diff l.json#default l.json", 2, "source-part"),
    ("diff toolnotary.lock l.json", 2, "source-part"),
    ("diff acme/x l.json", 2, "source"),
    ("diff acme/x@1 l.json", 2, "no-registry"),
    ("diff acme/x@1 l.json --registry http://127.0.0.1:9", 3, "registry-unreachable"),
    ("diff acme/x@1 l.json --registry ftp://x", 2, "registry-url"),
    ("diff acme/x@1 l.json --registry http://registry.acme.example", 2, "registry-url"),
    ("diff http://127.0.0.1:9/ l.json", 3, "unreachable"),
    ("diff stdio:no-such-command l.json", 3, "server-start"),
    ("check l.json", 2, "usage"),
    ("check --server nope", 2, "nothing-pinned"),
    ("check --lockfile empty", 4, "lockfile-corrupt"),
    ("check --policy text l.json --server files", 2, "policy-syntax"),
    ("check --policy binary l.json --server files", 2, "policy-syntax"),
    ("lock", 2, "usage"),
    ("lock --server files", 2, "launch-needed"),
    ("lock --server files l.json", 2, "launch-needed"),
    ("lock acme/x@1", 2, "launch-needed"),
    ("lock acme/x@1 -- npx x", 2, "no-registry"),
    ("lock --accept-project", 1, "nothing-to-approve"),
    ("approve nope", 1, "not-pinned"),
    ("revoke nope", 1, "not-pinned"),
    ("revoke files nope", 1, "not-pinned"),
    ("status --lockfile object", 4, "lockfile-version"),
    ("explain files --lockfile text", 4, "lockfile-corrupt"),
    ("verify object l.json", 4, "manifest-schema"),
    ("sign object --key k.key --server acme/x --version 1", 4, "manifest-schema"),
    ("sign m.json --key text --server acme/x --version 1 --sequence 1", 4, "key-file"),
    ("sign m.json --key k.key --server x --version 1 --sequence 1", 4, "server-name"),
    ("sign m.json --key k.key --server acme/x --version 1", 2, "sequence-needed"),
    ("publish m.json l.json", 2, "no-registry"),
    ("publish m.json l.json --registry http://127.0.0.1:9", 4, "manifest-shape"),
    ("capture -o out l.json", 2, "source"),
    ("capture -o a.folder -- no-such-command", 2, "file-not-writable"),
    ("capture -o out", 2, "source"),
    ("capture -o out -- no-such-command", 3, "server-start"),
    ("keygen -o k --no-passphrase", 2, "file-exists"),
    ("keygen -o nowhere/k", 2, "passphrase-needed"),
    ("registry list-keys --database text", 2, "database-url"),
    ("registry list-keys --database sqlite:///absent", 2, "database-missing"),
    ("registry add-key acme l.json --database sqlite:///made", 4, "key-pem"),
]


@pytest.fixture
def mistaken(bench: Bench) -> Bench:
    """A project with a pinned server and files of every wrong kind."""
    bench.listing(FIND, name="l.json")
    assert bench.run("keygen", "-o", "k", "--no-passphrase")[0] == 0
    assert bench.run("capture", "-o", "m.json", "--", *bench.launch)[0] == 0
    Path("empty").touch()
    Path("object").write_text("{}", encoding="utf-8")
    Path("text").write_text("just text\n", encoding="utf-8")
    Path("binary").write_bytes(b"\x00\xde\xad")
    Path("a.folder").mkdir()
    bench.pin()
    return bench


def test_every_mistake_is_told_with_what_where_and_what_to_do(mistaken: Bench) -> None:
    for line, code, name in MISTAKES:
        words = shlex.split(line)
        ended, out, err = mistaken.run(*words)
        told = f"{line}: {err}"
        assert (ended, out) == (code, ""), told
        error, *remedy = [text for text in err.splitlines() if not text.startswith("look ")]
        assert error.startswith(f"error: {name}: "), told
        assert len(error) > len(f"error: {name}: ") + 10, told
        assert [text[:2] for text in remedy] == ["  "], told
        assert name in DOCUMENTED, told
        assert "Traceback" not in err, told
        assert "codec" not in err, told


def test_every_mistake_is_told_to_programs_as_one_document(mistaken: Bench) -> None:
    for line, code, name in MISTAKES:
        words = shlex.split(line)
        at = words.index("--") if "--" in words else len(words)
        for spelled in (["--format", "json"], ["--format=json"]):
            ended, out, err = mistaken.run(*words[:at], *spelled, *words[at:])
            assert out.isascii(), line
            document = json.loads(out)
            jsonschema.validate(document, SCHEMA)
            assert (ended, document["exitCode"], document["code"]) == (code, code, name), line
            assert document["message"] in err, line
            assert document["remedy"], line


def test_what_is_not_ascii_in_an_error_is_in_its_document_too(mistaken: Bench) -> None:
    ended, out, err = mistaken.run("diff", "m\u00e4rz\u202e\udcff", "l.json", "--format", "json")
    assert (ended, out.isascii()) == (2, True)
    assert json.loads(out)["message"].startswith("m\u00e4rz\\u{202e}\\u{dcff}: ")
    assert "m\u00e4rz" in err


def test_a_file_name_that_is_no_utf8_leaves_the_result_json(bench: Bench) -> None:
    odd = os.fsdecode(b"odd\xff-\xf0\x9f\x98\x80")
    code, out, _ = bench.run("keygen", "-o", odd, "--no-passphrase", "--format", "json")
    assert code == 0
    assert json.loads(out)["publicKey"] == "odd\ufffd-\U0001f600.pub"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["diff", "--format", "json"], True),
        (["--format=json"], True),
        (["capture", "--format", "text", "--", "x", "--format", "json"], False),
        (["diff", "json"], False),
        ([], False),
    ],
)
def test_json_is_wanted_by_its_option_before_the_other_command(words: list[str], wanted: bool) -> None:
    assert wants_json(words) is wanted


@pytest.mark.parametrize(
    "line",
    [
        "diff l.json l.json",
        "check",
        "check l.json --server x",
        "lock --server x -- true",
        "approve x",
        "revoke x",
        "status",
        "explain x",
        "run -- true",
        "capture -o x -- true",
        "keygen -o x --no-passphrase",
        "serve --port 0 --database sqlite:///x",
        "registry add-key a/* x",
        "sign x --key k --server a/b --version 1",
        "verify x x",
        "publish x x",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be removed there")
def test_a_working_directory_that_was_removed_is_told(line: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    # The shell stays in the directory that it removes.
    script = f"rmdir {shlex.quote(str(gone))}; exec {shlex.join([*PROGRAM, *shlex.split(line)])}"
    ran = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=gone,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "the working directory does not exist any more" in ran.stderr
    assert "Traceback" not in ran.stderr


def in_shell(redirections: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    script = f"exec {shlex.join([*PROGRAM, *arguments])} {redirections}"
    return subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_the_output_is_told_and_is_no_result(bench: Bench) -> None:
    bench.listing(FIND, name="l.json")
    full = "standard output: no space left"
    for line in ("diff l.json l.json", "--help", "diff l.json l.json --format json"):
        ran = in_shell(">/dev/full", *line.split())
        assert (ran.returncode, "Traceback" in ran.stderr) == (2, False)
        assert (full in ran.stderr) is ("diff" in line)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
@pytest.mark.parametrize("redirections", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_the_exit_code_is_the_same_without_standard_streams(redirections: str, bench: Bench) -> None:
    if "full" in redirections and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    bench.listing(FIND, name="l.json")
    bench.listing(name="other.json")
    for arguments, code in (
        (("l.json", "l.json"), 0),
        (("l.json", "other.json"), 1),
        (("l.json", "nope"), 2),
    ):
        ran = in_shell(redirections, "diff", *arguments)
        assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_no_file_is_opened_in_place_of_a_closed_stream(bench: Bench) -> None:
    """Otherwise a message would be written into the file that took the stream's number."""
    assert in_shell("<&- >&- 2>&-", "keygen", "-o", "k", "--no-passphrase").returncode == 0
    assert Path("k.key").read_text(encoding="utf-8").startswith("-----BEGIN PRIVATE KEY-----")
    assert Path("k.key").read_text(encoding="utf-8").endswith("-----END PRIVATE KEY-----\n")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("line", ["diff l.json big.json", "check big.json --server x", "status", "nope"])
def test_a_reader_that_goes_away_ends_it_with_141_whatever_is_told(
    line: str, form: str, bench: Bench
) -> None:
    bench.listing(FIND, name="l.json")
    bench.listing(*({**FIND, "name": f"t{number}"} for number in range(2000)), name="big.json")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        both = [*PROGRAM, *shlex.split(line), "--format", form]
        ran = subprocess.run(
            both, stdout=pipe, stderr=pipe if line == "nope" else subprocess.PIPE, check=False
        )
    assert (ran.returncode, ran.stderr or b"") == (141, b"")


ERRORS = {"InvalidInput", "Refused", "CannotTell", "ConfigurationError", "CanonicalError"}
SLICES = ("verifier", "signer", "registry_api", "cli")


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for folder in SLICES:
        for path in sorted((ROOT / folder / f"toolnotary_{folder}").rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_every_code_has_a_remedy_of_its_own_or_where_it_is_raised() -> None:
    raised: dict[str, bool] = {}
    for _, tree in _trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            name, code = getattr(node.func, "id", getattr(node.func, "attr", "")), node.args[0].value
            if isinstance(code, str) and name in ERRORS:
                has = any(keyword.arg == "remedy" for keyword in node.keywords)
                raised[code] = has and raised.get(code, True)
    told_elsewhere = {"usage", "working-directory"}  # by `exits` and `telling`, which say what to do
    assert {code for code in DOCUMENTED - set(REMEDIES) - told_elsewhere if not raised.get(code)} == set()
    assert set(REMEDIES) - DOCUMENTED == set()
    assert all(REMEDIES.values())


def _texts(tree: ast.AST) -> Iterator[str]:
    """Every text of a module but for docstrings; what is put into it at run time reads NAME."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.JoinedStr):
            values = (part.value if isinstance(part, ast.Constant) else "NAME" for part in child.values)
            yield "".join(map(str, values))
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        else:
            yield from _texts(child)


def _command_lines(text: str) -> Iterator[list[str]]:
    """What of a text is a command line: from `toolnotary COMMAND` to where the sentence goes on."""
    names = "|".join(COMMANDS)
    for met in re.finditer(rf"\btoolnotary ((?:{names})\b[^;,\n`()]*)", text):
        yield [word.rstrip(".:") for word in met[1].replace("'", " ").split()]


def _options(words: list[str]) -> Iterator[tuple[click.Command, str]]:
    root = click.Context(toolnotary, info_name="toolnotary")
    command = toolnotary.get_command(root, words[0])
    assert command is not None
    if isinstance(command, click.Group) and words[1:] and re.fullmatch("[a-z-]+", words[1]):
        inner = command.get_command(root, words[1])
        assert inner is not None, words
        command = inner
    for word in words[: words.index("--")] if "--" in words else words:
        if re.fullmatch(r"-o|--[a-z-]+(=.*)?", word):
            yield command, word.partition("=")[0]


def _named() -> dict[str, list[list[str]]]:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts: dict[str, list[str]] = {
        str(path.relative_to(ROOT)): [path.read_text(encoding="utf-8")] for path in pages
    }
    texts |= {str(path.relative_to(ROOT)): list(_texts(tree)) for path, tree in _trees()}
    return {
        where: [line for text in found for line in _command_lines(text)] for where, found in texts.items()
    }


def test_every_option_of_every_command_that_a_message_or_a_page_names_exists() -> None:
    wrong = []
    lines = _named()
    for where, found in lines.items():
        for words in found:
            for command, option in _options(words):
                known = {name for parameter in command.params for name in parameter.opts}
                if option not in known | {"--help", "--color", "--version"}:
                    wrong.append((where, " ".join(words), option))
    assert sum(map(len, lines.values())) > 100
    assert wrong == []


def test_every_command_line_that_a_message_tells_to_run_is_one() -> None:
    """What follows a colon is to be typed; NAME, FILE and the like stand for the reader's own.

    Commands that are put together word by word are played in test_told_commands.py.
    """
    told: set[str] = set()
    for _, tree in _trees():
        for text in _texts(tree):
            found = re.finditer(rf": toolnotary ((?:{'|'.join(COMMANDS)})\b[^;,\n]*)", text)
            told |= {met[1].strip() for met in found}
    wrong = {}
    for line in sorted(told):
        words = line.replace("NAMENAME", "NAME").split()
        try:
            _parsed(words)
        except click.UsageError as error:
            if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
                wrong[line] = error.format_message()
    assert len(told) > 5
    assert wrong == {}


def _parsed(words: list[str]) -> None:
    root = click.Context(toolnotary, info_name="toolnotary")
    command = toolnotary.get_command(root, words[0])
    assert command is not None
    rest = words[1:]
    if isinstance(command, click.Group):
        inner = command.get_command(root, rest[0])
        assert inner is not None
        command, rest = inner, rest[1:]
    with command.make_context(words[0], rest):
        pass


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (KeyError("k"), 70, "internal"),
        (PermissionError(13, "Permission denied", "a\nb"), 2, "file-system"),
        (click.UsageError("Wrong."), 2, "usage"),
        (Refused("some-code", "m"), 1, "some-code"),
    ],
)
def test_whatever_goes_wrong_is_one_document(
    error: Exception, code: int, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def call() -> None:
        raise error

    assert exits.guard(call, as_json=True) == code
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    assert (document["code"], document["exitCode"]) == (name, code)
