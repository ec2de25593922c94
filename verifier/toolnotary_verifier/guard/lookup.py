# SPDX-License-Identifier: Apache-2.0
"""What a registry is asked for behind a gate, and how its judge decides meanwhile and afterwards.

Nothing is asked before the server shows something that nobody pinned, and then in a thread of its own: what
is pinned goes on working. Until the answer is there the verdict is `pending`. A version that the publisher
signed is pinned where policy lets the signature suffice (`first-signed`); what it explains is let through by
that pin and by nothing else. Whatever fails here leaves blocked what was blocked.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Action, Judgement, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.gate import Judge
    from toolnotary_verifier.guard.notes import Notes
    from toolnotary_verifier.history import History
    from toolnotary_verifier.in_force import InForce
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.project import Project

# Verdicts that a newer signed version may explain.
_UNKNOWN: Final = frozenset(
    (Reason.CHANGED, Reason.ADDED, Reason.INSTRUCTIONS_CHANGED, Reason.FIRST_UNSIGNED)
)
# Verdicts that let a publisher's signature move a pin, where policy says so.
_BY_SIGNATURE: Final = (Reason.FIRST_SIGNED, Reason.UPGRADE)
_FRESH: Final = 30.0  # seconds for which an answer of the registry holds
_PAUSE: Final = 60.0  # before a registry that did not answer is asked again; doubled each time
_TRIES: Final = 5
_MOST: Final = 20  # questions of one guard: a server that changes all the time asks for no more
_WAIT: Final = 5.0  # the longest wait for the network, in seconds
_DEADLINE: Final = 30.0  # for all of one look-up

_T = TypeVar("_T")


class LookUp:
    """The look-ups of one guard, for all its connections; its methods are called by several threads."""

    def __init__(
        self,
        server: str,
        launch: "Launch",
        *,
        in_force: "InForce",
        reopen: "Callable[[], Project]",
        registry: str,
        log: "Notes",
        seen: Callable[[Surface, Judgement], None],
        pinned: Callable[[str, str], None] = lambda _signer, _manifest: None,
    ) -> None:
        """Nothing is opened or asked yet.

        Args:
            server: the name that the user gave.
            launch: how the server is started or reached.
            in_force: what the server is held to, now and after every look-up.
            reopen: the files as they are now.
            registry: its base URL.
            log: where people read what was found.
            seen: told every judgement, as it is without a look-up that is still under way.
            pinned: told the signer and the manifest of every pin that came of it.
        """
        self._server = server
        self._launch = launch
        self._in_force = in_force
        self._reopen = reopen
        self._registry = registry
        self._log = log
        self._seen = seen
        self._pinned = pinned
        self._offered: tuple[Signed, ...] = ()
        self._asking = threading.Lock()
        self._asked: set[Digest] = set()
        self._refused: set[Digest] = set()
        self._questions = 0
        self._answered_at: float | None = None
        self._is_retrying = False
        self._shown: Surface | None = None

    @property
    def offered(self) -> "tuple[Signed, ...]":
        """The signed versions that the registry offers, as far as they count and are known by now."""
        return self._offered

    def judge(self) -> "Judge":
        """A judge by what is known now, which asks for a look-up where that may change its mind.

        It raises `ToolnotaryError` while the files cannot be read (`InForce.pins`).
        """
        offered = self._offered
        is_asking = False

        def judge(surface: Surface) -> Judgement:
            nonlocal is_asking
            if Kind.TOOL in surface.inspected:  # what was seen of a server before its tools names no version
                self._shown = surface
            judgement = self._decide(surface)
            if judgement.objections:
                if offered:
                    judgement = self._decide(surface, offered)
                is_asking = is_asking or self._is_worth_it(surface, judgement)
            # As what is pinned has it, since the connection may end before the answer comes.
            self._seen(surface, judgement)
            if judgement.objections and is_asking:
                judgement = self._decide(surface, pending=True)
            return judgement

        return judge

    def _decide(
        self, surface: Surface, offered: "tuple[Signed, ...]" = (), *, pending: bool = False
    ) -> Judgement:
        candidates = [signed.verified for signed in offered]
        policy = _until_pinned(self._in_force.policy)
        return self._in_force.decide(
            self._server, surface, policy=policy, candidates=candidates, pending=pending
        )

    def _is_worth_it(self, surface: Surface, judgement: Judgement) -> bool:
        """Whether a look-up may explain what was judged, or would pin it."""
        if surface is self._shown and self._moved_by(judgement) is not None:
            return True
        unknown = {v.live for v in judgement.objections if v.reason in _UNKNOWN and v.live is not None}
        if unknown <= self._asked or self._is_retrying or self._questions >= _MOST:
            return False
        self._asked |= unknown
        return not self._is_fresh

    @property
    def _is_fresh(self) -> bool:
        return self._answered_at is not None and time.monotonic() < self._answered_at + _FRESH

    def judges(self, wait: Callable[[float], bool] | None = None) -> "Iterator[Judge]":
        """Ask, and give the judge that decides afterwards; again where the registry did not answer.

        Never raises: whatever fails is told, and leaves blocked what is unknown.

        Args:
            wait: waits so many seconds, and says whether to go on; None to wait and go on.
        """
        pause = _PAUSE
        for number in range(_TRIES):
            with self._asking:
                is_answered = self._guarded(self._ask)
                self._guarded(self._settle)
                judge = self.judge()
            self._is_retrying = not is_answered and number + 1 < _TRIES
            yield judge
            if not self._is_retrying:
                return
            if wait is None:
                time.sleep(pause)
            elif not wait(pause):
                return
            pause *= 2

    def _guarded(self, step: "Callable[[], _T]") -> "_T | None":
        try:
            return step()
        except ToolnotaryError as error:
            self.note(f"{error.message} ({error.code})")
        except Exception as error:  # noqa: BLE001 - what is pinned must go on working whatever breaks here
            self.note(f"the look-up failed: {type(error).__name__}: {error}")
        return None

    def _ask(self) -> bool:
        """Ask the registry, unless it answered just now; whether it answered."""
        if self._is_fresh:
            return True
        from toolnotary_verifier.fetch import Registry
        from toolnotary_verifier.offers import offered

        self._questions += 1
        limits = self._in_force.policy.limits
        client = Registry(self._registry, timeout=_WAIT, deadline=_DEADLINE, limits=limits)
        project = self._files()
        found = offered(project, self._server, client, notes=self)
        self._offered = found.signed
        if found.failure is not None and found.failure.code != "not-in-registry":
            self.note(f"no newer version is known: {found.failure.message} ({found.failure.code})")
            return False
        self._answered_at = time.monotonic()
        return True

    def _settle(self) -> None:
        """Pin what is shown, where the publisher's signature suffices."""
        project = self._files()
        self._in_force.refresh()
        if self._shown is None or not self._offered:
            return
        digest = self._moved_by(self._decide(self._shown, self._offered))
        signed = next((one for one in self._offered if one.verified.manifest.digest == digest), None)
        if signed is None:
            return
        try:
            self._pin(project, signed)
        except ToolnotaryError as error:
            self._refused.add(signed.verified.manifest.digest)
            self.note(f"not pinned: {error.message} ({error.code})")
        self._in_force.refresh()

    def _pin(self, project: "Project", signed: "Signed") -> None:
        from toolnotary_verifier.moves import pin_signed

        before = _decided(project.state.history, self._server)

        def meanwhile(history: "History") -> bool:
            return _decided(history, self._server) != before

        move = pin_signed(project, signed, launch=self._launch)
        move.apply(project, unless=meanwhile)
        manifest, signer = signed.verified.manifest, signed.verified.signer.identity
        self._pinned(signer, manifest.digest)
        self._log.note(
            "pinned",
            f"pinned to version {manifest.version}, sequence {signed.verified.sequence}, by {signer}",
        )

    def _files(self) -> "Project":
        return self._reopen()._replace(policy=self._in_force.policy)

    def _moved_by(self, judgement: Judgement) -> Digest | None:
        """The manifest on offer that policy lets become the pin without a person; None if there is none."""
        reasons = {verdict.reason for verdict in judgement.objections}
        allowed = any(
            reason in reasons and self._in_force.policy.action_for(reason).passes for reason in _BY_SIGNATURE
        )
        return judgement.offered if allowed and judgement.offered not in self._refused else None

    def note(self, line: str) -> None:
        """Tell people what a look-up met."""
        self._log.note("look-up", line)


def _until_pinned(policy: Policy) -> Policy:
    """The policy by which nothing passes for its signature alone: its pin lets it through."""
    stricter = {
        reason: max(Action.PROMPT, policy.actions[reason], key=lambda action: action.strictness)
        for reason in _BY_SIGNATURE
    }
    return policy._replace(actions={**policy.actions, **stricter})


def _decided(history: "History", server: str) -> tuple[bool, int | None, str | None]:
    """What was decided about a server, as far as a first sight or an upgrade depends on it."""
    return server in history.servers, history.sequences.get(server), history.signers.get(server)
