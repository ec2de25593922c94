# SPDX-License-Identifier: Apache-2.0
"""An approval is bound to all that it was shown against: what moves before the answer comes voids it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pinned_servers import LOSE, POISONED, Bench, bench

from toolnotary_cli.main import main
from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.state import State

__all__ = ["bench"]

QUESTION = "accept this for files? [yes/no]"
Meanwhile = Callable[[Bench], None]


@pytest.fixture(autouse=True)
def _changed(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)


def withdrawn(bench: Bench) -> None:
    assert main(["revoke", "files", "lose"]) == 0


def declined(bench: Bench) -> None:
    assert bench.at_terminal("approve", "files", "--start", answers=((QUESTION, "no\n"),)).code == 1


def accepted(bench: Bench) -> None:
    assert bench.at_terminal("approve", "files", "--start", answers=((QUESTION, "yes\n"),)).code == 0


def unpinned(bench: Bench) -> None:
    """What a checkout of another branch does."""
    lockfile = bench.folder / "toolnotary.lock"
    lines = lockfile.read_bytes().splitlines(keepends=True)
    lockfile.write_bytes(b"".join(line for line in lines if b"lose" not in line))


def forbidden(bench: Bench) -> None:
    digest = Digest.of(canonical_bytes(POISONED))
    (bench.folder / "toolnotary.toml").write_text(f'revoked = ["{digest}"]\n', encoding="utf-8")


MOVES: dict[str, tuple[Meanwhile, str]] = {
    "withdrawn": (withdrawn, "the lockfile and what you decided about the server"),
    "declined": (declined, "what you decided about the server"),
    "accepted": (accepted, "the lockfile and what you decided about the server"),
    "unpinned": (unpinned, "the lockfile"),
    "forbidden": (forbidden, "the policy"),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_yes_to_what_moved_since_it_was_shown_is_no_yes(bench: Bench, name: str) -> None:
    meanwhile, told = MOVES[name]
    left: dict[str, bytes] = {}

    def late() -> str:
        meanwhile(bench)
        left.update(bench.files)
        return "yes\n"

    session = bench.at_terminal("approve", "files", "--start", answers=((QUESTION, late),))
    assert session.code == 1, session.shown
    assert "error: decided-meanwhile:" in session.shown
    assert f"{told} changed after this was shown" in session.shown
    assert "look at it as it is now: toolnotary approve files" in session.shown
    assert bench.files == left, "nothing is written, no text of a definition either"


def test_what_moves_elsewhere_keeps_no_yes_from_counting(bench: Bench) -> None:
    """Another server is pinned, and a host is guarded meanwhile; neither was shown."""

    def late() -> str:
        bench.pin("other")
        bench.hosted()
        return "yes\n"

    session = bench.at_terminal("approve", "files", "--start", answers=((QUESTION, late),))
    assert session.code == 0, session.shown


def test_a_no_is_remembered_whatever_moved(bench: Bench) -> None:
    def late() -> str:
        withdrawn(bench)
        return "no\n"

    session = bench.at_terminal("approve", "files", "--start", answers=((QUESTION, late),))
    assert session.code == 1
    change_set = "sha256:" + session.shown.partition("change set sha256:")[2][:64]
    state = State.load(Path(os.environ["TOOLNOTARY_HOME"]) / "state.jsonl")
    assert state.declined("files", Digest.from_text(change_set))
