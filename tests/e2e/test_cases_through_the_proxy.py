# SPDX-License-Identifier: Apache-2.0
"""Every before/after case through the real proxy: pinned from *before*, and then *after* is served.

What a model gets is what was pinned, or nothing: that is asserted of every name on either side.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import proxybench
import pytest
from conftest import ROOT
from effort import some
from proxybench import Wire
from servers import saved

from toolnotary_verifier.saved import read_saved

Json = Any
CASES = Path(os.environ.get("TOOLNOTARY_SHARED") or ROOT.parent / "shared") / "cases"
NAMES = sorted(path.parent.name for path in CASES.glob("*/expect.txt"))
OTHER_NAMES = [
    name for name in NAMES for kind in saved.LISTS.values() if (CASES / name / f"after.{kind}.json").exists()
]
# What a case that leaves the decision open is for the gate. The order in `required` and `enum` stays in the
# normal form (docs/spec/equivalence.md); what a server calls itself and can do is noted and closes nothing.
DECIDED: dict[str, set[str]] = {
    "10-required-order-only": {"read_invoice"},
    "11-enum-order-only": {"read_invoice"},
    "60-serverinfo-version": set(),
    "62-capabilities-changed": set(),
}


def tools(folder: Path, side: str) -> list[Json]:
    """The tools of one side, as a reader that asks no questions finds them; none where there is no JSON."""
    try:
        return [tool for page in saved.pages(folder, side) for tool in json.loads(page)["tools"]]
    except ValueError:
        return []


def unchanged(case: Path) -> set[str]:
    """The tools that may be listed and called: those that are on both sides, once, and equal."""
    before = {tool["name"]: tool for tool in tools(case, "before")}
    after = tools(case, "after")
    count = Counter(tool["name"] for tool in after)
    kept = {t["name"] for t in after if count[t["name"]] == 1 and before.get(t["name"]) == t}
    expect = (case / "expect.txt").read_text(encoding="utf-8").split()[0]
    if expect == "benign":
        assert kept == set(before)
    elif expect == "reject":
        return set()
    elif expect == "either":
        return set(before) - DECIDED[case.name]
    return kept


class Case:
    """One case, pinned and started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expect = (folder / "expect.txt").read_text(encoding="utf-8").split()[0]
        self.argv = saved.command(folder, "after")
        documents = [json.dumps(saved.opening(folder, "before")).encode(), *saved.pages(folder, "before")]
        documents += [
            saved.listed(folder, "before", name)
            for name in saved.LISTS.values()
            if (folder / f"before.{name}.json").exists()
        ]
        proxybench.pin(read_saved(documents), self.argv)

    def has(self, name: str) -> bool:
        """Whether there is such a list."""
        return (self.folder / f"after.{name}.json").exists()


@pytest.fixture(params=some(NAMES, 2))
def case(request: pytest.FixtureRequest, shared: Path) -> Case:
    """Each of the cases."""
    return Case(shared / "cases" / request.param)


def test_only_what_was_pinned_reaches_the_model_and_only_that_can_be_called(case: Case) -> None:
    passing = unchanged(case.folder)
    names = {tool["name"] for side in ("before", "after") for tool in tools(case.folder, side)}
    with Wire(proxybench.run(case.argv)) as host:
        opened = host.shake_hands()
        listed = host.ask("list", "tools/list", {})
        refused = {name for name in sorted(names) if host.call(name, f"call {name}")[0]}
        assert host.end() == 0, host.said

    if case.expect == "reject":
        assert listed["error"]["message"].startswith("Blocked by toolnotary: the tool listing ")
    else:
        assert sorted(tool["name"] for tool in listed["result"]["tools"]) == sorted(passing)
        pinned = {tool["name"]: tool for tool in tools(case.folder, "before")}
        assert all(tool == pinned[tool["name"]] for tool in listed["result"]["tools"])
    assert refused == names - passing
    # What was refused never reached the server; what was not, did.
    called = {json.loads(line.split(" ", 2)[2]) for line in host.said.splitlines() if line[:7] == "called "}
    assert called == passing
    same = saved.opening(case.folder, "before").get("instructions")
    if saved.opening(case.folder, "after").get("instructions") == same:
        assert opened.get("instructions") == same
    else:
        assert "instructions" not in opened
    if case.expect == "benign":
        assert "[withheld]" not in host.said
        assert "drift" not in host.said
    elif case.expect == "drift" and not (case.has("prompts") or case.has("resources")):
        # To be gone is no drift: what is left is a part of what is pinned. It is noted.
        assert "acme/files: drift" in host.said or "(missing)" in host.said
    elif case.expect == "reject":
        assert "[listing-failed]" in host.said


@pytest.mark.parametrize("case", OTHER_NAMES, indirect=True)
def test_a_changed_prompt_is_withheld_and_a_changed_resource_is_reported(case: Case) -> None:
    name = "prompts" if case.has("prompts") else "resources"
    entry = json.loads(saved.listed(case.folder, "after", name))[name][0]
    with Wire(proxybench.run(case.argv)) as host:
        host.shake_hands()
        shown = host.ask("list", f"{name}/list", {})["result"][name]
        if name == "prompts":
            used = host.ask("get", "prompts/get", {"name": entry["name"]})
        else:
            used = host.ask("read", "resources/read", {"uri": entry["uri"]})
        assert host.end() == 0, host.said

    assert "acme/files: drift" in host.said
    if name == "prompts":
        assert shown == []
        assert used["error"]["message"].startswith("Blocked by toolnotary: prompt ")
        assert f"prompt {entry['name']} (changed)" in host.said
    else:
        assert shown == [entry]
        assert "result" in used
        assert f"resource {entry['uri']} (changed)" in host.said
