# SPDX-License-Identifier: Apache-2.0
"""A file that is called like a published version: it decides nothing, and is told where it is read."""

import json
from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, YES, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.lockfile import Lockfile, SignedEntry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

LAUNCH = ["npx", "-y", "@acme/weather"]
NEXT = f"{SERVER}@2.0.0"
NOTE = f"{NEXT}: the version in the registry is meant; the file of that name is ./{NEXT}"


@pytest.fixture
def options(bench: Bench, sqlite_registry: RunningRegistry) -> list[str]:
    """Two versions are published; a folder of the project holds a listing that is called like the second."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number in (1, 2):
        package = Artifact("pkg:npm/%40acme/weather@1.0.0")
        release = publisher.release(f"{number}.0.0", sequence=number, artifacts=[package])
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    Path("mine.toml").write_text(f'[registry]\nurl = "{sqlite_registry.url}"\n{signers}', encoding="utf-8")
    Path(NEXT).parent.mkdir()
    Path(NEXT).write_text(json.dumps({"tools": [FIND]}), encoding="utf-8")
    return ["--policy", "mine.toml"]


def version() -> str:
    entry = Lockfile.load(Path("toolnotary.lock")).entries[0]
    assert isinstance(entry, SignedEntry)
    return entry.version


def test_lock_pins_the_version_and_not_the_file_of_its_name(bench: Bench, options: list[str]) -> None:
    code, _, err = bench.run("lock", NEXT, *options, "--yes", "--", *LAUNCH)
    assert (code, NOTE in err) == (0, True), err
    assert version() == "2.0.0"


def test_approve_moves_to_the_version_and_not_to_the_file_of_its_name(
    bench: Bench, options: list[str]
) -> None:
    assert bench.run("lock", f"{SERVER}@1.0.0", *options, "--yes", "--", *LAUNCH)[0] == 0
    session = bench.at_terminal("approve", SERVER, NEXT, *options, answers=YES)
    assert (session.code, NOTE in session.shown) == (0, True), session.shown
    assert version() == "2.0.0"


def test_no_note_is_made_of_a_file_that_is_not_there(bench: Bench, options: list[str]) -> None:
    Path(NEXT).unlink()
    code, _, err = bench.run("lock", NEXT, *options, "--yes", "--", *LAUNCH)
    assert (code, f"./{NEXT}" in err) == (0, False), err


def test_the_file_itself_is_pinned_where_it_is_named_as_a_file(bench: Bench, options: list[str]) -> None:
    lock = ["lock", "--server", "files", f"./{NEXT}", *options, "--", *LAUNCH]
    session = bench.at_terminal(*lock, answers=YES)
    assert (session.code, "Find a record." in session.shown) == (0, True), session.shown


def test_commands_that_compare_say_that_they_read_the_file(bench: Bench, options: list[str]) -> None:
    told = f"{NEXT} is read as the file of that name, and not as a version in a registry"
    code, out, err = bench.run("diff", NEXT, bench.listing(FIND, LOSE))
    assert (code, f"file ./{NEXT}" in out, told in err) == (1, True, True), out + err
    bench.pin()
    code, _, err = bench.run("check", NEXT, "--server", "files")
    assert (code, told in err) == (0, True), err
