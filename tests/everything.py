# SPDX-License-Identifier: Apache-2.0
"""The everything-server as a process: over HTTP until a block ends, or as the command of a host."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import ROOT

# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 60.0
_PYTHON = ROOT / ".tests" / "mcp2" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python() -> Path:
    """The interpreter that has the protocol's SDK, or a skip with its reason."""
    if not _PYTHON.exists():
        reason = "the SDK of the protocol is not installed: run tests/prepare.py"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return _PYTHON


def command(*options: str) -> list[str]:
    """The argv that starts the server; `--stdio`, `--json`, `--stateless`."""
    return [str(python()), str(ROOT / "tests" / "servers" / "everything"), *options]


@contextlib.contextmanager
def serving(options: Sequence[str] = ()) -> Iterator[str]:
    """The URL of a running server."""
    with running(options) as (_, url):
        yield url


@contextlib.contextmanager
def running(options: Sequence[str] = ()) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A server and its URL."""
    argv = command(*options)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), url
            yield process, url
        finally:
            process.kill()
            process.wait(DEADLINE)
