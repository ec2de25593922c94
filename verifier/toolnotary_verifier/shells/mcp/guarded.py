# SPDX-License-Identifier: Apache-2.0
"""A transport of the SDK with a gate in it."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.client.stdio import get_default_environment

from toolnotary_verifier.guard import Guard, Notes, Settings
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.shells.mcp.connection import Connection
from toolnotary_verifier.shells.mcp.sdk import Parameters
from toolnotary_verifier.verdict import Inspection


@asynccontextmanager
async def guarded(
    transport: AbstractAsyncContextManager[Any],
    launch: Parameters | Sequence[str] | str,
    *,
    server: str | None = None,
    lockfile: Path | None = None,
    policy: Path | None = None,
    registry: str | None = None,
    offline: bool = False,
    log: Callable[[str], Notes] | None = None,
) -> AsyncIterator[Any]:
    """A transport through which only pinned definitions pass, as they do through `run`.

    Args:
        transport: any transport of the SDK, such as `stdio_client(parameters)`, not entered yet.
        launch: how that reaches the server, by which pins are found: the same parameters, a command, or a
            URL. Say what is true: nothing else of the transport is looked at.
        server: the name that the server is pinned under; else its launch decides.
        lockfile: in place of TOOLNOTARY_LOCKFILE and the personal lockfile.
        policy: in place of TOOLNOTARY_POLICY and the personal policy.
        registry: the registry's URL, in place of TOOLNOTARY_REGISTRY and the policy's.
        offline: ask no registry.
        log: makes what tells people what was done, by the server's name; the logger `toolnotary` if None.

    Yields:
        The transport's streams, guarded: what `ClientSession(*streams)` takes, and in 2.x `Client` takes all
        of it.

    Raises:
        Refused: `identity`, before the transport is entered; `inspection-refused` where policy asks for the
            bytes themselves; or what keeps a signed entry from counting.
        CannotTell, ConfigurationError, InvalidInput: see `Guard`.
    """
    settings = Settings(server, lockfile, policy, registry, offline).completed()
    guard = await anyio.to_thread.run_sync(partial(_guard, launch, settings, log or _logged))
    failure: Exception | None = None
    async with transport as streams:
        connection = Connection(guard, streams[0], streams[1])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            try:
                yield connection.reads, connection.writes, *streams[2:]
            except Exception as error:  # noqa: BLE001 - raised below: no group of tasks is to wrap it
                failure = error
            finally:
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure


def _guard(
    launch: Parameters | Sequence[str] | str, settings: Settings, log: Callable[[str], Notes]
) -> Guard:
    made = partial(Guard.of_command, settings=settings, log=log, inspection=Inspection.PARSED)
    if isinstance(launch, str):
        return Guard.of_url(launch, settings, log=log, inspection=Inspection.PARSED)
    if isinstance(launch, Sequence):
        return made(list(launch))
    environment = {**get_default_environment(), **(launch.env or {})}
    folder = None if launch.cwd is None else Path(launch.cwd).absolute()
    return made([launch.command, *launch.args], environment=environment, folder=folder)


def _logged(server: str) -> Log:
    return Log(server, write=logging.getLogger("toolnotary").warning)
