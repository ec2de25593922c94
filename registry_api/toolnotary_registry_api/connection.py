# SPDX-License-Identifier: Apache-2.0
"""One connection, bounded in time: whoever holds it open without using it loses it.

uvicorn closes a connection that stays silent after an answer, and no other: one that never sends a request,
or sends one byte now and then, or never reads its answer, stays for good. Here each part of an exchange has
its time, which begins with the part and which no single byte extends.
"""

import asyncio

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from toolnotary_registry_api.settings import Settings


class Connection(H11Protocol):
    """A connection of one registry; made by uvicorn, from the class that `connection_of` returns."""

    settings: Settings

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._part: object = None
        self._arriving: asyncio.TimerHandle | None = None
        self._leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Begin to wait for the head of a request."""
        super().connection_made(transport)
        # Without a mark of its own, the transport would call up to 64 KiB that nobody reads "written".
        transport.set_write_buffer_limits(high=0)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was waited for."""
        super().connection_lost(exc)
        self._arriving = self._stopped(self._arriving)
        self._leaving = self._stopped(self._leaving)

    def handle_events(self) -> None:
        """Take what came; this is where a request gets from one part to the next."""
        super().handle_events()
        self._watch()

    def pause_writing(self) -> None:
        """Begin to wait for a caller who does not read an answer as fast as it is written."""
        super().pause_writing()
        self._leaving = self._stopped(self._leaving)
        self._leaving = self.loop.call_later(self.settings.answer_seconds, self._give_up)

    def resume_writing(self) -> None:
        """The caller, or the system for the caller, has taken all of it."""
        super().resume_writing()
        self._leaving = self._stopped(self._leaving)

    def _watch(self) -> None:
        part = self.conn.their_state
        if part is self._part:
            return
        self._part = part
        self._arriving = self._stopped(self._arriving)
        head, body = self.settings.head_seconds, self.settings.body_seconds
        # The service itself answers a body that is late (`body`), and the caller needs time to read that.
        seconds = {h11.IDLE: head, h11.SEND_BODY: body + head}.get(part)
        if seconds is not None:
            self._arriving = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self.transport.abort()

    @staticmethod
    def _stopped(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def connection_of(settings: Settings) -> type[Connection]:
    """The class of this registry's connections."""
    return type("BoundedConnection", (Connection,), {"settings": settings})
