# SPDX-License-Identifier: Apache-2.0
"""Where the review page is served: 127.0.0.1, a port that the system chooses, and a path that nobody guesses.

One request a connection, few connections at once, each bounded in size and time. What is answered to whom is
the business of `visit`.
"""

import socketserver
import threading
from http.server import HTTPServer
from typing import TYPE_CHECKING, Final

from toolnotary_cli.page.board import Board
from toolnotary_cli.page.visit import Visit

if TYPE_CHECKING:
    from socket import socket

    Request = socket | tuple[bytes, socket]

_SECONDS: Final = 15.0  # for one request, its answer included
_CONNECTIONS: Final = 32


class Door(socketserver.ThreadingMixIn, HTTPServer):
    """Serves one board until it is closed."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False
    request_queue_size = 16

    def __init__(self, board: Board, token: str, *, seconds: float = _SECONDS) -> None:
        """Listen on a port that the system chooses.

        Args:
            board: what is shown.
            token: the first part of every path.
            seconds: for one request, its answer included.
        """
        self.board, self.token, self.seconds = board, token, seconds
        self._free = threading.BoundedSemaphore(_CONNECTIONS)
        super().__init__(("127.0.0.1", 0), Visit)
        self.authority = f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """Where the first page is."""
        return f"http://{self.authority}/{self.token}/"

    def server_bind(self) -> None:
        """Bind, and ask no name server for a name as `HTTPServer` does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: "Request", client_address: object) -> None:
        """Serve a connection in a thread of its own, or close it where too many are open."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: "Request", client_address: object) -> None:
        """Serve it, and let the next one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: "Request", client_address: object) -> None:
        """Whoever went away in the middle is nobody to tell of."""
