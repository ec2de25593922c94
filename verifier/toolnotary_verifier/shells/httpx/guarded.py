# SPDX-License-Identifier: Apache-2.0
"""What a program says to have its client guarded."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from toolnotary_verifier.guard import Guard, Notes, Settings
from toolnotary_verifier.shells.httpx.transport import transport_of
from toolnotary_verifier.shells.log import Log

# What the Python SDK of the protocol gives its own clients, in seconds: event streams may be quiet for long.
_TIMEOUT: Final = 30.0
_READ_TIMEOUT: Final = 300.0


def guarded(
    library: ModuleType,
    url: str,
    *,
    server: str | None = None,
    lockfile: Path | None = None,
    policy: Path | None = None,
    registry: str | None = None,
    offline: bool = False,
    inner: Any = None,  # noqa: ANN401 - of the library
    log: Callable[[str], Notes] | None = None,
) -> Any:  # noqa: ANN401 - of the library
    """A transport through which only pinned definitions pass, as they do through `run`.

    Args:
        library: `httpx` or `httpx2`, whichever the client is of.
        url: of the server, as the host dials it; its pins are found by its origin and path.
        server: the name that the server is pinned under; else its URL decides.
        lockfile: in place of TOOLNOTARY_LOCKFILE and the personal lockfile.
        policy: in place of TOOLNOTARY_POLICY and the personal policy.
        registry: the registry's URL, in place of TOOLNOTARY_REGISTRY and the policy's.
        offline: ask no registry.
        inner: the transport that sends, such as `httpx.AsyncHTTPTransport(verify=...)`; the library's own if
            None, through the proxy that HTTPS_PROXY and NO_PROXY name.
        log: makes what tells people what was done, by the server's name; the logger `toolnotary` if None.

    Returns:
        What `AsyncClient(transport=...)` takes: an `AsyncBaseTransport` of the library.

    Raises:
        Refused: `identity`, before anything is sent; or what keeps a signed entry from counting.
        CannotTell, ConfigurationError, InvalidInput: see `Guard`; `url`.
    """
    guard = _guard(url, Settings(server, lockfile, policy, registry, offline), log)
    return transport_of(library)(library, url, guard, inner)


def guarded_clients(
    library: ModuleType,
    url: str,
    *,
    server: str | None = None,
    lockfile: Path | None = None,
    policy: Path | None = None,
    registry: str | None = None,
    offline: bool = False,
    inner: Callable[[], Any] | None = None,
    log: Callable[[str], Notes] | None = None,
) -> Callable[..., Any]:
    """Makes guarded clients of one server, for frameworks that take an `httpx_client_factory`.

    Args:
        library: `httpx` or `httpx2`, whichever the framework uses.
        url: as for `guarded`, and so are `server`, `lockfile`, `policy`, `registry`, `offline` and `log`.
        server: see there.
        lockfile: see there.
        policy: see there.
        registry: see there.
        offline: see there.
        inner: makes the transport that sends, one for each client.
        log: see there.

    Returns:
        What takes `headers`, `timeout` and `auth`, and gives an `AsyncClient`; what it gives shares all that
        was found out about the server.

    Raises:
        ToolnotaryError: as `guarded`, at once and not with the first client.
    """
    guard = _guard(url, Settings(server, lockfile, policy, registry, offline), log)

    def client(
        headers: Mapping[str, str] | None = None,
        timeout: Any = None,  # noqa: ANN401 - of the library
        auth: Any = None,  # noqa: ANN401 - of the library
    ) -> Any:  # noqa: ANN401 - of the library
        sending = None if inner is None else inner()
        return library.AsyncClient(
            transport=transport_of(library)(library, url, guard, sending),
            headers=headers,
            timeout=library.Timeout(_TIMEOUT, read=_READ_TIMEOUT) if timeout is None else timeout,
            auth=auth,
        )

    return client


def _guard(url: str, settings: Settings, log: Callable[[str], Notes] | None) -> Guard:
    return Guard.of_url(url, settings.completed(), log=log or _logged)


def _logged(server: str) -> Log:
    return Log(server, write=logging.getLogger("toolnotary").warning, place="in an answer")
