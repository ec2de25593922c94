# SPDX-License-Identifier: Apache-2.0
"""What `run` does: find out what the server is held to, start it, and put the gate in front of it."""

from collections.abc import Sequence
from pathlib import Path

from toolnotary_verifier import process
from toolnotary_verifier.guard import Guard, Settings, telemetry
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.shells.stdio import Proxy


def guard(
    argv: Sequence[str],
    *,
    server: str | None,
    lockfile: Path | None,
    policy: Path | None,
    registry: str | None = None,
    offline: bool = False,
    lifeline: int | None,
) -> int:
    """Run a server behind the gate until it ends; returns its exit code.

    Args:
        argv: the server's command.
        server: the name given by the user; None where its launch is to find it.
        lockfile: the value of `--lockfile`.
        policy: the value of `--policy`.
        registry: the value of `--registry`.
        offline: open no socket.
        lifeline: what the watching process holds (see `watcher`); None where nothing watches.

    Raises:
        Refused: `identity`, before anything is started; or what keeps a signed entry from counting.
        CannotTell: `server-start`, `object-missing`.
        ConfigurationError: `server-ambiguous`, or a file that cannot be read.
        InvalidInput: a file that is not valid.
    """
    guarded = Guard.of_command(argv, Settings(server, lockfile, policy, registry, offline), log=Log)
    trail = guarded.trail()
    proxy = Proxy(
        process.start(argv, stderr="inherit", contained=True, watched=lifeline is not None),
        guarded.gate(asks=True),
        guarded.log,
        afterwards=guarded.record,
        unlisted=guarded.unlisted,
        decided=trail.decided,
        look_up=guarded.look_up,
        changes=guarded.changes,
        attend=guarded.attend,
        lifeline=lifeline,
        limits=guarded.limits,
    )
    try:
        return proxy.run()
    finally:
        guarded.close()
        telemetry.flush()
