# SPDX-License-Identifier: Apache-2.0
"""What a guarded connection showed is kept for a review: exactly, little of it, and for its owner alone."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.decide import decide
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.gate import Side
from toolnotary_verifier.guard import Guard, Settings
from toolnotary_verifier.limits import DEFAULT_LIMITS
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.sightings import MOST, Sighting, Sightings
from toolnotary_verifier.surface import Surface, assemble
from toolnotary_verifier.verdict import Inspection

Json = Any
LAUNCH, OTHER = Digest.of(b"launch"), Digest.of(b"another launch")
TOOL: Json = {"name": "find", "description": "Find.", "inputSchema": {"type": "object"}}


def seen(surface: Surface, *, launch: Digest = LAUNCH, at: str = "", server: str = "files") -> Sighting:
    return Sighting(server, launch, "npx files", at, Digest.of(b"change set"), surface)


def change_set(surface: Surface) -> Digest:
    return decide("files", surface, Pins(), policy=Policy()).change_set


def test_what_kind_of_connection_it_was_is_kept_with_it(tmp_path: Path) -> None:
    folder = Sightings(tmp_path)
    folder.keep(seen(listing(TOOL))._replace(inspection=Inspection.PARSED))
    read = folder.last("files", LAUNCH)
    assert read is not None
    assert read.inspection is Inspection.PARSED


def listing(*tools: Json) -> Surface:
    return assemble({Kind.TOOL: tools})


def test_what_is_read_again_is_judged_as_what_was_seen(tmp_path: Path) -> None:
    """Definitions that are none and names that stand twice included: the change set is the same."""
    surface = assemble(
        {
            Kind.TOOL: [TOOL, {"name": "twice", "a": 1}, {"name": "twice", "a": 2}, {"no": "name"}, 7],
            Kind.PROMPT: [{"name": "p", "\u202e": 9223372036854775807}],
            Kind.RESOURCE: [],
        },
        instructions="Be good.\u200b",
        protocol_version="2025-06-18",
        server_info={"name": "files", "version": "1"},
        capabilities={"tools": {}},
    )
    assert Sightings(tmp_path).keep(seen(surface, at="2026-01-02T03:04:05Z"))
    read = Sightings(tmp_path).last("files", LAUNCH)
    assert read is not None
    assert (read.server, read.launch, read.line, read.at) == (
        "files",
        LAUNCH,
        "npx files",
        "2026-01-02T03:04:05Z",
    )
    assert read.surface == surface._replace(notes=read.surface.notes)
    assert change_set(read.surface) == change_set(surface)


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=6))
def test_any_listing_is_kept_exactly_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, tools: list[tuple[str, str]]
) -> None:
    folder = Sightings(tmp_path_factory.mktemp("seen"))
    surface = listing(*({"name": name, "description": text} for name, text in tools))
    is_kept = folder.keep(seen(surface))
    read = folder.last("files", LAUNCH)
    assert is_kept is (read is not None)
    assert read is None or change_set(read.surface) == change_set(surface)


def test_what_was_seen_under_another_launch_or_of_another_server_is_not_offered(tmp_path: Path) -> None:
    folder = Sightings(tmp_path)
    folder.keep(seen(listing(TOOL), launch=OTHER))
    folder.keep(seen(listing(TOOL), server="other"))
    assert folder.last("files", LAUNCH) is None
    folder.keep(seen(listing(TOOL)))
    assert folder.last("files", LAUNCH) is not None
    assert folder.last("files", OTHER) is not None, "the same surface under two launches is kept twice"


def test_the_newest_few_of_a_server_are_kept(tmp_path: Path) -> None:
    folder = Sightings(tmp_path)
    for number in range(MOST + 3):
        tool = {**TOOL, "description": str(number)}
        folder.keep(seen(listing(tool), at=f"2026-01-01T00:00:{number:02}Z"))
        assert len(list(tmp_path.rglob("*.json"))) <= MOST
    read = folder.last("files", LAUNCH)
    assert read is not None
    assert read.surface.of_kind(Kind.TOOL)[0].value == {**TOOL, "description": str(MOST + 2)}


def test_the_same_again_is_kept_once_with_the_time_at_which_it_was_seen_last(tmp_path: Path) -> None:
    folder = Sightings(tmp_path)
    folder.keep(seen(listing(TOOL), at="2026-01-01T00:00:00Z"))
    folder.keep(seen(listing(TOOL), at="2026-02-02T00:00:00Z"))
    assert len(list(tmp_path.rglob("*.json"))) == 1
    read = folder.last("files", LAUNCH)
    assert read is not None
    assert read.at == "2026-02-02T00:00:00Z"


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    limits = DEFAULT_LIMITS._replace(listing_bytes=1000)
    assert not Sightings(tmp_path, limits=limits).keep(seen(listing({**TOOL, "description": "x" * 1000})))
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(("most", "is_kept"), [(1024, False), (4096, True)])
def test_what_a_guard_keeps_is_bounded_by_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_kept: bool
) -> None:
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    (tmp_path / "toolnotary.toml").write_text(f"[limits]\nlisting-bytes = {most}\n", encoding="utf-8")
    told: list[str] = []
    launch = ["npx", "-y", "@acme/files"]
    guard = Guard.of_command(launch, Settings(server="files"), log=lambda name: Log(name, write=told.append))
    gate = guard.gate()
    asked = gate.receive(Side.HOST, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n', 0.0)
    assert asked is not None
    own, shown = json.loads(asked.to_server[0])["id"], {**TOOL, "description": "x" * 800}
    answer = json.dumps({"jsonrpc": "2.0", "id": own, "result": {"tools": [shown]}})
    assert len(answer) < most
    gate.receive(Side.SERVER, answer.encode() + b"\n", 0.0)
    guard.record()
    assert len(list(tmp_path.rglob("seen/*/*.json"))) == is_kept
    assert any("too large to be kept" in line for line in told) is not is_kept


@pytest.mark.skipif(sys.platform == "win32", reason="modes are a Unix matter")
def test_what_was_seen_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Sightings(tmp_path / "seen").keep(seen(listing(TOOL)))
    finally:
        os.umask(before)
    modes = {path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "seen").rglob("*")}
    assert modes == {True: 0o700, False: 0o600}


def replaced(before: bytes, after: bytes) -> Json:
    return lambda raw: raw.replace(before, after)


def moved(raw: bytes) -> bytes:
    """As if it had been seen under another launch."""
    return raw.replace(LAUNCH.encode(), OTHER.encode())


@pytest.mark.parametrize(
    "change",
    [
        replaced(b"Find.", b"Kill."),
        moved,
        replaced(b"seen/v1", b"seen/v2"),
        replaced(b'"at":"2026', b'"at":2026,"x":"'),
        replaced(b'"inspection":"wire"', b'"inspection":"none"'),
        lambda raw: raw[:-1],
        lambda _raw: b"",
        lambda raw: raw.partition(b"\n")[0],
        lambda raw: raw + b" " * (DEFAULT_LIMITS.listing_bytes + (64 << 10)),
    ],
    ids=["text", "launch", "schema", "time", "inspection", "cut", "empty", "head-alone", "huge"],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path: Path, change: Json) -> None:
    folder = Sightings(tmp_path)
    folder.keep(seen(listing(TOOL), at="2026-01-01T00:00:00Z"))
    path = next(tmp_path.rglob("*.json"))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InvalidInput) as refused:
        folder.last("files", OTHER if change.__name__ == "moved" else LAUNCH)
    assert refused.value.code == "seen-corrupt"
    assert path.name in refused.value.message
