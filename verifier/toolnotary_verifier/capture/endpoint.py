# SPDX-License-Identifier: Apache-2.0
"""An HTTP endpoint and one connection to it: system trust store, proxies, one deadline for all bytes."""

import base64
import io
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import SplitResult, unquote, urlsplit

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A parsed http or https URL; user and password are taken out of it and become a header.

    Attributes:
        scheme, host, port: the origin, host in lower case.
        target: path and query as they are requested.
        authorization: the `Authorization` value that user and password in the URL stand for, or None.
    """

    scheme: str
    host: str
    port: int
    target: str = field(repr=False)
    authorization: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """The endpoint that `url` names.

        Raises:
            ConfigurationError: `url`; the message does not repeat the URL, which can hold a secret.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise _bad_url("it cannot be parsed") from None
        if parts.scheme not in _PORT or not parts.hostname:
            raise _bad_url("it is not an http or https URL with a host")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if not all("!" <= character <= "~" for character in target + parts.hostname):
            raise _bad_url("it holds spaces, control characters or characters that are not ASCII")
        if not is_host(parts.hostname):
            raise _bad_url("its host is not a name that can be looked up")
        return cls(
            scheme=parts.scheme,
            host=parts.hostname,
            port=port or _PORT[parts.scheme],
            target=target,
            authorization=_basic(parts),
        )

    @property
    def origin(self) -> tuple[str, str, int]:
        """What must not change in a redirect (RFC 6454)."""
        return (self.scheme, self.host, self.port)

    @property
    def shown(self) -> str:
        """The URL without query, for messages."""
        return self.url_of(self.target.partition("?")[0])

    def url_of(self, target: str) -> str:
        """The URL of a path and query of this origin."""
        port = "" if self.port == _PORT[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}{target}"

    @property
    def is_protected(self) -> bool:
        """Whether what is sent cannot be read on the way: TLS, or no way at all."""
        return self.scheme == "https" or _LOOPBACK.fullmatch(self.host) is not None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_host(name: str) -> bool:
    """Whether `name` can be handed to the resolver: no label is empty or longer than 63 (RFC 1035, 2.3.4)."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return True


def _bad_url(why: str) -> ConfigurationError:
    message = f"the URL of the server is not usable: {why}"
    return ConfigurationError("url", message, remedy="write https://HOST/PATH")


def _basic(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode("utf-8")).decode("ascii")


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy that tunnels TLS."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://{_bracketed(self.host)}:{self.port}"

    @classmethod
    def for_endpoint(cls, endpoint: Endpoint, environment: Mapping[str, str]) -> "Proxy | None":
        """The proxy that `HTTPS_PROXY` and `NO_PROXY` ask for. Only https goes through one.

        A tunnel changes nothing about whom TLS makes us talk to. Plain http would let the proxy write the
        answers, so it goes direct.

        Raises:
            ConfigurationError: `proxy`.
        """
        named = environment.get("https_proxy") or environment.get("HTTPS_PROXY")
        if endpoint.scheme != "https" or not named:
            return None
        exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
        if any(_exempts(entry.strip().lower(), endpoint) for entry in exempt.split(",")):
            return None
        try:
            parts = urlsplit(named if "://" in named else f"http://{named}")
            if parts.scheme == "http" and parts.hostname and is_host(parts.hostname):
                return cls(parts.hostname, parts.port or 80, _basic(parts))
        except ValueError:
            pass
        message = "HTTPS_PROXY is not the URL of an http proxy"
        raise ConfigurationError(
            "proxy", message, remedy="write http://HOST:PORT, or name the host in NO_PROXY"
        )


def _exempts(entry: str, endpoint: Endpoint) -> bool:
    """Whether one entry of NO_PROXY means this host: itself, a domain above it, or everything."""
    name, _, port = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
    if port and port != str(endpoint.port):
        return False
    name = name.lstrip(".")
    return name == "*" or (name != "" and (endpoint.host == name or endpoint.host.endswith(f".{name}")))


def trust(ca_file: Path | None) -> ssl.SSLContext:
    """TLS with the system's certificates, and those in `ca_file` beside them.

    Raises:
        ConfigurationError: `ca-file`.
    """
    context = ssl.create_default_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError):
            message = f"{escape(str(ca_file), limit=300)} holds no certificates that can be read"
            raise ConfigurationError("ca-file", message, remedy="give a PEM file of certificates") from None
    return context


class Connection:
    """One connection whose every operation shares one deadline, however slowly the peer drips.

    Attributes:
        deadline: monotonic seconds; may be moved between operations.
    """

    def __init__(
        self, http: HTTPConnection, *, deadline: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.deadline = deadline
        self.http = http
        self._clock = clock
        http.timeout = self.left()
        http.connect()
        self._socket: socket.socket = http.sock
        # http.client asks its socket for two things; these two go through the deadline.
        http.sock = _Timed(self)

    @classmethod
    def open(
        cls, endpoint: Endpoint, *, proxy: Proxy | None, tls: ssl.SSLContext | None, deadline: float
    ) -> "Connection":
        """Connect; raises what `socket`, `ssl` and `http.client` raise."""
        first = (proxy.host, proxy.port) if proxy else (endpoint.host, endpoint.port)
        http = HTTPSConnection(*first, context=tls) if endpoint.scheme == "https" else HTTPConnection(*first)
        if proxy:
            headers = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
            http.set_tunnel(endpoint.host, endpoint.port, headers=headers)
        return cls(http, deadline=deadline)

    def left(self) -> float:
        """Seconds until the deadline.

        Raises:
            TimeoutError: there are none.
        """
        left = self.deadline - self._clock()
        if left <= 0:
            raise TimeoutError
        return left

    def send(self, content: bytes) -> None:
        """Send all of it by the deadline."""
        self._socket.settimeout(self.left())
        self._socket.sendall(content)

    def receive_into(self, buffer: memoryview) -> int:
        """Receive once by the deadline."""
        self._socket.settimeout(self.left())
        return self._socket.recv_into(buffer)

    def close(self) -> None:
        """Drop it at once."""
        self._socket.close()


class _Timed:
    """What `http.client` takes for a socket."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def sendall(self, content: bytes) -> None:
        self._connection.send(content)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Raw(self._connection))

    def close(self) -> None:
        """The response may still be read; `Connection.close` ends it."""


class _Raw(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer has no name before 3.12
        return self._connection.receive_into(buffer)
