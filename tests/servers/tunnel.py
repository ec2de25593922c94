# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy on the loopback interface that does nothing but CONNECT, and tells what it was asked for."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

_CHUNK = 1 << 16


@dataclass
class Tunnel:
    """A running proxy: its URL, and every target that it was asked to connect to."""

    url: str
    targets: list[str] = field(default_factory=list)


@contextlib.contextmanager
def tunnel() -> Iterator[Tunnel]:
    """A proxy on a free port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = Tunnel(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=_accept, args=(listener, running), daemon=True)
        thread.start()
        try:
            yield running
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def _accept(listener: socket.socket, running: Tunnel) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_connect, args=(client, running), daemon=True).start()


def _connect(client: socket.socket, running: Tunnel) -> None:
    with client, contextlib.suppress(OSError):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        target = head.split(b" ")[1].decode("ascii")
        running.targets.append(target)
        host, port = target.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as upstream:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_copy, args=(upstream, client), daemon=True)
            back.start()
            _copy(client, upstream)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
