# SPDX-License-Identifier: Apache-2.0
"""Links in somebody else's project lead no command out of it; links of the user's own are followed."""

import os
import sys
from pathlib import Path

import pytest
from pinned_servers import FIND, POISONED, YES, Bench, bench

from toolnotary_verifier.canonical import Digest, canonical_bytes

__all__ = ["bench"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")

TEXT = canonical_bytes(FIND)
DIGEST = Digest.of(TEXT)
LOCK = "toolnotary.lock"
OBJECTS = Path(".toolnotary") / "objects"


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user's that is none of the project's business."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def lock(bench: Bench, *options: str) -> tuple[int, str]:
    session = bench.at_terminal("lock", *options, "--server", "files", "--", *bench.launch, answers=YES)
    return session.code, session.shown


# The links of a project by their place in it, and what they lead to: OUT and UPWARDS are the folder outside.
LEADING_OUT: dict[str, dict[Path | str, str]] = {
    "new lockfile": {LOCK: "OUT/new"},
    "lockfile over another": {LOCK: "OUT/mine.txt"},
    "lockfile into .git": {LOCK: ".git/new"},
    "lockfile by two links": {LOCK: "second", "second": "OUT/new"},
    "folder": {".toolnotary": "OUT"},
    "objects": {OBJECTS: "OUT"},
    "objects upwards": {OBJECTS: "UPWARDS"},
    "one folder of objects": {OBJECTS / DIGEST.hex[:2]: "OUT"},
    "objects into .git": {OBJECTS: "../.git"},
}


@pytest.mark.parametrize("way", LEADING_OUT)
def test_no_pin_is_written_through_a_link_that_leads_out_of_the_project(
    bench: Bench, outside: Path, way: str
) -> None:
    bench.shows(FIND)
    upwards = os.path.relpath(outside, bench.folder / ".toolnotary")
    for place, target in LEADING_OUT[way].items():
        link(bench.folder / place, Path(target.replace("OUT", str(outside)).replace("UPWARDS", upwards)))
    before = contents(outside) | contents(bench.folder)
    code, shown = lock(bench)
    assert (code, "leads-outside" in shown) == (1, True), shown
    assert contents(outside) | contents(bench.folder) == before
    assert not (Path(os.environ["TOOLNOTARY_HOME"]) / "state.jsonl").exists()


def test_a_link_in_the_place_of_an_object_is_replaced(bench: Bench, outside: Path) -> None:
    bench.shows(FIND)
    place = bench.folder / OBJECTS / DIGEST.hex[:2] / DIGEST.hex[2:]
    link(place, outside / "mine.txt")
    link(bench.folder / OBJECTS / ".gitattributes", outside / "new")
    assert lock(bench)[0] == 0
    assert contents(outside) == {str(outside / "mine.txt"): b"mine"}
    assert not place.is_symlink()
    assert place.read_bytes() == TEXT


def test_no_pin_is_moved_or_withdrawn_through_such_a_link(bench: Bench, outside: Path) -> None:
    bench.shows(FIND)
    bench.pin()
    taken = outside / "taken"
    (bench.folder / LOCK).rename(taken)
    link(bench.folder / LOCK, taken)
    before = contents(outside)
    bench.shows(POISONED)
    for command in (["approve", "files", "--start"], ["revoke", "files"]):
        session = bench.at_terminal(*command, answers=YES)
        assert (session.code, "leads-outside" in session.shown) == (1, True), session.shown
    assert contents(outside) == before


def test_what_a_project_only_links_to_was_not_reviewed_with_it(bench: Bench, outside: Path) -> None:
    """`--accept-project` takes the review of the repository for the acceptance."""
    bench.shows(FIND)
    bench.pin()
    (bench.folder / LOCK).rename(outside / "taken")
    link(bench.folder / LOCK, outside / "taken")
    code, _, err = bench.run("check", "--accept-project", bench.listing(FIND), "--server", "files")
    assert (code, "leads-outside" in err) == (1, True)
    (bench.folder / LOCK).unlink()
    (outside / "policy").write_text("[verdicts]\nchanged = 'block'\n", encoding="utf-8")
    link(bench.folder / "toolnotary.toml", outside / "policy")
    code, _, err = bench.run("check", bench.listing(FIND), "--server", "files")
    assert (code, "leads-outside" in err) == (1, True)


def test_links_inside_of_a_project_are_followed_and_stay(bench: Bench) -> None:
    bench.shows(FIND)
    shared = bench.folder / "shared"
    shared.mkdir()
    link(bench.folder / LOCK, Path("shared") / "pins.lock")
    link(bench.folder / ".toolnotary", Path("shared"))
    assert lock(bench)[0] == 0
    assert (bench.folder / LOCK).is_symlink()
    assert (shared / "pins.lock").is_file()
    assert (shared / "objects" / DIGEST.hex[:2] / DIGEST.hex[2:]).read_bytes() == TEXT
    assert bench.json("check", "--start")[0] == 0


def test_a_project_that_is_itself_reached_through_a_link_is_a_project(bench: Bench, outside: Path) -> None:
    bench.shows(FIND)
    link(outside / "project", bench.folder)
    assert lock(bench, "--lockfile", str(outside / "project" / LOCK))[0] == 0
    assert (bench.folder / LOCK).is_file()


def test_the_users_own_files_may_be_links_to_wherever_they_are_kept(bench: Bench, outside: Path) -> None:
    bench.shows(FIND)
    home = Path(os.environ["TOOLNOTARY_HOME"])
    for name in (LOCK, "state.jsonl", ".toolnotary"):
        link(home / name, outside / name)
    (outside / ".toolnotary").mkdir()
    (outside / "policy").write_text("", encoding="utf-8")
    link(home / "toolnotary.toml", outside / "policy")
    own = ["--lockfile", str(home / LOCK)]
    assert lock(bench, *own)[0] == 0
    assert (outside / LOCK).is_file()
    assert (home / LOCK).is_symlink()
    assert (outside / OBJECTS / DIGEST.hex[:2] / DIGEST.hex[2:]).is_file()
    assert bench.json("check", "--start", *own)[0] == 0
