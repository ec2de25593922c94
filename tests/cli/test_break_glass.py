# SPDX-License-Identifier: Apache-2.0
"""`toolnotary break-glass`: a person lets exactly what they were shown pass for a while, and no pin moves."""

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from audit_lines import audit_lines, events
from conftest import ROOT
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, Json, bench

from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.overrides import moment
from toolnotary_verifier.state import State

__all__ = ["bench"]

NO = (("[yes/no]", "no\n"),)
GLASS = ("break-glass", "files", "--reason", "index is down", "--start")


@pytest.fixture(autouse=True)
def _pinned(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)


def home() -> Path:
    return Path(os.environ["TOOLNOTARY_HOME"])


def policy(text: str) -> None:
    (home() / "toolnotary.toml").write_text(text, encoding="utf-8")


def checked(bench: Bench, *tools: Json) -> dict[str, str]:
    """What is decided about a server that shows these tools now."""
    bench.shows(*tools)
    verdicts = bench.json("check", "--start")[1]["servers"][0]["verdicts"]
    return {one["name"]: one["reason"] for one in verdicts}


def test_exactly_what_was_shown_passes_and_no_pin_moves(bench: Bench) -> None:
    lockfile = (bench.folder / "toolnotary.lock").read_bytes()
    session = bench.at_terminal(*GLASS, answers=YES)
    assert session.code == 0, session.shown
    for shown in (
        "Send it to me first.",
        "would pass: tool find (changed) sha256:",
        "then it is withheld again, and no pin has moved",
        "reason: index is down",
        "let 1 definition of files pass until 20",
        "OVERRIDE\x1b[0m: tool find of files passes until 20",
    ):
        assert shown in session.shown
    assert "tool lose" not in session.shown
    assert checked(bench, POISONED, LOSE) == {"find": "override", "lose": "verified"}
    assert bench.json("check", "--start")[0] == 1, "it is still drift"
    assert checked(bench, {**FIND, "description": "worse"}, LOSE)["find"] == "changed"
    assert (bench.folder / "toolnotary.lock").read_bytes() == lockfile


def test_it_is_taken_down_by_whom_why_and_until_when(bench: Bench) -> None:
    assert bench.at_terminal(*GLASS, "--for", "30m", answers=YES).code == 0
    line = audit_lines()[-1]
    assert (line["event"], line["by"], line["reason"]) == ("broke-glass", "user", "changed")
    assert (line["name"], line["comment"]) == ("find", "index is down")
    assert line["live"] == Definition.of(Kind.TOOL, POISONED).digest
    assert line["pinned"] == Definition.of(Kind.TOOL, FIND).digest
    until = datetime.strptime(line["until"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta(minutes=25) < until - datetime.now(UTC) <= timedelta(minutes=30)


def test_what_passes_is_told_loudly_wherever_states_are_told(bench: Bench) -> None:
    assert bench.at_terminal(*GLASS, answers=YES).code == 0
    said = bench.hosted(calls="find")
    assert "Blocked" not in said
    assert "no pin lets this pass: tool find (override)" in said
    assert "index is down" in said
    code, out, _ = bench.run("status")
    assert (code, "OVERRIDE tool find passes by break-glass until 20" in out) == (1, True)
    (server,) = bench.json("status")[1]["servers"]
    assert [(one["name"], one["reason"]) for one in server["overrides"]] == [("find", "index is down")]
    allowed = [line for line in audit_lines() if line["event"] == "allowed"]
    assert [(line["name"], line["by"], line["reason"]) for line in allowed] == [
        ("find", "break-glass", "override")
    ]


def test_a_no_changes_nothing(bench: Bench) -> None:
    before = bench.files
    assert bench.at_terminal(*GLASS, answers=NO).code == 1
    assert bench.at_terminal("break-glass", "files", "--reason", "x", answers=NO).code == 1
    assert bench.at_terminal(*GLASS, answers=(("[yes/no]", "\x03"),)).code == 130
    assert bench.files == before


def test_an_answer_on_standard_input_is_none(bench: Bench) -> None:
    before = bench.files
    ended = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *GLASS],
        input="yes\n" * 10,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        cwd=bench.folder,
    )
    assert (ended.returncode, "no-terminal" in ended.stderr) == (1, True)
    assert bench.files == before


@pytest.mark.parametrize("more", [(), ("--start",)])
def test_without_a_terminal_no_way_is_named_that_there_is_not(bench: Bench, more: tuple[str, ...]) -> None:
    err = bench.run("break-glass", "files", "--reason", "x", *more)[2]
    assert "error: no-terminal: " in err
    assert "to see the change without one: toolnotary check --server files --start" in err
    assert "--page" not in err, "it has none"


