# SPDX-License-Identifier: Apache-2.0
"""docs/spec/state.md: what is lost with the user's state is told where pins count without it."""

import os
from pathlib import Path

import pytest
from pinned_servers import YES, Bench, bench
from servers import scripted
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.lockfile import Lockfile, SignedEntry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

TOLD = "what is pinned counts by your policy alone"
TEXT = "Tells the weather."
OLD = {"name": "get_forecast", "description": TEXT, "inputSchema": {"type": "object"}}


@pytest.fixture(autouse=True)
def _pinned(bench: Bench, sqlite_registry: RunningRegistry) -> None:
    """A version of the scripted server, pinned; nothing but the lockfile and a policy is there afterwards."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    program = Digest.of(Path(scripted.__file__).read_bytes())
    artifact = Artifact("pkg:generic/scripted@1.0.0", program)
    for number, text in ((1, TEXT), (2, "Tells the weather of tomorrow.")):
        release = publisher.release(f"{number}.0.0", sequence=number, description=text, artifacts=[artifact])
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    Path(os.environ["TOOLNOTARY_HOME"], "toolnotary.toml").write_text(signers, encoding="utf-8")
    registry = ["--registry", sqlite_registry.url]
    lock = ["lock", f"{SERVER}@1.0.0", *registry, "--yes", "--", *bench.launch]
    code, _, err = bench.run(*lock)
    assert code == 0, err
    old = (bench.folder / "toolnotary.lock").read_bytes()
    newer = ["approve", SERVER, f"{SERVER}@2.0.0", *registry]
    assert bench.at_terminal(*newer, answers=YES).code == 0
    (bench.folder / "toolnotary.lock").write_bytes(old)
    bench.shows(OLD)


@pytest.fixture
def state() -> Path:
    return Path(os.environ["TOOLNOTARY_HOME"], "state.jsonl")


def test_a_signed_pin_that_counts_without_any_record_is_told_once(bench: Bench, state: Path) -> None:
    listing = ["check", bench.listing(OLD), "--server", SERVER]
    code, out, err = bench.run(*listing)
    assert (code, "rollback" in out, TOLD in err) == (1, True, False)
    state.unlink()
    code, out, err = bench.run(*listing)
    assert (code, err.count(TOLD), err.count(str(state))) == (0, 1, 1), err
    assert SERVER in err
    assert bench.hosted(SERVER).count(TOLD) == 1
    assert TOLD not in bench.hosted(SERVER), "the first run recorded that it is in use"
    assert TOLD not in bench.run(*listing)[2]


def test_where_a_repositorys_review_stands_in_for_the_record_nothing_is_told(
    bench: Bench, state: Path
) -> None:
    state.unlink()
    code, _, err = bench.run("check", bench.listing(OLD), "--server", SERVER, "--accept-project")
    assert (code, TOLD in err) == (0, False)


def test_a_withdrawal_that_is_lost_is_lost(bench: Bench, state: Path) -> None:
    """What must survive belongs in the policy; the document says so."""
    lockfile = (bench.folder / "toolnotary.lock").read_bytes()
    assert bench.run("revoke", SERVER)[0] == 0
    (bench.folder / "toolnotary.lock").write_bytes(lockfile)
    listing = ["check", bench.listing(OLD), "--server", SERVER]
    assert bench.run(*listing)[0] == 1
    state.unlink()
    code, _, err = bench.run(*listing)
    assert (code, TOLD in err) == (0, True)
    policy = Path(os.environ["TOOLNOTARY_HOME"], "toolnotary.toml")
    (entry,) = Lockfile.load(bench.folder / "toolnotary.lock").entries
    assert isinstance(entry, SignedEntry)
    policy.write_text(
        f'revoked = ["{entry.manifest}"]\n' + policy.read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert bench.run(*listing)[0] == 1


@pytest.mark.parametrize(
    "command", [["status"], ["explain", SERVER], ["check", "listing.json", "--server", SERVER]]
)
def test_a_line_that_was_cut_off_is_told_by_every_command(
    bench: Bench, state: Path, command: list[str]
) -> None:
    bench.listing(OLD)
    whole = state.read_bytes()
    number = whole.count(b"\n")
    state.write_bytes(whole[:-20])
    _, _, err = bench.run(*command)
    assert err.count(f"{state}, line {number}: it was cut off") == 1, err
    state.write_bytes(whole)
    assert "cut off" not in bench.run(*command)[2]


def test_run_tells_of_a_line_that_was_cut_off_and_goes_on(bench: Bench, state: Path) -> None:
    whole = state.read_bytes()
    state.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 20])
    told = bench.hosted(SERVER)
    assert told.count("it was cut off while it was written") == 1, told
    assert "cut off" not in bench.hosted(SERVER), "what was recorded since has taken its place"
