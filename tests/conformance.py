# SPDX-License-Identifier: Apache-2.0
"""The public conformance suite of the protocol, as tests/prepare.py installs it, and what it found."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

Json = Any
# The scenarios of a run, and of each every check with its outcome, in the order of their names.
Found = dict[str, list[tuple[str, str]]]
_MODULES = ROOT / "tests" / "node" / "conformance" / "node_modules"
_NODE = 22
_TIME = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
# Nothing here depends on it: it only ends a test that would hang.
_DEADLINE = 300.0


@dataclass(frozen=True)
class Suite:
    """One version of the suite, at one revision of the protocol.

    Attributes:
        name: the folder that its version is installed in.
        options: what it is told beside what it tests.
        scenarios: what it calls the scenarios to run where none is named.
    """

    name: str
    options: tuple[str, ...] = ()
    scenarios: str = "all"

    def __str__(self) -> str:
        return "-".join([self.name.removeprefix("conformance-"), *self.options[-1:]])

    def server(self, url: str, folder: Path, scenario: str | None = None) -> Found:
        """Test a server: one scenario, or all that fit the revision."""
        chosen = ["--suite", self.scenarios] if scenario is None else ["--scenario", scenario]
        self._run(["server", "--url", url, *chosen], folder)
        return _found(folder, "server-")

    def client(self, command: str, folder: Path, scenario: str | None, variables: Mapping[str, str]) -> Found:
        """Test a client: the suite appends the URL of its own server to the command.

        One scenario, or all that fit the revision, side by side.
        """
        chosen = ["--suite", "all"] if scenario is None else ["--scenario", scenario]
        self._run(["client", "--command", command, *chosen], folder, variables)
        return _found(folder, "")

    def _run(self, words: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> None:
        program = str(_MODULES / self.name / "dist" / "index.js")
        done = subprocess.run(
            [_node(), program, *words, *self.options, "-o", str(folder)],
            cwd=folder.parent,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=_DEADLINE,
            check=False,
        )
        assert folder.is_dir(), done.stdout[-2000:]


# What the released version does not count as active its own reference server does not pass.
RELEASED = Suite("conformance-released", scenarios="active")
SESSIONS = Suite("conformance-next", ("--spec-version", "2025-11-25"))
STATELESS = Suite("conformance-next", ("--spec-version", "2026-07-28"))
SUITES = (RELEASED, SESSIONS, STATELESS)


def _node() -> str:
    """A Node.js that is new enough for the suite, or a skip with its reason."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), "none")
    system = {"win32": "win"}.get(sys.platform, sys.platform)
    suffix = "bin/node.exe" if sys.platform == "win32" else "bin/node"
    own = _MODULES / f"node-{system}-{machine}" / suffix
    if own.exists():
        return str(own)
    found = shutil.which("node")
    if found is not None and _MODULES.is_dir():
        told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if int(told.removeprefix("v").partition(".")[0]) >= _NODE:
            return found
    reason = f"the conformance suite, or Node.js {_NODE} for it, is not installed: run tests/prepare.py"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _found(folder: Path, prefix: str) -> Found:
    """What the files of a run say: PREFIX SCENARIO - TIME / checks.json, where a scenario may be a path."""
    found: Found = {}
    for path in sorted(folder.rglob("checks.json")):
        place = path.parent.relative_to(folder).as_posix()
        scenario = _TIME.sub("", place.removeprefix(prefix))
        checks = json.loads(path.read_text(encoding="utf-8"))
        # INFO says what went over the wire, event by event, and is no outcome.
        found[scenario] = sorted((one["id"], one["status"]) for one in checks if one["status"] != "INFO")
    return found


def count(found: Found) -> dict[str, int]:
    """How many checks had each outcome."""
    outcomes = [status for checks in found.values() for _, status in checks]
    return {status: outcomes.count(status) for status in sorted(set(outcomes))}
