# SPDX-License-Identifier: Apache-2.0
"""`toolnotary explain` says what is known, and changes nothing; a model may run it."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest

from toolnotary_cli.main import main
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest, JsonObject
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.lockfile import Lockfile, Pin, SignedEntry, UnsignedEntry
from toolnotary_verifier.state import State
from toolnotary_verifier.surface import assemble
from toolnotary_verifier.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "explain.json").read_text(encoding="utf-8"))
LAUNCH: JsonObject = {"type": "stdio", "argv": ["serve"]}
SURFACE = assemble({Kind.TOOL: [{"name": "read"}, {"name": "send"}]})
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home() -> Path:
    return Path(os.environ["TOOLNOTARY_HOME"])


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


def test_the_last_recorded_look_is_told(home: Path, capsys: Captured) -> None:
    state = pin(home)
    state.append(
        history.inspected(
            *entry().place,
            outcome=Outcome.DRIFT,
            change_set=Digest.of(b""),
            counts={"changed": 1},
            note="a\x1b[31mb",
        )
    )
    seen = explained(capsys, "mine")["entries"][0]["lastSeen"]
    assert (seen["outcome"], seen["counts"]) == ("drift", {"changed": 1})
    assert main(["explain", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "1 changed" in shown
    assert "\x1b" not in shown


def test_a_signed_entry_whose_bundle_is_not_at_hand_is_held_back_and_says_why(
    home: Path, capsys: Captured
) -> None:
    digest = Digest.of(b"x")
    signed = SignedEntry(
        server="acme/x",
        launch=LAUNCH,
        recorded={},
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


def test_nothing_is_written_and_no_way_to_approve_is_named(home: Path, capsys: Captured) -> None:
    pin(home)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for arguments in (["mine"], ["mine", "read"], ["nobody"]):
        assert main(["explain", *arguments]) == 0
        assert "approve" not in capsys.readouterr().out
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
