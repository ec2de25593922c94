# SPDX-License-Identifier: Apache-2.0
"""One process that stands before one server or several until it is told to stop."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.guard import Guard
from toolnotary_verifier.listening import listen, url_of
from toolnotary_verifier.shells.gateway.access import Access
from toolnotary_verifier.shells.gateway.app import Gateway, Respond
from toolnotary_verifier.shells.gateway.upstream import Upstream
from toolnotary_verifier.shells.gateway.writing import Connection
from toolnotary_verifier.shells.http.service import Service

_GRACE_SECONDS: Final = 5
_KEEP_ALIVE_SECONDS: Final = 75


class Guarded(NamedTuple):
    """One server of a gateway: its guard, and how it is reached.

    Attributes:
        guard: the server's.
        source: its URL, with what is sent there.
        address: where to connect, if not where the URL leads.
    """

    guard: Guard
    source: UrlSource
    address: tuple[str, int] | None = None


class Listening(NamedTuple):
    """Where a gateway is reached.

    Attributes:
        host: name or address to listen on.
        port: TCP port; 0 takes a free one.
        allow_remote: whether an address other than loopback is accepted.
        certificate: PEM file of the certificate to serve TLS with, and its chain; None for plain HTTP.
        key: PEM file of its key; None where it stands in the same file.
    """

    host: str
    port: int
    allow_remote: bool = False
    certificate: Path | None = None
    key: Path | None = None


def serve(
    servers: Mapping[str, Guarded],
    listening: Listening,
    *,
    access: Access,
    announce: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Args:
        servers: by the path under which each is reached.
        listening: where the gateway is reached.
        access: who is let in.
        announce: is given the URL of the gateway, without a path, once connections are accepted.

    Raises:
        ConfigurationError: `not-loopback`, `cannot-listen`, `tls-files`, `url`, `ca-file`, `proxy`, `header`,
            `insecure-url`.
        KeyboardInterrupt: after Ctrl-C, once all has ended.
    """
    upstreams = {path: Upstream(one.source, address=one.address) for path, one in servers.items()}
    _check_tls(listening)
    with listen(listening.host, listening.port, allow_remote=listening.allow_remote) as listener:

        async def work() -> None:
            async with contextlib.AsyncExitStack() as stack:
                routes: dict[str, Respond] = {}
                for path, upstream in upstreams.items():
                    stack.callback(upstream.close)
                    service = Service(servers[path].guard, upstream.send)
                    await stack.enter_async_context(service.running())
                    routes[path] = service.front.respond
                await _serve(Gateway(routes, access=access), listener, listening, announce)

        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(work())


async def _serve(
    application: Gateway, listener: socket.socket, listening: Listening, announce: Callable[[str], None]
) -> None:
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="error",  # it warns of every request that is none, however many there are
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
    )
    url = (
        url_of(listener) if listening.certificate is None else url_of(listener).replace("http:", "https:", 1)
    )
    await _Server(config, lambda: announce(url)).serve(sockets=[listener])


def _check_tls(listening: Listening) -> None:
    if listening.certificate is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            listening.certificate, listening.key
        )
    except (OSError, ssl.SSLError) as error:
        message = f"{escape(str(listening.certificate), limit=300)}: {escape(str(error), limit=200)}"
        remedy = "give PEM files of a certificate and of its key, without a passphrase"
        raise ConfigurationError("tls-files", message, remedy=remedy) from None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._started()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where it is installed: it is not made for Windows."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
