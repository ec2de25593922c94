# SPDX-License-Identifier: Apache-2.0
"""The frame of the command line: one table of commands, one way for an error to end, and who is asked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from toolnotary_cli import __version__, commands, exits, places, prompt
from toolnotary_cli.main import COMMANDS, main, toolnotary
from toolnotary_verifier.errors import (
    CannotTell,
    ConfigurationError,
    InvalidInput,
    Refused,
    ToolnotaryError,
)

PROGRAM = [sys.executable, "-m", "toolnotary_cli"]


def test_the_table_of_commands_and_the_files_agree() -> None:
    folder = Path(next(iter(commands.__path__)))
    names = {path.stem.replace("_", "-") for path in folder.glob("*.py")} - {"--init--"}
    assert names == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: toolnotary {name}")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"toolnotary {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["--no-such-option"], ["diff", "only-one"]])
def test_a_wrong_command_line_ends_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == exits.USAGE
    assert capsys.readouterr().out == ""


def raising(error: BaseException) -> int:
    def call() -> None:
        raise error

    return exits.guard(call)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("some-code", "m"), 4),
        (Refused("some-code", "m"), 1),
        (CannotTell("some-code", "m"), 3),
        (ConfigurationError("some-code", "m"), 2),
        (ToolnotaryError("some-code", "m"), 70),
    ],
)
def test_an_error_raised_on_purpose_ends_with_its_own_code_and_says_what_to_do(
    error: ToolnotaryError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    error.remedy = "do this"
    assert raising(error) == code
    assert capsys.readouterr().err == "error: some-code: m\n  do this\n"


def test_text_of_a_server_in_an_error_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    raising(Refused("some-code", "a\x1b[31m\nerror: b\U000e0041"))
    assert capsys.readouterr().err == "error: some-code: a\\u{1b}[31m\\u{a}error: b\\u{e0041}\n"


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied", "a\nb"), OSError(28, "No space left on device")]
)
def test_a_file_that_cannot_be_used_ends_with_two_and_no_traceback(
    error: OSError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert raising(error) == exits.USAGE
    shown = capsys.readouterr().err
    assert shown.startswith("error: file-system: ")
    assert shown.count("\n") == 2


def test_a_defect_ends_with_seventy_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(KeyError("k")) == exits.INTERNAL
    assert "Traceback" not in capsys.readouterr().err


def test_a_defect_shows_its_traceback_to_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLNOTARY_DEBUG", "1")
    with pytest.raises(KeyError):
        raising(KeyError("k"))


@pytest.fixture
def _same_signals() -> object:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_same_signals")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_ends_with_130(error: BaseException) -> None:
    assert raising(error) == exits.INTERRUPTED


def test_a_closed_pipe_ends_with_141_and_says_nothing(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    listing = tmp_path / "listing.json"
    listing.write_text('{"tools": []}', encoding="utf-8")
    with os.fdopen(writer, "wb") as pipe:
        ended = subprocess.run(
            [*PROGRAM, "diff", listing, listing], stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (ended.returncode, ended.stderr) == (exits.PIPE_CLOSED, b"")


def drawn(arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> str:
    listing = tmp_path / "listing.json"
    listing.write_text('{"tools": []}', encoding="utf-8")
    assert main([*arguments, "diff", str(listing), str(listing)]) == 0
    return capsys.readouterr().out


def test_colours_are_drawn_when_asked_for_and_not_into_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "\x1b[" not in drawn([], capsys, tmp_path)
    assert "\x1b[" in drawn(["--color", "always"], capsys, tmp_path)
    assert "\x1b[" not in drawn(["--color", "never"], capsys, tmp_path)


def test_no_color_is_respected_and_an_option_is_stronger(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in drawn(["--color", "always"], capsys, tmp_path)
    with toolnotary.make_context("toolnotary", ["diff"]) as context:
        assert context.color is False


def test_the_personal_directory_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert places.home() == Path(os.environ["TOOLNOTARY_HOME"])
    monkeypatch.delenv("TOOLNOTARY_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert places.home() == tmp_path / "toolnotary"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.home() == tmp_path / ".local" / "share" / "toolnotary"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert places.home() == tmp_path / "local" / "toolnotary"


def test_files_are_searched_up_to_the_root_of_the_repository_and_no_further(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / places.POLICY).touch()
    monkeypatch.chdir(inner)
    assert places.policy_files(None).project is None
    (tmp_path / "repository" / "a" / places.POLICY).touch()
    assert places.policy_files(None).project == tmp_path / "repository" / "a" / places.POLICY
    assert places.policy_files(None, project=False).project is None
    assert places.lockfile(None) == tmp_path / "repository" / places.LOCKFILE


def test_outside_of_a_repository_only_the_working_directory_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / places.LOCKFILE).touch()
    monkeypatch.chdir(tmp_path / "a")
    assert places.lockfile(None) == places.home() / places.LOCKFILE
    monkeypatch.chdir(tmp_path)
    assert places.lockfile(None) == tmp_path / places.LOCKFILE
    assert places.lockfile(None, project=False) == places.home() / places.LOCKFILE


def test_an_option_names_the_file_in_place_of_every_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / places.POLICY).touch()
    given = tmp_path / "mine.toml"
    given.touch()
    (tmp_path / "mine.lock").touch()
    assert places.policy_files(given) == places.PolicyFiles(given, None)
    assert places.lockfile(Path("mine.lock")) == tmp_path / "mine.lock"


ASK = """
from toolnotary_cli import exits, prompt
import sys
sys.exit(exits.guard(lambda: 0 if prompt.confirm("Really?", lines=("about this",)) else 1))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix matter")
@pytest.mark.parametrize(
    ("typed", "code"),
    [("yes\n", 0), ("no\n", 1), ("\n", 1), ("maybe\n", None), ("\x04", 130), ("\x03", 130)],
)
def test_a_question_is_put_to_the_terminal_and_waits_for_yes_or_no(typed: str, code: int | None) -> None:
    from terminal import run_at_terminal

    asked = "Really? [yes/no] "
    # What is typed before the question stands there is forgotten: the answer waits for the second one.
    answers = [(asked, typed)] if code is not None else [(asked, typed), (asked, "yes\n")]
    session = run_at_terminal([sys.executable, "-c", ASK], *answers)
    assert ("please type yes or no" in session.shown) is (code is None)
    assert "about this" in session.shown
    assert session.code == (0 if code is None else code)


@pytest.mark.skipif(sys.platform == "win32", reason="sessions without a terminal are a Unix matter")
def test_where_no_terminal_is_nobody_is_asked_whatever_stands_on_standard_input() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ASK],
        input=b"yes\n",
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    assert ended.returncode == exits.OBJECTION
    assert b"no-terminal" in ended.stderr


def test_prompt_is_the_only_room_that_reads_answers() -> None:
    folder = Path(prompt.__file__).parent
    asking = [p.name for p in folder.rglob("*.py") if "click.confirm(" in p.read_text(encoding="utf-8")]
    assert asking == []


@pytest.mark.parametrize(
    "arguments", [["run", "npx"], ["run", "npx", "-y", "x"], ["capture", "-o", "x", "npx", "-y"]]
)
def test_a_forgotten_double_dash_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "behind --" in capsys.readouterr().err
    assert main([arguments[0], "--no-such-option", "--", "x"]) == 2
    assert "behind --" not in capsys.readouterr().err
