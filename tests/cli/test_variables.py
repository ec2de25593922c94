# SPDX-License-Identifier: Apache-2.0
"""Each variable of docs/reference/cli.md is honoured, and an option is stronger than its variable."""

import json
import re
from pathlib import Path

import click
import pytest
from conftest import ROOT
from forge import surface
from pinned_servers import FIND, Bench, bench
from servers.publisher import Publisher

from toolnotary_cli.main import COMMANDS, toolnotary
from toolnotary_verifier.manifest import Profile, UnnamedManifest

__all__ = ["bench"]

URL = "http://127.0.0.1:9"
# Every command that can ask a registry, brought to where it asks.
ASKING = {
    "sign": ["sign", "m.json", "--key", "k.key", "--server", "a/b", "--version", "1"],
    "publish": ["publish", "v.json", "b.json"],
    "verify": ["verify", "v.json", "b.json", "a/b@1", "--key", "v.pub"],
    "diff": ["diff", "a/b@1", "m.json"],
    "lock": ["lock", "a/b@1", "--", "npx", "x"],
    "check": ["check", "a/b@1", "--server", "files"],
    "approve": ["approve", "a/b", "a/b@1"],
    "history": ["history", "a/b"],
    "snapshot": ["snapshot", "a/b@1"],
}
# `run` and `gateway` ask in the background, `break-glass` beside what it does, and `wrap` hands it on: they
# are judged where they are at home.
ELSEWHERE = {"break-glass", "gateway", "run", "wrap"}


def taking(option: str) -> set[str]:
    """The commands that take an option."""
    root = click.Context(toolnotary, info_name="toolnotary")
    found = {name: toolnotary.get_command(root, name) for name in COMMANDS}
    return {
        name for name, command in found.items() if command and any(option in p.opts for p in command.params)
    }


@pytest.fixture
def released(bench: Bench) -> Bench:
    """A project with a capture, a signed manifest and keys, and a server a/b that is pinned."""
    assert bench.run("keygen", "-o", "k", "--no-passphrase")[0] == 0
    built = UnnamedManifest.build(profiles={"default": (Profile(), surface(FIND))})
    Path("m.json").write_bytes(built.canonical)
    publisher = Publisher()
    release = publisher.release()
    for name, content in (("v.json", release.manifest), ("b.json", release.bundle), ("v.pub", publisher.pem)):
        Path(name).write_bytes(content)
    bench.pin("a/b")
    return bench


def test_every_variable_that_is_read_stands_in_the_table_and_the_other_way_round() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8").partition("## Variables")[2]
    named = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    sources = [path for path in ROOT.glob("*/toolnotary_*/**/*.py") if "/demo/" not in path.as_posix()]
    read = {
        name
        for path in sources
        for name in re.findall(r'"_?(TOOLNOTARY_[A-Z_]*[A-Z]|NO_COLOR)"', path.read_text(encoding="utf-8"))
    }
    assert named - {"TOOLNOTARY_COMPLETE"} == read - {"TOOLNOTARY_COMPLETE"}


@pytest.mark.parametrize("name", ASKING)
def test_the_registry_is_named_by_its_variable_and_an_option_is_stronger(
    name: str, released: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*options: str) -> str:
        words = ASKING[name]
        at = words.index("--") if "--" in words else len(words)
        code, out, err = released.run(*words[:at], *options, *words[at:])
        assert code in (2, 3)
        return out + err

    assert "127.0.0.1" not in told()
    monkeypatch.setenv("TOOLNOTARY_REGISTRY", URL)
    assert f"{URL} cannot be reached" in told()
    assert "http://127.0.0.1:11 cannot be reached" in told("--registry", "http://127.0.0.1:11")


def test_every_command_that_asks_a_registry_is_tried_here() -> None:
    assert taking("--registry") == {*ASKING, *ELSEWHERE}


def test_the_policy_of_the_variable_counts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.pin()
    listing = bench.listing(FIND)
    assert bench.json("check", listing, "--server", "files")[0] == 0
    Path("strict.toml").write_text("[verdicts]\nmissing = 'block'\n", encoding="utf-8")
    Path("mild.toml").touch()
    monkeypatch.setenv("TOOLNOTARY_POLICY", "strict.toml")
    assert bench.json("check", listing, "--server", "files")[0] == 1
    assert bench.json("check", listing, "--server", "files", "--policy", "mild.toml")[0] == 0


def test_the_lockfile_of_the_variable_counts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.pin()
    pinned = Path("toolnotary.lock").rename("mine.lock")
    assert bench.json("status")[1]["servers"] == []
    monkeypatch.setenv("TOOLNOTARY_LOCKFILE", str(pinned))
    assert [row["server"] for row in bench.json("status")[1]["servers"]] == ["files"]
    Path("empty.lock").write_text(pinned.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert bench.json("status", "--lockfile", "empty.lock")[1]["servers"] == []


def test_the_personal_directory_of_the_variable_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine").mkdir()
    Path("mine/toolnotary.toml").write_text("[registry]\nurl = 'http://127.0.0.1:9'\n", encoding="utf-8")
    bench.listing(FIND)
    assert "no-registry" in bench.run("diff", "a/b@1", "listing.json")[2]
    monkeypatch.setenv("TOOLNOTARY_HOME", "mine")
    assert f"{URL} cannot be reached" in bench.run("diff", "a/b@1", "listing.json")[2]


def test_the_passphrase_file_of_the_variable_opens_the_key(
    released: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("right").write_text("correct horse battery\n", encoding="utf-8")
    Path("wrong").write_text("something else\n", encoding="utf-8")
    sign = ["sign", "m.json", "--key", "p.key", "--server", "a/b", "--version", "1", "--sequence", "1"]
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", "right")
    assert released.run("keygen", "-o", "p")[0] == 0
    assert "ENCRYPTED" in Path("p.key").read_text(encoding="ascii")
    assert released.run(*sign)[0] == 0
    for name, code in (("wrong", "wrong-passphrase"), ("absent", "passphrase-file")):
        monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", name)
        assert f"error: {code}: " in released.run(*sign)[2]
    monkeypatch.delenv("TOOLNOTARY_KEY_PASSPHRASE_FILE")
    assert "error: passphrase-needed: " in released.run(*sign)[2]


def test_the_database_of_the_variable_is_used(released: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLNOTARY_DATABASE", "sqlite:///here.sqlite")
    assert released.run("registry", "add-key", "a/*", "k.pub")[0] == 0
    assert Path("here.sqlite").is_file()
    code, out, _ = released.run("registry", "list-keys", "--format", "json")
    assert (code, [key["pattern"] for key in json.loads(out)["keys"]]) == (0, ["a/*"])