def test_only_the_named_definitions_pass(bench: Bench) -> None:
    bench.shows(POISONED, {**LOSE, "description": "other"})
    session = bench.at_terminal(*GLASS, "--tool", "find", answers=YES)
    assert "stays withheld: tool lose (changed)" in session.shown
    assert checked(bench, POISONED, {**LOSE, "description": "other"}) == {
        "find": "override",
        "lose": "changed",
    }
    assert "nothing-withheld" in bench.run(*GLASS, "--tool", "none")[2]


def test_what_a_guarded_connection_was_shown_passes_without_a_start(bench: Bench) -> None:
    assert "withheld" in bench.hosted()
    bench.shows(FIND, LOSE, record=str(bench.folder / "starts"))
    session = bench.at_terminal("break-glass", "files", "--reason", "down", "--seen", answers=YES)
    assert session.code == 0, session.shown
    assert not (bench.folder / "starts").exists()
    assert checked(bench, POISONED, LOSE)["find"] == "override"


def test_the_command_behind_the_dashes_is_looked_at(bench: Bench) -> None:
    words = ("break-glass", "files", "--reason", "down", "--", *bench.launch)
    assert bench.at_terminal(*words, answers=YES).code == 0
    other = ("break-glass", "files", "--reason", "down", "--", *bench.launch[:2])
    code, _, err = bench.run(*other)
    assert (code, "not-overridable: files: what is withheld stays so (identity)" in err) == (1, True)


def test_what_is_not_what_it_claims_to_be_stays_withheld(bench: Bench) -> None:
    bench.shows(POISONED, {**FIND, "description": "twice"})
    assert "stays so (ambiguous)" in bench.run(*GLASS)[2]
    deep: Json = {}
    for _ in range(70):
        deep = {"a": deep}
    bench.shows({**FIND, "x": deep})
    assert "stays so (invalid)" in bench.run(*GLASS)[2]
    bench.shows(POISONED, LOSE)
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    assert bench.run("revoke", "files", "find")[0] == 0
    assert "stays so (revoked)" in bench.run(*GLASS)[2]
    code, _, err = bench.run("break-glass", "others", "--reason", "x")
    assert (code, "error: not-pinned: " in err) == (1, True)


def test_where_all_is_as_pinned_there_is_nothing_to_let_pass(bench: Bench) -> None:
    bench.shows(FIND, LOSE)
    assert "error: nothing-withheld: " in bench.run(*GLASS)[2]


def test_a_reason_is_needed(bench: Bench) -> None:
    assert bench.run("break-glass", "files", "--start")[0] == 2
    for reason in ("  ", "x" * 301):
        code, _, err = bench.run("break-glass", "files", "--start", "--reason", reason)
        assert (code, "error: override-reason: " in err) == (2, True)


@pytest.mark.parametrize("given", ["0s", "25h", "90001s", "1", "1d", "-1h", "1.5h", "1h30m"])
def test_a_time_that_is_none_or_too_long_is_refused(bench: Bench, given: str) -> None:
    code, _, err = bench.run(*GLASS, "--for", given)
    assert (code, "error: override-time: " in err) == (2, True)


@pytest.mark.parametrize("where", ["personal", "project"])
def test_a_policy_forbids_it(bench: Bench, where: str) -> None:
    assert bench.at_terminal(*GLASS, answers=YES).code == 0
    if where == "personal":
        policy("break-glass = false\n")
    else:
        Path("toolnotary.toml").write_text("break-glass = false\n", encoding="utf-8")
    code, _, err = bench.run(*GLASS)
    assert (code, "error: override-forbidden: " in err) == (1, True)
    assert checked(bench, POISONED, LOSE)["find"] == "changed", "what was let pass does not any more"
    assert not bench.json("status")[1]["servers"][0]["overrides"]


def test_a_policy_bounds_the_time_of_what_passes_already(bench: Bench) -> None:
    event = recorded(bench, ago=timedelta(minutes=10), lasts=timedelta(hours=2))
    assert checked(bench, POISONED, LOSE)["find"] == "override"
    policy("[limits]\noverride-seconds = 300\n")
    assert checked(bench, POISONED, LOSE)["find"] == "changed"
    assert event["until"] > moment(datetime.now(UTC))


def test_it_is_not_to_be_had_without_its_record(bench: Bench) -> None:
    policy('[audit]\nfile = "toolnotary.toml/none"\n')
    before = bench.files
    code, _, err = bench.run(*GLASS)
    assert (code, "error: audit-not-writable: " in err) == (2, True)
    assert bench.files == before


