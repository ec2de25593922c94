# SPDX-License-Identifier: Apache-2.0
"""A host that lists the tools of a server over bare sockets, and keeps every byte that it is sent.

It believes everything: it reads each response to its end whatever its head says, and follows redirections.
"""

import contextlib
import json
import re
import socket
import threading
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from servers.hostile_http import GUESSED, HANDSHAKE, STATELESS, Served

Json = Any
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 20.0
_STEP = 1 << 16
_META = "io.modelcontextprotocol/"


@dataclass
class Received:
    """What came back.

    Attributes:
        content: all of it, chunks put together too.
        answers: what was read on the response to each request, by method.
    """

    content: bytes = b""
    answers: dict[str, bytes] = field(default_factory=dict)

    def add(self, method: str, read: bytes) -> None:
        """Keep one response."""
        joined = unchunked(read)
        self.content += read + b"\n" + joined + b"\n"
        self.answers[method] = joined

    def answer(self, method: str) -> Json:
        """The answer to a request, as a client finds it in JSON or in events; None where there is none."""
        body = self.answers.get(method, b"").partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
        found = [body, *re.findall(r"^data: ?(.*)$", body, re.MULTILINE)]
        for text in reversed(found):
            with contextlib.suppress(ValueError):
                message = json.loads(text)
                if isinstance(message, dict) and message.get("id") == GUESSED:
                    return message
        return None


class HttpHost:
    """One session over HTTP, in one of the two eras."""

    def __init__(self, url: str, era: str) -> None:
        self._url = url
        self._era = era
        self._headers: dict[str, str] = {}
        self._lock = threading.Lock()
        self.received = Received()

    def list_tools(self, served: Served) -> Received:
        """Open a session and its stream, list the tools, and ask something else before that is answered."""
        self._open()
        stream = threading.Thread(target=self._stream, daemon=True)
        stream.start()
        lists = threading.Thread(target=self._ask, args=("tools/list", GUESSED), daemon=True)
        lists.start()
        served.listed.wait(DEADLINE)
        self._ask("completion/complete" if self._era == STATELESS else "ping", 8)
        lists.join(DEADLINE)
        served.end_streams()
        stream.join(DEADLINE)
        return self.received

    # The protocol

    def _open(self) -> None:
        if self._era == STATELESS:
            self._ask("server/discover", 1)
            return
        about = {"name": "host", "version": "1"}
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": about}
        opened = self._ask("initialize", 1, params)
        session = re.search(rb"(?i)^mcp-session-id: *(\S+)\r$", opened, re.MULTILINE)
        if session is not None:
            self._headers["Mcp-Session-Id"] = session[1].decode("ascii")
        self._headers["MCP-Protocol-Version"] = HANDSHAKE
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {})

    def _ask(self, method: str, request_id: Json, params: dict[str, Json] | None = None) -> bytes:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        headers = {}
        if method == "completion/complete":
            ref = {"type": "ref/prompt", "name": "p"}
            message["params"] = {"ref": ref, "argument": {"name": "a", "value": ""}}
        if self._era == STATELESS:
            message["params"]["_meta"] = {
                f"{_META}protocolVersion": STATELESS,
                f"{_META}clientCapabilities": {},
                f"{_META}clientInfo": {"name": "host", "version": "1"},
            }
            headers = {"Mcp-Method": method, "MCP-Protocol-Version": STATELESS}
        read = self._post(message, headers)
        with self._lock:
            self.received.add(method, read)
        return read

    def _stream(self) -> None:
        if self._era == STATELESS:
            self._ask("subscriptions/listen", 2, {"notifications": {"toolsListChanged": True}})
        else:
            read = self._request("GET", b"", {**self._headers, "Accept": "text/event-stream"})
            with self._lock:
                self.received.add("GET", read)

    # HTTP

    def _post(self, message: Json, headers: dict[str, str]) -> bytes:
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return self._request("POST", json.dumps(message).encode(), {**kinds, **self._headers, **headers})

    def _request(self, method: str, body: bytes, headers: dict[str, str]) -> bytes:
        read, url = b"", self._url
        for _ in range(3):
            answer = request(url, method, body, headers)
            read += answer
            place = re.search(rb"(?i)^location: *(\S+)\r$", answer, re.MULTILINE)
            if place is None:
                break
            url = urllib.parse.urljoin(url, place[1].decode("latin-1"))
        return read


def request(url: str, method: str, body: bytes, headers: dict[str, str]) -> bytes:
    """Send one request; everything until the other side closes the connection."""
    place = urllib.parse.urlsplit(url)
    fields = {"Host": place.netloc, "Connection": "close", "Content-Length": str(len(body)), **headers}
    head = f"{method} {place.path} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields.items())
    read = b""
    with socket.create_connection((place.hostname or "", place.port or 80), DEADLINE) as connection:
        connection.sendall(head.encode("latin-1") + b"\r\n" + body)
        with contextlib.suppress(OSError):  # however it ends, what came before counts
            while more := connection.recv(_STEP):
                read += more
    return read


def unchunked(read: bytes) -> bytes:
    """A response with its chunks put together, as far as that can be done."""
    head, end, body = read.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return read
    joined = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        if re.fullmatch(rb"[0-9a-fA-F]+(;.*)?", size) is None:
            break
        length = int(size.partition(b";")[0], 16)
        joined += body[:length]
        body = body[length + 2 :]
    return head + end + joined
