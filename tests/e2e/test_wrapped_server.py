# SPDX-License-Identifier: Apache-2.0
"""What `wrap` writes is what a host starts: the rewritten command, as it stands, shows pinned tools."""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from bridged import pin
from effort import some
from host_files import sample
from pinned_servers import POISONED, YES, Bench, bench
from proxybench import Wire
from servers.real import SERVERS, RealServer
from servers.streaming import HANDSHAKE, TOOLS, serve

from toolnotary_cli.demo.host import Host
from toolnotary_cli.hosts import dialects
from toolnotary_cli.hosts.dialects import Dialect

__all__ = ["bench"]


def started(argv: list[str], environment: dict[str, str], folder: Path) -> tuple[list[str], str]:
    """The names of the tools that a host sees which starts this, and what was told."""
    with (
        TemporaryFile() as told,
        subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            cwd=folder,
            env={**os.environ, **environment},
        ) as process,
    ):
        assert process.stdin is not None
        host = Host(process)
        host.open()
        names = list(host.tools())
        process.stdin.close()
        process.wait(30)
        told.seek(0)
        return names, told.read().decode()


def wrapped(bench: Bench, dialect: Dialect, entry: dict[str, Any], *options: str) -> dict[str, Any]:
    """The entry of a server in a host's file, after `wrap`."""
    top = {"mcpServers": {"files": entry}} if dialect is dialects.SERVERS else {"mcp": {"files": entry}}
    path = bench.folder / "host.json"
    path.write_text(json.dumps(top), encoding="utf-8")
    assert bench.run("wrap", *options, str(path))[0] == 0
    found: dict[str, Any] = next(iter(json.loads(path.read_text(encoding="utf-8")).values()))["files"]
    return found


def test_a_host_that_starts_the_rewritten_entry_sees_what_is_pinned(bench: Bench, tmp_path: Path) -> None:
    bench.pin()
    entry = {"command": bench.launch[0], "args": bench.launch[1:], "env": {"MODE": "x"}}
    found = wrapped(bench, dialects.SERVERS, entry, "--lockfile", "toolnotary.lock")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    argv = [found["command"], *found["args"]]
    assert started(argv, found["env"], elsewhere)[0] == ["find", "lose"]
    bench.shows(POISONED)
    names, told = started(argv, found["env"], elsewhere)
    assert names == []
    assert "toolnotary approve files" in told


def test_a_list_of_words_is_started_likewise(bench: Bench) -> None:
    bench.pin()
    entry = {"type": "local", "command": bench.launch}
    found = wrapped(bench, dialects.OPENCODE, entry, "--lockfile", "toolnotary.lock")
    assert started(found["command"], {}, bench.folder)[0] == ["find", "lose"]


def test_variables_that_would_break_our_own_start_reach_the_server_alone(bench: Bench) -> None:
    """A server's PYTHONPATH may hold modules that are called like ours."""
    (bench.folder / "theirs" / "toolnotary_cli").mkdir(parents=True)
    (bench.folder / "theirs" / "toolnotary_cli" / "__init__.py").write_text("raise SystemExit(9)")
    variables = {"PYTHONPATH": str(bench.folder / "theirs")}
    entry = {"command": bench.launch[0], "args": bench.launch[1:], "env": variables}
    found = wrapped(bench, dialects.SERVERS, entry)
    names, told = started([found["command"], *found["args"]], found["env"], bench.folder)
    assert names == []
    assert "first-unsigned" in told


@pytest.mark.parametrize("server", some(SERVERS, 3), ids=str)
def test_a_real_server_lists_its_tools_through_the_rewritten_entry(
    bench: Bench, server: RealServer, tmp_path: Path
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    argv = server.argv(folder)
    variables = server.variables(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        session = bench.at_terminal("lock", "--server", "files", "--", *argv, answers=YES)
    assert session.code == 0, session.shown
    entry = {"command": argv[0], "args": argv[1:], "env": variables}
    found = wrapped(bench, dialects.SERVERS, entry, "--lockfile", "toolnotary.lock")
    names, _ = started([found["command"], *found["args"]], found["env"], folder)
    assert server.tool in names or server.target in names


def test_a_toml_entry_is_started_with_the_words_that_toml_reads(bench: Bench) -> None:
    bench.pin()
    text = sample(dialects.CODEX)
    words = json.dumps(bench.launch[1:])
    text += f"\n[mcp_servers.files]\ncommand = {json.dumps(bench.launch[0])}\nargs = {words}\n"
    path = bench.folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    assert bench.run("wrap", "--lockfile", "toolnotary.lock", str(path))[0] == 0
    found = tomllib.loads(path.read_text(encoding="utf-8"))["mcp_servers"]["files"]
    assert started([found["command"], *found["args"]], {}, bench.folder)[0] == ["find", "lose"]


def test_a_url_is_reached_through_the_rewritten_entry(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as served:
        pin(served.url)
        entry = {"url": served.url, "headers": {"X-Team": "acme"}}
        found = wrapped(bench, dialects.SERVERS, entry)
        for name, value in found["env"].items():
            monkeypatch.setenv(name, value)
        with Wire([found["command"], *found["args"]]) as wire:
            params = {
                "protocolVersion": HANDSHAKE,
                "capabilities": {},
                "clientInfo": {"name": "h", "version": "1"},
            }
            wire.ask("open", "initialize", params)
            wire.send("notifications/initialized")
            assert wire.tools() == [tool["name"] for tool in TOOLS]
        assert {exchange.headers.get("X-Team") for exchange in served.exchanges} == {"acme"}
