# SPDX-License-Identifier: Apache-2.0
"""Connections that somebody holds open without using them are closed; the others go on. Over real sockets.

Nothing here is measured: the bounds are small, and each test waits until the service has closed.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from servers.publisher import Publisher
from servers.registry import RunningRegistry, serving

from toolnotary_registry_api.settings import Settings
from toolnotary_registry_api.storage import Storage

_PATIENCE = 60.0
_GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n"
_POST = b"POST /v1/manifests HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@contextmanager
def registry(
    folder: Path, *, head_seconds: float = 10.0, body_seconds: float = 30.0, answer_seconds: float = 120.0
) -> Iterator[RunningRegistry]:
    """A registry that has no patience where a test says so."""
    settings = Settings(
        database=f"sqlite:///{folder / 'registry.sqlite'}",
        head_seconds=head_seconds,
        body_seconds=body_seconds,
        answer_seconds=answer_seconds,
    )
    with serving(settings) as running:
        yield running


@contextmanager
def connected(registry: RunningRegistry, *, buffer: int | None = None) -> Iterator[socket.socket]:
    host, _, port = registry.url.removeprefix("http://").partition(":")
    with socket.socket() as connection:
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(_PATIENCE)
        connection.connect((host, int(port)))
        yield connection


@contextmanager
def trickling(connection: socket.socket) -> Iterator[None]:
    """Send a byte every now and then, until the other side has closed or the block ends."""
    ended = threading.Event()

    def trickle() -> None:
        with suppress(OSError):
            while not ended.wait(0.01):
                connection.sendall(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side closes; fails if it does not."""
    found = b""
    with suppress(ConnectionResetError):
        while chunk := connection.recv(65536):
            found += chunk
    return found


@pytest.mark.parametrize(
    "begun", [b"", b"G", _GET, _GET + b"X-Long: "], ids=["silent", "g", "line", "header"]
)
def test_a_request_that_never_begins_or_goes_on_is_given_up(tmp_path: Path, begun: bytes) -> None:
    with registry(tmp_path, head_seconds=0.2) as running, connected(running) as connection:
        connection.sendall(begun)
        assert rest(connection) == b""


def test_a_head_that_trickles_is_given_up(tmp_path: Path) -> None:
    with registry(tmp_path, head_seconds=0.2) as running, connected(running) as connection:
        connection.sendall(_GET + b"X-Long: ")
        with trickling(connection):
            assert rest(connection) == b""


def test_the_head_of_a_second_request_that_trickles_is_given_up(tmp_path: Path) -> None:
    with registry(tmp_path, head_seconds=1) as running, connected(running) as connection:
        connection.sendall(_GET + b"\r\n" + _GET + b"X-Long: ")
        with trickling(connection):
            assert rest(connection).count(b"HTTP/1.1 200") == 1


def test_a_body_that_trickles_is_answered_and_given_up(tmp_path: Path) -> None:
    with registry(tmp_path, head_seconds=3, body_seconds=0.1) as running, connected(running) as connection:
        connection.sendall(_POST + b"Content-Length: 1000000\r\n\r\n")
        with trickling(connection):
            assert b"HTTP/1.1 408" in rest(connection)


@pytest.mark.parametrize("length", [b"Content-Length: 1000000", b"Transfer-Encoding: chunked"])
@pytest.mark.parametrize("begun", [_GET, b"POST /nowhere HTTP/1.1\r\nHost: x\r\n"], ids=["get", "unknown"])
def test_a_body_that_nobody_reads_is_given_up(tmp_path: Path, begun: bytes, length: bytes) -> None:
    with registry(tmp_path, head_seconds=0.2, body_seconds=0.2) as running, connected(running) as connection:
        connection.sendall(begun + length + b"\r\n\r\n")
        if length.startswith(b"Transfer"):
            connection.sendall(b"fffff\r\n")
        with trickling(connection):
            rest(connection)  # ends, which is all


def test_an_answer_that_is_not_read_is_given_up(tmp_path: Path) -> None:
    publisher = Publisher()
    release = publisher.release(description="x" * 900_000)
    with registry(tmp_path, answer_seconds=0.2) as running:
        running.claim(publisher)
        published = httpx2.post(f"{running.url}/v1/manifests", json=release.submission)
        blob = published.json()["manifest"].replace(":", "/").encode()
        with connected(running, buffer=4096) as connection:
            # More than the systems of both sides keep for each other.
            connection.sendall(b"GET /v1/blobs/%b HTTP/1.1\r\nHost: x\r\n\r\n" % blob * 20)
            assert none_left(running)


def none_left(running: RunningRegistry) -> bool:
    """Whether the service closes every connection that it has."""
    until = time.monotonic() + _PATIENCE
    while running.connections and time.monotonic() < until:
        time.sleep(0.01)
    return not running.connections


def test_no_connection_changes_to_another_protocol(tmp_path: Path) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    with registry(tmp_path, head_seconds=1) as running, connected(running) as connection:
        connection.sendall(_GET + upgrade + key)
        assert rest(connection).startswith(b"HTTP/1.1 200")


def test_work_that_takes_longer_than_a_request_may_is_answered(tmp_path: Path) -> None:
    """The bounds are about what the caller does; the registry itself takes the time that it needs."""
    publisher = Publisher()
    body = httpx2.Request("POST", "http://x", json=publisher.release().submission).content
    with registry(tmp_path, head_seconds=1, body_seconds=0.5) as running, ExitStack() as stack:
        running.claim(publisher)
        with closing(Storage.open(running.settings.database)) as other, other.writing("another process"):
            connection = stack.enter_context(connected(running))
            connection.sendall(_POST + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            time.sleep(2)
        assert rest(connection).startswith(b"HTTP/1.1 201")
