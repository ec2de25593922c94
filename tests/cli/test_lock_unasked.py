# SPDX-License-Identifier: Apache-2.0
"""`lock --yes` pins at first contact, or again what was accepted last: it moves no pin, and undoes no no."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pinned_servers import FIND, YES, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_cli.opening import open_project
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.lockfile import Lockfile, SignedEntry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

LAUNCH = ["npx", "-y", "@acme/weather"]
NO = (("[yes/no]", "no\n"),)
LOCKFILE = Path("toolnotary.lock")


@pytest.fixture
def options(bench: Bench, sqlite_registry: RunningRegistry) -> list[str]:
    """Two versions are published, and the user's policy names their signer."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number in (1, 2):
        package = Artifact("pkg:npm/%40acme/weather@1.0.0")
        release = publisher.release(
            f"{number}.0.0", sequence=number, description=f"Text {number}.", artifacts=[package]
        )
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    Path("mine.toml").write_text(f'[registry]\nurl = "{sqlite_registry.url}"\n{signers}', encoding="utf-8")
    return ["--policy", "mine.toml"]


def line(version: str, *options: str) -> list[str]:
    return ["lock", f"{SERVER}@{version}.0.0", *options, "--", *LAUNCH]


def version(lockfile: Path = LOCKFILE) -> str | None:
    """Which version of the server the lockfile pins."""
    for entry in Lockfile.load(lockfile).named(SERVER):
        assert isinstance(entry, SignedEntry)
        return entry.version
    return None


def refused(bench: Bench, arguments: list[str], why: str) -> None:
    """The command needs a person, says why, and writes nothing."""
    before = bench.files
    at = arguments.index("--")
    code, _, err = bench.run(*arguments[:at], "--yes", *arguments[at:])
    assert (code, "needs-a-person" in err) == (1, True), err
    assert why in err
    assert bench.files == before


def pinned(bench: Bench, options: list[str], version: str = "1") -> None:
    code, _, err = bench.run(*line(version, *options, "--yes"))
    assert code == 0, err


