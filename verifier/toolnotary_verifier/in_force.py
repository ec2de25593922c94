# SPDX-License-Identifier: Apache-2.0
"""What one connection is held to while its files change: what is tighter counts at once, what is looser not.

Whoever holds a connection asks from time to time whether the files changed (`refresh`). Tightening applies at
once: a pin that was withdrawn or left the lockfile, a stricter policy, a signer that is no longer named.
Loosening waits for the next start (DESIGN: policy), with one exception: what was accepted in the user's own
state since the connection began, by an approval or by a signature that policy lets decide. A changed project
file alone grants nothing that did not count at the start. Files that cannot be read leave nothing in force
until they can.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.decide import decide
from toolnotary_verifier.errors import Refused, ToolnotaryError
from toolnotary_verifier.lockfile import Entry, SignedEntry, UnsignedEntry
from toolnotary_verifier.overrides import Countdown, Override
from toolnotary_verifier.pinning import load_pins
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Inspection, Judgement

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.verify import VerifiedManifest

# A file that was written so shortly before it was looked at may be written again within the same tick of the
# file system's clock, in nanoseconds: it is looked at once more.
_RECENT: Final = 2_000_000_000


class InForce:
    """Pins and policy of one connection; its methods may be called by several threads.

    Attributes:
        inspection: what of the server's messages is looked at.
        turn: how often something else came into force since.
    """

    def __init__(
        self,
        project: Project,
        pins: Pins,
        *,
        server: str | None,
        launch: "Launch",
        files: Sequence[Path],
        reopen: Callable[[], Project],
        tell: Callable[[str], None],
        inspection: Inspection = Inspection.WIRE,
        countdown: Countdown | None = None,
    ) -> None:
        """What was loaded at the start is in force.

        Args:
            project: the files as they were then.
            pins: what of them the server is held to.
            server: the name that the user gave; None where the launch is to find it.
            launch: how the server is started or reached.
            files: where a change is looked for: state, lockfile and policy.
            reopen: the files as they are now.
            tell: told, for people, what keeps something from being in force.
            inspection: what of the server's messages is looked at.
            countdown: ends what passes for a while; by the system's clocks if None.
        """
        self._countdown = countdown or Countdown()
        self._told_over: set[Override] = set()
        self._loaded = pins
        self._pins = self._counted_down()
        self._policy = project.policy
        self._failure: ToolnotaryError | None = None
        self._server = server
        self._launch = launch
        self._files = files
        self._reopen = reopen
        self._tell = tell
        self.inspection = inspection
        self.turn = 0
        self._told = ""
        self._stamps: Sequence[Hashable] | None = None
        self._lock = threading.Lock()
        self._began = self._recorded = project.state.recorded
        self._used: dict[Digest, bytes] = {}
        entry = self._entry(project)
        self._granted = set() if entry is None else _claims(entry)

    @property
    def pins(self) -> Pins:
        """What the server is held to.

        Raises:
            Refused: `inspection-refused`, where policy asks for more than is looked at.
            ToolnotaryError: why the files cannot be read; nothing may pass then.
        """
        if self.inspection is not Inspection.WIRE and self._policy.inspection is Inspection.WIRE:
            raise Refused(
                "inspection-refused",
                "policy asks for the bytes that a server sends, and only what a parser made of them is seen",
                remedy="start the server behind `toolnotary run`, or leave inspection out of toolnotary.toml",
            )
        if self._failure is not None:
            raise self._failure
        return self._pins

    def held_to(self) -> Digest:
        """What identifies the pins (`Pins.digest`).

        Raises:
            ToolnotaryError: as `pins`.
        """
        return self.pins.digest()

    @property
    def policy(self) -> Policy:
        """What follows from each verdict."""
        return self._policy

    def decide(
        self,
        server: str,
        surface: Surface,
        *,
        policy: Policy | None = None,
        candidates: "Sequence[VerifiedManifest]" = (),
        pending: bool = False,
    ) -> Judgement:
        """Judge a surface by what is in force.

        Args:
            server: what the server is called.
            surface: what it shows.
            policy: in place of the policy in force.
            candidates: signed manifests on offer.
            pending: whether a look-up may still explain what is unknown.

        Raises:
            ToolnotaryError: as `pins`.
        """
        rules = policy or self._policy
        judged = decide(server, surface, self.pins, policy=rules, candidates=candidates, pending=pending)
        return judged._replace(inspection=self.inspection)

    def refresh(self) -> bool:
        """Look whether the files changed; returns whether something else is in force since."""
        with self._lock:
            stamps = _stamps(self._files)
            if stamps == self._stamps:
                passed, self._pins = self._pins.overrides, self._counted_down()
                is_other = self._pins.overrides != passed
            else:
                is_other = self._reread()
                self._stamps = stamps
            self.turn += is_other
            return is_other

    def _reread(self) -> bool:
        before = self._identity()
        try:
            is_waiting = self._take(self._reopen())
            was_closed, self._failure = self._failure is not None, None
            self._say_what_waits(is_waiting=is_waiting, was_closed=was_closed)
        except ToolnotaryError as error:
            self._failure = error
            self._say(f"everything is withheld: {error.message} ({error.code})")
        return self._identity() != before

    def _take(self, project: Project) -> bool:
        """Put in force what counts of the files by now; whether they grant something that does not."""
        project.state.since(self._recorded)  # nothing that was recorded may be gone
        self._recorded = project.state.recorded
        server = self._server or project.server_of(self._launch)
        said, self._policy = project.policy, self._policy.tightened(project.policy, server=server)
        is_waiting = said.tightened(self._policy, server=server) != said or said.limits != self._policy.limits
        is_waiting = is_waiting or said.audit != self._policy.audit
        is_waiting = is_waiting or said.elicitation != self._policy.elicitation
        entry, lockfile = self._entry(project), project.lockfile
        if entry is not None:
            kept = self._kept(project, entry)
            is_waiting = is_waiting or kept != entry
            lockfile = lockfile.without_entry(entry) if kept is None else lockfile.with_entry(kept)
        project = project._replace(lockfile=lockfile, policy=self._policy)
        self._loaded = Pins() if server is None else load_pins(project, server=server, launch=self._launch)
        self._pins = self._counted_down()
        return is_waiting

    def _counted_down(self) -> Pins:
        """What was loaded, without the overrides that have ended since."""
        loaded = self._loaded
        return (
            loaded._replace(overrides=self._countdown.left(loaded.overrides)) if loaded.overrides else loaded
        )

    def over(self) -> set[Override]:
        """The overrides that ended while the connection was open, each told once."""
        with self._lock:
            found, self._told_over = self._countdown.over - self._told_over, set(self._countdown.over)
            return found

    def _say_what_waits(self, *, is_waiting: bool, was_closed: bool) -> None:
        if is_waiting:
            self._say("lockfile or policy changed: what they grant by that counts from the next start on")
        elif was_closed:
            self._say("the files can be read again, and what passes is decided anew")
        else:
            self._told = ""

    def _say(self, line: str) -> None:
        """Tell people, but not the same thing twice in succession."""
        if line != self._told:
            self._told = line
            self._tell(line)

    def _identity(self) -> object:
        """Equal as long as the same is in force."""
        held, failure = self._pins, self._failure
        why = None if failure is None else (failure.code, failure.message)
        return why, held.digest(), held.signer, held.sequence, held.known, self._policy

    # What counts before the next start

    def _entry(self, project: Project) -> Entry | None:
        server = self._server or project.server_of(self._launch)
        return None if server is None else project.lockfile.entry(server, self._launch.identity)

    def _kept(self, project: Project, entry: Entry) -> Entry | None:
        """What of an entry was there at the start, or was accepted since; None if nothing of it."""
        if not _claims(entry) <= self._granted:
            self._grant(project, entry)
        if isinstance(entry, SignedEntry):
            profiles = tuple(name for name in entry.profiles if (entry.manifest, name) in self._granted)
            return entry._replace(profiles=profiles) if profiles else None
        # What nobody ever accepted does not count anyway, and its verdict should say so.
        pins = tuple(
            pin
            for pin in entry.pins
            if (pin.kind, pin.name, pin.exact) in self._granted
            or not project.state.accepts(*entry.place, pin.kind, pin.name, pin.exact)
        )
        if _about(entry) in self._granted:
            return entry._replace(pins=pins)
        return entry._replace(pins=pins, server_info=None, capabilities=None)

    def _grant(self, project: Project, entry: Entry) -> None:
        """Let count what was accepted since the start; an acceptance that was used opens nothing else."""
        accepted = entry.manifest if isinstance(entry, SignedEntry) else entry.place[1]
        since = project.state.since(self._used.get(accepted, self._began))
        pins = since.pins.get(entry.place, set())
        if isinstance(entry, UnsignedEntry) and pins:
            self._granted |= {*pins, _about(entry)}
        elif isinstance(entry, SignedEntry) and entry.manifest in since.manifests.get(entry.place, ()):
            self._granted |= _claims(entry)
        else:
            return
        self._used[accepted] = project.state.recorded


def _claims(entry: Entry) -> set[Hashable]:
    """What an entry would let pass, piece by piece."""
    if isinstance(entry, SignedEntry):
        return {(entry.manifest, profile) for profile in entry.profiles}
    return {*((pin.kind, pin.name, pin.exact) for pin in entry.pins), _about(entry)}


def _about(entry: UnsignedEntry) -> Hashable:
    return "about", entry.server_info, entry.capabilities


def _stamps(files: Sequence[Path]) -> Sequence[Hashable]:
    """Equal as long as no file was changed, replaced, removed or made accessible to others."""
    now = time.time_ns()
    found: list[Hashable] = []
    for path in files:
        try:
            status = path.stat()
        except OSError as error:
            found.append(error.errno)
            continue
        changed = max(status.st_mtime_ns, status.st_ctime_ns)
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
        found.append(object() if abs(now - changed) < _RECENT else stamp)
    return found
