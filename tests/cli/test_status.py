# SPDX-License-Identifier: Apache-2.0
"""`toolnotary status`: what was recorded, and nothing else."""

import os

from pinned_servers import POISONED, Bench, bench

from toolnotary_cli.opening import open_project
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.pinning import judge_for, record_outcome
from toolnotary_verifier.surface import assemble

__all__ = ["bench"]


def test_every_pinned_server_is_in_exactly_one_state(bench: Bench) -> None:
    bench.pin("one")
    bench.pin("two")
    code, result = bench.json("status")
    assert code == 0
    assert [server["server"] for server in result["servers"]] == ["one", "two"]
    assert sum(result["counts"].values()) == 2


def test_a_server_that_nothing_looked_at_is_not_inspected(bench: Bench) -> None:
    bench.pin()
    lockfile = (bench.folder / "toolnotary.lock").read_bytes()
    bench.run("revoke", "files")
    (bench.folder / "toolnotary.lock").write_bytes(lockfile.replace(b'"files"', b'"other"'))
    code, result = bench.json("status")
    assert code == 3
    assert result["servers"][0]["outcome"] == "not-inspected"
    assert result["servers"][0]["at"] is None


def test_it_tells_what_run_recorded(bench: Bench) -> None:
    bench.pin()
    project = open_project(lockfile=None, policy=None)
    launch = project.launch(bench.launch, environment=dict(os.environ))
    seen = assemble({Kind.TOOL: [POISONED]})
    judgement = judge_for(project, server="files", launch=launch)(seen)
    record_outcome(project, judgement, server="files", launch=launch)
    code, result = bench.json("status")
    assert code == 1
    assert result["counts"]["drift"] == 1


def test_it_starts_and_writes_nothing(bench: Bench) -> None:
    bench.shows(POISONED, record=str(bench.folder / "received"))
    bench.pin()
    before = bench.files
    code, out, _ = bench.run("status")
    assert code == 0
    assert "files" in out
    assert bench.files == before


def test_an_empty_project_has_no_servers(bench: Bench) -> None:
    code, result = bench.json("status")
    assert code == 0
    assert result["servers"] == []
