# SPDX-License-Identifier: Apache-2.0
"""`toolnotary status`: what was recorded for what is pinned now, and nothing else."""

import re
from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

PACKAGE = Artifact("pkg:npm/%40acme/weather@1.0.0")
LAUNCH = ["npx", "@acme/weather"]
OPTIONS = ["--policy", "mine.toml"]


def state_of(bench: Bench, *options: str) -> tuple[int, str, str | None, str | None]:
    """Exit code, and outcome, time and reason of the only server that is pinned."""
    code, result = bench.json("status", *options)
    (server,) = result["servers"]
    assert sum(result["counts"].values()) == result["counts"][server["outcome"]] == 1
    return code, server["outcome"], server["at"], server["note"]


@pytest.fixture
def releases(bench: Bench, sqlite_registry: RunningRegistry) -> str:
    """Two versions in a registry, the first of them pinned; the listing of the second."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number, text in ((1, "Tells the weather."), (2, "Tells the weather of tomorrow.")):
        release = publisher.release(f"{number}.0.0", sequence=number, description=text, artifacts=[PACKAGE])
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    text = f'[registry]\nurl = "{sqlite_registry.url}"\n{signers}'
    Path("mine.toml").write_text(text, encoding="utf-8")
    assert bench.run("lock", f"{SERVER}@1.0.0", *OPTIONS, "--yes", "--", *LAUNCH)[0] == 0
    forecast = {
        "name": "get_forecast",
        "description": "Tells the weather of tomorrow.",
        "inputSchema": {"type": "object"},
    }
    return bench.listing(forecast)


def test_every_pinned_server_is_in_exactly_one_state(bench: Bench) -> None:
    bench.pin("one")
    bench.pin("two")
    code, result = bench.json("status")
    assert code == 0
    assert [server["server"] for server in result["servers"]] == ["one", "two"]
    assert sum(result["counts"].values()) == 2


def test_a_server_that_nothing_looked_at_is_not_inspected_and_says_so(bench: Bench, releases: str) -> None:
    """A pin to a published version is made without a look."""
    code, outcome, at, why = state_of(bench, *OPTIONS)
    assert (code, outcome, at) == (3, "not-inspected", None)
    assert why is not None
    assert "no run, lock or approve has recorded a look at it yet" in why


def test_it_tells_what_run_recorded(bench: Bench) -> None:
    bench.pin()
    assert state_of(bench)[:2] == (0, "verified")
    bench.shows(POISONED, LOSE)
    bench.hosted()
    assert state_of(bench)[:2] == (1, "drift")
    bench.shows(FIND, LOSE)
    bench.hosted()
    code, outcome, at, why = state_of(bench)
    assert (code, outcome, why) == (0, "verified", None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at or "")


def test_no_outcome_outlives_the_pin_that_it_was_about(bench: Bench, releases: str) -> None:
    session = bench.at_terminal("approve", SERVER, releases, *OPTIONS, answers=YES)
    assert session.code == 0, session.shown
    assert state_of(bench, *OPTIONS)[:2] == (0, "verified")
    moved = bench.at_terminal("approve", SERVER, f"{SERVER}@1.0.0", *OPTIONS, answers=YES)
    assert moved.code == 0, moved.shown
    assert bench.run("check", releases, "--server", SERVER, *OPTIONS)[0] == 1
    code, outcome, at, why = state_of(bench, *OPTIONS)
    assert (code, outcome, at) == (3, "not-inspected", None)
    assert why is not None
    assert re.match(r"it was verified at \S+, under other pins than now", why)


def test_drift_from_an_older_pin_is_no_drift_of_the_new_one(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    bench.hosted()
    assert state_of(bench)[:2] == (1, "drift")
    lockfile = bench.folder / "toolnotary.lock"
    before = lockfile.read_bytes()
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    assert state_of(bench)[:2] == (0, "verified")
    lockfile.write_bytes(before)  # as a checkout does
    assert state_of(bench)[:2] == (3, "not-inspected")
    bench.hosted()
    assert state_of(bench)[:2] == (1, "drift")


def test_what_was_withdrawn_since_is_not_told_to_be_verified(bench: Bench, releases: str) -> None:
    assert bench.at_terminal("approve", SERVER, releases, *OPTIONS, answers=YES).code == 0
    assert bench.run("revoke", SERVER, "get_forecast", *OPTIONS)[0] == 0
    assert state_of(bench, *OPTIONS)[:2] == (3, "not-inspected")


def test_a_pin_that_does_not_count_any_more_says_why(bench: Bench, releases: str) -> None:
    assert bench.at_terminal("approve", SERVER, releases, *OPTIONS, answers=YES).code == 0
    Path("nobody.toml").write_text("", encoding="utf-8")
    code, outcome, _, why = state_of(bench, "--policy", "nobody.toml")
    assert (code, outcome, (why or "").partition(":")[0]) == (3, "not-inspected", "signer-unknown")
    for file in (bench.folder / ".toolnotary" / "objects").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    code, outcome, _, why = state_of(bench, *OPTIONS)
    assert (code, outcome, (why or "").partition(":")[0]) == (4, "not-inspected", "object-corrupt")


def test_it_starts_and_writes_nothing(bench: Bench) -> None:
    bench.shows(POISONED, record=str(bench.folder / "received"))
    bench.pin()
    before = bench.files
    code, out, _ = bench.run("status")
    assert code == 0
    assert "files" in out
    assert bench.files == before


def test_an_empty_project_has_no_servers(bench: Bench) -> None:
    code, result = bench.json("status")
    assert code == 0
    assert result["servers"] == []
