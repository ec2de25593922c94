# SPDX-License-Identifier: Apache-2.0
"""`run` starts without click, and means the same as through click."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_cli import exits
from toolnotary_cli.commands.run import command
from toolnotary_cli.entry import main, plain_run

WORDS = st.sampled_from(
    [
        *("--server", "--lockfile", "--policy", "--registry", "--offline"),
        *("--server=a/b", "acme/x", "file", "", "-x", "--help", "--", "cat"),
    ]
)


def through_click(words: list[str]) -> tuple[object, ...] | None:
    """The parameters that click reads; None where it objects, or answers by itself."""
    try:
        with command.make_context("run", list(words), resilient_parsing=False) as context:
            found = context.params
    except (click.ClickException, click.exceptions.Exit):
        return None
    text = [str(found[name] or "") for name in ("server", "lockfile", "policy", "registry")]
    return (found["argv"], *text, found["offline"]) if found["argv"] else None


@given(st.lists(WORDS, max_size=8))
def test_whatever_is_read_without_click_is_what_click_reads(words: list[str]) -> None:
    plain = plain_run(["run", *words])
    if plain is not None:
        assert tuple(plain) == through_click(words)


@pytest.mark.parametrize(
    "words",
    [
        ["--", "cat"],
        ["--server", "acme/x", "--", "cat", "--server", "y"],
        ["--policy", "p", "--lockfile", "l", "--server", "s", "--", "npx", "-y", "x", "--", "z"],
        ["--offline", "--server", "s", "--", "npx", "--offline"],
        ["--registry", "https://r.example", "--offline", "--", "cat"],
    ],
)
def test_the_spellings_of_hosts_are_read_without_click(words: list[str]) -> None:
    plain = plain_run(["run", *words])
    assert plain is not None
    assert tuple(plain) == through_click(words)


def test_the_variables_stand_in_for_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLNOTARY_LOCKFILE", "there.lock")
    monkeypatch.setenv("TOOLNOTARY_POLICY", "there.toml")
    monkeypatch.setenv("TOOLNOTARY_REGISTRY", "https://r.example")
    for words in (["--", "cat"], ["--lockfile", "here.lock", "--", "cat"]):
        plain = plain_run(["run", *words])
        assert plain is not None
        assert tuple(plain) == through_click(words)


def test_a_run_loads_no_click(tmp_path: Path) -> None:
    script = (
        "import sys; from toolnotary_cli.entry import main;"
        "code = main(['run', '--server', 'acme/x', '--', sys.executable, '-c', 'pass']);"
        'sys.stderr.write(f\'\\n{code} {sorted({*sys.modules} & {"click", "asyncio", "urllib.request"})}\')'
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert ran.stderr.rsplit("\n", 1)[1] == "0 []"


@pytest.mark.parametrize("words", [["run"], ["run", "--"], ["run", "--sever", "x", "--", "cat"]])
def test_a_run_that_means_nothing_is_explained_by_click(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == exits.USAGE
    assert capsys.readouterr().err.startswith("error: usage: ")


def test_all_other_commands_go_through_click(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == exits.FINE
    assert capsys.readouterr().out.startswith("toolnotary ")
