# SPDX-License-Identifier: Apache-2.0
"""What one connection is held to while its files change: an acceptance opens what it is for, and no more."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import forge
import pytest

from toolnotary_verifier import history
from toolnotary_verifier.approval import end_overrides, withdraw
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.in_force import InForce
from toolnotary_verifier.lockfile import UnsignedEntry
from toolnotary_verifier.manifest import Artifact, Manifest, Profile
from toolnotary_verifier.moves import Signed, pin_signed, pin_surface
from toolnotary_verifier.overrides import Countdown, moment
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verify import verify_publish

SERVER = forge.SERVER
A, B = forge.tool("a", description="fine"), forge.tool("b", description="fine")
PROFILES = {"default": forge.surface(A, B), "legacy": forge.surface(forge.tool("a", description="old"))}


class Bench:
    """One user's files."""

    def __init__(self, folder: Path) -> None:
        self.lockfile = folder / "toolnotary.lock"
        self.told: list[str] = []
        self._home = folder
        rule = f'[[signers]]\nservers = "*"\nkey = """{forge.PUBLISHER.public.to_pem().decode()}"""\n'
        (folder / "toolnotary.toml").write_text(rule, encoding="utf-8")
        manifest = Manifest.build(
            server=SERVER,
            version="1.0.0",
            profiles={name: (Profile.of(one), one) for name, one in PROFILES.items()},
            artifacts=[Artifact("pkg:npm/%40acme/weather@1.0.0")],
        )
        bundle = forge.bundle(forge.statement(manifest, sequence=1), forge.PUBLISHER)
        verified = verify_publish(manifest.canonical, bundle, trusted=forge.KEYS, at=forge.NOW)
        self.release = Signed(verified=verified, bundle=bundle)

    def project(self) -> Project:
        return Project.load(
            lockfile=self.lockfile,
            state=self._home / "state.jsonl",
            personal_policy=self._home / "toolnotary.toml",
        )

    def pin(self, *profiles: str) -> None:
        project = self.project()
        launch = project.launch(["npx", "-y", "@acme/weather"], environment={})
        pin_signed(project, self.release, launch=launch, profiles=profiles).apply(project)

    def pin_shown(self, surface: Surface) -> None:
        project = self.project()
        launch = project.launch(["npx", "-y", "@acme/weather"], environment={})
        pin_surface(surface, server=SERVER, launch=launch).apply(project)

    def edit(self, **members: object) -> None:
        """The entry with other members, as somebody who writes project files would leave it."""
        lockfile = self.project().lockfile
        (entry,) = lockfile.entries
        lockfile.with_entry(entry._replace(**members)).save(self.lockfile)  # type: ignore[arg-type]

    def opened(self, countdown: Countdown | None = None) -> InForce:
        project = self.project()
        launch = project.launch(["npx", "-y", "@acme/weather"], environment={})
        return InForce(
            project,
            load_pins(project, server=SERVER, launch=launch),
            server=SERVER,
            launch=launch,
            files=(project.state.path, self.lockfile, self._home / "toolnotary.toml"),
            reopen=self.project,
            tell=self.told.append,
            countdown=countdown,
        )

    def let_pass(self, surface: Surface, seconds: int) -> None:
        """Break-glass for everything that a surface holds."""
        project = self.project()
        launch = project.launch(["npx", "-y", "@acme/weather"], environment={})
        rows = [(one.kind, one.name, one.digest) for one in surface.definitions.values()]
        until = moment(datetime.now(UTC) + timedelta(seconds=seconds))
        project.state.append(history.overridden(SERVER, launch.digest, rows, until=until, reason="down"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def profiles(in_force: InForce) -> list[str | None]:
    in_force.refresh()
    return [profile.name for profile in in_force.pins.profiles]


def test_where_nothing_changed_nothing_else_is_in_force(bench: Bench) -> None:
    bench.pin("default")
    in_force = bench.opened()
    assert not in_force.refresh()
    bench.edit(recorded={"argv": ["npx"]})
    assert not in_force.refresh()
    assert bench.told == []


def test_one_acceptance_of_a_manifest_opens_the_profiles_that_it_was_given_for(bench: Bench) -> None:
    bench.pin("default")
    in_force = bench.opened()
    bench.edit(profiles=("default", "legacy"))
    assert profiles(in_force) == ["default"]
    assert bench.told == ["lockfile or policy changed: what they grant by that counts from the next start on"]
    bench.pin("legacy")
    assert profiles(in_force) == ["legacy"]
    bench.edit(profiles=("default", "legacy"))
    assert profiles(in_force) == ["default", "legacy"], "one at the start, one accepted"


def test_an_acceptance_that_was_used_opens_nothing_else(bench: Bench) -> None:
    bench.pin_shown(forge.surface(A))
    in_force = bench.opened()
    bench.pin("default")
    assert profiles(in_force) == ["default"]
    bench.edit(profiles=("default", "legacy"))
    assert profiles(in_force) == ["default"]


def test_a_definition_that_was_accepted_long_ago_counts_only_once_it_is_accepted_again(bench: Bench) -> None:
    bench.pin_shown(forge.surface(A, B))
    (entry,) = bench.project().lockfile.entries
    assert isinstance(entry, UnsignedEntry)
    bench.edit(pins=entry.pins[:1])
    in_force = bench.opened()
    bench.edit(pins=entry.pins)
    in_force.refresh()
    assert [name for _, name in in_force.pins.profiles[0].definitions] == ["a"]
    bench.pin_shown(forge.surface(A, B))
    assert in_force.refresh()
    assert sorted(name for _, name in in_force.pins.profiles[0].definitions) == ["a", "b"]


def test_what_a_server_is_said_to_be_moves_with_an_acceptance_alone(bench: Bench) -> None:
    bench.pin_shown(forge.surface(A)._replace(server_info={"name": "one"}))
    in_force = bench.opened()
    before = in_force.pins.profiles[0].server_info
    assert before is not None
    bench.edit(server_info=bench.release.verified.manifest.digest)
    in_force.refresh()
    assert in_force.pins.profiles[0].server_info is None
    bench.pin_shown(forge.surface(A)._replace(server_info={"name": "two"}))
    in_force.refresh()
    assert in_force.pins.profiles[0].server_info not in (None, before)


def test_a_lockfile_that_is_gone_pins_nothing_and_one_that_is_back_what_it_did(bench: Bench) -> None:
    bench.pin("default")
    in_force = bench.opened()
    whole = bench.lockfile.read_bytes()
    bench.lockfile.unlink()
    assert profiles(in_force) == []
    bench.lockfile.write_bytes(whole)
    assert profiles(in_force) == ["default"]


def test_while_a_file_cannot_be_read_nothing_is_in_force(bench: Bench) -> None:
    bench.pin("default")
    in_force = bench.opened()
    whole = bench.lockfile.read_bytes()
    bench.lockfile.write_bytes(b"{}")
    assert in_force.refresh()
    with pytest.raises(InvalidInput) as refused:
        _ = in_force.pins
    assert str(bench.lockfile) in refused.value.message
    assert not in_force.refresh()
    bench.lockfile.write_bytes(whole)
    assert profiles(in_force) == ["default"]
    assert [line.partition(":")[0] for line in bench.told] == [
        "everything is withheld",
        "the files can be read again, and what passes is decided anew",
    ]


# Withdrawing


def test_what_other_processes_pinned_stays_when_a_server_is_withdrawn(bench: Bench) -> None:
    bench.pin("default")
    before = bench.project()
    launch = before.launch(["npx", "-y", "other"], environment={})
    pin_surface(forge.surface(A), server="other", launch=launch).apply(bench.project())
    withdraw(before, SERVER)
    assert [entry.server for entry in bench.project().lockfile.entries] == ["other"]


def test_what_is_withdrawn_is_what_is_pinned_by_then(bench: Bench) -> None:
    bench.pin_shown(forge.surface(A))
    before = bench.project()
    bench.pin("default")
    withdraw(before, SERVER)
    project = bench.project()
    assert project.lockfile.entries == ()
    assert bench.release.verified.manifest.digest in project.state.revoked(SERVER)


# Break-glass


def passing(in_force: InForce) -> list[str]:
    return [one.name for one in in_force.pins.overrides]


@pytest.mark.parametrize("age", [0, 60], ids=["written just now", "written a while ago"])
def test_what_is_let_pass_is_in_force_until_its_time_is_over_and_told_once_to_be(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, age: int
) -> None:
    clock = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: clock() + age * 1_000_000_000)
    bench.pin("default")
    elapsed = [0.0]
    in_force = bench.opened(Countdown(elapsed=lambda: elapsed[0]))
    bench.let_pass(forge.surface(A), 3600)
    assert in_force.refresh()
    assert passing(in_force) == ["a"]
    elapsed[0] = 3500
    assert not in_force.refresh()
    assert not in_force.over()
    turn = in_force.turn
    elapsed[0] = 3601  # the wall clock has hardly moved: it was put back
    assert in_force.refresh()
    assert in_force.turn == turn + 1, "who did not look itself sees it by the turn"
    assert passing(in_force) == []
    assert len(in_force.over()) == 1
    assert not in_force.over()
    bench.let_pass(forge.surface(B), 3600)
    assert in_force.refresh()
    assert passing(in_force) == ["b"], "what is over stays over"


def test_what_is_ended_early_is_in_force_no_more(bench: Bench) -> None:
    bench.pin("default")
    in_force = bench.opened()
    bench.let_pass(forge.surface(A, B), 3600)
    assert in_force.refresh()
    assert len(end_overrides(bench.project(), SERVER, name="a")) == 1
    assert in_force.refresh()
    assert passing(in_force) == ["b"]
    withdraw(bench.project(), SERVER)
    assert in_force.refresh()
    assert passing(in_force) == []
