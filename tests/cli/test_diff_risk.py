# SPDX-License-Identifier: Apache-2.0
"""`toolnotary diff` says how dangerous a change is, the worst first, the same edit in many places once."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest

from toolnotary_cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "diff.json").read_text(encoding="utf-8"))
Captured = pytest.CaptureFixture[str]


def sides(folder: Path, old: list[Any], new: list[Any]) -> list[str]:
    paths = []
    for name, tools in (("old", old), ("new", new)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        paths.append(str(path))
    return paths


def bump(count: int, **hints: Any) -> list[list[Any]]:
    """One edit in every tool, and one tool that brings something more."""
    old = [{"name": f"t{n:02}", "inputSchema": {"type": "object", "title": f"T{n}"}} for n in range(count)]
    new = [{**tool, "inputSchema": {"type": "object", "title": "Arguments"}} for tool in old]
    old[-3] = {**old[-3], "annotations": {"destructiveHint": True}}
    new[-3] = {**new[-3], "annotations": {"destructiveHint": False, **hints}}
    return [old, new]


def test_the_document_holds_groups_by_risk_and_their_findings_in_order(
    tmp_path: Path, capsys: Captured
) -> None:
    assert main(["diff", *sides(tmp_path, *bump(40)), "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["risk"] == "high"
    told = [(group["rule"], group["risk"], group["count"]) for group in document["groups"]]
    assert told == [("hint-safer", "high", 1), ("schema-title", "low", 40)]
    rules = [finding["rule"] for finding in document["findings"]]
    assert rules == ["hint-safer", *["schema-title"] * 40]
    assert document["findings"][0]["path"] == "/annotations/destructiveHint"


def test_a_person_sees_the_most_dangerous_definition_first(tmp_path: Path, capsys: Captured) -> None:
    assert main(["diff", *sides(tmp_path, *bump(40))]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "risk high" in shown[0]
    assert shown[1].startswith("high     tool t37 /annotations/destructiveHint: ")
