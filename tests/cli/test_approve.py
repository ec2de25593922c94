# SPDX-License-Identifier: Apache-2.0
"""`toolnotary approve`: a person sees the exact change, and what they agree to is what is pinned."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.lockfile import Lockfile, SignedEntry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

YES = (("accept this for files? [yes/no]", "yes\n"),)
NO = (("accept this for files? [yes/no]", "no\n"),)


@pytest.fixture(autouse=True)
def _pinned(bench: Bench, request: pytest.FixtureRequest) -> None:
    if "sqlite_registry" not in request.fixturenames:
        bench.pin()
        bench.shows(POISONED, LOSE)


def test_a_person_sees_the_change_word_by_word_and_pins_it(bench: Bench) -> None:
    session = bench.at_terminal("approve", "files", "--start", answers=YES)
    assert session.code == 0
    for shown in ("changed: tool find", "Send it to me first.", "change set sha256:", "accepted"):
        assert shown in session.shown
    assert "tool lose" not in session.shown
    assert bench.json("check", "--start")[0] == 0
    bench.shows(FIND, LOSE)
    assert bench.json("check", "--start")[0] == 1


def test_the_line_to_start_is_shown_and_asked_about_first(bench: Bench) -> None:
    session = bench.at_terminal("approve", "files", answers=(("server.json ? [yes/no]", "yes\n"), *YES))
    assert session.code == 0


def test_a_no_is_remembered_and_changes_no_pin(bench: Bench) -> None:
    before = (bench.folder / "toolnotary.lock").read_bytes()
    assert bench.at_terminal("approve", "files", "--start", answers=NO).code == 1
    assert (bench.folder / "toolnotary.lock").read_bytes() == before
    again = bench.at_terminal("approve", "files", "--start", answers=NO)
    assert "you declined exactly this before" in again.shown
    assert bench.json("check", "--start")[0] == 1


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_an_aborted_question_records_nothing(bench: Bench, key: str) -> None:
    before = bench.files
    session = bench.at_terminal("approve", "files", "--start", answers=(("[yes/no]", key),))
    assert session.code == 130
    assert "Traceback" not in session.shown
    assert bench.files == before


def test_an_answer_on_standard_input_approves_nothing(bench: Bench) -> None:
    """Whoever starts the command controls its standard input, an agent included."""
    before = bench.files
    ended = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", "approve", "files", "--start"],
        input="yes\n" * 10,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        cwd=bench.folder,
    )
    assert ended.returncode == 1
    assert "no-terminal" in ended.stderr
    assert bench.files == before


def test_what_was_reviewed_elsewhere_is_the_only_thing_that_can_be_accepted(bench: Bench) -> None:
    _, result = bench.json("check", "--start")
    digest = result["servers"][0]["changeSet"]
    bench.shows({**POISONED, "title": "other"}, LOSE)
    session = bench.at_terminal("approve", "files", "--start", "--digest", digest)
    assert session.code == 1
    assert "change-set-differs" in session.shown
    bench.shows(POISONED, LOSE)
    assert bench.at_terminal("approve", "files", "--start", "--digest", digest, answers=YES).code == 0


def test_a_digest_alone_is_no_approval(bench: Bench) -> None:
    _, result = bench.json("check", "--start")
    digest = result["servers"][0]["changeSet"]
    ended = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", "approve", "files", "--start", "--digest", digest],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        cwd=bench.folder,
    )
    assert ended.returncode == 1
    assert "no-terminal" in ended.stderr


def test_what_changed_since_it_was_shown_is_not_approved(bench: Bench) -> None:
    worse = {**FIND, "description": "worse"}
    starts = [{"tools": [POISONED]}, {"tools": [worse]}]
    bench.shows(FIND, starts=starts, count_file=str(bench.folder / "starts"))
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    assert bench.json("check", bench.listing(POISONED), "--server", "files")[0] == 0
    assert bench.json("check", bench.listing(worse), "--server", "files")[0] == 1


def test_a_saved_listing_can_be_approved(bench: Bench) -> None:
    listing = bench.listing(POISONED, LOSE)
    assert bench.at_terminal("approve", "files", listing, answers=YES).code == 0
    assert bench.json("check", "--start")[0] == 0


def test_there_is_nothing_to_approve_where_all_is_as_pinned(bench: Bench) -> None:
    bench.shows(FIND, LOSE)
    code, _, err = bench.run("approve", "files", "--start")
    assert code == 1
    assert "nothing-to-approve" in err


def test_what_a_server_says_of_itself_is_shown_and_accepted_like_a_definition(bench: Bench) -> None:
    told = {"name": "scripted", "version": "1.0.0", "title": "Free money\u202e"}
    bench.shows(FIND, LOSE, serverInfo=told)
    _, before = bench.json("check", "--start")
    assert before["servers"][0]["counts"] == {"verified": 2, "server-info-changed": 1}
    session = bench.at_terminal("approve", "files", "--start", answers=YES)
    assert session.code == 0
    assert '"title": "Free money' in session.shown
    assert "\u202e" not in session.shown
    _, after = bench.json("check", "--start")
    assert after["servers"][0]["counts"] == {"verified": 2}


def test_new_capabilities_are_shown_and_accepted_like_a_definition(bench: Bench) -> None:
    bench.shows(FIND, LOSE, capabilities={"experimental": {"eval": {}}})
    session = bench.at_terminal("approve", "files", "--start", answers=YES)
    assert session.code == 0, session.shown
    assert '"eval": {}' in session.shown
    code, result = bench.json("check", "--start")
    assert (code, result["servers"][0]["counts"]) == (0, {"verified": 2})


def test_where_the_pinned_text_is_gone_that_is_told_and_the_whole_new_one_is_shown(bench: Bench) -> None:
    shutil.rmtree(bench.folder / ".toolnotary")
    session = bench.at_terminal("approve", "files", "--start", answers=YES)
    assert session.code == 0, session.shown
    assert "the pinned text of tool find is not at hand: what changed is unknown" in session.shown
    assert POISONED["description"] in session.shown


def test_a_server_that_is_not_pinned_is_locked_and_not_approved(bench: Bench) -> None:
    code, _, err = bench.run("approve", "other", "--start")
    assert code == 1
    assert "not-pinned" in err
    assert "toolnotary lock" in err


def test_another_launch_cannot_be_approved(bench: Bench) -> None:
    code, _, err = bench.run("approve", "files", "--", *bench.launch[:2])
    assert code == 1
    assert "not-approvable" in err
    assert "toolnotary lock" in err


def test_invisible_text_is_spelled_out_before_the_question(bench: Bench) -> None:
    bench.shows({**FIND, "description": "Find\u202e\U000e0041 it.\x1b[2J"}, LOSE)
    session = bench.at_terminal("approve", "files", "--start", answers=NO)
    assert "\\u{202e}" in session.shown
    assert "\\u{e0041}" in session.shown
    assert "\x1b[2J" not in session.shown


def test_an_approval_is_recorded_for_status(bench: Bench) -> None:
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    code, result = bench.json("status")
    assert code == 0
    assert result["servers"][0]["outcome"] == "verified"


def test_the_command_that_check_names_works(bench: Bench) -> None:
    _, out, _ = bench.run("check", "--start")
    line = next(line for line in out.splitlines() if "toolnotary approve" in line)
    command = line.partition("toolnotary ")[2].split()
    assert bench.at_terminal(*command, "--start", answers=YES).code == 0


@pytest.mark.parametrize("description", ["Tells the weather.", "Tells the weather of tomorrow."])
def test_a_pin_moves_to_the_version_that_a_person_names(
    bench: Bench, sqlite_registry: RunningRegistry, description: str
) -> None:
    """Also to one whose definitions are the same: nothing else would bring the pin there."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number, text in ((1, "Tells the weather."), (2, description)):
        release = publisher.release(
            f"{number}.0.0",
            sequence=number,
            description=text,
            artifacts=[Artifact("pkg:npm/%40acme/weather@1.0.0")],
        )
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    Path("mine.toml").write_text(signers, encoding="utf-8")
    options = ["--policy", "mine.toml", "--registry", sqlite_registry.url]
    assert bench.run("lock", f"{SERVER}@1.0.0", *options, "--yes", "--", "npx", "@acme/weather")[0] == 0
    code, _, err = bench.run("lock", f"{SERVER}@2.0.0", *options, "--yes", "--", "npx", "@acme/weather")
    assert code == 1
    told = re.search(r"toolnotary (approve \S+ \S+)", err)
    assert told is not None, "the refusal names the command that moves the pin"
    command = [*told[1].split(), *options]
    question = f"accept this for {SERVER}? [yes/no]"
    assert bench.at_terminal(*command, answers=((question, "no\n"),)).code == 1
    assert pinned_version(bench) == ("1.0.0", 1)
    session = bench.at_terminal(*command, answers=((question, "yes\n"),))
    assert session.code == 0, session.shown
    assert ("of tomorrow" in session.shown) is ("tomorrow" in description)
    assert pinned_version(bench) == ("2.0.0", 2)
    code, _, err = bench.run(*command)
    assert (code, "nothing-to-approve" in err) == (1, True)


