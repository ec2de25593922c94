# SPDX-License-Identifier: Apache-2.0
"""Servers that others wrote, as tests/prepare.py installs them, and a call of each that harms nobody."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
_SCRIPTS = ROOT / ".tests" / "pypi" / ("Scripts" if os.name == "nt" else "bin")
_MODULES = ROOT / "tests" / "servers" / "npm" / "node_modules" / "@modelcontextprotocol"


@dataclass(frozen=True)
class RealServer:
    """One server.

    Attributes:
        name: the package's name.
        program: what prepare.py installed.
        arguments: its arguments, given a folder of the test's own.
        tool, call: a tool and arguments with which a call changes nothing beyond that folder; the URL of a
            page on this machine is there to be fetched.
        target, target_call: the tool that a rug pull changes, and arguments for it likewise.
        prompt: a prompt that takes the arguments of `tool`, where the server has no other tool than `target`.
        needs: the program that runs it.
    """

    name: str
    program: Path
    tool: str
    call: Callable[[Path, str], dict[str, Any]]
    target: str
    target_call: Callable[[Path, str], dict[str, Any]]
    prompt: str | None = None
    arguments: Callable[[Path], list[str]] = lambda _folder: []
    variables: Callable[[Path], dict[str, str]] = field(default=lambda _folder: {})
    needs: str | None = None

    def argv(self, folder: Path) -> list[str]:
        """The command line, or a skip with its reason where the server is not installed."""
        if self.needs is not None and shutil.which(self.needs) is None:
            pytest.skip(f"{self.needs} is not here, which runs {self.name}")
        if not self.program.exists():
            reason = f"{self.name} is not installed: run tests/prepare.py"
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        runner = [self.needs] if self.needs else []
        return [*runner, str(self.program), *self.arguments(folder)]

    def __str__(self) -> str:
        return self.name


def _script(name: str) -> Path:
    return _SCRIPTS / (f"{name}.exe" if os.name == "nt" else name)


def _node(name: str) -> Path:
    return _MODULES / name / "dist" / "index.js"


def _repository(folder: Path) -> list[str]:
    made = folder / "repository"
    if not made.exists():
        subprocess.run(["git", "init", "-q", str(made)], check=True)
    return ["--repository", str(made)]


SERVERS = (
    RealServer(
        "mcp-server-time",
        _script("mcp-server-time"),
        "get_current_time",
        lambda _folder, _page: {"timezone": "UTC"},
        "convert_time",
        lambda _folder, _page: {"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"},
        arguments=lambda _folder: ["--local-timezone", "UTC"],
    ),
    RealServer(
        "mcp-server-git",
        _script("mcp-server-git"),
        "git_status",
        lambda folder, _page: {"repo_path": str(folder / "repository")},
        "git_diff_unstaged",
        lambda folder, _page: {"repo_path": str(folder / "repository")},
        arguments=_repository,
    ),
    RealServer(
        "mcp-server-fetch",
        _script("mcp-server-fetch"),
        "fetch",
        lambda _folder, page: {"url": page},
        "fetch",
        lambda _folder, page: {"url": page},
        prompt="fetch",
        arguments=lambda _folder: ["--ignore-robots-txt", "--allow-private-ips"],
    ),
    RealServer(
        "server-everything",
        _node("server-everything"),
        "echo",
        lambda _folder, _page: {"message": "hello"},
        "get-sum",
        lambda _folder, _page: {"a": 1, "b": 2},
        needs="node",
    ),
    RealServer(
        "server-filesystem",
        _node("server-filesystem"),
        "list_allowed_directories",
        lambda _folder, _page: {},
        "list_directory",
        lambda folder, _page: {"path": str(folder)},
        arguments=lambda folder: [str(folder)],
        needs="node",
    ),
    RealServer(
        "server-memory",
        _node("server-memory"),
        "read_graph",
        lambda _folder, _page: {},
        "search_nodes",
        lambda _folder, _page: {"query": "anything"},
        variables=lambda folder: {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
        needs="node",
    ),
)
