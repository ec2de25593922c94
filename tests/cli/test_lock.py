# SPDX-License-Identifier: Apache-2.0
"""`toolnotary lock`: pins are added after a signature or a person's yes, and never moved."""

from pathlib import Path

import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench
from servers.publisher import SERVER, Publisher, manifest
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_cli.opening import open_project
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

LAUNCH = ["npx", "-y", "@acme/weather"]
PACKAGE = Artifact("pkg:npm/%40acme/weather@1.0.0")
FORECAST = {"name": "get_forecast", "description": "Tells the weather.", "inputSchema": {"type": "object"}}


def test_a_person_is_shown_what_would_be_pinned_and_asked(bench: Bench) -> None:
    session = bench.at_terminal(
        "lock", "--server", "files", "--", *bench.launch, answers=(("pin files to this? [yes/no]", "yes\n"),)
    )
    assert session.code == 0
    for shown in ("Find a record.", "Lose a record.", "nobody signed this", "change set sha256:"):
        assert shown in session.shown
    assert bench.json("check", "--start")[0] == 0


def test_a_no_pins_nothing_and_is_remembered(bench: Bench) -> None:
    before = bench.files
    lock = ["lock", "--server", "files", "--", *bench.launch]
    session = bench.at_terminal(*lock, answers=(("[yes/no]", "no\n"),))
    assert session.code == 1
    assert "you declined exactly this before" not in session.shown
    state = open_project(lockfile=None, policy=None).state
    assert state.knows("files"), "it is no first sight any more"
    written = [state.path, *(state.path.with_name(name) for name in ("audit.jsonl", "audit.jsonl.lock"))]
    assert bench.files == {**before, **{str(path): path.read_bytes() for path in written}}
    again = bench.at_terminal(*lock, answers=YES)
    assert (again.code, "you declined exactly this before" in again.shown) == (0, True), again.shown


