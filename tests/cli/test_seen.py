# SPDX-License-Identifier: Apache-2.0
"""`approve --seen`: a person reviews exactly what the host was about to be shown, and nothing is started."""

import os
import re
import shutil
from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, POISONED, Bench, bench

__all__ = ["bench"]

YES = (("accept this for files? [yes/no]", "yes\n"),)
NO = (("accept this for files? [yes/no]", "no\n"),)


@pytest.fixture
def seen(bench: Bench) -> Bench:
    """A host was shown something else than what is pinned, once; from then on the server behaves."""
    bench.pin()
    bench.shows(POISONED, LOSE)
    assert "withheld" in bench.hosted()
    bench.shows(FIND, LOSE, record=str(bench.folder / "starts"))
    return bench


def kept() -> list[Path]:
    return list((Path(os.environ["TOOLNOTARY_HOME"]) / "seen").rglob("*.json"))


def test_what_the_host_was_shown_is_reviewed_and_accepted_without_a_start(seen: Bench) -> None:
    session = seen.at_terminal("approve", "files", "--seen", answers=YES)
    assert session.code == 0, session.shown
    assert "Send it to me first." in session.shown
    line = next(line for line in session.shown.splitlines() if line.startswith("seen "))
    assert re.fullmatch(
        r"seen \d{4}-\d\d-\d\dT[\d:]{8}Z on a guarded connection, started as .+server.json", line
    )
    assert not (seen.folder / "starts").exists()
    assert seen.json("check", seen.listing(POISONED, LOSE), "--server", "files")[0] == 0


def test_a_no_to_what_was_seen_is_remembered(seen: Bench) -> None:
    assert seen.at_terminal("approve", "files", "--seen", answers=NO).code == 1
    again = seen.at_terminal("approve", "files", "--seen", answers=NO)
    assert "you declined exactly this before" in again.shown
    seen.shows(POISONED, LOSE)
    live = seen.at_terminal("approve", "files", "--start", answers=NO)
    assert "you declined exactly this before" in live.shown, "it is the same change set"


def test_the_digest_that_check_tells_is_that_of_what_was_seen(seen: Bench) -> None:
    digest = seen.json("check", seen.listing(POISONED, LOSE), "--server", "files")[1]["servers"][0][
        "changeSet"
    ]
    other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    assert "change-set-differs" in seen.at_terminal("approve", "files", "--seen", "--digest", other).shown
    assert seen.at_terminal("approve", "files", "--seen", "--digest", digest, answers=YES).code == 0


def test_a_host_that_was_shown_what_is_pinned_leaves_nothing_to_review(bench: Bench) -> None:
    bench.pin()
    bench.hosted()
    assert kept() == []
    code, _, err = bench.run("approve", "files", "--seen")
    assert (code, "error: never-seen:" in err) == (3, True)


def test_what_was_seen_under_another_launch_is_not_offered(seen: Bench) -> None:
    assert seen.run("revoke", "files")[0] == 0
    shutil.copy(seen.script, seen.folder / "other.json")
    other = [*seen.launch[:-1], str(seen.folder / "other.json")]
    questions = (("[yes/no]", "yes\n"),)
    assert seen.at_terminal("lock", "--server", "files", "--", *other, answers=questions).code == 0
    code, _, err = seen.run("approve", "files", "--seen")
    assert (code, "error: never-seen:" in err) == (3, True)


def test_a_surface_that_repeats_a_secret_of_the_launch_is_not_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-hunter2"
    monkeypatch.setenv("SERVICE_TOKEN", secret)
    bench.pin()
    bench.shows({**FIND, "description": f"Find with {secret}."}, LOSE)
    told = bench.hosted()
    assert "secret-in-surface" in told
    assert secret not in told
    assert kept() == []


def test_a_file_that_somebody_changed_is_named_and_not_reviewed(seen: Bench) -> None:
    path = kept()[0]
    path.write_bytes(path.read_bytes().replace(b"Send it", b"Keep it"))
    code, _, err = seen.run("approve", "files", "--seen")
    assert (code, "error: seen-corrupt:" in err, path.name in err) == (4, True, True)


@pytest.mark.parametrize("more", [["--start"], ["listing.json"], ["--", "server"]])
def test_what_was_seen_needs_no_source_and_no_start(seen: Bench, more: list[str]) -> None:
    seen.listing(FIND)
    code, _, err = seen.run("approve", "files", "--seen", *more)
    assert (code, "error: usage:" in err) == (2, True)
