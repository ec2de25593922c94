# SPDX-License-Identifier: Apache-2.0
"""The HTTP gateway as hosts use it: a process of its own, in front of a server that can do anything."""

import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import http_server
from terminal import at_terminal

Json = Any
_CODE = "import sys; from toolnotary_cli.main import main; sys.exit(main())"


class Answer:
    """What a host got."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def message(self) -> Json:
        """The one message in it."""
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            [text] = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        return json.loads(text)


class Gate:
    """A running gateway."""

    def __init__(self, urls: list[str], errors: Path) -> None:
        self.urls = urls
        self._errors = errors

    @property
    def told(self) -> str:
        return self._errors.read_text(encoding="utf-8")

    def send(self, method: str, body: bytes = b"", path: str | None = None, **headers: str) -> Answer:
        address, _, known = self.urls[0].removeprefix("http://").partition("/")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
            connection.request(method, path or f"/{known}", body or None, named)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())

    def post(self, message: Json, **headers: str) -> Answer:
        content = {"content_type": "application/json", "accept": "application/json, text/event-stream"}
        return self.send("POST", json.dumps(message).encode(), **{**content, **headers})

    def ask(self, method: str, params: Json = None, **headers: str) -> Json:
        message = {"jsonrpc": "2.0", "id": 7, "method": method}
        return self.post(message | ({} if params is None else {"params": params}), **headers).message


@contextlib.contextmanager
def gateway(folder: Path, *arguments: str) -> Iterator[Gate]:
    """A gateway on a free port, until the block ends."""
    errors = folder / "gateway.log"
    command = [sys.executable, "-c", _CODE, "gateway", "--port", "0", *arguments]
    with errors.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, stderr=stream, stdout=subprocess.DEVNULL)
    try:
        yield Gate(_announced(process, errors), errors)
    finally:
        process.terminate()
        process.wait(30)


def _announced(process: "subprocess.Popen[bytes]", errors: Path) -> list[str]:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        lines = errors.read_text(encoding="utf-8").splitlines()
        if urls := [line.rpartition(" ")[2] for line in lines if " listening on " in line]:
            return urls
        time.sleep(0.02)
    raise AssertionError(errors.read_text(encoding="utf-8"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path / "home"))
    return tmp_path


def pin(url: str, folder: Path, name: str = "acme") -> None:
    pinned = at_terminal(["lock", "--server", name, url], ("[yes/no]", "yes\n"), directory=folder)
    assert pinned.code == 0, pinned.shown


def test_a_rug_pull_is_withheld_and_its_calls_are_refused(home: Path) -> None:
    with http_server.serve() as server:
        pin(server.url, home)
        with gateway(home, "--upstream", server.url) as gate:
            assert [tool["name"] for tool in gate.ask("tools/list")["result"]["tools"]] == ["add", "echo"]
            gate.ask("tools/call", {"name": "echo", "arguments": {}})
            assert server.calls()[-1] == "tools/call"
            server.script["tools"] = [http_server.TOOLS[0], *http_server.POISONED]
            assert [tool["name"] for tool in gate.ask("tools/list")["result"]["tools"]] == ["add"]
            refused = gate.ask("tools/call", {"name": "echo", "arguments": {}})["result"]
            assert refused["isError"]
            assert "toolnotary explain acme" in refused["content"][0]["text"]
            assert server.calls().count("tools/call") == 1
            assert "withheld tool echo (changed)" in gate.told
