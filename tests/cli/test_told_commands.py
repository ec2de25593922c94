# SPDX-License-Identifier: Apache-2.0
"""Commands that are told to people and models: a shell reads in them the name that is meant, and no more."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import gatebench
import pytest
from gatebench import tool
from pinned_servers import FIND, LOSE, POISONED, Bench, bench

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.gate import Commands, Gate
from toolnotary_verifier.history import accepted
from toolnotary_verifier.lockfile import Lockfile, Pin, UnsignedEntry
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.state import State

__all__ = ["bench"]

NAMES = [
    "x; touch pwned #",
    "$(touch pwned)",
    "`touch pwned`",
    'it\'s "quoted"',
    "two words",
    "a && touch pwned",
    "back\\slash",
    "!!",
    "*",
    "~",
]
LAUNCH: JsonObject = {"type": "stdio", "argv": ["serve"]}


def pin(server: str, *, argv: tuple[str, ...] = ("serve",), lockfile: Path | None = None) -> None:
    """FIND and LOSE, pinned under the name and accepted."""
    definitions = [Definition.of(Kind.TOOL, value) for value in (FIND, LOSE)]
    pins = tuple(Pin(Kind.TOOL, one.name, one.digest, normal_digest(one)) for one in definitions)
    entry = UnsignedEntry(server=server, launch=LAUNCH, recorded={"argv": list(argv)}, pins=pins)
    home = Path(os.environ["TOOLNOTARY_HOME"])
    Lockfile().with_entry(entry).save(lockfile or home / "toolnotary.lock")
    State.load(home / "state.jsonl").append(accepted(*entry.place, [(p.kind, p.name, p.exact) for p in pins]))


def told(text: str, verb: str) -> list[str]:
    """The words that a shell reads in the one command of this verb that the text tells."""
    (found,) = re.findall(rf"toolnotary {verb} .*", text)
    return shlex.split(re.sub(r" \[[a-z-]+\]$", "", found))[1:]


@pytest.mark.parametrize("name", NAMES)
def test_check_names_the_server_as_one_word(bench: Bench, name: str) -> None:
    pin(name)
    _, out, _ = bench.run("check", bench.listing(POISONED, LOSE), "--server", name)
    assert told(out, "approve") == ["approve", name]
    _, out, _ = bench.run("check", bench.listing(FIND), "--server", f"un{name}")
    assert told(out, "lock") == ["lock", "--server", f"un{name}", "--", "COMMAND"]


@pytest.mark.parametrize("name", NAMES)
def test_a_launch_of_another_server_is_answered_with_the_name_as_one_word(bench: Bench, name: str) -> None:
    pin(name)
    code, out, err = bench.run("check", "--server", name, "--", *bench.launch)
    assert code == 1
    assert told(out + err, "lock") == ["lock", "--server", name, "--", "COMMAND"]


@pytest.mark.parametrize("name", NAMES)
def test_explain_names_the_server_as_one_word(bench: Bench, name: str) -> None:
    pin(name)
    _, document = bench.json("explain", name)
    assert document["entries"][0]["commands"] is None
    assert bench.run("check", bench.listing(POISONED, LOSE), "--server", name)[0] == 1
    assert shlex.split(command("explain", name)) == ["toolnotary", "explain", name]


@pytest.mark.parametrize("name", NAMES)
def test_the_gate_names_the_server_as_one_word_to_models_and_to_people(name: str) -> None:
    options = ["--lockfile", "/a b/$(x)/toolnotary.lock"]
    spoken = gatebench.Bench([tool("a")])
    commands = Commands(name, files=options, registry=["--registry", "https://h/?a&b"])
    spoken.gate = Gate(gatebench.judge_by({Kind.TOOL: [tool("a")]}), server=name, commands=commands)
    spoken.shake_hands()
    spoken.listed(tool("a", "other"))
    spoken.call("a")
    text = spoken.told()["result"]["content"][0]["text"]
    assert told(text, "explain") == ["explain", name, *options]
    lines = [entry.text for entry in spoken.log if "approve" in entry.text]
    assert lines
    for line in lines:
        assert told(line, "approve") == ["approve", name, *options, "--registry", "https://h/?a&b"]


def test_a_shell_that_runs_what_a_model_was_told_explains_the_server_and_does_nothing_else(
    tmp_path: Path,
) -> None:
    name = "x; touch pwned #"
    pin(name)
    line = Commands(name).explain
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.startswith(f"{name}: pinned to 2 definitions")
    assert list(tmp_path.glob("**/pwned")) == []


def test_a_name_that_begins_with_a_dash_is_no_option(bench: Bench) -> None:
    pin("-x")
    words = shlex.split(Commands("-x", files=["--lockfile", str(bench.folder / "f")]).explain)
    assert words[-2:] == ["--", "-x"]
    assert bench.run(*shlex.split(Commands("-x").explain)[1:])[1].startswith("-x: pinned")
    # What stands behind the first `--` of approve is the server's own command.
    assert Commands("-x").approve() == "toolnotary approve NAME"


@pytest.mark.parametrize("name", ["a\u202eb", "a\nb", "a\u200bb", "a\\u{62}", "", "x" * 3000])
def test_a_name_that_nobody_can_type_is_in_no_command(name: str) -> None:
    assert command("approve", name) == "toolnotary approve NAME"
    assert command("lock", None, "--server", name) == "toolnotary lock --server SERVER"
    assert command("explain", "a", "--lockfile", f"/{name}\x1b") == "toolnotary explain a --lockfile LOCKFILE"


def test_approve_is_told_with_the_command_where_the_lockfile_leaves_out_a_secret(bench: Bench) -> None:
    pin("files", argv=("serve", "--token", "***"))
    _, out, _ = bench.run("check", bench.listing(POISONED, LOSE), "--server", "files")
    assert told(out, "approve") == ["approve", "files", "--", "COMMAND"]


def test_no_approval_is_named_for_what_cannot_be_approved_and_the_fault_is_told(bench: Bench) -> None:
    pin("files")
    big = {**FIND, "description": "x" * 2_000_000}
    code, out, _ = bench.run("check", bench.listing(big, LOSE), "--server", "files")
    assert code == 1
    assert "toolnotary approve" not in out
    assert "bytes, at most 1048576 are accepted" in out
    assert "[limits]" in out
    spoken = gatebench.Bench([tool("a")])
    spoken.shake_hands()
    spoken.listed(tool("a", "x" * 2_000_000))
    spoken.call("a")
    assert "(invalid: too-large)" in spoken.told()["result"]["content"][0]["text"]
    people = " ".join(entry.text for entry in spoken.log)
    assert "at most 1048576 are accepted" in people
    assert "approve" not in people.replace("no approval covers", "")


def test_a_model_reads_no_word_of_the_server_in_why_a_definition_is_not_valid() -> None:
    spoken = gatebench.Bench([tool("a")])
    spoken.shake_hands()
    spoken.request("list", "tools/list")
    asked = spoken.asked()["id"]
    entry = b'{"name":"a","inputSchema":{"POISON":1,"POISON":2}}'
    answer = b'{"jsonrpc":"2.0","id":"%s","result":{"tools":[%s]}}\n' % (asked.encode(), entry)
    spoken.from_server(answer)
    spoken.call("a")
    text = spoken.told()["result"]["content"][0]["text"]
    assert "(invalid: duplicate-key)" in text
    assert "POISON" not in text
    assert any("repeats the key POISON" in entry.text for entry in spoken.log)


def test_no_approval_is_named_for_a_listing_that_failed() -> None:
    spoken = gatebench.Bench([tool("a")])
    spoken.shake_hands()
    spoken.call("a")
    spoken.answer_listing(*(tool(f"t{number}") for number in range(5001)))
    people = " ".join(entry.text for entry in spoken.log)
    assert "at most 5000 are read" in people
    assert "approve" not in people


def test_a_depth_that_the_policy_sets_is_told_with_the_limit_that_set_it(bench: Bench) -> None:
    pin("files")
    Path("p.toml").write_text("[limits]\ndefinition-depth = 1\n", encoding="utf-8")
    _, out, _ = bench.run("check", bench.listing(FIND, LOSE), "--server", "files", "--policy", "p.toml")
    assert "definition-depth in [limits]" in out
    assert "docs/reference/policy.md" in out
