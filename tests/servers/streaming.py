# SPDX-License-Identifier: Apache-2.0
"""A Streamable HTTP server that a test writes request by request: streams that break, resume and never end.

    with serve(script) as server:       `script` is given each request, and answers it or returns False

What the script leaves alone is answered as an honest server of both eras does that opens a session, has no
stream for what nobody asked for, and has the tools of `TOOLS`.
"""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any
STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
SESSION = "session-1"
DEADLINE = 30.0
_IN_HEADER = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
        "count": {"type": "integer"},
    },
}
TOOLS = [
    {"name": "echo", "description": "Gives back the text.", "inputSchema": {"type": "object"}},
    {"name": "find", "description": "Finds.", "inputSchema": _IN_HEADER},
    {"name": "s\u00fcche", "description": "Sucht.", "inputSchema": {"type": "object"}},
]
# What it says of itself.
ABOUT = {"capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "s", "version": "1"}}


class Exchange(BaseHTTPRequestHandler):
    """One request, and the ways to answer it."""

    protocol_version = "HTTP/1.1"
    message: Json = None
    named: dict[str, str]

    @property
    def served(self) -> "Served":
        return self.server.served  # type: ignore[attr-defined,no-any-return]  # set by `serve`

    @property
    def asked(self) -> str:
        """The method of its message, else that of HTTP."""
        return self.message["method"] if self.message and "method" in self.message else self.command

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.take(json.loads(body))

    def do_GET(self) -> None:
        self.take(None)

    def do_DELETE(self) -> None:
        self.take(None)

    def take(self, message: Json) -> None:
        self.message = message
        self.named = {name.lower(): value for name, value in self.headers.items()}
        self.close_connection = True
        with self.served.news:
            self.served.exchanges.append(self)
            self.served.news.notify_all()
        with contextlib.suppress(OSError):
            if not self.served.script(self):
                self.usual()
        with self.served.news:
            self.served.ended.append(self)
            self.served.news.notify_all()

    # Answers

    def reply(self, status: int, content: Json = None, **headers: str) -> bool:
        """A response without a body, or with one JSON text."""
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        return True

    def result(self, value: Json, **headers: str) -> bool:
        """A result."""
        return self.reply(200, {"jsonrpc": "2.0", "id": self.message["id"], "result": value}, **headers)

    def text(self, text: str) -> Json:
        """The answer to a call."""
        result = {"content": [{"type": "text", "text": text}]}
        return {"jsonrpc": "2.0", "id": self.message["id"], "result": result}

    def open_stream(self) -> None:
        """Begin an event stream, which ends with the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, message: Json, event_id: str = "", retry: int | None = None) -> None:
        """One event."""
        lines = [f"id: {event_id}"] if event_id else []
        lines += [] if retry is None else [f"retry: {retry}"]
        lines.append("data: " + ("" if message is None else json.dumps(message)))
        self.wfile.write("\n".join([*lines, "", ""]).encode())

    def wait_gone(self) -> None:
        """Wait until nobody reads this stream any more."""
        with contextlib.suppress(OSError):
            while not self.served.stopping.wait(0.02):
                self.wfile.write(b": still here\n\n")

    def usual(self) -> bool:
        """What an honest server answers."""
        if self.message is None:
            return self.reply(405 if self.command == "GET" else 200)
        if "id" not in self.message or "method" not in self.message:
            return self.reply(202)
        params = self.message.get("params") or {}
        about = ABOUT
        stamp = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if "_meta" in params else {}
        if self.asked == "initialize":
            return self.result({"protocolVersion": HANDSHAKE, **about}, Mcp_Session_Id=SESSION)
        if self.asked == "server/discover":
            return self.result({**about, **stamp, "supportedVersions": [STATELESS]})
        if self.asked == "tools/list":
            return self.result({**stamp, "tools": self.served.tools})
        if self.asked == "tools/call":
            return self.reply(200, self.text("called"))
        return self.result({})


@dataclass
class Served:
    """A running server.

    Attributes:
        url: its endpoint.
        script: answers requests; False leaves one alone.
        tools: what it shows.
        exchanges: every request so far, as they came.
        ended: those that are answered, or whose client has gone.
    """

    url: str
    script: Callable[[Exchange], bool]
    tools: list[Json] = field(default_factory=lambda: list(TOOLS))
    exchanges: list[Exchange] = field(default_factory=list)
    ended: list[Exchange] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    stopping: threading.Event = field(default_factory=threading.Event)

    def of(self, asked: str) -> list[Exchange]:
        """The requests of this method."""
        return [one for one in self.exchanges if one.asked == asked]

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        with self.news:
            assert self.news.wait_for(condition, DEADLINE), [one.asked for one in self.exchanges]

    def wait_for(self, asked: str, count: int = 1) -> Exchange:
        """The request of this method that makes so many of them."""
        self.wait(lambda: len(self.of(asked)) >= count)
        return self.of(asked)[count - 1]


@contextlib.contextmanager
def serve(script: Callable[[Exchange], bool] = lambda _exchange: False) -> Iterator[Served]:
    """A server on a free port of the loopback interface, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client may leave at any time
    served = Served(f"http://127.0.0.1:{server.server_port}/mcp", script)
    server.served = served  # type: ignore[attr-defined]  # exchanges reach it through their server
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
