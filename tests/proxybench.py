# SPDX-License-Identifier: Apache-2.0
"""A host that talks to a server through pipes, directly or through the real `toolnotary run`."""

import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from servers import scripted

from toolnotary_verifier.launch import Launch
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.surface import Surface

Json = Any
SERVER = "acme/files"
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 60.0


def run(argv: Sequence[str], *, server: str | None = SERVER, options: Sequence[str] = ()) -> list[str]:
    """The command that a host is told to start in place of a server."""
    name = [] if server is None else ["--server", server]
    return [sys.executable, "-m", "toolnotary_cli", "run", *name, *options, "--", *argv]


def pin(surface: Surface, argv: Sequence[str], *, server: str = SERVER) -> None:
    """Pin a surface for a launch in the personal files of this test, as somebody who agreed would."""
    home = Path(os.environ["TOOLNOTARY_HOME"])
    home.chmod(0o700)
    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    launch = Launch.from_command(argv, base=home, environment=os.environ, folder=Path.cwd())
    pin_surface(surface, server=server, launch=launch).apply(project)


def pin_scripted(argv: Sequence[str]) -> None:
    """Pin what `scripted.py` shows when no script says otherwise, for this launch."""
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": scripted.DEFAULTS["serverInfo"],
        "instructions": scripted.DEFAULTS["instructions"],
    }
    answers = {"tools": scripted.TOOLS}
    pin(read_saved([json.dumps(opening).encode(), json.dumps(answers).encode()]), argv)


class Wire:
    """One started process: what is written to it, and every line that it writes.

    Attributes:
        frames: the lines of its standard output so far, as they came.
        process: the process.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        new_session: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            argv,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=cwd,
            start_new_session=new_session,
            env=environment,
        )
        self.frames: list[bytes] = []
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said: list[bytes] = []
        self._more = threading.Condition()
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        for thread in self._threads:
            thread.join(DEADLINE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # all three are pipes

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            with self._more:
                self._said.append(line)
                self._more.notify_all()

    # Writing

    def write(self, content: bytes) -> None:
        """Exact bytes to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def send(self, method: str, params: Json = None, **more: Json) -> None:
        """A notification, or a request where `id` is given."""
        body = {"jsonrpc": "2.0", **more, "method": method}
        self.write(json.dumps(body if params is None else {**body, "params": params}).encode() + b"\n")

    # Reading

    def line(self) -> bytes | None:
        """The next line of its standard output, None at the end."""
        line = self._lines.get(timeout=DEADLINE)
        if line is not None:
            self.frames.append(line)
        return line

    def message(self) -> Json:
        """The next message."""
        line = self.line()
        assert line is not None, self.said
        return json.loads(line)

    def answer(self, request_id: Json) -> Json:
        """The answer to a request; what comes before it is only kept."""
        while True:
            message = self.message()
            if message.get("id") == request_id and "method" not in message:
                return message

    def ask(self, request_id: Json, method: str, params: Json = None) -> Json:
        """The answer to a request that is sent now."""
        self.send(method, params, id=request_id)
        return self.answer(request_id)

    def shake_hands(self, **capabilities: Json) -> Json:
        """The handshake; its result."""
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": {"name": "host", "version": "1"},
        }
        opened = self.ask("open", "initialize", params)
        self.send("notifications/initialized")
        return opened["result"]

    def told(self, times: int = 1) -> None:
        """Wait until it was told that often that the tools changed."""
        while sum(b"notifications/tools/list_changed" in line for line in self.frames) < times:
            self.message()

    def tools(self, request_id: Json = "list") -> list[str]:
        """The names that `tools/list` shows."""
        return [tool["name"] for tool in self.ask(request_id, "tools/list", {})["result"]["tools"]]

    def call(self, name: str, request_id: Json = "call") -> tuple[bool, str]:
        """Whether a call was refused or failed, and the text that a model reads."""
        result = self.ask(request_id, "tools/call", {"name": name, "arguments": {}})["result"]
        return bool(result.get("isError")), result["content"][0]["text"]

    @property
    def said(self) -> str:
        """What came on standard error so far."""
        return b"".join(self._said).decode("utf-8", "replace")

    def wait_said(self, text: str) -> str:
        """Wait until standard error holds `text`; all of it so far."""
        deadline = time.monotonic() + DEADLINE
        with self._more:
            assert self._more.wait_for(lambda: text in self.said, deadline - time.monotonic()), self.said
        return self.said

    # The end

    def end(self) -> int:
        """Close its standard input, read everything to the end; its exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """Read everything until it ends by itself; its exit code."""
        while self.line() is not None:
            pass
        code = self.process.wait(DEADLINE)
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive()
        return code


class Watched:
    """A process that may be nobody's child, and the moment in which it is gone (Linux)."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def is_gone(self, timeout: float = DEADLINE) -> bool:
        """Whether it has ended, waiting for it as long as that."""
        return bool(select.select([self._descriptor], [], [], timeout)[0])


def descendants(pid: int) -> list[int]:
    """Every living process below this one (Linux)."""
    found = children(pid)
    for process in found:
        found += children(process)
    return found


def children(pid: int) -> list[int]:
    """The living children of this process (Linux)."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state != b"Z" and int(parent) == pid:
                    found.append(int(folder.name))
    return found
