# SPDX-License-Identifier: Apache-2.0
"""The name that a person gives a server is refused at the door where nobody could type or record it."""

import os
import subprocess
import sys

import pytest
from pinned_servers import YES, Bench, bench

__all__ = ["bench"]

BAD = {
    "empty": "",
    "long": "f" * 201,
    "blank-before": " files",
    "blank-behind": "files ",
    "control": "fi\x1bles",
    "invisible": "fi\u200bles",
    "reordered": "\u202efiles",
    "no-text": "fi\udcffles",
}
COMMANDS = {
    "lock": ("lock", "--server", "NAME", "--", "serve"),
    "check": ("check", "--server", "NAME"),
    "run": ("run", "--server", "NAME", "--", "serve"),
    "explain": ("explain", "NAME"),
    "approve": ("approve", "NAME"),
    "revoke": ("revoke", "NAME"),
    "break-glass": ("break-glass", "NAME", "--reason", "x"),
}


@pytest.mark.parametrize("name", BAD.values(), ids=BAD)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_nobody_could_type_again_is_a_usage_error(command: str, name: str, bench: Bench) -> None:
    before = bench.files
    code, out, err = bench.run(*(name if word == "NAME" else word for word in COMMANDS[command]))
    assert (code, out) == (2, "")
    where = "'--server'" if "--server" in COMMANDS[command] else "'SERVER'"
    assert err.startswith(f"error: usage: invalid value for {where}: the name of a server ")
    assert bench.files == before


@pytest.mark.parametrize("answer", ["yes\n", "no\n"])
def test_an_empty_name_leaves_the_state_that_every_command_reads(answer: str, bench: Bench) -> None:
    bench.pin()
    answers = (("[yes/no]", answer),)
    assert bench.at_terminal("lock", "--server", "", "--", *bench.launch, answers=answers).code == 2
    assert bench.json("status")[0] == 0


def test_run_refuses_such_a_name_as_hosts_start_it(bench: Bench) -> None:
    """A plain `run` does not go through click (`entry`), and no argument of it may slip past."""
    for name in BAD.values():
        words = ["run", "--server", name, "--", *bench.launch]
        done = subprocess.run(
            [sys.executable, "-m", "toolnotary_cli", *map(os.fsencode, words)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
        assert (done.returncode, b"the name of a server " in done.stderr) == (2, True), done.stderr


def test_a_name_of_any_script_with_blanks_inside_is_pinned(bench: Bench) -> None:
    name = "Wetter für Zürich 天気"
    session = bench.at_terminal("lock", "--server", name, "--", *bench.launch, answers=YES)
    assert session.code == 0, session.shown
    assert bench.json("check", "--server", name, "--start")[0] == 0
