# SPDX-License-Identifier: Apache-2.0
"""The look-ups of a running proxy: asked again after a failure, few in number, and never in the way."""

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from servers.publisher import NOW, SERVER, Publisher

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.guard.lookup import LookUp
from toolnotary_verifier.in_force import InForce
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.manifest import Artifact, Profile, UnnamedManifest
from toolnotary_verifier.moves import Signed
from toolnotary_verifier.offers import Offers
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.surface import Surface, assemble
from toolnotary_verifier.verdict import Judgement, Reason
from toolnotary_verifier.verify import verify_publish

Json = Any
INSTRUCTIONS = "Ask for the weather."
DOWN = CannotTell("registry-unreachable", "the registry is down")


def shown(description: str, instructions: str | None = None) -> Surface:
    """What the server of the publisher shows."""
    tool = {"name": "get_forecast", "description": description, "inputSchema": {"type": "object"}}
    return assemble({Kind.TOOL: [tool]}, instructions=instructions, inspected=[Kind.TOOL])


class Bench:
    """One user, one server, and a registry that is played; time passes where somebody sleeps."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.publisher = Publisher()
        self.now = 1000.0
        self.slept: list[float] = []
        self.answers: list[Offers] = []
        self.asked = 0
        self.seen: list[Judgement] = []
        self._home = folder
        self._program = folder / "weather.py"
        self._program.write_text("", encoding="ascii")
        key = self.publisher.pem.decode()
        self.policy = folder / "toolnotary.toml"
        self.policy.write_text(f'[[signers]]\nservers = "*"\nkey = """{key}"""\n', encoding="utf-8")
        time = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep)
        monkeypatch.setattr("toolnotary_verifier.guard.lookup.time", time)
        monkeypatch.setattr("toolnotary_verifier.offers.offered", self._offered)
        self.launch = Launch.from_command(["python", str(self._program)], base=folder, environment={})
        self.look_up = LookUp(
            SERVER,
            self.launch,
            in_force=self.in_force(),
            reopen=self.files,
            registry="https://r.example",
            log=Log(SERVER),
            seen=lambda _surface, judgement: self.seen.append(judgement),
        )

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def _offered(self, *_arguments: Json, **_options: Json) -> Offers:
        self.asked += 1
        return self.answers.pop(0) if self.answers else Offers(failure=DOWN)

    def files(self) -> Project:
        return Project.load(
            lockfile=self._home / "toolnotary.lock",
            state=self._home / "state.jsonl",
            personal_policy=self.policy,
        )

    def in_force(self) -> InForce:
        """What a proxy that starts now holds the server to."""
        project = self.files()
        return InForce(
            project,
            self.pins,
            server=SERVER,
            launch=self.launch,
            files=(project.state.path, project.lockfile_path, self.policy),
            reopen=self.files,
            tell=lambda _line: None,
        )

    def signed(self, version: str, description: str) -> Signed:
        digest = "sha256:" + hashlib.sha256(self._program.read_bytes()).hexdigest()
        artifacts = [Artifact("pkg:generic/weather@1.0.0", digest)]
        seen = shown(description, INSTRUCTIONS)
        unnamed = UnnamedManifest.build(profiles={"default": (Profile.of(seen, transport="stdio"), seen)})
        made = unnamed.named(server=SERVER, version=version, artifacts=artifacts)
        release = self.publisher.sign(made, sequence=int(version[0]))
        key = self.publisher.public_key
        verified = verify_publish(release.manifest, release.bundle, trusted={key.key_id: key}, at=NOW)
        return Signed(verified=verified, bundle=release.bundle)

    @property
    def pins(self) -> Pins:
        return load_pins(self.files(), server=SERVER, launch=self.launch)

    def reasons(self, judge: Json, surface: Surface) -> set[Reason]:
        return {verdict.reason for verdict in judge(surface).verdicts}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    home = Path(os.environ["TOOLNOTARY_HOME"])
    home.chmod(0o700)
    return Bench(home, monkeypatch)


def test_a_registry_that_comes_back_is_believed_and_until_then_asked_less_and_less(bench: Bench) -> None:
    one = shown("one")
    judge = bench.look_up.judge()
    assert bench.reasons(judge, one) == {Reason.PENDING}
    bench.answers = [Offers(failure=DOWN), Offers(failure=DOWN), Offers((bench.signed("1.0.0", "one"),))]
    judges = bench.look_up.judges()
    for slept in ([], [60.0]):
        assert bench.reasons(next(judges), one) == {Reason.FIRST_UNSIGNED}
        assert bench.slept == slept
    assert bench.reasons(next(judges), one) == {Reason.VERIFIED}
    assert bench.slept == [60.0, 120.0]
    assert list(judges) == []


def test_a_registry_that_stays_away_is_given_up(bench: Bench) -> None:
    assert bench.reasons(bench.look_up.judge(), shown("one")) == {Reason.PENDING}
    found = [bench.reasons(judge, shown("one")) for judge in bench.look_up.judges()]
    assert found == [{Reason.FIRST_UNSIGNED}] * 5
    assert bench.asked == 5


def test_what_is_unknown_right_after_an_answer_is_not_asked_for_and_later_it_is(bench: Bench) -> None:
    judge = bench.look_up.judge()
    assert bench.reasons(judge, shown("one")) == {Reason.PENDING}
    bench.answers = [Offers((bench.signed("1.0.0", "one"),)), Offers((bench.signed("2.0.0", "two"),))]
    (judge,) = bench.look_up.judges()
    assert bench.reasons(judge, shown("one")) == {Reason.VERIFIED}
    assert bench.reasons(judge, shown("two")) == {Reason.CHANGED}
    bench.now += 60
    assert bench.reasons(judge, shown("two")) == {Reason.CHANGED}, "that was asked for"
    assert bench.reasons(judge, shown("three")) == {Reason.PENDING}
    (judge,) = bench.look_up.judges()
    assert bench.reasons(judge, shown("two")) == {Reason.UPGRADE}
    assert bench.reasons(judge, shown("three")) == {Reason.CHANGED}
    assert bench.asked == 2


def test_a_server_that_changes_all_the_time_has_the_registry_asked_a_few_times(bench: Bench) -> None:
    bench.answers = [Offers()] * 100
    judge = bench.look_up.judge()
    for number in range(100):
        bench.now += 3600
        if bench.reasons(judge, shown(f"number {number}")) == {Reason.PENDING}:
            (judge,) = bench.look_up.judges()
    assert bench.asked == 20


def test_instructions_alone_pin_no_version_since_several_may_have_them(bench: Bench) -> None:
    before = assemble({}, instructions=INSTRUCTIONS, inspected=[Kind.INSTRUCTIONS])
    judge = bench.look_up.judge()
    assert bench.reasons(judge, before) == {Reason.PENDING}
    bench.answers = [Offers((bench.signed("1.0.0", "one"), bench.signed("2.0.0", "two")))]
    (judge,) = bench.look_up.judges()
    assert bench.reasons(judge, before) == {Reason.FIRST_SIGNED}
    assert not judge(before).forward
    assert bench.pins.profiles == ()
    assert bench.reasons(judge, shown("one")) == {Reason.PENDING}, "it is to be pinned, elsewhere than here"
    (judge,) = bench.look_up.judges()
    assert bench.reasons(judge, shown("one")) == {Reason.VERIFIED}
    assert bench.asked == 1


def test_whatever_breaks_during_a_look_up_is_told_and_nothing_else_suffers(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    judge = bench.look_up.judge()
    judge(shown("one"))
    bench.policy.write_text("broken", encoding="utf-8")
    judges = bench.look_up.judges()
    assert bench.reasons(next(judges), shown("one")) == {Reason.FIRST_UNSIGNED}
    assert "(policy-syntax) [look-up]" in capfd.readouterr().err


def test_what_another_process_decided_meanwhile_counts(bench: Bench) -> None:
    judge = bench.look_up.judge()
    judge(shown("one"))
    other = LookUp(
        SERVER,
        bench.launch,
        in_force=bench.in_force(),
        reopen=bench.files,
        registry="https://r.example",
        log=Log(SERVER),
        seen=lambda *_: None,
    )
    other.judge()(shown("two"))
    bench.answers = [Offers((bench.signed("2.0.0", "two"),)), Offers((bench.signed("1.0.0", "one"),))]
    list(other.judges())
    (judge,) = bench.look_up.judges()
    assert bench.reasons(judge, shown("one")) == {Reason.ROLLBACK}
    assert bench.reasons(judge, shown("two")) == {Reason.VERIFIED}


def test_what_is_recorded_while_a_look_up_is_under_way_does_not_wait_for_its_answer(bench: Bench) -> None:
    judge = bench.look_up.judge()
    assert [bench.reasons(judge, shown("one")) for _ in range(2)] == [{Reason.PENDING}] * 2
    assert [judgement.counts for judgement in bench.seen] == [{Reason.FIRST_UNSIGNED: 1}] * 2
