# SPDX-License-Identifier: Apache-2.0
"""`lock` ends with the line by which a host starts the server, and that line works wherever it is started."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pinned_servers import FIND, YES, Bench, bench

from toolnotary_cli.demo.host import Host

__all__ = ["bench"]


def told(shown: str) -> str:
    """The line that `lock` printed."""
    _, _, rest = shown.partition("let your host start it with:\n")
    return rest.splitlines()[0].strip()


def listed(line: str, directory: Path) -> list[str]:
    """The tools that a host gets from the line, through a shell, in another directory."""
    line = line.replace("toolnotary", f"exec {shlex.quote(sys.executable)} -m toolnotary_cli", 1)
    with subprocess.Popen(
        ["/bin/sh", "-c", line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=directory,
    ) as process:
        assert process.stdin is not None
        host = Host(process)
        host.open()
        names = sorted(host.tools())
        process.stdin.close()
        process.wait(30)
    return names


def locked(bench: Bench, *options: str) -> str:
    lock = ["lock", "--server", "my files", *options, "--", *bench.launch]
    session = bench.at_terminal(*lock, answers=YES)
    assert session.code == 0, session.shown
    return told(session.shown)


def test_in_a_repository_the_line_names_the_lockfile_of_the_repository(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    line = locked(bench)
    assert f"--lockfile {bench.folder / 'toolnotary.lock'}" in line
    assert listed(line, tmp_path_factory.mktemp("elsewhere")) == ["find", "lose"]


def test_outside_of_a_repository_the_personal_lockfile_needs_no_option(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (bench.folder / ".git").rmdir()
    line = locked(bench)
    assert "--lockfile" not in line
    assert listed(line, tmp_path_factory.mktemp("elsewhere")) == ["find", "lose"]


def test_the_line_names_the_policy_that_was_given(bench: Bench) -> None:
    Path("strict.toml").write_text("[verdicts]\nmissing = 'block'\n", encoding="utf-8")
    assert f"--policy {bench.folder / 'strict.toml'}" in locked(bench, "--policy", "strict.toml")


def test_whoever_pins_again_is_told_the_line_again(bench: Bench) -> None:
    line = locked(bench)
    code, out, _ = bench.run("lock", "--server", "my files", "--", *bench.launch)
    assert (code, told(out)) == (0, line)


def test_a_server_that_run_does_not_find_pinned_is_told_where_it_is(bench: Bench) -> None:
    locked(bench)
    bench.shows(FIND)
    code, _, err = bench.run("lock", "--server", "my files", "--", *bench.launch)
    assert (code, "already-pinned" in err) == (1, True)
    assert f"run does not look for {bench.folder / 'toolnotary.lock'}" in err
    assert "--lockfile" in err


def test_a_secret_of_the_command_is_not_in_the_line(bench: Bench) -> None:
    listing = bench.listing(FIND)
    lock = ["lock", "--server", "files", listing, "--", "serve", "--api-key", "kAnary0Secret1Value2Xy3"]
    session = bench.at_terminal(*lock, answers=YES)
    assert session.code == 0, session.shown
    assert told(session.shown).endswith(" -- COMMAND")


def test_programs_read_one_document_without_the_line(bench: Bench) -> None:
    locked(bench)
    code, out, _ = bench.run("lock", "--server", "my files", "--format", "json", "--", *bench.launch)
    assert (code, json.loads(out)["pinned"]) == (0, True)
