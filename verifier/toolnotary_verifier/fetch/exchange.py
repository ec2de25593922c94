# SPDX-License-Identifier: Apache-2.0
"""Requests and answers over HTTP/1.1, within one deadline; imported when the first request is made.

Python's own timeouts bound one wait at a time: a peer that sends a byte every few seconds never meets one.
Here the socket itself asks for the time that is left before each read and write.
"""

import contextlib
import http.client
import io
import re
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

from toolnotary_verifier import __version__
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape
from toolnotary_verifier.fetch.address import Address
from toolnotary_verifier.fetch.answers import Answer, strange

_VISIBLE = re.compile(r"/[!-~]*")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 3
_SLICE = 16 << 10  # one TLS record: a longer write could wait once for each record in it
_DOWN = "see whether the registry is up and this machine online; what is pinned keeps working without it"


class Deadline:
    """A moment until which all of a call must be done, and the longest single wait within."""

    def __init__(self, *, total: float, wait: float) -> None:
        self._end = time.monotonic() + total
        self._wait = wait

    def left(self) -> float:
        """The seconds that the next wait may last.

        Raises:
            TimeoutError: there are none.
        """
        left = min(self._end - time.monotonic(), self._wait)
        if left <= 0:
            raise TimeoutError("it took too long in all")
        return left


class Exchange:
    """Requests to one registry over one connection, all within one deadline."""

    def __init__(self, address: Address, deadline: Deadline) -> None:
        self._address = address
        self._connection = _Connection(address, deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self._connection.close()

    def get(self, target: str, *, max_bytes: int) -> Answer:
        """The answer to a GET of `target`, below the base URL; redirects stay on the registry's origin.

        Raises:
            CannotTell: `registry-unreachable`, `registry-answer`.
        """
        path = self._address.path + target
        for _ in range(_MAX_REDIRECTS + 1):
            answer, location = self._ask("GET", path, None, max_bytes)
            if answer.status not in _REDIRECTS:
                return answer
            path = self._same_origin(path, location)
        raise strange(self._address.origin, "redirects again and again")

    def post(self, target: str, body: bytes, *, max_bytes: int) -> Answer:
        """The answer to a POST of a JSON document; never redirected.

        Raises:
            CannotTell: `registry-unreachable`, `registry-answer`.
        """
        answer, _ = self._ask("POST", self._address.path + target, body, max_bytes)
        if answer.status in _REDIRECTS:
            raise strange(self._address.origin, "redirects what should be published")
        return answer

    def _ask(self, method: str, path: str, body: bytes | None, max_bytes: int) -> tuple[Answer, str]:
        try:
            return self._answer(method, path, body, max_bytes)
        except BaseException:
            self._connection.close()  # what is left of this answer must not be read as the next one
            raise

    def _answer(self, method: str, path: str, body: bytes | None, max_bytes: int) -> tuple[Answer, str]:
        try:
            response = self._connection.ask(method, path, body)
            content = response.read(max_bytes + 1)
        except OSError as error:
            raise self._unreachable(error) from error
        except UnicodeError as error:
            raise self._unreachable(OSError("the host's name is not one that can be looked up")) from error
        except (http.client.HTTPException, ValueError) as error:  # ValueError: a chunk of negative size
            raise strange(self._address.origin, f"speaks no HTTP ({type(error).__name__})") from error
        if len(content) > max_bytes:
            raise strange(self._address.origin, f"answers with more than {max_bytes} bytes")
        if response.length:
            raise strange(self._address.origin, "breaks off in the middle of its answer")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise strange(self._address.origin, "compresses its answer although it was not asked to")
        media_type = response.headers.get_content_type()
        answer = Answer(status=response.status, media_type=media_type, body=content)
        return answer, response.headers.get("location", "")

    def _same_origin(self, path: str, location: str) -> str:
        try:
            parts = urlsplit(urljoin(self._address.origin + path, location))
            target = Address.parse(f"{parts.scheme}://{parts.netloc}", insecure_http=True)
        except Exception as error:
            raise strange(self._address.origin, "redirects to nowhere") from error
        if target.origin != self._address.origin:
            raise strange(
                self._address.origin, f"redirects to another server, {escape(target.origin, limit=200)}"
            )
        redirected = parts.path + (f"?{parts.query}" if parts.query else "")
        if not _VISIBLE.fullmatch(redirected):
            raise strange(self._address.origin, "redirects to what is no path")
        return redirected

    def _unreachable(self, error: OSError) -> CannotTell:
        why = error.strerror or str(error) or type(error).__name__
        message = f"{self._address.origin} cannot be reached: {escape(why.lower(), limit=200)}"
        return CannotTell("registry-unreachable", message, remedy=_DOWN)


class _Connection(http.client.HTTPConnection):
    def __init__(self, address: Address, deadline: Deadline) -> None:
        super().__init__(address.host, address.port)
        self._deadline = deadline
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self.default_port = 443 if self._tls else 80

    def ask(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        headers: Mapping[str, str] = {
            "Accept": "application/json, application/problem+json, */*;q=0.5",
            "Cache-Control": "no-cache",
            "User-Agent": f"toolnotary/{__version__}",
            **({} if body is None else {"Content-Type": "application/json"}),
        }
        # A server that refuses an upload may hang up before it has read all of it. Its answer says why.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.request(method, path, body, dict(headers))
        return self.getresponse()

    def connect(self) -> None:
        dialled = _dial(self.host, self.port, self._deadline)
        try:
            if self._tls is not None:
                dialled.settimeout(self._deadline.left())
                dialled = self._tls.wrap_socket(dialled, server_hostname=self.host)
        except BaseException:
            dialled.close()
            raise
        bounded: Any = _Bounded(dialled, self._deadline)  # all that http.client needs of a socket
        self.sock = bounded


class _Bounded:
    """A socket whose every wait is bounded by the deadline."""

    def __init__(self, dialled: socket.socket, deadline: Deadline) -> None:
        self._socket = dialled
        self._deadline = deadline

    def sendall(self, content: bytes) -> None:
        view = memoryview(content)
        for start in range(0, len(view), _SLICE):
            self._socket.settimeout(self._deadline.left())
            self._socket.sendall(view[start : start + _SLICE])

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._socket, self._deadline))

    def close(self) -> None:
        self._socket.close()


class _Incoming(io.RawIOBase):
    def __init__(self, dialled: socket.socket, deadline: Deadline) -> None:
        self._socket = dialled
        self._stream = dialled.makefile("rb", buffering=0)  # keeps the socket open until the answer was read
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - a writable buffer has no name before 3.12
        self._socket.settimeout(self._deadline.left())
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _dial(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A connection to the first address of `host` that takes one; looking the name up is up to the system."""
    failure = OSError("the name has no address")
    for family, kind, protocol, _, target in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        dialled = socket.socket(family, kind, protocol)
        try:
            dialled.settimeout(deadline.left())
            dialled.connect(target)
        except OSError as error:
            dialled.close()
            failure = error
        else:
            return dialled
    raise failure
