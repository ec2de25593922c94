# SPDX-License-Identifier: Apache-2.0
"""Every before/after case comes out of `toolnotary diff` as it must."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolnotary_cli.main import main

# What a case that leaves the decision open is for `diff`: exact, so that the order of any array counts;
# what a server calls itself and what it says that it can do are noted and count as no difference.
DECIDED = {
    "10-required-order-only": 1,
    "11-enum-order-only": 1,
    "60-serverinfo-version": 0,
    "62-capabilities-changed": 0,
}
EXPECTED = {"benign": 0, "drift": 1, "reject": 4}


def cases(shared: Path) -> Iterator[Path]:
    folders = sorted(folder for folder in (shared / "cases").iterdir() if (folder / "expect.txt").is_file())
    assert len(folders) > 40
    yield from folders


def source(case: Path, side: str, tmp_path: Path) -> str:
    """All saved answers of one side; a cursor that never ends, as the pages that a patient client saves."""
    loop = case / f"{side}.loop"
    if loop.exists():
        page = json.loads((case / f"{side}.json").read_bytes()) | {"nextCursor": "again"}
        pages = tmp_path / f"{case.name}.{side}.json"
        pages.write_text(json.dumps([page, page, page]), encoding="utf-8")
        return str(pages)
    return "+".join(str(path) for path in sorted(case.glob(f"{side}*.json")))


def test_every_case_ends_with_the_exit_code_that_it_expects(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {}
    for case in cases(shared):
        expected = (case / "expect.txt").read_text(encoding="utf-8").split()[0]
        code = DECIDED[case.name] if expected == "either" else EXPECTED[expected]
        got = main(["diff", source(case, "before", tmp_path), source(case, "after", tmp_path)])
        shown = capsys.readouterr()
        if got != code or "Traceback" in shown.err:
            wrong[case.name] = (got, code, shown.err)
    assert wrong == {}


def test_every_case_gives_an_equal_verdict_as_ascii_json(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for case in cases(shared):
        sides = source(case, "before", tmp_path), source(case, "after", tmp_path)
        code = main(["diff", *sides, "--format", "json"])
        printed = capsys.readouterr().out
        assert printed.isascii(), case.name
        document = json.loads(printed)
        if code == 4:
            assert document["exitCode"] == 4, case.name
        else:
            assert document["equal"] is (code == 0), case.name


def test_a_case_compared_with_itself_is_equal(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for case in cases(shared):
        before = "+".join(str(path) for path in sorted(case.glob("before*.json")))
        assert main(["diff", before, before]) == 0, case.name
        capsys.readouterr()
