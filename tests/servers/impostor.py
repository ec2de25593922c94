# SPDX-License-Identifier: Apache-2.0
"""Something that answers where a registry should be: raw bytes over TCP, scripted by a test.

    with answering(b"HTTP/1.1 200 OK\r\n...") as impostor:      # the same bytes to every request
    with answering(handler) as impostor:                        # handler(target, connection) -> None

The handler is called for each request, in a thread of its own for each connection.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Handler = Callable[[str, socket.socket], None]
_PHRASE = {200: "OK", 201: "Created"}


@dataclass(slots=True)
class Impostor:
    """Where it answers, and what it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


def response(
    body: bytes = b"", *, status: int = 200, media_type: str = "application/json", **headers: str
) -> bytes:
    """A complete answer; further headers as keywords, `_` for `-`."""
    lines = [f"HTTP/1.1 {status} {_PHRASE.get(status, 'Other')}", f"content-type: {media_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


def json_response(value: object, *, status: int = 200, media_type: str = "application/json") -> bytes:
    return response(json.dumps(value).encode(), status=status, media_type=media_type)


def problem(status: int, code: object, detail: object = "no") -> bytes:
    """A problem document."""
    document = {"code": code, "detail": detail, "status": status, "remedy": ""}
    return json_response(document, status=status, media_type="application/problem+json")


@contextmanager
def answering(answer: bytes | Handler) -> Iterator[Impostor]:
    """A listener on loopback until the block ends."""

    def handle(target: str, connection: socket.socket) -> None:
        if isinstance(answer, bytes):
            connection.sendall(answer)
        else:
            answer(target, connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        impostor = Impostor(f"http://127.0.0.1:{listener.getsockname()[1]}")
        threads: list[threading.Thread] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                thread = threading.Thread(target=serve, args=(connection,))
                threads.append(thread)
                thread.start()

        def serve(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                while (request := _request(connection)) is not None:
                    impostor.asked.append(request)
                    handle(request.split(" ")[1], connection)

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield impostor
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for thread in threads:
                thread.join()


def _request(connection: socket.socket) -> str | None:
    """The request line of the next request, its body read and dropped; None at the end of the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (more := connection.recv(65536)):
            return None
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    length = next((int(line[15:]) for line in lines if line.lower().startswith("content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return lines[0]
