# SPDX-License-Identifier: Apache-2.0
"""A server that names a tool like a secret which it was given: nothing that is written or told has it."""

from pathlib import Path

import pytest
from audit_lines import audit_lines
from guards import NAMES, TOOLS, Piped, Run, home
from servers import scripted

CANARY = "sk-live-4kAnary0Secret1Value2"


@pytest.mark.parametrize("how", ["variable", "word"])
def test_the_name_of_a_tool_that_repeats_a_secret_of_the_launch_is_written_and_told_nowhere(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Run(tmp_path)
    if how == "word":
        made.argv = ["env", f"ACME_TOKEN={CANARY}", *made.argv]
    else:
        monkeypatch.setenv("ACME_TOKEN", CANARY)
    made.pin()
    made.shows(*TOOLS, scripted.tool(CANARY, "Says what it was given."))
    with made.guard() as guard:
        assert isinstance(guard, Piped)
        assert guard.tools() == NAMES
        assert "withheld tool *** (added)" in guard.wait_said("[withheld]")
        assert not guard.call(CANARY)
        assert guard.wire.end() == 0
    assert CANARY not in guard.wire.said
    assert {line["name"] for line in audit_lines() if line["event"] == "refused"} == {"***"}
    assert [path for path in home().rglob("*") if path.is_file() and CANARY in path.read_text("utf-8")] == []


def test_a_name_that_only_looks_like_a_secret_is_the_word_of_the_server(tmp_path: Path) -> None:
    made = Run(tmp_path)
    made.pin()
    made.shows(*TOOLS, scripted.tool(CANARY, "Says what it was given."))
    with made.guard() as guard:
        assert guard.tools() == NAMES
        guard.wait_said(f"withheld tool {CANARY} (added)")
    assert CANARY.encode() in (home() / "state.jsonl").read_bytes()
    assert CANARY in {line["name"] for line in audit_lines()}