def test_a_version_that_was_declined_is_not_pinned_unasked(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    assert bench.at_terminal("approve", SERVER, f"{SERVER}@2.0.0", *options, answers=NO).code == 1
    assert bench.run("revoke", SERVER)[0] == 0
    refused(bench, line("2", *options), "you declined exactly this before")
    assert version() is None
    session = bench.at_terminal(*line("2", *options), answers=YES)
    told, _, _ = session.shown.partition("[yes/no]")
    assert (session.code, "you declined exactly this before" in told) == (0, True), session.shown


def test_a_decline_alone_leaves_no_first_contact(bench: Bench, options: list[str]) -> None:
    assert bench.at_terminal(*line("1", *options), answers=NO).code == 1
    refused(bench, line("1", *options), "you declined exactly this before")
    refused(bench, line("2", *options), "no first contact")


def test_a_deleted_lockfile_moves_no_pin(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    LOCKFILE.unlink()
    refused(bench, line("2", *options), "you accepted another version before: sequence 1")
    assert not LOCKFILE.exists()


def test_a_lost_lockfile_is_written_again_as_it_was(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    before = LOCKFILE.read_bytes()
    LOCKFILE.unlink()
    pinned(bench, options)
    assert LOCKFILE.read_bytes() == before


def test_a_version_before_an_approved_downgrade_is_not_pinned_unasked(
    bench: Bench, options: list[str]
) -> None:
    """Every version that was ever accepted is in the state; the one that counts is the last."""
    pinned(bench, options, "2")
    assert bench.at_terminal("approve", SERVER, f"{SERVER}@1.0.0", *options, answers=YES).code == 0
    LOCKFILE.unlink()
    refused(bench, line("2", *options), "you accepted another version before: sequence 1")
    pinned(bench, options, "1")


def test_what_was_withdrawn_is_not_pinned_again_unasked(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    assert bench.run("revoke", SERVER)[0] == 0
    refused(bench, line("1", *options), "you withdrew exactly this before")
    session = bench.at_terminal(*line("1", *options), answers=YES)
    told, _, _ = session.shown.partition("[yes/no]")
    assert (session.code, "you withdrew exactly this before" in told) == (0, True), session.shown
    assert open_project(lockfile=None, policy=None).state.revoked(SERVER) == frozenset()


def test_a_lockfile_that_brings_back_what_was_withdrawn_does_not_count_as_pinned(
    bench: Bench, options: list[str]
) -> None:
    pinned(bench, options)
    before = LOCKFILE.read_bytes()
    assert bench.run("revoke", SERVER)[0] == 0
    LOCKFILE.write_bytes(before)
    refused(bench, line("1", *options), "you withdrew exactly this before")


def test_another_lockfile_does_not_raise_the_mark_unasked(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    refused(bench, line("2", *options, "--lockfile", "other.lock"), "another version before: sequence 1")
    assert open_project(lockfile=None, policy=None).state.highest_sequence(SERVER) == 1
    pinned(bench, [*options, "--lockfile", "other.lock"])


def test_a_person_is_told_before_that_another_lockfile_becomes_a_rollback(
    bench: Bench, options: list[str]
) -> None:
    pinned(bench, options)
    other = line("2", *options, "--lockfile", "other.lock")
    session = bench.at_terminal(*other, answers=NO)
    told, _, _ = session.shown.partition("[yes/no]")
    assert session.code == 1
    assert "sequence 1 is a rollback, in every lockfile that pins it" in told
    assert bench.at_terminal(*other, answers=YES).code == 0
    assert version(Path("other.lock")) == "2.0.0"


def test_what_was_pinned_unsigned_is_not_replaced_unasked(bench: Bench, options: list[str]) -> None:
    listing = bench.listing(FIND)
    unsigned = ["lock", "--server", SERVER, listing, "--", *LAUNCH]
    assert bench.at_terminal(*unsigned, answers=YES).code == 0
    LOCKFILE.unlink()
    refused(bench, line("1", *options), "accepted what it showed, unsigned")


def test_a_person_is_told_which_unsigned_definitions_were_withdrawn(bench: Bench) -> None:
    bench.pin()
    assert bench.run("revoke", "files", "find")[0] == 0
    LOCKFILE.unlink()
    lock = ["lock", "--server", "files", "--", *bench.launch]
    session = bench.at_terminal(*lock, answers=NO)
    told, _, _ = session.shown.partition("[yes/no]")
    assert "you withdrew 1 of 2 definitions before" in told


def test_an_approval_says_that_the_version_was_withdrawn_before(bench: Bench, options: list[str]) -> None:
    pinned(bench, options)
    assert bench.run("revoke", SERVER)[0] == 0
    assert bench.at_terminal(*line("2", *options), answers=YES).code == 0
    session = bench.at_terminal("approve", SERVER, f"{SERVER}@1.0.0", *options, answers=NO)
    told, _, _ = session.shown.partition("[yes/no]")
    assert "you withdrew exactly this before" in told


def alone(*arguments: str) -> str:
    """What a command that asks says where no terminal controls it."""
    ended = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert (ended.returncode, "no-terminal" in ended.stderr) == (1, True), ended.stderr
    return ended.stderr


def test_without_a_terminal_nobody_is_sent_to_yes_where_it_is_refused(
    bench: Bench, options: list[str]
) -> None:
    assert "say --yes" in alone(*line("1", *options))
    pinned(bench, options)
    assert bench.run("revoke", SERVER)[0] == 0
    told = alone(*line("1", *options))
    assert ("say --yes" in told, "you withdrew exactly this before" in told) == (False, True), told


def test_without_a_terminal_an_approval_names_the_command_that_shows_the_change(
    bench: Bench, options: list[str]
) -> None:
    pinned(bench, options)
    told = re.search(r"toolnotary (diff .+)", alone("approve", SERVER, f"{SERVER}@2.0.0", *options))
    assert told is not None
    code, out, err = bench.run(*shlex.split(told[1]), *options)
    assert (code, "Text 1" in out or "{+2" in out) == (1, True), out + err
