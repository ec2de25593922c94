# SPDX-License-Identifier: Apache-2.0
"""Every file that is written on our own account stands in one table (docs/reference/cli.md, "Files")."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench

__all__ = ["bench"]

AUDIT = ("audit.jsonl", "audit.jsonl.lock")


def table() -> dict[str, tuple[str, set[str]]]:
    """What the page says: of each file, where it lies, and which commands write it."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \| (.+?) \| (.+?) \|$", page.partition("## Files")[2], re.MULTILINE)
    found = {}
    for files, where, writers in rows:
        for name in re.findall(r"`([^`]+)`", files):
            found[name] = (where, set(re.findall(r"`([a-z]+)`", writers)))
    return found


def written(bench: Bench) -> dict[str, bytes]:
    """The files of project and personal directory, by names that say which of the two."""
    home = os.environ["TOOLNOTARY_HOME"]
    named = {}
    for path, content in bench.files.items():
        where = f"personal/{os.path.relpath(path, home)}" if path.startswith(home) else path
        named[where.removeprefix(f"{bench.folder}/")] = content
    return named


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def row_of(path: str) -> str:
    """The row of the table that a file belongs to."""
    inner = path.removeprefix("personal/")
    if inner.startswith("hosts/") and inner.endswith(".json"):
        return "hosts/*.json"
    return ".toolnotary/objects/" if inner.startswith(".toolnotary/objects/") else inner


def run(bench: Bench, *arguments: str) -> None:
    """A command in a process of its own, as hosts and people start it; how it ends is no matter here."""
    subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *arguments],
        cwd=bench.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_every_file_that_a_command_writes_stands_in_the_table(bench: Bench) -> None:
    known, seen = table(), set()
    bench.listing(FIND, LOSE)
    steps = {
        "lock": ["--server", "files", "--", *bench.launch],
        "run": ["--lockfile", "toolnotary.lock", "--server", "files", "--", *bench.launch],
        "approve": ["files", "listing.json"],
        "check": ["listing.json", "--server", "files"],
        "status": [],
        "explain": ["files"],
        "diff": ["toolnotary.lock#files", "listing.json"],
        "revoke": ["files", "find"],
        "registry": ["add-key", "a/*", "k.pub"],
        "wrap": ["mcp.json"],
    }
    Path("mcp.json").write_text('{"mcpServers": {"a": {"command": "b"}}}', encoding="utf-8")
    assert bench.run("keygen", "-o", "k", "--no-passphrase")[0] == 0
    for name, arguments in steps.items():
        if name == "approve":
            bench.listing(POISONED, LOSE)
        before = written(bench)
        if name in ("lock", "approve"):
            assert bench.at_terminal(name, *arguments, answers=YES).code == 0
        else:
            run(bench, name, *arguments)
        for path in changed(before, written(bench)) - {"mcp.json"}:
            assert row_of(path) in known, f"{name} wrote {path}"
            where, writers = known[row_of(path)]
            assert name in writers, f"{name} wrote {path}"
            assert "personal directory" in where or not path.startswith("personal/"), path
            seen.add((name, row_of(path)))
    assert seen >= {
        ("lock", "toolnotary.lock"),
        ("lock", ".toolnotary/objects/"),
        ("lock", "state.jsonl"),
        ("approve", "toolnotary.lock"),
        ("revoke", "state.jsonl"),
        ("revoke", "audit.jsonl"),
        ("registry", "registry.sqlite"),
        ("wrap", "hosts/*.json"),
    }


def test_texts_that_must_not_lie_in_the_repository_lie_in_the_personal_directory(bench: Bench) -> None:
    before = written(bench)
    arguments = ["--no-texts", "--server", "files", "--", *bench.launch]
    assert bench.at_terminal("lock", *arguments, answers=YES).code == 0
    rows = {(path.startswith("personal/"), row_of(path)) for path in changed(before, written(bench))}
    mine = {(True, ".toolnotary/objects/"), (True, "state.jsonl"), *((True, name) for name in AUDIT)}
    assert rows == {(False, "toolnotary.lock"), *mine}


@pytest.mark.parametrize("variable", ["TOOLNOTARY_HOME", "XDG_DATA_HOME", "HOME"])
@pytest.mark.skipif(sys.platform == "win32", reason="LOCALAPPDATA in their place")
def test_the_personal_directory_is_where_the_page_says(
    variable: str, bench: Bench, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("mine")
    for name in ("TOOLNOTARY_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(folder))
    bench.pin()
    places = {"TOOLNOTARY_HOME": ".", "XDG_DATA_HOME": "toolnotary", "HOME": ".local/share/toolnotary"}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == {
        Path(places[variable], name) for name in ("state.jsonl", *AUDIT)
    }


OPENING = {
    "pinned": ["lock", "--server", "files", "--", "LAUNCH"],
    "declined": ["lock", "--server", "files", "--", "LAUNCH"],
    "pinned without texts": ["lock", "--no-texts", "--server", "files", "--", "LAUNCH"],
    "key added": ["registry", "add-key", "a/*", "k.pub"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
@pytest.mark.parametrize("first", OPENING)
@pytest.mark.parametrize("is_repository", [True, False])
def test_whichever_command_comes_first_the_personal_directory_is_its_owners_alone(
    first: str, is_repository: bool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_repository:
        (bench.folder / ".git").rmdir()
    assert bench.run("keygen", "-o", "k", "--no-passphrase")[0] == 0
    home = bench.folder / "users" / "ada" / "toolnotary"
    monkeypatch.setenv("TOOLNOTARY_HOME", str(home))
    words = [given for word in OPENING[first] for given in (bench.launch if word == "LAUNCH" else [word])]
    before = os.umask(0o022)
    try:
        if words[0] == "lock":
            answer = "no\n" if first == "declined" else "yes\n"
            session = bench.at_terminal(*words, answers=(("[yes/no]", answer),))
            assert session.code == (1 if first == "declined" else 0), session.shown
        else:
            run(bench, *words)
    finally:
        os.umask(before)
    made = [path for path in (home.parent, home, *home.rglob("*")) if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}
    database = home / "registry.sqlite"
    assert database.exists() == (first == "key added")
    for file in (database, home / "state.jsonl"):
        assert not file.exists() or file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
def test_a_personal_directory_that_is_there_keeps_its_permissions(bench: Bench) -> None:
    home = Path(os.environ["TOOLNOTARY_HOME"])
    home.mkdir(mode=0o755, exist_ok=True)
    home.chmod(0o755)
    bench.pin()
    assert home.stat().st_mode & 0o777 == 0o755
