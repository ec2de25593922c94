# SPDX-License-Identifier: Apache-2.0
"""What `run` records of a server: little, whatever the server does, and never that drift was none."""

import os
from pathlib import Path

from pinned_servers import FIND, LOSE, Bench, bench

from toolnotary_cli.opening import open_project
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.guard.recorder import Recorder
from toolnotary_verifier.pinning import judge_for
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.surface import assemble

__all__ = ["bench"]


def recorded(bench: Bench, descriptions: list[str | None]) -> tuple[int, str]:
    """How many lines one connection adds, and in which state it leaves the server; None is as pinned."""
    bench.pin()
    state = Path(os.environ["TOOLNOTARY_HOME"]) / "state.jsonl"
    before = state.read_bytes().count(b"\n")
    project = open_project(lockfile=None, policy=None)
    launch = project.launch(bench.launch, environment=dict(os.environ))
    judge = judge_for(project, server="files", launch=launch)
    recorder = Recorder(project, launch, "files", Log("files"))
    for text in descriptions:
        tool = FIND if text is None else {**FIND, "description": text}
        seen = assemble({Kind.TOOL: [tool, LOSE]})
        recorder.seen(seen, judge(seen))
        recorder.record()
    outcome = bench.json("status")[1]["servers"][0]["outcome"]
    return state.read_bytes().count(b"\n") - before, outcome


def test_a_server_that_changes_all_the_time_fills_no_disk(bench: Bench) -> None:
    changes: list[str | None] = [str(number) for number in range(100)]
    assert recorded(bench, [*changes, None]) == (32, "drift")


def test_a_server_that_goes_back_and_forth_ends_in_the_worse_state(bench: Bench) -> None:
    assert recorded(bench, [None, "evil"] * 100) == (33, "drift")


def test_drift_is_recorded_however_often_the_server_changed_before(bench: Bench) -> None:
    changes: list[str | None] = [str(number) for number in range(31)]
    lines, outcome = recorded(bench, [*changes, None, "evil", "other"])
    assert (lines, outcome) == (33, "drift")
