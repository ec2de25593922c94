# SPDX-License-Identifier: Apache-2.0
"""One process that serves one registry until it is told to stop."""

import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from toolnotary_registry_api.app import create_app
from toolnotary_registry_api.connection import connection_of
from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.listening import listen, url_of

if TYPE_CHECKING:
    from fastapi import FastAPI

_GRACE_SECONDS = 10
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
    listener = listen(host, port, allow_remote=allow_remote)
    with listener:
        app = create_app(settings)
        server = _Server(configuration(app, settings), lambda: announce(url_of(listener)))

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
