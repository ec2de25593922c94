# SPDX-License-Identifier: Apache-2.0
"""tests/prepare.py builds once for each lock, and says so where it cannot."""

from collections.abc import Callable
from pathlib import Path

import prepare
import pytest
from prepare import Step, StepError

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Step]:
    """Makes a step in a folder of its own the only one there is."""
    monkeypatch.setattr(prepare, "ROOT", tmp_path)
    monkeypatch.setattr(prepare, "BUILT", tmp_path / "built")
    monkeypatch.setattr(prepare, "STAMPS", tmp_path / "built" / "stamps")
    (tmp_path / "lock").write_text("one", encoding="ascii")

    def make(build: Callable[[Step], None], needs: str | None = None) -> Step:
        made = Step("thing", tmp_path / "lock", tmp_path / "built" / "thing", build, needs=needs)
        monkeypatch.setattr(prepare, "STEPS", (made,))
        return made

    return make


def test_a_second_run_builds_nothing_and_a_changed_lock_builds_anew(
    step: Callable[..., Step], capsys: Captured
) -> None:
    built: list[str] = []

    def build(one: Step) -> None:
        one.target.mkdir()
        built.append(one.lock.read_text(encoding="ascii"))

    made = step(build)
    assert [prepare.main([]), prepare.main([])] == [0, 0]
    assert built == ["one"]
    made.lock.write_text("two", encoding="ascii")
    assert prepare.main([]) == 0
    assert prepare.main(["--force"]) == 0
    assert built == ["one", "two", "two"]
    assert "as its lock says" in capsys.readouterr().out


def test_a_step_that_failed_says_why_and_is_not_taken_for_done(
    step: Callable[..., Step], capsys: Captured
) -> None:
    def fail(one: Step) -> None:
        one.target.mkdir()
        raise StepError("the index does not answer")

    made = step(fail)
    assert prepare.main([]) == 1
    assert "the index does not answer" in capsys.readouterr().err
    assert not made.is_done()


def test_what_needs_a_program_that_is_absent_is_left_out(step: Callable[..., Step], capsys: Captured) -> None:
    def build(_one: Step) -> None:
        raise AssertionError("nothing to build with")

    step(build, needs="no-such-program")
    assert prepare.main([]) == 0
    assert "skipped" in capsys.readouterr().out


def test_a_missing_lock_is_told(step: Callable[..., Step], capsys: Captured) -> None:
    made = step(lambda _one: None)
    made.lock.unlink()
    assert prepare.main([]) == 1
    assert "lock is missing" in capsys.readouterr().err
