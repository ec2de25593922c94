# SPDX-License-Identifier: Apache-2.0
"""What a person decides is taken down: pins, approvals, declines, withdrawals."""

import os
import sys
from pathlib import Path

import pytest
from audit_lines import audit_lines, events
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench

__all__ = ["bench"]

NO = (("[yes/no]", "no\n"),)


def policy(text: str) -> None:
    (Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.toml").write_text(f"[audit]\n{text}\n", "utf-8")


def test_every_act_of_a_person_is_a_line(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    assert bench.at_terminal("approve", "files", "--start", answers=NO).code == 1
    assert bench.at_terminal("approve", "files", "--start", answers=YES).code == 0
    assert bench.run("revoke", "files", "find")[0] == 0
    pinned, declined, approved, revoked = audit_lines()
    assert [line["event"] for line in (pinned, declined, approved, revoked)] == [
        "pinned",
        "declined",
        "approved",
        "revoked",
    ]
    for line in (pinned, declined, approved, revoked):
        assert (line["server"], line["by"], line["connection"]) == ("files", "user", None)
    assert declined["changeSet"] == approved["changeSet"] != pinned["changeSet"]
    assert approved["counts"] == {"changed": 1, "verified": 1}
    assert approved["launch"] == pinned["launch"] is not None
    assert revoked["name"] == "find"


def test_an_act_that_nobody_confirmed_is_none(bench: Bench) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    assert bench.run("approve", "files", "--start")[0] == 1
    assert bench.at_terminal("approve", "files", "--start", answers=(("[yes/no]", "\x03"),)).code == 130
    assert events() == ["pinned"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs /dev/full")
def test_an_act_counts_without_its_line_unless_policy_requires_it(bench: Bench) -> None:
    policy('file = "/dev/full"')
    session = bench.at_terminal("lock", "--server", "files", "--", *bench.launch, answers=YES)
    assert session.code == 0
    assert "no space left on device; what was decided counts, and is not taken down" in session.shown
    policy('file = "/dev/full"\nrequired = true')
    before = bench.files
    for arguments in (["revoke", "files"], ["approve", "files", "--start"]):
        code, _, err = bench.run(*arguments)
        assert (code, "error: audit-not-writable: " in err) == (2, True)
    assert bench.files == before


def test_a_projects_policy_asks_for_more_and_for_nothing_else(bench: Bench) -> None:
    bench.pin()
    project = Path("toolnotary.toml")
    for text in (
        "enabled = false",
        'file = "/tmp/mine"',
        "keep = 0",
        "max-bytes = 65536",
        'calls = "refused"',
    ):
        project.write_text(f"[audit]\n{text}\n", encoding="utf-8")
        for more in ([], ["--accept-project"]):
            code, _, err = bench.run("check", "--start", *more)
            assert (code, "error: policy-personal: " in err) == (2, True), text
    project.write_text('[audit]\nenabled = true\ncalls = "all"\nrequired = true\n', encoding="utf-8")
    policy("enabled = false")
    bench.shows(FIND)
    assert bench.run("revoke", "files")[0] == 0
    assert events() == ["pinned", "revoked"], "a project may have more taken down than its user wants"
