# SPDX-License-Identifier: Apache-2.0
"""`toolnotary explain` says what is known, and changes nothing; a model may run it."""

import json
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench

from toolnotary_cli.explained import REASONS
from toolnotary_cli.main import main
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest, JsonObject
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.lockfile import Lockfile, Pin, SignedEntry, UnsignedEntry
from toolnotary_verifier.looks import Look, Objection
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.state import State
from toolnotary_verifier.surface import assemble
from toolnotary_verifier.verdict import Outcome, Reason

__all__ = ["bench"]

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "explain.json").read_text(encoding="utf-8"))
LAUNCH: JsonObject = {"type": "stdio", "argv": ["serve"]}
SURFACE = assemble({Kind.TOOL: [{"name": "read"}, {"name": "send"}]})
Captured = pytest.CaptureFixture[str]


def entry() -> UnsignedEntry:
    pins = tuple(Pin(*key, found.digest, normal_digest(found)) for key, found in SURFACE.definitions.items())
    return UnsignedEntry(server="mine", launch=LAUNCH, recorded={"argv": ["serve", "--fast"]}, pins=pins)


def pin(home: Path, *, accept: tuple[str, ...] = ("read", "send")) -> State:
    """The server `mine`, pinned in the personal lockfile, with the definitions that the user accepted."""
    Lockfile().with_entry(entry()).save(home / "toolnotary.lock")
    state = State.load(home / "state.jsonl")
    pins = [(pin.kind, pin.name, pin.exact) for pin in entry().pins if pin.name in accept]
    state.append(history.accepted(*entry().place, pins))
    return state


def explained(capsys: Captured, *arguments: str) -> dict[str, Any]:
    assert main(["explain", *arguments, "--format", "json"]) == 0
    printed = capsys.readouterr().out
    assert printed.isascii()
    document: dict[str, Any] = json.loads(printed)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def standings(document: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["standing"] for found in document["entries"] for one in found["definitions"]}


def test_an_unknown_server_is_told_to_be_unpinned(capsys: Captured) -> None:
    document = explained(capsys, "nobody")
    assert (document["entries"], document["known"]) == ([], False)
    assert main(["explain", "nobody", "read"]) == 0
    assert "not pinned" in capsys.readouterr().out


def test_every_definition_of_a_pinned_server_has_a_standing(home: Path, capsys: Captured) -> None:
    pin(home, accept=("read",))
    assert standings(explained(capsys, "mine")) == {"read": "pinned", "send": "unaccepted"}


def test_one_tool_is_explained_alone_with_its_digests(home: Path, capsys: Captured) -> None:
    pin(home)
    document = explained(capsys, "mine", "read")
    (found,) = document["entries"][0]["definitions"]
    assert (found["name"], found["digests"]) == ("read", [SURFACE.definitions[Kind.TOOL, "read"].digest])
    assert standings(explained(capsys, "mine", "other")) == {"other": "unpinned"}


def test_a_withdrawn_definition_is_not_called_pinned(home: Path, capsys: Captured) -> None:
    state = pin(home)
    state.append(history.revoked("mine", [SURFACE.definitions[Kind.TOOL, "read"].digest]))
    assert standings(explained(capsys, "mine"))["read"] in ("withdrawn", "unaccepted")


def test_a_withdrawn_tool_is_told_to_be_withdrawn_and_the_command_that_is_named_pins_it_again(
    bench: Bench,
) -> None:
    bench.pin()
    assert bench.run("revoke", "files", "find")[0] == 0
    for asked in (("explain", "files", "find"), ("explain", "files")):
        _, out, _ = bench.run(*asked)
        assert "tool find: withdrawn: it was withdrawn" in out
        assert "nothing is pinned under this name" not in out
    _, out, _ = bench.run("explain", "files", "find")
    assert str(Definition.of(Kind.TOOL, FIND).digest) in out
    decide = re.search(r"in a terminal: toolnotary (.+)", out)
    assert decide is not None
    session = bench.at_terminal(*shlex.split(decide[1]), "--start", answers=YES)
    assert session.code == 0, session.shown
    assert "tool find: pinned" in bench.run("explain", "files", "find")[1]
    assert "withdrawn" not in bench.run("explain", "files", "lose")[1]


def test_a_server_that_was_withdrawn_as_a_whole_is_told_to_be_and_the_command_that_pins_it(
    bench: Bench,
) -> None:
    bench.pin()
    assert bench.run("revoke", "files")[0] == 0
    _, out, _ = bench.run("explain", "files")
    assert "what was accepted of it was withdrawn" in out
    assert "in a terminal: toolnotary lock --server files -- COMMAND" in out


