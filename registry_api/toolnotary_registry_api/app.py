# SPDX-License-Identifier: Apache-2.0
"""The HTTP service, put together: its routes, its database, and the headers of every answer."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolnotary_registry_api import __version__, problems
from toolnotary_registry_api.routes import router
from toolnotary_registry_api.settings import Settings
from toolnotary_registry_api.storage import Storage
from toolnotary_registry_api.wire import ProblemOut


class Headers:
    """Puts the security headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on (ASGI 3)."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in problems.SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


def create_app(settings: Settings, *, clock: Callable[[], datetime] = utc_now) -> FastAPI:
    """The service; its database is opened and migrated here, and closed when the service ends.

    Args:
        settings: what the operator decided.
        clock: tells the present, in UTC.

    Raises:
        ConfigurationError: `database-url`, `database-newer`.
        CannotTell: `database-unreachable`.
    """
    storage = Storage.open(settings.database)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            storage.close()

    app = FastAPI(
        title="toolnotary registry",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # the documentation pages are HTML with scripts of others
        redoc_url=None,
        redirect_slashes=False,
        responses={"4XX": {"model": ProblemOut}, "5XX": {"model": ProblemOut}},
    )
    app.add_middleware(Headers)
    app.state.storage, app.state.settings, app.state.clock = storage, settings, clock
    app.include_router(router)
    problems.install(app)
    # The framework puts its routes together when they are first asked for, and changes the filters of
    # warnings for all threads while it does so: it is done here, before there are any.
    app.openapi()
    return app