def test_what_passes_waits_for_an_approval_as_before(bench: Bench) -> None:
    assert bench.at_terminal(*GLASS, answers=YES).code == 0
    session = bench.at_terminal("approve", "files", "--start", answers=YES)
    assert session.code == 0, session.shown
    assert "changed: tool find" in session.shown
    assert checked(bench, POISONED, LOSE) == {"find": "verified", "lose": "verified"}
    assert not bench.json("status")[1]["servers"][0]["overrides"]


def test_it_is_ended_early_with_or_without_the_pins(bench: Bench) -> None:
    assert "error: no-override: " in bench.run("revoke", "files", "--override")[2]
    assert bench.at_terminal(*GLASS, answers=YES).code == 0
    code, result = bench.json("revoke", "files", "--override")
    assert (code, result["override"]) == (0, True)
    assert checked(bench, POISONED, LOSE) == {"find": "changed", "lose": "verified"}
    assert events()[-1] == "ended"
    assert bench.at_terminal(*GLASS, answers=YES).code == 0
    assert bench.json("revoke", "files", "find")[0] == 0
    assert checked(bench, POISONED, LOSE) == {"find": "revoked", "lose": "verified"}
    assert "stays so (revoked)" in bench.run(*GLASS)[2], "what was withdrawn is not let pass again"


def recorded(bench: Bench, *, ago: timedelta, lasts: timedelta) -> dict[str, Json]:
    """An override of the poisoned tool, recorded some time ago."""
    state = State.load(home() / "state.jsonl")
    launch = next(place[1] for place in state.history.pins)
    rows = [(Kind.TOOL, "find", Definition.of(Kind.TOOL, POISONED).digest)]
    since = datetime.now(UTC) - ago
    event = history.overridden("files", Digest(launch), rows, until=moment(since + lasts), reason="down")
    state.append(event, at=since)
    return event


def test_what_is_over_does_not_pass_and_is_not_told(bench: Bench) -> None:
    recorded(bench, ago=timedelta(hours=1), lasts=timedelta(minutes=59))
    assert checked(bench, POISONED, LOSE)["find"] == "changed"
    assert not bench.json("status")[1]["servers"][0]["overrides"]


def test_a_clock_that_was_put_back_lets_nothing_pass(bench: Bench) -> None:
    recorded(bench, ago=timedelta(minutes=1), lasts=timedelta(hours=1))
    assert checked(bench, POISONED, LOSE)["find"] == "override"
    later = datetime.now(UTC) + timedelta(minutes=30)
    State.load(home() / "state.jsonl").append(history.declined("files", Digest.of(b"x")), at=later)
    assert checked(bench, POISONED, LOSE)["find"] == "changed"
    code, _, err = bench.run(*GLASS)
    assert (code, "error: clock-behind: " in err) == (1, True)


def test_a_clock_that_was_put_back_while_nothing_was_recorded_is_told_by_the_files(bench: Bench) -> None:
    recorded(bench, ago=timedelta(minutes=1), lasts=timedelta(hours=1))
    assert checked(bench, POISONED, LOSE)["find"] == "override"
    trail = home() / "audit.jsonl"
    trail.touch(mode=0o600)
    for minutes, verdict in ((0.5, "override"), (30, "changed")):
        later = (datetime.now(UTC) + timedelta(minutes=minutes)).timestamp()
        os.utime(trail, (later, later))
        assert checked(bench, POISONED, LOSE)["find"] == verdict
    code, _, err = bench.run(*GLASS)
    assert (code, "error: clock-behind: " in err) == (1, True)


def test_the_command_that_is_told_ends_it(bench: Bench) -> None:
    session = bench.at_terminal(*GLASS, answers=YES)
    told = re.search(r"to end it before: toolnotary (.+?)\r?\n", session.shown)
    assert told is not None
    assert bench.run(*shlex.split(told[1]))[0] == 0
    assert checked(bench, POISONED, LOSE)["find"] == "changed"


def test_a_program_reads_what_passes_and_until_when(bench: Bench) -> None:
    session = bench.at_terminal(*GLASS, "--format", "json", answers=YES)
    document = json.loads(session.shown[session.shown.index("{\n") :])
    schema = json.loads((ROOT / "docs" / "schemas" / "break-glass.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    (one,) = document["definitions"]
    assert (one["name"], one["reason"], one["live"]) == ("find", "changed", digest_of(POISONED))
    assert document["until"].endswith("Z")
    declined = bench.at_terminal(*GLASS, "--format", "json", answers=NO)
    jsonschema.validate(json.loads(declined.shown[declined.shown.index("{\n") :]), schema)


def digest_of(tool: Json) -> str:
    return Definition.of(Kind.TOOL, tool).digest
