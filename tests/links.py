# SPDX-License-Identifier: Apache-2.0
"""Ways to a server: through the pipes of a process, or to a URL; each keeps what was read on each stream."""

import contextlib
import http.client
import json
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from proxybench import DEADLINE, Wire
from servers.hostile_http import HANDSHAKE, STATELESS

Json = Any
# What was read on each stream, in order: a stream is named for the request that opened it.
Transcript = dict[str, list[Json]]


class Link(Protocol):
    """A way to a server."""

    transcript: Transcript

    def exchange(self, message: Json) -> Iterator[Json]:
        """Send a request; what comes on its stream, up to its answer."""

    def post(self, message: Json) -> None:
        """Send what is not answered."""

    def open_stream(self, message: Json | None) -> None:
        """Open the stream for what nobody asked for: with this request, or as the handshake era does."""

    def wait(self, method: str) -> None:
        """Wait until that stream has brought one more of these notifications."""

    def cancel(self, request_id: Json, exchange: Iterator[Json]) -> None:
        """Give a request up, as this transport and era do it."""


class StdioLink:
    """Through the pipes of a process: one stream for everything."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._read: list[Json] = []
        self._waited: dict[str, int] = {}
        self.transcript: Transcript = {"stdout": self._read}

    def _next(self) -> Json:
        message = self._wire.message()
        self._read.append(message)
        return message

    def post(self, message: Json) -> None:
        self._wire.write(json.dumps(message).encode() + b"\n")

    def exchange(self, message: Json) -> Iterator[Json]:
        self.post(message)
        while True:
            received = self._next()
            yield received
            if is_answer(received, message["id"]):
                return

    def open_stream(self, message: Json | None) -> None:
        if message is not None:
            self.post(message)
            self.wait("notifications/subscriptions/acknowledged")

    def wait(self, method: str) -> None:
        self._waited[method] = self._waited.get(method, 0) + 1
        while sum(one.get("method") == method for one in self._read) < self._waited[method]:
            self._next()

    def cancel(self, request_id: Json, exchange: Iterator[Json]) -> None:  # noqa: ARG002  # one stream
        self.post(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
        )


@dataclass
class HttpLink:
    """To a URL: a stream for each request."""

    url: str
    era: str
    transcript: Transcript = field(default_factory=dict)
    _headers: dict[str, str] = field(default_factory=dict)
    _more: threading.Condition = field(default_factory=threading.Condition)
    _waited: dict[str, int] = field(default_factory=dict)
    _open: list[http.client.HTTPConnection] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            _hang_up(self._open.pop())
        for thread in self._threads:
            thread.join(DEADLINE)

    def post(self, message: Json) -> None:
        response = self._request("POST", message)
        assert response.status == 202, response.read()
        response.read()

    def exchange(self, message: Json) -> Iterator[Json]:
        response = self._request("POST", message)
        session = response.getheader("Mcp-Session-Id")
        if session is not None:
            self._headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": HANDSHAKE}
        stream = self.transcript.setdefault(f"{message['method']} {message['id']}", [])
        for received in messages(response):
            stream.append(received)
            yield received

    def open_stream(self, message: Json | None) -> None:
        if message is None:
            response = self._request("GET")
            assert response.status == 200, response.read()
        else:
            response = self._request("POST", message)
        stream = self.transcript.setdefault("stream", [])

        def read() -> None:
            with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
                for received in messages(response):
                    with self._more:
                        stream.append(received)
                        self._more.notify_all()

        self._threads.append(threading.Thread(target=read, daemon=True))
        self._threads[-1].start()
        if message is not None:
            self.wait("notifications/subscriptions/acknowledged")

    def wait(self, method: str) -> None:
        self._waited[method] = self._waited.get(method, 0) + 1
        stream = self.transcript["stream"]

        def has_come() -> bool:
            return [one.get("method") for one in stream].count(method) >= self._waited[method]

        with self._more:
            assert self._more.wait_for(has_come, DEADLINE), (method, stream)

    def cancel(self, request_id: Json, exchange: Iterator[Json]) -> None:
        if self.era == HANDSHAKE:
            note = {"method": "notifications/cancelled", "params": {"requestId": request_id}}
            self.post({"jsonrpc": "2.0", **note})
            list(exchange)  # to its end
        else:
            _hang_up(self._open.pop())

    def _request(self, method: str, message: Json = None) -> http.client.HTTPResponse:
        place = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(place.netloc, timeout=DEADLINE)
        self._open.append(connection)
        accept = "text/event-stream" if method == "GET" else "application/json, text/event-stream"
        headers = {"Accept": accept, "Content-Type": "application/json", **self._headers}
        if self.era == STATELESS:
            params = message.get("params", {})
            headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": message["method"]}
            name = params.get("name", params.get("uri"))
            headers |= {} if name is None else {"Mcp-Name": name}
        body = None if message is None else json.dumps(message).encode()
        connection.request(method, place.path, body, headers)
        return connection.getresponse()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()


def messages(response: http.client.HTTPResponse) -> Iterator[Json]:
    """The messages of a response, as they come."""
    if "text/event-stream" not in response.getheader("Content-Type", ""):
        body = response.read()
        if body:
            yield json.loads(body)
        return
    for line in response:
        name, _, value = line.rstrip(b"\r\n").partition(b":")
        if name == b"data" and value.strip():
            yield json.loads(value)


def is_answer(message: Json, request_id: Json) -> bool:
    """Whether this message answers the request with that id."""
    return "method" not in message and message.get("id") == request_id