def test_a_version_that_was_declined_is_remembered_too(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    release = publisher.release("1.0.0", artifacts=[PACKAGE])
    Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    Path("key.pub").write_bytes(publisher.pem)
    options = ["--registry", sqlite_registry.url, "--key", "key.pub"]
    no = (("[yes/no]", "no\n"),)
    assert bench.at_terminal("lock", f"{SERVER}@1.0.0", *options, "--", *LAUNCH, answers=no).code == 1
    state = open_project(lockfile=None, policy=None).state
    assert state.declined(SERVER, release.digest)
    assert state.keys(SERVER) == {}


def test_ctrl_c_at_the_question_pins_nothing(bench: Bench) -> None:
    before = bench.files
    session = bench.at_terminal(
        "lock", "--server", "files", "--", *bench.launch, answers=(("[yes/no]", "\x03"),)
    )
    assert session.code == 130
    assert "Traceback" not in session.shown
    assert bench.files == before


def test_without_a_terminal_nothing_is_pinned(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = bench.run("lock", "--server", "files", "--yes", "--", *bench.launch)
    assert code == 1
    assert "needs-a-person" in err
    assert not (bench.folder / "toolnotary.lock").exists()


def test_no_digest_stands_in_for_a_person(bench: Bench) -> None:
    """Whoever runs the command can read the digest from its refusal, a model with a shell included."""
    digest = bench.change_set("--server", "files", "--", *bench.launch)
    code, _, err = bench.run("lock", "--server", "files", "--yes", "--digest", digest, "--", *bench.launch)
    assert code == 1
    assert "needs-a-person" in err
    assert not (bench.folder / "toolnotary.lock").exists()


def test_the_policy_counts_when_the_first_look_is_recorded(bench: Bench) -> None:
    Path("toolnotary.toml").write_text("[verdicts]\nverified = 'block'\n", encoding="utf-8")
    session = bench.at_terminal("lock", "--server", "files", "--", *bench.launch, answers=YES)
    assert session.code == 0, session.shown
    assert bench.json("status")[1]["servers"][0]["outcome"] == "drift"


def test_what_a_person_pinned_is_verified(bench: Bench) -> None:
    bench.pin()
    assert bench.json("check", "--start")[0] == 0


def test_a_server_that_changed_since_the_review_is_not_pinned(bench: Bench) -> None:
    digest = bench.change_set("--server", "files", "--", *bench.launch)
    bench.shows(POISONED)
    code, _, err = bench.run("lock", "--server", "files", "--yes", "--digest", digest, "--", *bench.launch)
    assert code == 1
    assert "change-set-differs" in err
    assert not (bench.folder / "toolnotary.lock").exists()


def test_a_pin_is_never_moved(bench: Bench) -> None:
    bench.pin()
    before = bench.files
    bench.shows(POISONED)
    code, _, err = bench.run("lock", "--server", "files", "--yes", "--", *bench.launch)
    assert code == 1
    assert "already-pinned" in err
    assert "toolnotary approve files" in err
    assert {
        name: raw for name, raw in bench.files.items() if name in before and "server.json" not in name
    } == {name: raw for name, raw in before.items() if "server.json" not in name}


def test_pinning_the_same_again_changes_nothing(bench: Bench) -> None:
    bench.pin()
    before = bench.files
    code, result = bench.json("lock", "--server", "files", "--", *bench.launch)
    assert code == 0
    assert result["pinned"]
    after = {name: raw for name, raw in bench.files.items() if not name.endswith("state.jsonl")}
    assert after == {name: raw for name, raw in before.items() if not name.endswith("state.jsonl")}


def test_a_saved_listing_is_pinned_under_the_launch_that_is_given(bench: Bench) -> None:
    listing = bench.listing(FIND, LOSE)
    session = bench.at_terminal("lock", "--server", "files", listing, "--", *bench.launch, answers=YES)
    assert session.code == 0, session.shown
    assert bench.json("check", "--start")[0] == 0


def test_a_saved_listing_alone_does_not_say_how_its_server_is_started(bench: Bench) -> None:
    code, _, err = bench.run("lock", "--server", "files", bench.listing(FIND))
    assert code == 2
    assert "launch-needed" in err


@pytest.mark.parametrize("named", [["acme/x@1"], ["--server", "acme/x"]])
def test_a_command_is_asked_for_because_a_pin_binds_name_and_launch(bench: Bench, named: list[str]) -> None:
    code, _, err = bench.run("lock", *named)
    assert (code, "error: launch-needed: acme/x" in err) == (2, True)
    assert f"toolnotary lock {' '.join(named)} -- COMMAND" in err


@pytest.mark.parametrize("rest", [[], ["--", "npx", "x"]])
def test_the_name_of_a_server_without_a_version_is_told_from_a_file(bench: Bench, rest: list[str]) -> None:
    code, _, err = bench.run("lock", "acme/x", *rest)
    assert code == 2
    assert "it lacks @VERSION" in err
    assert "NAME@VERSION" in err
    assert "--server" in err


def test_a_url_and_a_command_are_not_one_launch(bench: Bench) -> None:
    code, _, err = bench.run("lock", "acme/x@1", "--url", "https://x.example", "--", "npx", "x")
    assert (code, "--url" in err) == (2, True)


def test_numbers_and_nouns_agree(bench: Bench) -> None:
    bench.shows(FIND, prompts=[{"name": "p"}, {"name": "q"}])
    session = bench.at_terminal(
        "lock", "--server", "files", "--", *bench.launch, answers=(("[yes/no]", "yes\n"),)
    )
    assert "1 tool, 2 prompts\n" in session.shown
    assert "3 definitions, without a signature" in bench.run("status")[1]
    bench.shows(FIND)
    assert "1 definition, " in bench.run("capture", "-o", "m.json", "--", *bench.launch)[1]


def test_a_name_is_asked_for_because_a_server_does_not_name_itself(bench: Bench) -> None:
    code, _, err = bench.run("lock", "--", *bench.launch)
    assert code == 2
    assert "--server" in err


def test_an_empty_listing_is_refused(bench: Bench) -> None:
    bench.shows()
    code, _, err = bench.run("lock", "--server", "files", "--yes", "--", *bench.launch)
    assert code == 1
    assert "empty-surface" in err


def test_without_texts_no_definition_is_written_beside_the_lockfile(bench: Bench) -> None:
    arguments = ["--server", "files", "--", *bench.launch]
    assert bench.at_terminal("lock", "--no-texts", *arguments, answers=YES).code == 0
    assert not (bench.folder / ".toolnotary").exists()
    assert "Find a record" not in (bench.folder / "toolnotary.lock").read_text(encoding="utf-8")
    assert bench.json("check", "--start")[0] == 0


def test_a_definition_that_differs_between_two_looks_is_told(bench: Bench) -> None:
    bench.shows(FIND, starts=[{}, {"tools": [POISONED]}], count_file=str(bench.folder / "starts"))
    session = bench.at_terminal(
        "lock", "--server", "files", "--", *bench.launch, answers=(("[yes/no]", "no\n"),)
    )
    assert session.code == 1
    assert "tool find differs between two looks" in session.shown


def test_what_cannot_be_pinned_is_told_with_the_reason_and_the_rest_is_pinned(bench: Bench) -> None:
    bench.shows(FIND, {**LOSE, "description": "\ud800"})
    session = bench.at_terminal("lock", "--server", "files", "--", *bench.launch, answers=YES)
    assert session.code == 0, session.shown
    assert "tool lose cannot be pinned: lone-surrogate: " in session.shown
    code, result = bench.json("check", "--start")
    assert (code, result["servers"][0]["counts"]) == (1, {"invalid": 1, "verified": 1})


CANARY = "kAnary0Secret1Value2Xy3"


def test_secrets_of_the_launch_are_in_no_file_and_no_output(bench: Bench) -> None:
    arguments = [
        "--server",
        "files",
        bench.listing(FIND),
        "--",
        "serve",
        "--api-key",
        CANARY,
        f"https://a:{CANARY}@x.example",
    ]
    session = bench.at_terminal("lock", *arguments, answers=YES)
    assert session.code == 0
    told = [(session.code, session.shown, "")]
    for command in (
        ["check"],
        ["status"],
        ["check", "--start"],
        ["lock", "--yes", *arguments],
        ["revoke", "files"],
    ):
        told += [bench.run(*command), bench.run(command[0], "--format", "json", *command[1:])]
    assert told[0][0] == 0
    assert not [one for one in told if CANARY in one[1] or CANARY in one[2]]
    assert not [name for name, raw in bench.files.items() if CANARY.encode() in raw]


def test_before_the_question_the_line_is_shown_as_it_is_recorded_and_committed(bench: Bench) -> None:
    words = ["-k", "SuperSecret1234567", "--sa_pw=hunter2secret", "--pin", "123456"]
    source = ["--server", "files", bench.listing(FIND)]
    session = bench.at_terminal("lock", *source, "--", "python3", "srv.py", *words, answers=YES)
    assert session.code == 0
    assert "-k *** '--sa_pw=***' --pin ***" in session.shown
    asked = session.shown.index("[yes/no]")
    assert session.shown.index("recorded in the lockfile and committed with it") < asked
    assert "SuperSecret1234567" not in session.shown
    assert not [
        name for name, raw in bench.files.items() if b"SuperSecret1234567" in raw or b"hunter2" in raw
    ]


# Published versions.


@pytest.fixture
def publisher(sqlite_registry: RunningRegistry) -> Publisher:
    made = Publisher()
    sqlite_registry.claim(made)
    return made


def publish(registry: RunningRegistry, publisher: Publisher, version: str, sequence: int) -> None:
    """Publish a version whose manifest names the package that LAUNCH starts."""
    release = publisher.release(version, sequence=sequence, artifacts=[PACKAGE])
    Registry(registry.url).publish(release.manifest, release.bundle)


def policy(publisher: Publisher) -> str:
    text = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{publisher.pem.decode()}"""\n'
    Path("mine.toml").write_text(text, encoding="utf-8")
    return "mine.toml"


def test_a_version_that_policy_lets_its_signer_sign_is_pinned_unasked(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    publish(sqlite_registry, publisher, "1.0.0", 1)
    code, result = bench.json(
        "lock",
        f"{SERVER}@1.0.0",
        "--registry",
        sqlite_registry.url,
        "--policy",
        policy(publisher),
        "--yes",
        "--",
        *LAUNCH,
    )
    assert code == 0
    assert result["version"] == "1.0.0"
    assert result["signer"] == f"key:{publisher.public_key.key_id}"
    listing = bench.listing(FORECAST)
    assert bench.json("check", listing, "--server", SERVER, "--policy", "mine.toml", "--offline")[0] == 0


def test_a_signer_that_no_policy_names_is_refused(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    publish(sqlite_registry, publisher, "1.0.0", 1)
    code, _, err = bench.run(
        "lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--yes", "--", *LAUNCH
    )
    assert code == 1
    assert "unknown-key" in err
    assert not (bench.folder / "toolnotary.lock").exists()


def test_a_key_that_is_given_needs_a_persons_yes_and_counts_from_then_on(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    publish(sqlite_registry, publisher, "1.0.0", 1)
    Path("acme.pub").write_bytes(publisher.pem)
    arguments = ["lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--key", "acme.pub"]
    code, _, err = bench.run(*arguments, "--yes", "--", *LAUNCH)
    assert code == 1
    assert "needs-a-person" in err
    session = bench.at_terminal(*arguments, "--", *LAUNCH, answers=(("[yes/no]", "yes\n"),))
    assert session.code == 0
    assert publisher.public_key.key_id in session.shown
    listing = bench.listing(FORECAST)
    assert bench.json("check", listing, "--server", SERVER, "--offline")[0] == 0


def test_a_launch_that_the_manifest_does_not_name_is_refused(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    publish(sqlite_registry, publisher, "1.0.0", 1)
    code, _, err = bench.run(
        "lock",
        f"{SERVER}@1.0.0",
        "--registry",
        sqlite_registry.url,
        "--policy",
        policy(publisher),
        "--yes",
        "--",
        "npx",
        "evil",
    )
    assert code == 1
    assert "identity" in err


def test_an_older_version_than_was_accepted_is_a_rollback(
    bench: Bench, sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    for number in (1, 2):
        publish(sqlite_registry, publisher, f"{number}.0.0", number)
    common = ["--registry", sqlite_registry.url, "--policy", policy(publisher), "--yes", "--", *LAUNCH]
    assert bench.run("lock", f"{SERVER}@2.0.0", *common)[0] == 0
    (bench.folder / "toolnotary.lock").unlink()
    code, _, err = bench.run("lock", f"{SERVER}@1.0.0", *common)
    assert code == 1
    assert "rollback" in err


def test_a_version_that_is_reached_by_a_url_ends_with_the_line_for_a_host_that_starts_commands(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    publisher, url = Publisher(), "https://mcp.acme.example/mcp"
    sqlite_registry.claim(publisher)
    release = publisher.sign(manifest(remotes=[url]), sequence=1)
    Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    Path("key.pub").write_bytes(publisher.pem)
    options = ["--registry", sqlite_registry.url, "--key", "key.pub", "--url", url]
    session = bench.at_terminal("lock", f"{SERVER}@1.0.0", *options, answers=YES)
    assert session.code == 0, session.shown
    line = session.shown.partition("let your host start it with:")[2].split()
    assert line[:4] == ["toolnotary", "run", "--server", SERVER]
    assert line[-2:] == ["--url", url]


def test_a_published_version_is_not_looked_up_offline(bench: Bench) -> None:
    code, _, err = bench.run(
        "lock", f"{SERVER}@1.0.0", "--registry", "https://r.example", "--offline", "--", *LAUNCH
    )
    assert code == 3
    assert "offline" in err


def test_a_registry_is_needed_for_a_published_version(bench: Bench) -> None:
    code, _, err = bench.run("lock", f"{SERVER}@1.0.0", "--", *LAUNCH)
    assert code == 2
    assert "no-registry" in err


@pytest.mark.parametrize("option", [["--key", "x.pub"], ["--profile", "x"], ["--url", "https://x.example"]])
def test_options_of_published_versions_are_refused_elsewhere(bench: Bench, option: list[str]) -> None:
    Path("x.pub").write_text("", encoding="utf-8")
    assert bench.run("lock", "--server", "files", *option, "--", *bench.launch)[0] == 2


def test_what_a_projects_policy_loosens_counts_after_a_persons_yes(bench: Bench) -> None:
    Path("toolnotary.toml").write_text("[verdicts]\nupgrade = 'note'\n", encoding="utf-8")
    assert bench.run("lock", "--accept-project")[0] == 1
    session = bench.at_terminal("lock", "--accept-project", answers=(("[yes/no]", "no\n"),))
    assert session.code == 1
    assert "verdicts.upgrade = note" in session.shown
    assert "verdicts.upgrade" in bench.run("lock", "--server", "files", bench.listing(FIND))[2]
    session = bench.at_terminal("lock", "--accept-project", answers=(("[yes/no]", "yes\n"),))
    assert session.code == 0
    assert "verdicts.upgrade" not in bench.run("lock", "--server", "files", bench.listing(FIND))[2]
    Path("toolnotary.toml").write_text("[verdicts]\nprofile-changed = 'note'\n", encoding="utf-8")
    assert "verdicts.profile-changed" in bench.run("lock", "--server", "files", bench.listing(FIND))[2]


def test_accepting_a_projects_policy_pins_nothing(bench: Bench) -> None:
    assert bench.run("lock", "--accept-project", "--", *bench.launch)[0] == 2
