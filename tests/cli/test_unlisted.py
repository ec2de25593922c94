# SPDX-License-Identifier: Apache-2.0
"""A list that could not be had is recorded: `status` and `explain` never contradict the refusal of a call."""

import os

import pytest
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from servers.scripted import MOVES

from toolnotary_cli.opening import open_project
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.guard.recorder import Recorder
from toolnotary_verifier.pinning import judge_for, load_pins
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.surface import assemble

__all__ = ["bench"]

ENDLESS, DEEP = MOVES["endless-pages"], MOVES["deep"]
MANY = [{**FIND, "name": f"find{number}"} for number in range(6000)]
ODD = {"rules": [{"on": "tools/list", "do": [{"error": {"code": -32000, "message": "\u202e no"}}]}]}


@pytest.mark.parametrize(
    "shown",
    [{"tools": MANY}, ENDLESS, DEEP, ODD],
    ids=["too-many-tools", "endless-pages", "too-deep", "an-error"],
)
def test_a_list_that_cannot_be_had_is_told_wherever_a_refusal_is_looked_into(
    shown: dict[str, object], bench: Bench
) -> None:
    bench.pin()
    tools = shown.get("tools", [FIND, LOSE])
    assert isinstance(tools, list)
    bench.shows(*tools, **{name: value for name, value in shown.items() if name != "tools"})
    assert "[listing-failed]" in bench.hosted(calls="find", lists=False)
    code, result = bench.json("status")
    (server,) = result["servers"]
    assert (code, server["outcome"]) == (3, "not-inspected")
    assert server["note"].startswith("tool listing ")
    assert len(server["note"]) < 340
    _, explained = bench.json("explain", "files", "find")
    (entry,) = explained["entries"]
    assert (entry["lastSeen"]["outcome"], entry["lastSeen"]["why"]) == ("not-inspected", server["note"])
    _, out, _ = bench.run("explain", "files", "find")
    assert "last look: not-inspected since " in out
    assert "verified" not in out
    assert "tool find: pinned: it passes only once this list can be had" in out
    assert "to see what the server shows: toolnotary " in out
    bench.shows(FIND, LOSE)
    bench.hosted(calls="find")
    assert bench.json("status")[0] == 0


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        (["pinned", "no-tools"], "not-inspected"),
        (["pinned", "no-tools", "pinned"], "verified"),
        (["drift", "no-tools"], "not-inspected"),
        (["pinned", "no-prompts"], "not-inspected"),
        (["pinned", "no-prompts", "pinned"], "not-inspected"),
        (["pinned", "no-prompts", "prompts"], "verified"),
        (["drift", "no-prompts"], "drift"),
        (["pinned", "drift"] * 20 + ["pinned", "no-tools"], "drift"),
        (["pinned", "no-tools"] * 40, "not-inspected"),
    ],
)
def test_a_list_that_cannot_be_had_counts_until_it_can_and_hides_no_drift(
    steps: list[str], outcome: str, bench: Bench
) -> None:
    bench.pin()
    project = open_project(lockfile=None, policy=None)
    launch = project.launch(bench.launch, environment=dict(os.environ))
    judge = judge_for(project, server="files", launch=launch)
    recorder = Recorder(project, launch, "files", Log("files"))
    held_to = load_pins(project, server="files", launch=launch).digest
    shown = {
        "pinned": {Kind.TOOL: [FIND, LOSE]},
        "drift": {Kind.TOOL: [POISONED, LOSE]},
        "prompts": {Kind.TOOL: [FIND, LOSE], Kind.PROMPT: []},
    }
    unlisted = {"no-tools": Kind.TOOL, "no-prompts": Kind.PROMPT}
    before = project.state.path.read_bytes().count(b"\n")
    for step in steps:
        if step in unlisted:
            recorder.unlisted(held_to, unlisted[step], "could not be listed")
        else:
            surface = assemble(shown[step])
            recorder.seen(surface, judge(surface))
        recorder.record()
    assert bench.json("status")[1]["servers"][0]["outcome"] == outcome
    assert project.state.path.read_bytes().count(b"\n") - before <= 33
