# SPDX-License-Identifier: Apache-2.0
"""Interpreters with the protocol's Python SDK, or a framework on it, as tests/prepare.py installs them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import proxybench
import pytest
from conftest import ROOT
from effort import in_turn
from pinned_servers import YES
from terminal import at_terminal

Json = Any
DEADLINE = 90.0
MAJORS = ("mcp1", "mcp2")
# Every way to open a connection: a `ClientSession` in both majors, and the modes of the `Client` of 2.x.
WAYS = [
    ("mcp1", "session"),
    ("mcp2", "auto"),
    ("mcp2", "session"),
    ("mcp2", "legacy"),
    ("mcp2", "2026-07-28"),
]
majors, ways = in_turn(MAJORS), in_turn(WAYS)
_CLIENTS = ROOT / "tests" / "clients"
_PINNED: dict[tuple[str, ...], Path] = {}


def python(name: str) -> str:
    """The interpreter of an environment, or a skip with its reason."""
    folder = ROOT / ".tests" / name
    found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not found.exists():
        reason = f"the environment {name} is not here: run tests/prepare.py"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return str(found)


def turning(major: str) -> list[str]:
    """The argv of `servers/turning.py` on this major."""
    return [python(major), str(ROOT / "tests" / "servers" / "turning.py")]


@contextlib.contextmanager
def turning_over_http(major: str) -> Iterator[str]:
    """Its URL, while it runs."""
    argv = [*turning(major), "--http"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait(DEADLINE)


def pin(*source: str, server: str = proxybench.SERVER) -> None:
    """Pin what a server shows in the personal files, as a person does.

    A command shows the same each time: who pins it again is given the files of the first time.
    """
    home = Path(os.environ["TOOLNOTARY_HOME"])
    kept = _PINNED.get((server, *source))
    if kept is not None and not any(home.iterdir()):
        shutil.copytree(kept, home, dirs_exist_ok=True)
        return
    is_first = source[0] == "--" and not any(home.iterdir())
    words = ["lock", "--server", server, "--lockfile", str(home / "toolnotary.lock"), *source]
    session = at_terminal(words, *YES, directory=home)
    assert session.code == 0, session.shown
    if is_first:
        _PINNED[server, *source] = shutil.copytree(home, Path(tempfile.mkdtemp(dir=home.parent), "pinned"))


def told(name: str, script: str | Path, plan: Json) -> tuple[Json, str]:
    """What a client script printed as JSON when it was given this plan, and its standard error."""
    done = subprocess.run(
        [python(name), str(_CLIENTS / script), json.dumps(plan)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def relay(major: str, *words: str) -> list[str]:
    """The argv of a host that says what it is told to, line by line, through the SDK's transport."""
    return [python(major), str(_CLIENTS / "sdk_relay.py"), *words]


@contextlib.contextmanager
def forking(name: str, script: str, folder: Path) -> Iterator[str]:
    """The command that runs a client script on this environment, whose modules are loaded once for all runs.

    What it writes to its standard error is shown where a test fails.
    """
    if sys.platform == "win32":
        pytest.skip("processes are copied by fork")
    folder.mkdir()
    path = folder / "socket"
    argv = [python(name), str(_CLIENTS / script), str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield f"{python(name)} -S {_CLIENTS / 'forked.py'} {path}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(DEADLINE)
