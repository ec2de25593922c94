# SPDX-License-Identifier: Apache-2.0
"""The door for whatever guards a connection: pins, policy, state, registry and records behind the gate.

    settings = Settings(server="acme").completed()
    guard = Guard.of_command(["npx", "-y", "@acme/server"], settings, log=Log)     # or Guard.of_url(url, ...)
    gate = guard.gate()                                                            # one for each connection

A shell feeds the gate frames and times. It tells `guard.trail()`, one for each connection, all effects before
any of them goes on, and closes the gate where that says no. Of the effects it gives `unlisted` to
`guard.unlisted` in order, and `look_up` to a thread that hands each judge of `guard.look_up()` to
`Gate.repin`. After a gate had something to say it calls `guard.record()`, and where `guard.changes()` gives
something, `Gate.rejudge()`.
"""

from toolnotary_verifier.guard.guard import Guard
from toolnotary_verifier.guard.notes import Notes
from toolnotary_verifier.guard.settings import Settings
from toolnotary_verifier.guard.trail import Trail

__all__ = ["Guard", "Notes", "Settings", "Trail"]
