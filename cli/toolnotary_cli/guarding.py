# SPDX-License-Identifier: Apache-2.0
"""What `run` does: find out what the server is held to, start it, and put the gate in front of it."""

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolnotary_cli import places
from toolnotary_cli.opening import on_policy_alone, open_project
from toolnotary_cli.recording import Recorder
from toolnotary_verifier import process
from toolnotary_verifier.decide import decide
from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate import Commands, Gate
from toolnotary_verifier.in_force import InForce
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.shells.log import Log
from toolnotary_verifier.shells.stdio import Proxy
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.project import Project

# Seconds between two looks at the files; documented as "within two seconds".
_LOOK: Final = 1.0


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
    project = open_project(lockfile=lockfile, policy=policy, nearby=False)
    launch = project.launch(argv, environment=os.environ, folder=Path.cwd())
    name = server or _pinned_name(project, launch)
    # A launch that nobody pinned is nobody's server: it runs, and all that it shows is withheld.
    pins = Pins() if name is None else load_pins(project, server=name, launch=launch)
    shown = name or Path(argv[0]).name
    commands = Commands(
        shown,
        files=places.options(lockfile=lockfile, policy=policy),
        registry=places.options(registry=_repeatable(registry)),
        launch=partial(_launch, project, shown),
    )
    if pins.standing is not None and pins.standing.reason is Reason.IDENTITY:
        raise Refused(
            "identity",
            f"{escape(name or '', limit=120)} was not started: {pins.standing.detail}",
            remedy=f"if it is right, pin this launch too: {commands.lock}",
        )
    log = Log(shown)
    recorder = Recorder(project, launch, name, log)
    if pins.unrecorded:
        log.line(on_policy_alone(project, [shown]))
    recorder.remember(pins)

    reopen = partial(open_project, lockfile=lockfile, policy=policy, nearby=False)
    in_force = InForce(
        project,
        pins,
        server=name,
        launch=launch,
        files=(project.state.path, project.lockfile_path, policy or places.home() / places.POLICY),
        reopen=reopen,
        tell=lambda line: log.note("files", line),
    )

    def judge(surface: Surface) -> Judgement:
        judgement = decide(shown, surface, in_force.pins, policy=in_force.policy)
        recorder.seen(surface, judgement)
        return judgement

    def held_to() -> "Digest":
        return in_force.pins.digest()  # as it is by then

    look_up = None
    url = None if offline else registry or project.policy.registry_url
    if name is not None and url is not None and _may_be_offered(project, name, pins):
        from toolnotary_cli.lookup import LookUp

        look_up = LookUp(
            name,
            launch,
            in_force=in_force,
            reopen=reopen,
            registry=url,
            log=log,
            seen=recorder.seen,
        )
    child = process.start(argv, stderr="inherit", contained=True, watched=lifeline is not None)
    limits = project.policy.limits
    gate = Gate(look_up.judge() if look_up else judge, server=shown, commands=commands, limits=limits)
    return Proxy(
        child,
        gate,
        log,
        afterwards=recorder.record,
        unlisted=partial(recorder.unlisted, held_to),
        look_up=look_up.judges if look_up else None,
        changes=partial(_changes, in_force),
        lifeline=lifeline,
        limits=limits,
    ).run()


def _changes(in_force: InForce) -> Iterator[None]:
    """Something whenever something else is in force than before, for as long as the server runs."""
    while True:
        time.sleep(_LOOK)
        if in_force.refresh():
            yield


def _repeatable(url: str | None) -> str | None:
    """The URL of a registry as it may be told; None where it holds a password, and is refused when used."""
    return None if url is None or "@" in url else url


def _may_be_offered(project: "Project", server: str, pins: Pins) -> bool:
    """Whether a version that a registry offers could change what is decided about this server.

    That is: somebody may sign for its name, and nothing is pinned to it but what somebody signed.
    """
    if pins.standing is not None or (pins.signer is None and (pins.profiles or pins.known)):
        return False
    return any(rule.covers(server) for rule in project.policy.signers) or bool(project.state.keys(server))


def _launch(project: "Project", server: str) -> str:
    """What `approve` needs besides the name."""
    from toolnotary_cli.looking import launch_needed

    return launch_needed(project, server)


def _pinned_name(project: "Project", launch: "Launch") -> str | None:
    """The name that the launch is pinned under, None if it is not.

    Raises:
        ConfigurationError: `server-ambiguous`.
    """
    names = sorted({entry.server for entry in project.lockfile.launched(launch.identity)})
    if len(names) > 1:
        shown = ", ".join(escape(name, limit=80) for name in names)
        raise ConfigurationError(
            "server-ambiguous", f"this launch is pinned under {shown}", remedy="say --server NAME"
        )
    return names[0] if names else None
