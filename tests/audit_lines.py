# SPDX-License-Identifier: Apache-2.0
"""The lines of an audit trail as tests read them: each one valid by the published schema."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
from conftest import ROOT

Json = Any


def audit_lines(path: Path | None = None) -> list[Json]:
    """All lines of a trail, in order; of the personal directory's if None."""
    path = path or Path(os.environ["TOOLNOTARY_HOME"]) / "audit.jsonl"
    raw = path.read_bytes() if path.exists() else b""
    schema = json.loads((ROOT / "docs" / "schemas" / "audit.json").read_text(encoding="utf-8"))
    found = []
    for line in raw.splitlines(keepends=True):
        assert line.isascii()
        assert line.endswith(b"\n")
        assert len(line) < 16 << 10
        found.append(json.loads(line))
        jsonschema.validate(found[-1], schema)
        assert found[-1].keys() <= schema["properties"].keys()
    return found


def events(path: Path | None = None) -> list[str]:
    """What happened, in order."""
    return [line["event"] for line in audit_lines(path)]
