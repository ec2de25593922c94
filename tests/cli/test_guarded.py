# SPDX-License-Identifier: Apache-2.0
"""Our own command line in the file of a host: recognized under every spelling, and nothing else for it."""

from pathlib import Path

import pytest

from toolnotary_cli.hosts.guarded import seen_through
from toolnotary_cli.hosts.placeholders import filled, unfilled

SPELLINGS = [
    ["/usr/bin/toolnotary"],
    ["toolnotary"],
    [r"C:\Users\u\Scripts\toolnotary.exe"],
    [r"C:\Users\u\Scripts\Toolnotary.EXE"],
    ["/opt/venv/bin/python3.12", "-E", "-P", "-m", "toolnotary_cli"],
    [r"C:\Python\python.exe", "-m", "toolnotary_cli"],
]


@pytest.mark.parametrize("program", SPELLINGS, ids=" ".join)
def test_every_spelling_of_ours_is_seen_through(program: list[str]) -> None:
    words = ["run", "--server", "x", "--lockfile=a.lock", "--offline", "--", "npx", "--", "y"]
    found = seen_through([*program, *words])
    assert found is not None
    assert found.program == tuple(program)
    assert found.options == {"server": "x", "lockfile": "a.lock", "offline": ""}
    assert found.argv == ("npx", "--", "y")
    assert [*program, *words][found.dropped :] == ["npx", "--", "y"]


def test_what_leads_to_a_url_is_seen_through_with_its_headers() -> None:
    words = ["run", "--url", "https://x.example/mcp", "--header", "A=B", "--header", "C=D"]
    found = seen_through(["toolnotary", *words])
    assert found is not None
    assert (found.argv, found.options["url"], found.headers) == ((), "https://x.example/mcp", ("A=B", "C=D"))


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["npx", "toolnotary", "run", "--", "x"],
        ["toolnotary", "check", "--", "x"],
        ["toolnotary", "run"],
        ["toolnotary", "run", "--"],
        ["toolnotary", "run", "--server"],
        ["toolnotary", "run", "stray", "--", "x"],
        ["python", "-m", "other", "run", "--", "x"],
        ["python", "toolnotary_cli", "run", "--", "x"],
        ["python", "-c", "x", "-m", "toolnotary_cli", "run", "--", "x"],
        ["mytoolnotary", "run", "--", "x"],
    ],
    ids=" ".join,
)
def test_nothing_else_is_taken_for_ours(argv: list[str]) -> None:
    assert seen_through(argv) is None


@pytest.mark.parametrize(
    ("text", "windows", "result"),
    [
        ("${HOME}/x", False, "/home/u/x"),
        ("${env:HOME}/x", False, "/home/u/x"),
        ("${NONE:-a b}", False, "a b"),
        ("${HOME:-a}", False, "/home/u"),
        ("${workspaceFolder}/x", False, "/srv/acme/x"),
        ("${NONE}", False, "${NONE}"),
        ("${input:token}", False, "${input:token}"),
        ("%HOME%", False, "%HOME%"),
        ("%HOME%", True, "/home/u"),
        ("${TWICE}", False, "${HOME}"),
        ("$HOME", False, "$HOME"),
    ],
)
def test_placeholders_are_filled_in_once_as_hosts_do(text: str, windows: bool, result: str) -> None:
    variables = {"HOME": "/home/u", "TWICE": "${HOME}"}
    assert filled(text, variables, folder=Path("/srv/acme"), is_windows=windows) == result


def test_what_only_a_host_can_fill_in_is_found() -> None:
    assert unfilled("a ${input:token} b") == "${input:token}"
    assert unfilled("plain $HOME {x}") == ""
