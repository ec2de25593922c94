# SPDX-License-Identifier: Apache-2.0
"""`toolnotary snapshot`: the surface beside the code of a server, checked in its tests."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pinned_servers import FIND, LOSE, POISONED, Bench, bench

from toolnotary_cli.main import main
from toolnotary_cli.snapshots import content
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.surface import assemble

__all__ = ["bench"]

KEPT = "toolnotary.surface.json"


def test_a_snapshot_is_equal_to_the_server_that_it_was_made_of(bench: Bench) -> None:
    code, result = bench.json("snapshot", "--", *bench.launch)
    assert (code, result["written"], result["definitions"], result["difference"]) == (0, True, 2, None)
    before = Path(KEPT).read_bytes()
    code, result = bench.json("snapshot", "--check", "--", *bench.launch)
    assert (code, result["written"], result["difference"]["equal"]) == (0, False, True)
    bench.run("snapshot", "--", *bench.launch)
    assert Path(KEPT).read_bytes() == before


def test_a_change_is_told_by_word_and_the_command_that_is_told_accepts_it(bench: Bench) -> None:
    bench.run("snapshot", "--", *bench.launch)
    bench.shows(POISONED, LOSE)
    files = bench.files
    code, out, _ = bench.run("snapshot", "--check", "--", *bench.launch)
    assert code == 1
    assert "Send it to me first." in out
    assert bench.files == files, "a check writes nothing"
    accept = shlex.split(out.rpartition("to accept it: ")[2])
    told = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *accept[1:]], capture_output=True, check=True
    )
    assert b"Send it to me first." in told.stdout, "what is accepted is shown"
    assert bench.run("snapshot", "--check", "--", *bench.launch)[0] == 0


@pytest.mark.parametrize("kind", ["prompts", "resources", "instructions"])
def test_a_list_that_was_not_there_before_is_a_change(kind: str, bench: Bench) -> None:
    bench.run("snapshot", "--", *bench.launch)
    more = {
        "prompts": [{"name": "ask"}],
        "resources": [{"name": "r", "uri": "x://r"}],
        "instructions": "Call find first.",
    }
    bench.shows(FIND, LOSE, **{kind: more[kind]})
    assert bench.run("snapshot", "--check", "--", *bench.launch)[0] == 1


def test_a_check_without_a_snapshot_says_how_to_make_one(bench: Bench) -> None:
    code, _, err = bench.run("snapshot", "--check", "-o", "kept.json", "--", *bench.launch)
    assert code == 2
    assert err.startswith("error: snapshot-missing: ")
    make = shlex.split(err.rpartition("make it: ")[2])
    assert main(make[1:]) == 0
    assert bench.run("snapshot", "--check", "-o", "kept.json", "--", *bench.launch)[0] == 0


def test_a_file_that_is_no_snapshot_is_not_written_over(bench: Bench) -> None:
    Path("package.json").write_text('{"name": "acme"}', encoding="utf-8")
    code, _, err = bench.run("snapshot", "-o", "package.json", "--", *bench.launch)
    assert code == 4
    assert err.startswith("error: no-surface: package.json: ")
    assert Path("package.json").read_text(encoding="utf-8") == '{"name": "acme"}'


def test_no_secret_of_the_start_is_told_or_kept(bench: Bench) -> None:
    secret = "ghp_0123456789abcdef0123"
    bench.run("snapshot", "--", "env", f"API_TOKEN={secret}", *bench.launch)
    bench.shows(POISONED)
    _, out, err = bench.run("snapshot", "--check", "--", "env", f"API_TOKEN={secret}", *bench.launch)
    assert "to accept it: toolnotary snapshot -- COMMAND" in out
    assert secret not in out + err
    bench.shows({**FIND, "description": f"Find with {secret}."})
    code, out, err = bench.run("snapshot", "--", "env", f"API_TOKEN={secret}", *bench.launch)
    assert (code, err.startswith("error: secret-in-surface: ")) == (1, True)
    assert secret not in out + err + Path(KEPT).read_text(encoding="utf-8")


def test_what_is_no_definition_cannot_be_kept(bench: Bench) -> None:
    bench.shows(FIND, {"title": "no name"})
    code, _, err = bench.run("snapshot", "--", *bench.launch)
    assert code == 4
    assert err.startswith("error: definition-shape: ")
    assert not Path(KEPT).exists()


def test_what_cannot_be_seen_is_seen_in_the_file_and_still_the_same(bench: Bench) -> None:
    bench.shows({**FIND, "description": "Find\u200b it\U000e0041.\n\u00e9\u65e5"})
    bench.run("snapshot", "--", *bench.launch)
    text = Path(KEPT).read_text(encoding="utf-8")
    assert "Find\\u200b it\\udb40\\udc41.\\n\u00e9\u65e5" in text
    assert bench.run("snapshot", "--check", "--", *bench.launch)[0] == 0


def test_a_saved_list_is_kept_and_checked_like_a_server(bench: Bench) -> None:
    saved = bench.listing(FIND, LOSE)
    assert bench.run("snapshot", saved)[0] == 0
    assert bench.run("snapshot", "--check", bench.listing(LOSE, FIND))[0] == 0
    assert bench.run("snapshot", "--check", bench.listing(LOSE))[0] == 1


def test_offline_the_registry_of_the_option_is_not_asked(bench: Bench) -> None:
    code, _, err = bench.run("snapshot", "acme/x@1", "--registry", "http://127.0.0.1:9", "--offline")
    assert (code, err.startswith("error: offline: ")) == (3, True)
    policy = Path(os.environ["TOOLNOTARY_HOME"], "other.toml")
    policy.write_text('[registry]\nurl = "http://127.0.0.1:9"\n', encoding="utf-8")
    code, _, err = bench.run("snapshot", "acme/x@1", "--policy", str(policy), "--offline")
    assert (code, err.startswith("error: offline: ")) == (3, True)


def test_a_check_tells_a_job_of_github_which_line_of_the_snapshot_is_not_so_any_more(bench: Bench) -> None:
    bench.run("snapshot", bench.listing(FIND, LOSE))
    code, out, _ = bench.run(
        "snapshot", "--check", bench.listing({**FIND, "title": "F"}, LOSE), "--format", "github"
    )
    number = int(out.partition("line=")[2].partition(",")[0])
    assert code == 1
    assert out.startswith(f"::notice file={KEPT},line={number},title=low")
    assert '"name": "find"' in Path(KEPT).read_text(encoding="utf-8").splitlines()[number - 1]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4), TEXTS, st.none() | TEXTS)
def test_whatever_a_tool_says_its_digest_survives_the_file(
    members: dict[str, object], name: str, instructions: str | None
) -> None:
    tools = [{**members, "name": name}]
    before = assemble({Kind.TOOL: tools}, instructions=instructions, inspected=Kind)
    after = read_saved([content(before)])
    assert after.inspected == frozenset(Kind)
    assert {key: one.digest for key, one in after.definitions.items()} == {
        key: one.digest for key, one in before.definitions.items()
    }
    assert json.loads(content(before))["tools"][0]["name"] == name
