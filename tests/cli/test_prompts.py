# SPDX-License-Identifier: Apache-2.0
"""Every question of every command ends alike: no is an answer (1), an abort is none (130)."""

import ast
import json
import sys
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

import toolnotary_cli
from toolnotary_cli.main import main
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Artifact

__all__ = ["bench", "sqlite_registry"]

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a Unix matter", allow_module_level=True)

LAUNCH = ["npx", "-y", "@acme/weather"]
CTRL_C, CTRL_D, UNSENT = "\x03", "\x04", "yes\x04\x04"


@pytest.fixture
def published(bench: Bench, sqlite_registry: RunningRegistry) -> list[str]:
    """Options under which two versions of a server can be pinned."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    for number in (1, 2):
        artifacts = [Artifact("pkg:npm/%40acme/weather@1.0.0")]
        release = publisher.release(f"{number}.0.0", sequence=number, artifacts=artifacts)
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    key = publisher.pem.decode()
    Path("mine.toml").write_text(
        f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{key}"""\n', encoding="utf-8"
    )
    return ["--policy", "mine.toml", "--registry", sqlite_registry.url]


# Every command that asks for a yes: its arguments, what it asks, and what is made ready before.
ASKING = {
    "approve-start": (["approve", "files"], "server.json ? [yes/no]"),
    "approve": (["approve", "files", "--start"], "accept this for files? [yes/no]"),
    "approve-version": (["approve", SERVER, f"{SERVER}@2.0.0"], f"accept this for {SERVER}? [yes/no]"),
    "break-glass": (["break-glass", "files", "--reason", "x", "--start"], "pass until 20"),
    "lock": (["lock", "--server", "files", "--"], "pin files to this? [yes/no]"),
    "lock-version": (["lock", f"{SERVER}@1.0.0", "--"], f"pin {SERVER} to this? [yes/no]"),
    "lock-policy": (["lock", "--accept-project"], "let the project's policy say this? [yes/no]"),
}


def command(name: str, bench: Bench, request: pytest.FixtureRequest) -> list[str]:
    """The command line, after what it needs is there."""
    arguments = list(ASKING[name][0])
    if name.startswith(("approve", "break-glass")) and not name.endswith("version"):
        bench.pin()
        bench.shows(POISONED, LOSE)
    if name == "lock":
        arguments += bench.launch
    if name == "lock-policy":
        Path("toolnotary.toml").write_text("[verdicts]\nupgrade = 'note'\n", encoding="utf-8")
    if name.endswith("version"):
        options = request.getfixturevalue("published")
        if name == "approve-version":
            assert bench.run("lock", f"{SERVER}@1.0.0", *options, "--yes", "--", *LAUNCH)[0] == 0
            return [*arguments, *options]
        return [*arguments[:-1], *options, "--", *LAUNCH]
    return arguments


@pytest.mark.parametrize("name", ASKING)
def test_no_ends_with_1_and_an_abort_with_130(
    name: str, bench: Bench, request: pytest.FixtureRequest
) -> None:
    arguments, question = command(name, bench, request), ASKING[name][1]
    before = bench.files
    for key in (CTRL_C, CTRL_D, UNSENT):
        session = bench.at_terminal(*arguments, answers=((question, key),))
        assert (session.code, "Traceback" in session.shown) == (130, False), session.shown
        assert bench.files == before, "an abort records nothing"
    session = bench.at_terminal(*arguments, answers=((question, "no\n"),))
    assert (session.code, "declined" in session.shown) == (1, True), session.shown


@pytest.mark.parametrize("name", ASKING)
def test_where_nobody_can_be_asked_the_message_says_what_works(
    name: str, bench: Bench, request: pytest.FixtureRequest
) -> None:
    arguments = command(name, bench, request)
    before = bench.files
    code, _, err = bench.run(*arguments)
    assert (code, "error: no-terminal:" in err) == (1, True)
    remedy = err.splitlines()[-1]
    expected = {
        "lock": "with --yes",
        "lock-version": "say --yes",
        "lock-policy": "check --accept-project",
        "approve-version": "toolnotary diff ",
    }
    assert expected.get(name, "toolnotary check --server") in remedy
    assert bench.files == before


def test_what_the_message_says_works_without_a_terminal_does(bench: Bench, published: list[str]) -> None:
    arguments = ["lock", f"{SERVER}@1.0.0", *published]
    assert "your policy names its signer" in bench.run(*arguments, "--", *LAUNCH)[2]
    assert bench.run(*arguments, "--yes", "--", *LAUNCH)[0] == 0


def test_a_server_that_is_not_to_be_started_is_not(bench: Bench) -> None:
    bench.pin()
    bench.shows(FIND, LOSE, record=str(bench.folder / "starts"))
    no = ((ASKING["approve-start"][1], "no\n"),)
    session = bench.at_terminal("approve", "files", answers=no)
    assert (session.code, "was not started" in session.shown) == (1, True)
    session = bench.at_terminal("approve", "files", "--format", "json", answers=no)
    document = json.loads(session.shown[session.shown.index("{\n") :])
    jsonschema.validate(
        document, json.loads((ROOT / "docs/schemas/approve.json").read_text(encoding="utf-8"))
    )
    assert (session.code, document["accepted"], document["changeSet"]) == (1, False, None)
    assert not (bench.folder / "starts").exists()


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_a_passphrase_that_is_not_given_ends_with_130(
    bench: Bench, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passphrase = Path("passphrase")
    passphrase.write_text("correct horse battery", encoding="utf-8")
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", str(passphrase))
    assert main(["keygen", "-o", "release"]) == 0
    assert bench.run("capture", "-o", "m.json", "--", *bench.launch)[0] == 0
    monkeypatch.delenv("TOOLNOTARY_KEY_PASSPHRASE_FILE")
    options = ["--server", SERVER, "--version", "1", "--sequence", "1"]
    sign = ["sign", "--key", "release.key", *options, "m.json"]
    new = "new passphrase, at least 8 characters: "
    again = ((new, "correct horse\n"), ("the same passphrase again: ", key))
    for arguments, answers in (
        (sign, (("passphrase of the key: ", key),)),
        (["keygen", "-o", "other"], ((new, key),)),
        (["keygen", "-o", "other"], again),
    ):
        before = bench.files
        session = bench.at_terminal(*arguments, answers=answers)
        assert (session.code, "Traceback" in session.shown) == (130, False), session.shown
        assert bench.files == before


def test_no_question_is_missing_here() -> None:
    """Whoever adds a question adds it to the table above."""
    asked = 0
    for path in Path(next(iter(toolnotary_cli.__path__))).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            asked += isinstance(node, ast.Call) and getattr(node.func, "id", "") == "confirm"
    # `approve` and `approve-version`, and `lock` and `lock-version`, are one call each.
    assert asked == len(ASKING) - 2
