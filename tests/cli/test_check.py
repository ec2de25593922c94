# SPDX-License-Identifier: Apache-2.0
"""`toolnotary check`: each server in one state, nothing written, nothing started unasked."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forge import PUBLISHER, surface
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from servers.impostor import Impostor, answering, json_response, problem
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Profile, UnnamedManifest

__all__ = ["bench", "sqlite_registry"]


def test_a_server_that_shows_what_is_pinned_is_verified(bench: Bench) -> None:
    bench.pin()
    code, result = bench.json("check", "--start")
    assert code == 0
    assert result["counts"] == {"verified": 1, "drift": 0, "unpinned": 0, "not-inspected": 0}
    assert result["servers"][0]["counts"] == {"verified": 2}


def test_a_changed_tool_is_drift_and_told_by_name(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    code, result = bench.json("check", "--start")
    assert code == 1
    assert result["servers"][0]["outcome"] == "drift"
    found = {verdict["name"]: verdict["reason"] for verdict in result["servers"][0]["verdicts"]}
    assert found == {"find": "changed", "lose": "verified"}
    code, out, _ = bench.run("check", "--start")
    assert code == 1
    assert "changed: tool find" in out
    assert "toolnotary approve files" in out


def test_a_saved_listing_is_judged_by_the_name_of_its_server(bench: Bench) -> None:
    bench.pin()
    assert bench.json("check", bench.listing(FIND, LOSE), "--server", "files")[0] == 0
    assert bench.json("check", bench.listing(FIND), "--server", "files")[0] == 0
    assert bench.json("check", bench.listing(POISONED), "--server", "files")[0] == 1
    code, result = bench.json("check", bench.listing(), "--server", "files")
    assert (code, result["servers"][0]["outcome"]) == (1, "drift")


def test_a_server_that_nobody_pinned_is_unpinned(bench: Bench) -> None:
    code, result = bench.json("check", bench.listing(FIND), "--server", "other")
    assert code == 1
    assert result["servers"][0]["outcome"] == "unpinned"
    assert {verdict["reason"] for verdict in result["servers"][0]["verdicts"]} == {"first-unsigned"}


@pytest.mark.parametrize(
    "command", [["check", "--server", "files", "m.json"], ["approve", "files", "m.json"]], ids=lambda c: c[0]
)
def test_a_capture_of_several_profiles_is_refused_with_their_names(bench: Bench, command: list[str]) -> None:
    bench.pin()
    surfaces = {name: surface(FIND, LOSE) for name in ("default", "capable", "legacy")}
    built = UnnamedManifest.build(profiles={name: (Profile(), seen) for name, seen in surfaces.items()})
    Path("m.json").write_bytes(built.canonical)
    code, _, err = bench.run(*command)
    assert code == 2
    assert err.startswith("error: source-part: m.json holds 3 profiles")
    assert "capable, default, legacy" in err
    named = err.split("such as ")[1].split()[0]
    assert bench.json("check", "--server", "files", named)[0] == 0


def test_a_published_version_is_judged_like_any_other_source(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    release = publisher.release()
    Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    bench.pin()
    source = f"{SERVER}@1.0.0"
    for version in (source, f"{source}#default"):
        code, result = bench.json("check", version, "--server", "files", "--registry", sqlite_registry.url)
        assert (code, result["servers"][0]["counts"]) == (1, {"added": 1, "missing": 2})
    code, result = bench.json("check", source, "--server", "files")
    assert (code, result["servers"][0]["error"]["code"]) == (2, "no-registry")
    code, result = bench.json("check", source, "--registry", sqlite_registry.url)
    assert (code, result["servers"][0]["server"], result["servers"][0]["outcome"]) == (1, SERVER, "unpinned")
    code, result = bench.json(
        "check", f"{source}#nope", "--server", "files", "--registry", sqlite_registry.url
    )
    assert (code, result["servers"][0]["error"]["code"]) == (2, "source-part")


def test_a_server_that_nobody_pinned_is_never_fine(bench: Bench) -> None:
    """Also where it shows nothing: a misspelled name must not pass in continuous integration."""
    code, result = bench.json("check", bench.listing(), "--server", "flies")
    assert (code, result["servers"][0]["outcome"]) == (1, "unpinned")


def test_what_to_do_about_a_server_that_could_not_be_judged_is_told(bench: Bench) -> None:
    bench.pin()
    bench.shows(rules=[{"on": "start", "do": [{"exit": 3}]}])
    code, result = bench.json("check", "--start")
    error = result["servers"][0]["error"]
    assert (code, error["code"]) == (3, "server-ended")
    assert f"  {error['remedy']}\n" in bench.run("check", "--start")[1]


def test_a_saved_listing_needs_the_name_of_its_server(bench: Bench) -> None:
    code, _, err = bench.run("check", bench.listing(FIND))
    assert code == 2
    assert "--server" in err


def test_a_command_is_known_by_its_launch(bench: Bench) -> None:
    bench.pin()
    code, result = bench.json("check", "--", *bench.launch)
    assert code == 0
    assert result["servers"][0]["server"] == "files"


def test_a_command_that_is_not_the_pinned_one_is_not_started(bench: Bench) -> None:
    bench.pin()
    marker = bench.folder / "started"
    evil = ["python3", "-c", f"open({str(marker)!r}, 'w')"]
    code, result = bench.json("check", "--server", "files", "--", *evil)
    assert code == 1
    assert result["servers"][0]["error"]["code"] == "identity"
    assert not marker.exists()


def test_a_recorded_command_that_would_load_other_code_today_is_not_started(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.pin()
    bench.shows(FIND, LOSE, record=str(bench.folder / "starts"))
    monkeypatch.setenv("PYTHONPATH", str(bench.folder))
    code, result = bench.json("check", "--start")
    assert code == 1
    assert result["servers"][0]["error"]["code"] == "identity"
    assert not (bench.folder / "starts").exists()
    assert "toolnotary approve" not in bench.run("check", "--start")[1]


def test_nothing_is_started_without_being_asked(bench: Bench) -> None:
    bench.shows(FIND, record=str(bench.folder / "starts"))
    bench.pin()
    before = (bench.folder / "starts").read_text(encoding="utf-8")
    code, result = bench.json("check")
    assert code == 3
    assert result["counts"]["not-inspected"] == 1
    assert result["servers"][0]["error"]["code"] == "not-started"
    assert (bench.folder / "starts").read_text(encoding="utf-8") == before


def test_what_is_started_is_shown_first(bench: Bench) -> None:
    bench.pin()
    _, _, err = bench.run("check", "--start")
    assert f"starting files: {bench.launch[0]}" in err


def test_it_writes_nothing(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED)
    before = bench.files
    for arguments in (["--start"], [bench.listing(FIND, name="server.json"), "--server", "files"], []):
        before = bench.files
        bench.run("check", *arguments)
        assert bench.files == before


def test_every_server_is_in_exactly_one_state_and_the_counts_add_up(bench: Bench) -> None:
    bench.pin("one")
    bench.pin("two")
    code, result = bench.json("check", "--start")
    assert code == 0
    assert sum(result["counts"].values()) == len(result["servers"]) == 2


def test_a_server_that_does_not_start_is_not_inspected(bench: Bench) -> None:
    bench.pin()
    bench.script.write_text(json.dumps({"rules": [{"on": "start", "do": [{"exit": 3}]}]}), encoding="utf-8")
    code, result = bench.json("check", "--start")
    assert code == 3
    assert result["servers"][0]["outcome"] == "not-inspected"
    assert result["servers"][0]["error"]["code"] == "server-ended"


def test_drift_counts_before_what_was_not_inspected(bench: Bench) -> None:
    bench.pin("one")
    bench.shows(POISONED)
    other = bench.folder / "other.json"
    other.write_text(bench.script.read_text(encoding="utf-8"), encoding="utf-8")
    first, bench.script = bench.script, other
    bench.pin("two")
    other.write_text(json.dumps({"rules": [{"on": "start", "do": [{"exit": 3}]}]}), encoding="utf-8")
    bench.script = first
    code, result = bench.json("check", "--start")
    assert code == 1
    assert result["counts"] == {"verified": 0, "drift": 1, "unpinned": 0, "not-inspected": 1}


@pytest.mark.parametrize("content", [b"not json", b"{", b"\xff", b"{}", b'{"tools": 3}', b"null"])
def test_a_file_that_is_no_listing_is_invalid_input(bench: Bench, content: bytes) -> None:
    bench.pin()
    Path("x.json").write_bytes(content)
    code, out, err = bench.run("check", "x.json", "--server", "files")
    assert code == 4
    assert not out
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (b"<<<<<<< HEAD\n", "lockfile-conflict"),
        (b"garbage\n", "lockfile-corrupt"),
    ],
)
def test_a_lockfile_that_is_not_valid_is_named(bench: Bench, damage: bytes, code: str) -> None:
    bench.pin()
    path = bench.folder / "toolnotary.lock"
    path.write_bytes(path.read_bytes() + damage)
    ended, _, err = bench.run("check", "--start")
    assert ended == 4
    assert code in err
    assert "toolnotary.lock" in err


def test_a_state_that_is_not_valid_closes_and_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.pin()
    home = bench.folder / "home"
    home.mkdir()
    (home / "state.jsonl").write_bytes(b"garbage\n")
    monkeypatch.setenv("TOOLNOTARY_HOME", str(home))
    code, _, err = bench.run("check", "--start")
    assert code == 4
    assert "state-corrupt" in err
    assert str(home / "state.jsonl") in err


def test_a_clone_needs_the_users_acceptance_or_the_word_of_the_build(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.pin()
    monkeypatch.setenv("TOOLNOTARY_HOME", str(bench.folder / "another"))
    code, out, _ = bench.run("check", "--start")
    assert (code, "--accept-project" in out) == (1, True)
    assert "to accept what the lockfile pins: toolnotary approve files" in out
    code, result = bench.json("check", "--start", "--accept-project")
    assert (code, result["counts"]["verified"]) == (0, 1)
    bench.shows(POISONED)
    assert bench.json("check", "--start", "--accept-project")[0] == 1
    assert not (bench.folder / "another").exists()


def test_the_review_of_a_project_accepts_nothing_in_the_personal_lockfile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.pin()
    another = bench.folder / "another"
    another.mkdir()
    (bench.folder / "toolnotary.lock").rename(another / "toolnotary.lock")
    check = ("check", bench.listing(FIND, LOSE), "--server", "files")
    assert bench.run(*check, "--accept-project", "--lockfile", str(another / "toolnotary.lock"))[0] == 0
    monkeypatch.setenv("TOOLNOTARY_HOME", str(another))
    assert bench.run(*check, "--accept-project")[0] == 1


def test_a_policy_that_loosens_is_told_and_does_not_count(bench: Bench) -> None:
    bench.pin()
    Path("toolnotary.toml").write_text("[verdicts]\nupgrade = 'note'\n", encoding="utf-8")
    _, _, err = bench.run("check", bench.listing(FIND), "--server", "files")
    assert "verdicts.upgrade" in err
    _, _, err = bench.run("check", bench.listing(FIND), "--server", "files", "--accept-project")
    assert "verdicts.upgrade" not in err


def test_a_policy_with_an_unknown_option_is_an_error(bench: Bench) -> None:
    Path("toolnotary.toml").write_text("on_drfit = 'block'\n", encoding="utf-8")
    code, _, err = bench.run("check", bench.listing(FIND), "--server", "files")
    assert code == 2
    assert "policy-unknown-key" in err


def test_a_lockfile_that_pins_nothing_is_an_error(bench: Bench) -> None:
    code, _, err = bench.run("check")
    assert code == 2
    assert "nothing-pinned" in err


def test_what_a_server_calls_its_tools_is_escaped(bench: Bench) -> None:
    bench.pin()
    evil = {**FIND, "name": "x\x1b]0;y\x07\u202e"}
    code, out, _ = bench.run("check", bench.listing(FIND, evil), "--server", "files")
    assert code == 1
    assert "\x1b" not in out
    assert "\u202e" not in out


@contextmanager
def slow_registry(policy: str, *servers: str) -> Iterator[Impostor]:
    """A registry that lists eight versions of each server at once, and takes its time for each of them."""
    key = PUBLISHER.public
    signers = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{key.to_pem().decode()}"""\n'
    versions = [
        {
            "server": server,
            "version": f"{number}.0.0",
            "sequence": number,
            "manifest": Digest.of(b"manifest"),
            "bundle": Digest.of(b"bundle"),
            "signer": f"key:{key.key_id}",
        }
        for server in servers
        for number in range(8, 0, -1)
    ]
    gone = threading.Event()

    def answer(target: str, connection: socket.socket) -> None:
        server = target.removeprefix("/v1/servers/").partition("/versions")[0]
        if target.endswith("/versions"):
            listed = [one for one in versions if one["server"] == server]
            connection.sendall(json_response({"versions": listed}))
        else:
            gone.wait(0.2)
            connection.sendall(problem(404, "not-in-registry"))

    with answering(answer) as impostor:
        Path(policy).write_text(f'[registry]\nurl = "{impostor.url}"\n{signers}', encoding="utf-8")
        yield impostor
        gone.set()


def test_a_slow_registry_is_given_up_once_for_all_versions_and_all_servers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = ("io.github.acme/one", "io.github.acme/two")
    for server in servers:
        bench.pin(server)
    bench.shows(POISONED, LOSE)
    defaults = Registry.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "deadline", 0.5)
    with slow_registry("slow.toml", *servers) as impostor:
        code, out, err = bench.run("check", "--start", "--policy", "slow.toml")
    assert (code, out.count("changed: tool find")) == (1, 2)
    assert err.count("no newer version is known: registry-unreachable") == 1, err
    assert err.count("the registry is not asked again") == 1
    assert sum(asked.split()[1].endswith("/versions") for asked in impostor.asked) == 1
    assert len(impostor.asked) <= 4


def test_what_a_server_has_one_of_is_named_once_and_a_look_alike_is_spelled_out(bench: Bench) -> None:
    bench.pin()
    bench.shows(FIND, {**LOSE, "name": "los\u0435"}, instructions="Call find first.")
    told = bench.run("check", "--start")[1]
    assert "instructions-changed: instructions  " in told
    assert "tool los\u0435 (spelled los\\u{435})" in told
