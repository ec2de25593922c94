# SPDX-License-Identifier: Apache-2.0
"""What a policy says decides what a command answers; what a project's file loosens waits for a yes."""

import os
from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, YES, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

LAUNCH = ["npx", "-y", "@acme/weather"]
PACKAGE = Artifact("pkg:npm/%40acme/weather@1.0.0")
DENTED = {**FIND, "description": "Find a record.\n    Or two."}
DEDENTED = {**FIND, "description": "Find a record.\nOr two."}
RESOURCE = {"uri": "file:///a", "name": "a"}


def personal(text: str) -> None:
    (Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.toml").write_text(text, encoding="utf-8")


def project(text: str) -> None:
    Path("toolnotary.toml").write_text(text, encoding="utf-8")


def signers(publisher: Publisher) -> str:
    return f'[[signers]]\nservers = "io.github.acme/*"\nkey = """\n{publisher.pem.decode()}"""\n'


@pytest.fixture
def publisher(sqlite_registry: RunningRegistry) -> Publisher:
    """A publisher with two versions in the registry, whom the personal policy names."""
    made = Publisher()
    sqlite_registry.claim(made)
    for number in (1, 2):
        release = made.release(f"{number}.0.0", sequence=number, artifacts=[PACKAGE])
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    personal(signers(made))
    return made


def test_with_no_equivalence_a_text_that_is_only_dented_otherwise_has_changed(bench: Bench) -> None:
    bench.shows(DENTED, LOSE)
    bench.pin()
    check = ("check", bench.listing(DEDENTED, LOSE), "--server", "files")
    assert bench.json(*check)[1]["servers"][0]["counts"] == {"equivalent": 1, "verified": 1}
    personal("equivalences = 'none'\n")
    assert bench.json(*check)[1]["servers"][0]["counts"] == {"changed": 1, "verified": 1}


def test_a_project_brings_an_equivalence_back_only_once_accepted(bench: Bench) -> None:
    bench.shows(DENTED, LOSE)
    bench.pin()
    check = ("check", bench.listing(DEDENTED, LOSE), "--server", "files")
    personal("equivalences = 'none'\n")
    project("equivalences = 'equiv/1'\n")
    assert bench.run(*check)[0] == 1
    assert bench.run(*check, "--accept-project")[0] == 0
    assert bench.run(*check)[0] == 1, "one run's acceptance is not the next one's"
    assert bench.at_terminal("lock", "--accept-project", answers=YES).code == 0
    assert bench.run(*check)[0] == 0


def action(bench: Bench, *options: str) -> str:
    """What follows from the resource that changed."""
    result = bench.json("check", "--start", *options)[1]
    (found,) = [one for one in result["servers"][0]["verdicts"] if one["kind"] == "resource"]
    return f"{found['reason']}: {found['action']}"


def test_what_follows_from_a_resource_that_is_not_as_pinned_is_what_the_policy_says(bench: Bench) -> None:
    bench.shows(FIND, resources=[RESOURCE])
    bench.pin()
    bench.shows(FIND, resources=[{**RESOURCE, "description": "another one"}])
    for said in ("note", "prompt", "block"):
        personal(f"resources = '{said}'\n")
        assert action(bench) == f"changed: {said}"


def test_a_project_softens_what_follows_from_a_resource_only_once_accepted(bench: Bench) -> None:
    bench.shows(FIND, resources=[RESOURCE])
    bench.pin()
    bench.shows(FIND, resources=[{**RESOURCE, "description": "another one"}])
    personal("resources = 'block'\n")
    project("resources = 'note'\n")
    assert action(bench) == "changed: block"
    assert action(bench, "--accept-project") == "changed: note"
    assert bench.at_terminal("lock", "--accept-project", answers=YES).code == 0
    assert action(bench) == "changed: note"


@pytest.mark.parametrize("said_in", [personal, project], ids=["personal", "project"])
def test_a_version_that_a_policy_revokes_is_not_pinned(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher, said_in: object
) -> None:
    lock = ["lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--yes", "--", *LAUNCH]
    revoked = f'revoked = ["{publisher.release("1.0.0", artifacts=[PACKAGE]).digest}"]\n'
    if said_in is personal:
        personal(revoked + signers(publisher))
    else:
        project(revoked)
    code, _, err = bench.run(*lock)
    assert (code, "error: revoked: " in err) == (1, True)
    assert not Path("toolnotary.lock").exists()
    if said_in is personal:
        personal(signers(publisher))
    else:
        project("")
    assert bench.run(*lock)[0] == 0


def test_no_pin_moves_to_a_version_that_a_policy_revokes(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    lock = ["lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--yes", "--", *LAUNCH]
    assert bench.run(*lock)[0] == 0
    before = Path("toolnotary.lock").read_bytes()
    move = ["approve", SERVER, f"{SERVER}@2.0.0", "--registry", sqlite_registry.url]
    second = publisher.release("2.0.0", sequence=2, artifacts=[PACKAGE])
    personal(f'revoked = ["{second.digest}"]\n' + signers(publisher))
    session = bench.at_terminal(*move, answers=YES)
    assert (session.code, "error: revoked: " in session.shown) == (1, True)
    assert Path("toolnotary.lock").read_bytes() == before
    personal(signers(publisher))
    assert bench.at_terminal(*move, answers=YES).code == 0


def test_a_signer_that_a_project_names_signs_for_nobody_until_accepted(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    lock = ["lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--yes", "--", *LAUNCH]
    personal("")
    project(signers(publisher))
    code, _, err = bench.run(*lock)
    assert (code, "error: unknown-key: " in err) == (1, True)
    assert bench.at_terminal("lock", "--accept-project", answers=YES).code == 0
    assert bench.run(*lock)[0] == 0


def test_a_registry_that_a_project_names_is_not_asked_until_accepted(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    project(f'[registry]\nurl = "{sqlite_registry.url}"\n')
    diff = ["diff", f"{SERVER}@1.0.0", f"{SERVER}@1.0.0"]
    code, _, err = bench.run(*diff)
    assert (code, "error: no-registry: " in err) == (2, True)
    assert "registry.url" in err, "why it does not count is told"
    assert bench.at_terminal("lock", "--accept-project", answers=YES).code == 0
    assert bench.run(*diff)[0] == 0
