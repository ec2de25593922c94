# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, zsh and fish, as docs/reference/cli.md says to switch it on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from pinned_servers import FIND, LOSE, Bench, bench

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.lockfile import Lockfile, Pin, UnsignedEntry

__all__ = ["bench"]

PROGRAM = [sys.executable, "-m", "toolnotary_cli"]
SHELLS = ("bash", "zsh", "fish")


def offered(shell: str, words: str) -> list[str]:
    """What is offered for the last word of a command line, which may be empty."""
    last = words.rsplit(" ", maxsplit=1)[-1]
    environment = {
        **os.environ,
        "_TOOLNOTARY_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": last if shell == "fish" else str(len(words.split(" ")) - 1),
    }
    ran = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return [line for line in ran.stdout.splitlines() if line]


def pinned(*servers: str) -> None:
    lockfile = Lockfile()
    for number, server in enumerate(servers):
        pins = (Pin(Kind.TOOL, "t", Digest.of(b"x"), Digest.of(b"x")),)
        launch = {"kind": "command", "argv": [str(number)]}
        lockfile = lockfile.with_entry(UnsignedEntry(server=server, launch=launch, recorded={}, pins=pins))
    lockfile.save(Path("toolnotary.lock"))


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("toolnotary di", "diff"),
        ("toolnotary diff --off", "--offline"),
        ("toolnotary check --format ", "json"),
        ("toolnotary registry add", "add-key"),
        ("toolnotary approve fi", "files"),
        ("toolnotary check --server ", "files"),
        ("toolnotary explain ", "files"),
    ],
)
def test_commands_options_values_and_pinned_servers_are_offered(
    shell: str, words: str, expected: str, bench: Bench
) -> None:
    pinned("files")
    assert any(expected in re.split(r"[,\t]", line) for line in offered(shell, words))


@pytest.mark.parametrize(
    "words", ["diff ", "diff a ", "check ", "lock ", "approve files ", "capture ", "verify m b "]
)
def test_a_source_is_completed_as_a_file(words: str, bench: Bench) -> None:
    assert any(line.startswith("file,") for line in offered("bash", f"toolnotary {words}"))


def test_what_a_shell_would_run_is_never_offered(bench: Bench) -> None:
    pinned("good/one", "$(touch evil)", "`touch evil`", "a b", "a;b", "-rf")
    assert offered("bash", "toolnotary approve ") == ["plain,good/one"]


@pytest.mark.parametrize("content", [b"garbage\n", b"<<<<<<< HEAD\n", None])
def test_a_lockfile_that_cannot_be_read_offers_nothing_and_says_nothing(
    content: bytes | None, bench: Bench
) -> None:
    if content is not None:
        Path("toolnotary.lock").write_bytes(content)
    assert offered("bash", "toolnotary approve ") == []


@pytest.mark.parametrize(
    "words", ["run -- np", "run --server x -- npx -", "check -- ", "nope ", "diff --nope ", "run -"]
)
def test_no_command_line_breaks_it(words: str, bench: Bench) -> None:
    offered("bash", f"toolnotary {words}")


def switched_on(shell: str) -> str:
    """The line of the page that switches completion on."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {shell} \| `([^`]+)` \|", page, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_page_says_how_to_switch_it_on_and_the_shell_takes_it(shell: str, bench: Bench) -> None:
    line = switched_on(shell)
    assert f"_TOOLNOTARY_COMPLETE={shell}_source toolnotary" in line
    source = subprocess.run(
        PROGRAM,
        env={**os.environ, "_TOOLNOTARY_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "_TOOLNOTARY_COMPLETE=" in source
    program = shutil.which(shell)
    if program is not None:
        Path("completion").write_text(source, encoding="utf-8")
        parsed = subprocess.run([program, "-n", "completion"], capture_output=True, text=True, check=False)
        assert (parsed.returncode, parsed.stderr) == (0, "")


def test_bash_completes_by_the_line_of_the_page(bench: Bench) -> None:
    bash, toolnotary = shutil.which("bash"), Path(sys.executable).with_name("toolnotary")
    if bash is None or not toolnotary.exists():
        pytest.skip("bash and an installed toolnotary are needed")
    bench.listing(FIND, LOSE)
    script = f"""
{switched_on("bash")}
COMP_WORDS=(toolnotary di) COMP_CWORD=1
_toolnotary_completion toolnotary
echo "${{COMPREPLY[@]}}"
complete -p toolnotary
"""
    path = f"{toolnotary.parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        [bash, "--norc", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.splitlines()[0] == "diff", ran.stderr
    assert "_toolnotary_completion toolnotary" in ran.stdout