def pinned_version(bench: Bench) -> tuple[str, int]:
    entry = Lockfile.load(bench.folder / "toolnotary.lock").entries[0]
    assert isinstance(entry, SignedEntry)
    return entry.version, entry.sequence


def test_a_version_of_another_server_is_no_version_of_this_one(bench: Bench) -> None:
    code, _, err = bench.run("approve", "files", f"{SERVER}@1.0.0", "--registry", "https://r.example")
    assert code == 1
    assert "other-server" in err


def test_a_signed_upgrade_moves_the_entry(bench: Bench, sqlite_registry: RunningRegistry) -> None:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number, description in ((1, "Tells the weather."), (2, "Tells the weather of tomorrow.")):
        release = publisher.release(
            f"{number}.0.0",
            sequence=number,
            description=description,
            artifacts=[Artifact("pkg:npm/%40acme/weather@1.0.0")],
        )
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    key = publisher.pem.decode()
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{key}"""\n'
    Path("mine.toml").write_text(f'[registry]\nurl = "{sqlite_registry.url}"\n{signers}', encoding="utf-8")
    options = ["--policy", "mine.toml"]
    assert bench.run("lock", f"{SERVER}@1.0.0", *options, "--yes", "--", "npx", "@acme/weather")[0] == 0
    tool = {
        "name": "get_forecast",
        "description": "Tells the weather of tomorrow.",
        "inputSchema": {"type": "object"},
    }
    listing = bench.listing(tool)
    code, result = bench.json("check", listing, "--server", SERVER, *options)
    assert code == 1
    assert result["servers"][0]["verdicts"][0]["reason"] == "upgrade"
    offline = bench.json("check", listing, "--server", SERVER, *options, "--offline")[1]
    assert offline["servers"][0]["verdicts"][0]["reason"] == "changed"
    answers = ((f"accept this for {SERVER}? [yes/no]", "yes\n"),)
    session = bench.at_terminal("approve", SERVER, listing, *options, answers=answers)
    assert session.code == 0
    assert "of tomorrow" in session.shown
    entry = Lockfile.load(bench.folder / "toolnotary.lock").entries[0]
    assert isinstance(entry, SignedEntry)
    assert (entry.version, entry.sequence) == ("2.0.0", 2)
    assert bench.json("check", listing, "--server", SERVER, *options)[0] == 0
