# SPDX-License-Identifier: Apache-2.0
"""What `run` does: find out what the server is held to, start it, and put the gate in front of it."""

from collections.abc import Sequence

from toolnotary_verifier import process
from toolnotary_verifier.guard import Guard, Settings, telemetry
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.shells.stdio import Proxy


def guard(argv: Sequence[str], settings: Settings, *, lifeline: int | None) -> int:
    """Run a server behind the gate until it ends; returns its exit code.

    Args:
        argv: the server's command.
        settings: what the options say.
        lifeline: what the watching process holds (see `watcher`); None where nothing watches.

    Raises:
        Refused: `identity`, before anything is started; or what keeps a signed entry from counting.
        CannotTell: `server-start`, `object-missing`.
        ConfigurationError: `server-ambiguous`, or a file that cannot be read.
        InvalidInput: a file that is not valid.
    """
    guarded = Guard.of_command(argv, settings, log=Log)
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
