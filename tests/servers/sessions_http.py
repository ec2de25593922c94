# SPDX-License-Identifier: Apache-2.0
"""A Streamable HTTP server with sessions and streams, whose lists a test decides at every listing.

    with serve(lambda asked: [...]) as server:
        server.notify(session)          on every stream of a session; of all sessions if None
        server.forget(session)          404 from then on
        server.tokens                   the bearer tokens that are let in; everybody if empty

`asked` says who lists, and how often anybody listed before. It is as honest as the test wants: one URL in
front of several replicas is a list that depends on how often it was asked for.
"""

import contextlib
import itertools
import json
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = Any
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_PULSE = 0.5  # seconds after which a stream shows that it is there


class Asked(NamedTuple):
    """One listing: by which token, in which session, and its number."""

    token: str
    session: str | None
    number: int


@dataclass
class Served:
    """A running server."""

    url: str
    tools: Callable[[Asked], Json]
    has_sessions: bool = True
    noise: int = 0  # announcements in the answer to every listing, before it
    tokens: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    listings: list[Asked] = field(default_factory=list)
    called: list[tuple[str, str]] = field(default_factory=list)  # token and name
    answers: list[Json] = field(default_factory=list)  # what hosts answered
    streams: list[tuple[str | None, Json, "queue.Queue[Json]"]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def notify(self, session: str | None = None, times: int = 1) -> None:
        """Announce a change of the tools on every stream of a session, or on all streams."""
        for known, subscription, messages in list(self.streams):
            if session in (None, known):
                for _ in range(times):
                    messages.put(_about(subscription))

    def forget(self, session: str) -> None:
        """A session that is not known any more."""
        self.known.discard(session)


@contextlib.contextmanager
def serve(tools: Callable[[Asked], Json], **more: Any) -> Iterator[Served]:
    """A server on a free port of the loopback interface, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_port}/mcp", tools, **more)
    server.served = served  # type: ignore[attr-defined]  # handlers reach it through their server
    server.numbers = itertools.count(1)  # type: ignore[attr-defined]
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client may leave at any time
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _about(subscription: Json) -> Json:
    if subscription is None:
        return CHANGED
    return {**CHANGED, "params": {"_meta": {_SUBSCRIPTION: subscription}}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def served(self) -> Served:
        return self.server.served  # type: ignore[attr-defined,no-any-return]  # set by `serve`

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        session = self.headers.get("Mcp-Session-Id")
        if self._is_let_in(session):
            self._stream(session, None)

    def do_DELETE(self) -> None:
        self.served.forget(self.headers.get("Mcp-Session-Id") or "")
        self._reply(200, None)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        method, session = message.get("method"), self.headers.get("Mcp-Session-Id")
        if not self._is_let_in(session, is_opening=method in ("initialize", "server/discover")):
            return
        if "id" not in message or method is None:
            self.served.answers += [message] if method is None else []
            self._reply(202, None)
        elif method == "subscriptions/listen":
            self._stream(session, message["id"])
        else:
            self._answer(message, method, session)

    def _is_let_in(self, session: str | None, *, is_opening: bool = False) -> bool:
        self.close_connection = True
        if self.served.tokens and self._token not in self.served.tokens:
            self._reply(401, None, WWW_Authenticate="Bearer")
            return False
        if session is not None and session not in self.served.known and not is_opening:
            self._reply(404, None)
            return False
        return True

    @property
    def _token(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def _answer(self, message: Json, method: str, session: str | None) -> None:
        served, headers = self.served, {}
        result: Json = {}
        modern: Json = {"resultType": "complete"} if "_meta" in message.get("params", {}) else {}
        if method == "initialize":
            result = {
                "protocolVersion": HANDSHAKE,
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "s", "version": "1"},
            }
            if served.has_sessions:
                opened = f"session-{next(self.server.numbers)}"  # type: ignore[attr-defined]
                served.known.add(opened)
                headers["Mcp-Session-Id"] = opened
        elif method == "tools/list":
            asked = Asked(self._token, session, len(served.listings))
            served.listings.append(asked)
            caching: Json = {"ttlMs": 86_400_000, "cacheScope": "public"} if modern else {}
            result = {**modern, **caching, "tools": served.tools(asked)}
        elif method == "tools/call":
            served.called.append((self._token, message["params"]["name"]))
            result = {**modern, "content": [{"type": "text", "text": "done"}]}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        if method == "tools/list" and served.noise:
            self._open_stream()
            for one in [*[CHANGED] * served.noise, answer]:
                self._event(one)
        else:
            self._reply(200, answer, **headers)

    def _stream(self, session: str | None, subscription: Json) -> None:
        messages: queue.Queue[Json] = queue.Queue()
        self._open_stream()
        self.wfile.write(b": here\n\n")
        entry = (session, subscription, messages)
        self.served.streams.append(entry)
        try:
            while not self.served.stopping.is_set():
                try:
                    self._event(messages.get(timeout=_PULSE))
                except queue.Empty:
                    self.wfile.write(b": here\n\n")
        except OSError:
            pass
        finally:
            self.served.streams.remove(entry)

    def _open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _event(self, message: Json) -> None:
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")

    def _reply(self, status: int, message: Json, **headers: str) -> None:
        body = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