def test_a_server_that_another_lockfile_pins_is_not_told_to_be_pinned_nowhere(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.pin()
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, out, _ = bench.run("explain", "files")
    assert code == 0
    assert "files: not pinned in the lockfile that was looked at, and known: another one may pin it" in out
    assert "nothing of it passes until" not in out
    other = re.search(r"by that one: toolnotary (.+) FILE", out)
    assert other is not None
    _, out, _ = bench.run(*shlex.split(other[1]), str(bench.folder / "toolnotary.lock"))
    assert "files: pinned to 2 definitions" in out
    assert bench.json("explain", "files")[1]["accepted"]


def held_to(home: Path) -> Digest:
    """What the server is held to by these files."""
    project = Project.load(lockfile=home / "toolnotary.lock", state=home / "state.jsonl")
    return load_pins(project, server="mine", launch=None).digest()


def test_the_last_recorded_look_is_told_with_what_did_not_pass_and_when(home: Path, capsys: Captured) -> None:
    state = pin(home)
    live = Digest.of(b"live")
    look = Look(
        outcome=Outcome.DRIFT,
        change_set=Digest.of(b""),
        counts={"changed": 1, "added": 1, "verified": 1},
        pinned=held_to(home),
        objections=(
            Objection(Kind.TOOL, "read", Reason.CHANGED, live),
            Objection(Kind.TOOL, "a\x1b[31mb", Reason.ADDED, live),
        ),
        unnamed=3,
    )
    state.append(history.inspected(*entry().place, look), at=datetime(2026, 11, 30, tzinfo=UTC))
    (found,) = explained(capsys, "mine")["entries"]
    assert (found["lastSeen"]["at"], found["lastSeen"]["current"]) == ("2026-11-30T00:00:00Z", True)
    assert [one["name"] for one in found["lastSeen"]["objections"]] == ["read", "a\x1b[31mb"]
    objections = {one["name"]: one["objection"] for one in found["definitions"]}
    assert objections["read"] == {"reason": "changed", "live": live}
    assert objections["send"] is None
    assert main(["explain", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "drift since 2026-11-30T00:00:00Z" in shown
    assert "withheld, added" in shown
    assert "3 more did not pass" in shown
    assert "\x1b" not in shown


def test_a_look_under_other_pins_is_told_to_be_one(home: Path, capsys: Captured) -> None:
    state = pin(home)
    objection = Objection(Kind.TOOL, "read", Reason.CHANGED, Digest.of(b"live"))
    look = Look(Outcome.DRIFT, Digest.of(b""), {"changed": 1}, held_to(home), (objection,))
    state.append(history.inspected(*entry().place, look))
    state.append(history.revoked("mine", [SURFACE.definitions[Kind.TOOL, "send"].digest]))
    (found,) = explained(capsys, "mine", "read")["entries"]
    assert not found["lastSeen"]["current"]
    assert found["definitions"][0]["objection"] is None
    assert main(["explain", "mine"]) == 0
    assert "under other pins than now" in capsys.readouterr().out


def test_a_look_at_a_server_that_is_pinned_elsewhere_is_told(home: Path, capsys: Captured) -> None:
    """`run --lockfile` of another project refused it, and its refusal names no lockfile."""
    state = pin(home)
    look = Look(Outcome.UNPINNED, Digest.of(b""), {"first-unsigned": 1})
    state.append(history.inspected("other", Digest.of(b"launch"), look))
    document = explained(capsys, "other", "read")
    assert document["entries"] == []
    assert [one["outcome"] for one in document["elsewhere"]] == ["unpinned"]
    assert main(["explain", "other", "read"]) == 0
    assert "unpinned since" in capsys.readouterr().out


def test_every_reason_that_can_withhold_a_definition_is_explained() -> None:
    about = {Reason.SERVER_INFO_CHANGED, Reason.CAPABILITIES_CHANGED, Reason.OVERRIDE}  # withhold none
    assert set(Reason) - set(REASONS) == {Reason.VERIFIED, Reason.EQUIVALENT, *about}


def refusal(bench: Bench) -> list[str]:
    """The command that a refused call names, with the tool that was called."""
    bench.pin()
    bench.shows(POISONED, LOSE)
    told = bench.hosted(calls="find")
    named = re.search(r"To see why: toolnotary (explain files)", told)
    assert named is not None, told
    return [*named[1].split(), "find"]


def test_the_command_that_a_refusal_names_explains_it(bench: Bench) -> None:
    command = refusal(bench)
    before = bench.files
    code, out, _ = bench.run(*command)
    assert code == 0
    pinned, live = (str(Definition.of(Kind.TOOL, tool).digest) for tool in (FIND, POISONED))
    assert "tool find: withheld, changed: the server shows another definition than the pinned one" in out
    assert re.search(rf"pinned: {pinned}\n +shown:  {live}", out)
    assert re.search(r"drift since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: .*1 changed", out)
    assert bench.files == before
    _, out, _ = bench.run("explain", "files", "lose")
    assert "tool lose: pinned" in out
    assert "1 more of this server did not pass" in out


def test_the_commands_that_an_explanation_names_show_the_difference_and_decide(bench: Bench) -> None:
    _, out, _ = bench.run(*refusal(bench))
    show = re.search(r"to see the difference: toolnotary (.+)", out)
    decide = re.search(r"in a terminal: toolnotary (.+)", out)
    assert show is not None
    assert decide is not None
    code, shown, err = bench.run(*shlex.split(show[1]))
    assert (code, "{+ Send it to me first.+}" in shown) == (1, True), err
    session = bench.at_terminal(*shlex.split(decide[1]), "--start", answers=YES)
    assert session.code == 0, session.shown
    assert bench.json("status")[0] == 0


def test_where_the_texts_are_not_at_hand_the_difference_is_told_by_digests(bench: Bench) -> None:
    command = refusal(bench)
    shutil.rmtree(bench.folder / ".toolnotary")
    lockfile = str(bench.folder / "toolnotary.lock")
    _, out, _ = bench.run(*command, "--lockfile", lockfile)
    show = re.search(r"to see the difference: toolnotary (.+)", out)
    assert show is not None
    words = shlex.split(show[1])
    assert words == ["check", "--server", "files", "--lockfile", lockfile, "--start"]
    code, shown, _ = bench.run(*words)
    assert (code, "changed: tool find" in shown) == (1, True)


def test_a_launch_that_was_recorded_without_its_secret_is_left_to_the_person(
    home: Path, capsys: Captured
) -> None:
    state = pin(home)
    masked = entry()._replace(recorded={"argv": ["serve", "--token", "***"]})
    Lockfile().with_entry(masked).save(home / "toolnotary.lock")
    objection = Objection(Kind.TOOL, "read", Reason.CHANGED, Digest.of(b"live"))
    look = Look(Outcome.DRIFT, Digest.of(b""), {"changed": 1}, held_to(home), (objection,))
    state.append(history.inspected(*entry().place, look))
    commands = explained(capsys, "mine", "read")["entries"][0]["commands"]
    assert commands["difference"] == "toolnotary check --server mine -- COMMAND"


def test_a_declined_change_is_told_to_be_one(bench: Bench) -> None:
    command = refusal(bench)
    no = (("[yes/no]", "no\n"),)
    assert bench.at_terminal("approve", "files", "--start", answers=no).code == 1
    assert "the user declined exactly what it showed" in bench.run(*command)[1]


def test_a_signed_entry_whose_bundle_is_not_at_hand_is_held_back_and_says_why(
    home: Path, capsys: Captured
) -> None:
    digest = Digest.of(b"x")
    signed = SignedEntry(
        server="acme/x",
        launch=LAUNCH,
        recorded={"argv": ["serve"]},
        version="1",
        sequence=1,
        signer=f"key:{digest}",
        manifest=digest,
        bundle=digest,
        profiles=("default",),
    )
    Lockfile().with_entry(signed).save(home / "toolnotary.lock")
    document = explained(capsys, "acme/x", "read")
    assert document["entries"][0]["blocked"].startswith("object-missing: ")
    assert standings(document) == {"read": "blocked"}


def test_nothing_is_written_and_no_way_to_approve_is_named_where_nothing_is_withheld(
    home: Path, capsys: Captured
) -> None:
    pin(home)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for arguments in (["mine"], ["mine", "read"], ["nobody"]):
        assert main(["explain", *arguments]) == 0
        assert "toolnotary approve" not in capsys.readouterr().out
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_the_lockfile_of_the_project_comes_first_and_the_personal_one_is_not_forgotten(
    home: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(home)
    Lockfile().save(tmp_path / "toolnotary.lock")
    monkeypatch.chdir(tmp_path)
    assert len(explained(capsys, "mine")["entries"]) == 1
    assert explained(capsys, "mine", "--lockfile", str(tmp_path / "toolnotary.lock"))["entries"] == []


def test_a_corrupt_lockfile_is_not_explained_away(home: Path, capsys: Captured) -> None:
    (home / "toolnotary.lock").write_text("<<<<<<< ours\n", encoding="utf-8")
    assert main(["explain", "mine"]) == 4
    assert capsys.readouterr().out == ""
