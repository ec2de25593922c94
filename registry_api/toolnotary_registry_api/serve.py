# SPDX-License-Identifier: Apache-2.0
"""One process that serves one registry until it is told to stop."""

import ipaddress
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from toolnotary_registry_api.app import create_app
from toolnotary_registry_api.connection import connection_of
from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from fastapi import FastAPI

_GRACE_SECONDS = 10
_BACKLOG = 512
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def serve(
    settings: Settings, *, host: str, port: int, allow_remote: bool = False, announce: Callable[[str], None]
) -> None:
    """Serve until SIGTERM, SIGHUP or Ctrl-C; requests that run are answered first, for at most 10 seconds.

    Args:
        settings: the registry.
        host: name or address to listen on.
        port: TCP port; 0 takes a free one.
        allow_remote: whether an address other than loopback is accepted. The service speaks plain HTTP and
            limits no rates: other machines should reach it through a proxy that does TLS.
        announce: is given the URL once connections are accepted.

    Raises:
        ConfigurationError: `not-loopback`, `cannot-listen`, `database-url`, `database-newer`.
        CannotTell: `database-unreachable`.
        KeyboardInterrupt: after Ctrl-C, once the service has ended.
    """
    listener = _listen(host, port, allow_remote=allow_remote)
    with listener:
        app = create_app(settings)
        server = _Server(configuration(app, settings), lambda: announce(_url(listener)))

        # uvicorn raises the signal that ended it once more, and to end on request is no failure. One that
        # comes before uvicorn listens for it must not get lost either.
        def end(_number: int, _frame: object) -> None:
            server.should_exit = True

        before = {number: signal.signal(number, end) for number in _ENDING}
        try:
            server.run(sockets=[listener])
        finally:
            for number, what in before.items():
                signal.signal(number, what)


def configuration(app: "FastAPI", settings: Settings, *, log_level: str = "warning") -> uvicorn.Config:
    """How uvicorn serves a registry: HTTP/1.1 without upgrades, on connections that are bounded in time."""
    return uvicorn.Config(
        app,
        http=connection_of(settings),
        ws="none",
        log_level=log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._started()


def _listen(host: str, port: int, *, allow_remote: bool) -> socket.socket:
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        message = f"{escape(host, limit=200)}: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(
            "cannot-listen", message, remedy="give --host an address of this machine, such as 127.0.0.1"
        ) from error
    if not allow_remote and not ipaddress.ip_address(str(target[0]).partition("%")[0]).is_loopback:
        message = f"{host} can be reached from other machines, over plain HTTP"
        remedy = "listen on 127.0.0.1 behind a proxy that does TLS, or say --allow-remote"
        raise ConfigurationError("not-loopback", message, remedy=remedy)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(target)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        message = f"{host} port {port}: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(
            "cannot-listen", message, remedy="choose another --port, or 0 for a free one"
        ) from error
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
