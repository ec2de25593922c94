# SPDX-License-Identifier: Apache-2.0
"""A host, as small as one can be: it talks to a server over standard streams, one JSON-RPC message a line."""

import json
import queue
import subprocess
import threading
import time
from typing import Any

from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.jsonrpc import HANDSHAKE, frame, notification, request

_PATIENCE = 30.0  # seconds
_PAUSE = 0.05


class Host:
    """One connection to a server that was started with pipes for its standard streams.

    Attributes:
        said: what the server's side wrote to standard error, in lines.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._next_id = 0
        self._received: queue.Queue[bytes | None] = queue.Queue()
        self._notified: list[str] = []
        self.said: list[str] = []
        for target in (self._read, self._listen):
            threading.Thread(target=target, daemon=True).start()

    def open(self) -> dict[str, Any]:
        """Shake hands; returns what the server says of itself."""
        params = {
            "protocolVersion": HANDSHAKE[0],
            "capabilities": {},
            "clientInfo": {"name": "demo", "version": "1"},
        }
        opened = self.ask("initialize", params)
        self._send(frame(notification("notifications/initialized")))
        return opened

    def tools(self) -> dict[str, str]:
        """The tools that the model would get: name and description."""
        found = self.ask("tools/list", {})["tools"]
        return {tool["name"]: tool["description"] for tool in found}

    def call(self, name: str, **arguments: str) -> tuple[bool, str]:
        """Call a tool; whether it was refused or failed, and the text that the model would read."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        words = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        return bool(result.get("isError")), words

    def call_once_judged(self, name: str, **arguments: str) -> tuple[bool, str]:
        """As `call`, after the gate has asked the registry whether somebody signed what it does not know.

        Raises:
            CannotTell: `demo-step`, if that does not end.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            refused, words = self.call(name, **arguments)
            if not (refused and "(pending)" in words):
                return refused, words
            if time.monotonic() > deadline:
                raise CannotTell("demo-step", f"{name} is still being looked up")
            time.sleep(_PAUSE)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request.

        Raises:
            CannotTell: `demo-step`, if there is none.
        """
        self._next_id += 1
        self._send(frame(request(self._next_id, method, params)))
        while True:
            message = self._receive(method)
            if message.get("id") == self._next_id and "method" not in message:
                if "result" not in message:
                    raise CannotTell("demo-step", f"{method} was answered with an error")
                found: dict[str, Any] = message["result"]
                return found

    def wait_for(self, method: str) -> None:
        """Wait until the server sent this notification.

        Raises:
            CannotTell: `demo-step`, if it does not come.
        """
        while method not in self._notified:
            self._receive(method)

    def _send(self, line: bytes) -> None:
        if self._process.stdin is None:
            raise CannotTell("demo-step", "the server was started without a pipe")
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            raise CannotTell("demo-step", "the server's side closed the connection") from None

    def _receive(self, awaited: str) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        try:
            line = self._received.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            line = None
        if line is None:
            raise CannotTell(
                "demo-step", f"{awaited} did not come: {' '.join(self.said[-3:]) or 'no message'}"
            )
        message: dict[str, Any] = json.loads(line)
        if "method" in message and "id" not in message:
            self._notified.append(message["method"])
        return message

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._received.put(line)
        self._received.put(None)

    def _listen(self) -> None:
        for line in self._process.stderr or ():
            self.said.append(line.decode("utf-8", "replace").rstrip("\n"))
