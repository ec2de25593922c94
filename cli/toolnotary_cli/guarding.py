# SPDX-License-Identifier: Apache-2.0
"""What `run` does: find out what the server is held to, start it, and put the gate in front of it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
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
    from toolnotary_cli.lookup import LookUp
    from toolnotary_verifier.gate import Judge
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
    reopen = partial(open_project, lockfile=lockfile, policy=policy, nearby=False)
    project = reopen()
    launch = project.launch(argv, environment=os.environ, folder=Path.cwd())
    name = server or _pinned_name(project, launch)
    # A launch that nobody pinned is nobody's server: it runs, and all that it shows is withheld.
    pins = Pins() if name is None else load_pins(project, server=name, launch=launch)
    shown = name or Path(argv[0]).name
    same = places.options(lockfile=lockfile, policy=policy), places.options(registry=registry)
    commands = Commands(shown, *same, launch=partial(_launch, project, shown))
    _refuse_other(shown, pins, commands)
    recorder = _recorder(project, launch, name, shown, pins)
    in_force = InForce(
        project,
        pins,
        server=name,
        launch=launch,
        files=(project.state.path, project.lockfile_path, policy or places.home() / places.POLICY),
        reopen=reopen,
        tell=lambda line: recorder.log.note("files", line),
    )
    look_up = None
    if not offline and name is not None and _may_be_offered(project, name, pins):
        look_up = _look_up(name, launch, registry, in_force=in_force, reopen=reopen, recorder=recorder)
    judge = look_up.judge() if look_up else _judge(shown, in_force, recorder)
    limits = project.policy.limits
    return Proxy(
        process.start(argv, stderr="inherit", contained=True, watched=lifeline is not None),
        Gate(judge, server=shown, commands=commands, limits=limits),
        recorder.log,
        afterwards=recorder.record,
        unlisted=partial(recorder.unlisted, in_force.held_to),
        look_up=look_up.judges if look_up else None,
        changes=partial(_changes, in_force),
        lifeline=lifeline,
        limits=limits,
    ).run()


def _recorder(project: "Project", launch: "Launch", name: str | None, shown: str, pins: Pins) -> Recorder:
    """What records this connection; it begins with the pins that are in use."""
    log = Log(shown)
    if pins.unrecorded:
        log.line(on_policy_alone(project, [shown]))
    recorder = Recorder(project, launch, name, log)
    recorder.remember(pins)
    return recorder


def _look_up(
    server: str,
    launch: "Launch",
    registry: str | None,
    *,
    in_force: InForce,
    reopen: "Callable[[], Project]",
    recorder: Recorder,
) -> "LookUp | None":
    """What asks the registry that was named, or that of the policy; None where neither names one."""
    url = registry or in_force.policy.registry_url
    if url is None:
        return None
    from toolnotary_cli.lookup import LookUp

    log, seen = recorder.log, recorder.seen
    return LookUp(server, launch, in_force=in_force, reopen=reopen, registry=url, log=log, seen=seen)


def _judge(server: str, in_force: InForce, recorder: Recorder) -> "Judge":
    """A judge by what is in force, where nobody is to be asked."""

    def judge(surface: Surface) -> Judgement:
        judgement = decide(server, surface, in_force.pins, policy=in_force.policy)
        recorder.seen(surface, judgement)
        return judgement

    return judge


def _refuse_other(server: str, pins: Pins, commands: Commands) -> None:
    """Refuse to start what is not the server that is pinned under the name.

    Raises:
        Refused: `identity`.
    """
    if pins.standing is not None and pins.standing.reason is Reason.IDENTITY:
        raise Refused(
            "identity",
            f"{escape(server, limit=120)} was not started: {pins.standing.detail}",
            remedy=f"if it is right, pin this launch too: {commands.lock}",
        )


def _changes(in_force: InForce) -> Iterator[None]:
    """Something whenever something else is in force than before, for as long as the server runs."""
    while True:
        time.sleep(_LOOK)
        if in_force.refresh():
            yield


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
