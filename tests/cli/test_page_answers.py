# SPDX-License-Identifier: Apache-2.0
"""`approve --page` without a terminal: a person answers on the page, once, in time, about what it shows."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from reviewing import OPENS, Page

from toolnotary_cli.main import main
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.state import State

__all__ = ["bench"]

Json = Any
PAGE = ("--page", "--no-open")


@pytest.fixture(autouse=True)
def _changed(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)


def asked(bench: Bench, *more: str) -> Page:
    return Page("approve", "files", *PAGE, *more, directory=bench.folder)


def test_a_person_reads_the_change_and_accepts_it(bench: Bench) -> None:
    with asked(bench, "--start") as page:
        shown = page.open().text
        for told in (
            "files is not as it was pinned",
            "server.json",
            "tool find",
            "withheld",
            "Send it to me first.",
        ):
            assert told in shown
        assert "tool lose" not in shown
        assert page.press("yes").code == 303
        assert "Accepted: files" in page.settle().text
        code, out, err = page.end()
    assert (code, out) == (0, f"accepted: files, in {bench.folder / 'toolnotary.lock'}\n")
    assert err.startswith("review it until ")
    assert bench.json("check", "--start")[0] == 0
    bench.shows(FIND, LOSE)
    assert bench.json("check", "--start")[0] == 1


def test_what_is_to_be_started_is_asked_on_the_page_first(bench: Bench) -> None:
    bench.shows(POISONED, LOSE, record=str(bench.folder / "starts"))
    with asked(bench) as page:
        shown = page.open().text
        assert "Start files?" in shown
        assert not (bench.folder / "starts").exists()
        start = page.subject()
        assert page.press("yes").code == 303
        assert "Send it to me first." in page.settle().text
        assert page.press("yes", start).code == 409, "an answer to the first question is none to the second"
        assert page.press("no").code == 303
        page.settle()
        assert page.end()[0] == 1
    with asked(bench) as page:
        assert page.press("no").code == 303
        assert "was not started" in page.settle().text
        assert page.end()[0] == 1
    state = State.load(Path(os.environ["TOOLNOTARY_HOME"]) / "state.jsonl")
    assert not state.declined("files", Digest.from_text(start))


def test_a_no_on_the_page_is_remembered_everywhere(bench: Bench) -> None:
    with asked(bench, "--start") as page:
        assert page.press("no").code == 303
        assert "Declined: files stays as it was pinned" in page.settle().text
        assert page.end()[0] == 1
    question = (("accept this for files? [yes/no]", "no\n"),)
    assert (
        "you declined exactly this before"
        in bench.at_terminal("approve", "files", "--start", answers=question).shown
    )
    with asked(bench, "--start") as page:
        assert "you declined exactly this before" in page.open().text
    assert bench.json("check", "--start")[0] == 1


def test_a_no_at_the_terminal_is_told_on_the_page_and_by_explain(bench: Bench) -> None:
    bench.hosted()
    question = (("accept this for files? [yes/no]", "no\n"),)
    assert bench.at_terminal("approve", "files", "--seen", answers=question).code == 1
    with asked(bench, "--seen") as page:
        assert "you declined exactly this before" in page.open().text
    assert "declined" in bench.run("explain", "files")[1]


def test_a_change_that_was_declined_stays_withheld_from_every_host_and_is_asked_about_by_nothing(
    bench: Bench,
) -> None:
    """Two hosts, one decision: nothing asks again unless a person does, and the pins are as they were."""
    assert "withheld tool find" in bench.hosted(calls="find")
    with asked(bench, "--seen") as page:
        page.press("no")
        page.settle()
        assert page.end()[0] == 1
    before = (bench.folder / "toolnotary.lock").read_bytes()
    for _ in range(2):
        read = bench.hosted(calls="find")
        assert "Blocked by toolnotary: tool find" in read.splitlines()[0]
        assert "--page" not in read.splitlines()[0]
        assert "review it" not in read
    assert "declined" in bench.run("explain", "files", "find")[1]
    assert (bench.folder / "toolnotary.lock").read_bytes() == before


def test_what_moved_since_it_was_shown_is_not_accepted_and_the_page_says_so(bench: Bench) -> None:
    with asked(bench, "--start") as page:
        page.open()
        assert main(["revoke", "files", "lose"]) == 0
        left = bench.files
        assert page.press("yes").code == 303
        told = page.settle().text
        assert "what you decided about the server changed after this was shown" in told
        assert "nothing was accepted" in told
        code, _, err = page.end()
    assert (code, "error: decided-meanwhile:" in err) == (1, True)
    assert bench.files == left


def test_what_the_host_was_shown_is_reviewed_on_the_page(bench: Bench) -> None:
    """For a server that only the host can reach: nothing is started, and no terminal is there."""
    bench.hosted()
    bench.shows(FIND, LOSE, record=str(bench.folder / "starts"))
    with asked(bench, "--seen") as page:
        shown = page.open().text
        assert "on a guarded connection, started as" in shown
        assert "Send it to me first." in shown
        page.press("yes")
        page.settle()
        assert page.end()[0] == 0
    assert not (bench.folder / "starts").exists()
    assert bench.json("check", bench.listing(POISONED, LOSE), "--server", "files")[0] == 0


def test_nobody_who_answers_in_time_grants_nothing(bench: Bench) -> None:
    before = bench.files
    with asked(bench, "--start", "--wait", "1") as page:
        page.open()
        code, out, err = page.end()
    assert (code, out) == (1, "")
    assert "error: no-answer: nobody answered on the review page within 1 seconds" in err
    assert bench.files == before


def test_an_interrupt_ends_the_page_and_records_nothing(bench: Bench) -> None:
    before = bench.files
    with asked(bench, "--start") as page:
        page.open()
        page.interrupt()
        code, _, err = page.end()
    assert (code, "Traceback" in err) == (130, False)
    assert bench.files == before


def test_the_result_is_a_document_for_programs_and_the_url_is_not_in_it(bench: Bench) -> None:
    with asked(bench, "--start", "--format", "json") as page:
        url = page.url
        page.press("yes")
        page.settle()
        code, out, err = page.end()
    document = json.loads(out)
    schema = json.loads((ROOT / "docs/schemas/approve.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert (code, document["accepted"]) == (0, True)
    assert url not in out
    assert url in err


def test_what_goes_wrong_before_a_question_opens_no_page(bench: Bench) -> None:
    bench.shows(FIND, LOSE)
    code, _, err = bench.run("approve", "files", "--start", *PAGE)
    assert (code, "error: nothing-to-approve:" in err, "http://" in err) == (1, True, False)


def test_what_goes_wrong_after_a_question_is_told_on_the_page(bench: Bench) -> None:
    bench.shows(FIND, LOSE)
    with asked(bench) as page:
        page.press("yes")
        told = page.settle().text
        assert "Nothing was accepted" in told
        assert "files shows what is pinned" in told
        assert page.end()[0] == 1


@pytest.mark.parametrize("option", [["--no-open"], ["--wait", "5"]])
def test_how_the_page_asks_is_said_with_the_page_alone(bench: Bench, option: list[str]) -> None:
    code, _, err = bench.run("approve", "files", "--start", *option)
    assert (code, "error: usage:" in err) == (2, True)


def test_the_change_set_that_was_wanted_is_the_only_one_that_is_asked_about(bench: Bench) -> None:
    code, _, err = bench.run("approve", "files", "--start", *PAGE, "--digest", "sha256:" + "0" * 64)
    assert (code, "error: change-set-differs:" in err, "http://" in err) == (1, True, False)


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for the browser")
def test_a_browser_is_opened_unless_none_is_wanted_or_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is waited for until it ends: the answer and the deadline do not wait for it."""
    browser, told = bench.folder / "browser", bench.folder / "told"
    # It would stay as long as the page is there, and so holds none of our pipes.
    browser.write_text(f'#!/bin/sh\necho "$1" >> {told}\nexec sleep 60 >&- 2>&-\n', encoding="utf-8")
    browser.chmod(0o755)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BROWSER", str(browser))
    with Page("approve", "files", "--start", "--page", directory=bench.folder) as page:
        page.press("no")
        page.settle()
        assert page.end()[0] == 1
        assert told.read_text(encoding="utf-8") == f"{page.url}\n"
    told.unlink()
    with asked(bench, "--start") as page:
        page.press("no")
        page.settle()
        page.end()
    assert not told.exists()
    monkeypatch.delenv("BROWSER")
    with Page("approve", "files", "--start", "--page", "--wait", "1", directory=bench.folder) as page:
        code, _, err = page.end()
    assert code == 1
    assert "no browser could be opened: open that URL yourself" in err


def test_without_a_terminal_and_without_a_page_the_ways_are_named(bench: Bench) -> None:
    """No prompt, no hang, nothing written: `bench.run` has no terminal."""
    before = bench.files
    code, out, err = bench.run("approve", "files", "--start")
    assert (code, out) == (1, "")
    assert "error: no-terminal:" in err
    for way in ("in a terminal", "--page", "toolnotary check --server files --start"):
        assert way in err
    assert bench.files == before


def test_a_page_that_was_opened_ahead_still_shows_what_is_asked_last(bench: Bench) -> None:
    with asked(bench) as page:
        page.press("yes")
        page.settle()
        assert page.ask(path=f"/{page.token}/1", headers=OPENS).text == page.open().text
