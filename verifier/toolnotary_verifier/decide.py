# SPDX-License-Identifier: Apache-2.0
"""A live surface against what is pinned: one verdict a definition, first match wins (DESIGN: verdicts).

Pure, and it compares digests only. Three rules carry the rest:

- A listing may be a subset of what is pinned, but all of it must fit one profile of one manifest: definitions
  that no single profile holds together are `mixed`.
- What passes is forwarded as the server sent it where it is pinned exactly, and as it is pinned where the two
  are only equal in normal form. Where the pinned text is not at hand, it does not pass.
- Whatever no rule knows does not pass.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.canonical import CanonicalError, Digest, JsonObject
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.escape import escape
from toolnotary_verifier.matching import ENFORCED, Matching
from toolnotary_verifier.pins import Key, Pins, capabilities_digest, server_info_digest
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.surface import Fault, Surface
from toolnotary_verifier.verdict import OVERRIDABLE, Aspect, Judgement, Outcome, Reason, Verdict

if TYPE_CHECKING:
    from toolnotary_verifier.verify import VerifiedManifest

_AS_PINNED: Final = frozenset((Reason.VERIFIED, Reason.EQUIVALENT))
_NOTES: Final = frozenset((Reason.MISSING, Reason.SERVER_INFO_CHANGED, Reason.CAPABILITIES_CHANGED))
_ABOUT: Final = {
    Aspect.SERVER_INFO: Reason.SERVER_INFO_CHANGED,
    Aspect.CAPABILITIES: Reason.CAPABILITIES_CHANGED,
}
_BEFORE_PINS: Final = frozenset((Reason.SIGNER_CHANGED, Reason.ROLLBACK))


def decide(
    server: str,
    surface: Surface,
    pins: Pins | None,
    *,
    policy: Policy,
    candidates: "Sequence[VerifiedManifest]" = (),
    pending: bool = False,
) -> Judgement:
    """The judgement of what a server shows now.

    Args:
        server: the name that the user or policy gave it.
        surface: what it shows.
        pins: what it is held to; None where nothing is pinned and nothing is known.
        policy: what follows from each verdict, and which equivalences count.
        candidates: verified manifests, of which those of this server that are not pinned are looked at.
        pending: whether a look-up is under way that may explain what is unknown.
    """
    return _Comparison(server, surface, pins or Pins(), policy, candidates, pending=pending).judgement()


class _Finding(NamedTuple):
    reason: Reason
    pinned: Digest | None = None
    detail: str = ""
    forward: Definition | None = None


class _Comparison:
    """One surface and all that is known about its server."""

    def __init__(
        self,
        server: str,
        surface: Surface,
        pins: Pins,
        policy: Policy,
        candidates: "Sequence[VerifiedManifest]",
        *,
        pending: bool,
    ) -> None:
        self._server, self._surface, self._pins, self._policy = server, surface, pins, policy
        self._pending = pending
        self._overrides = {one.pinned: one for one in pins.overrides if pins.profiles}
        self._revoked = pins.revoked | policy.revoked
        held = {profile.manifest for profile in pins.profiles}
        others = [c for c in candidates if c.manifest.server == server and c.manifest.digest not in held]
        self._matching = Matching(surface, pins, others, normal_forms=policy.equivalences != "none")

    def judgement(self) -> Judgement:
        """All verdicts, in order of kind and name."""
        forward: dict[Key, Definition] = {}
        verdicts = [self._fault(fault) for fault in self._surface.faults]
        for key, live in self._surface.definitions.items():
            finding = self._find(live)
            action = self._policy.action_for(finding.reason, live.kind)
            if action.passes:
                forward[key] = finding.forward or live
            verdicts.append(
                Verdict(*key, finding.reason, action, live.digest, finding.pinned, finding.detail)
            )
        verdicts.extend(self._missing())
        aspects = list(self._aspects())
        closing = next((verdict for verdict in aspects if not verdict.passes), None)
        if closing is not None:
            forward = {}
            verdicts = [_closed(verdict, closing) for verdict in verdicts]
        verdicts = sorted([*verdicts, *aspects], key=lambda v: (v.kind.value, v.name, v.reason.value))
        offered, whole = self._matching.offered, self._matching.own_whole()
        other = any(verdict.reason is Reason.PROFILE_CHANGED for verdict in verdicts)
        return Judgement(
            self._server,
            self._outcome(verdicts),
            tuple(verdicts),
            forward,
            offered=None if offered is None else offered.manifest.digest,
            profile=whole.name if other and whole is not None else None,
            as_pinned=self._as_pinned(),
            held_to=self._pins.digest,
        )

    def _fault(self, fault: Fault) -> Verdict:
        reason = Reason.AMBIGUOUS if fault.code == "ambiguous-name" else Reason.INVALID
        pinned = self._matching.pinned((fault.kind, fault.name))
        action = self._policy.action_for(reason, fault.kind)
        return Verdict(fault.kind, fault.name, reason, action, None, pinned, fault.message, fault.code)

    def _find(self, live: Definition) -> _Finding:
        """The first row of the table that applies, or that a person put it aside for a while."""
        finding = self._row(live)
        override = self._overrides.get((*live.key, live.digest)) if self._overrides else None
        if override is None or finding.reason not in OVERRIDABLE:
            return finding
        is_needed = not self._policy.action_for(finding.reason, live.kind).passes
        if not is_needed or not self._policy.action_for(Reason.OVERRIDE, live.kind).passes:
            return finding
        why = escape(override.reason, limit=200)
        detail = f"{finding.reason}, passes by break-glass until {override.until}: {why}"
        return _Finding(Reason.OVERRIDE, finding.pinned, detail, forward=live)

    def _row(self, live: Definition) -> _Finding:
        """The first row of the table that applies."""
        standing = self._pins.standing
        fit = self._matching.fit(live.key)
        pinned = fit.pinned if fit else self._matching.pinned(live.key)
        if standing is not None and standing.reason is Reason.IDENTITY:
            return _Finding(Reason.IDENTITY, pinned, standing.detail)
        if self._is_revoked(live, pinned if fit else None):
            return _Finding(Reason.REVOKED, pinned, "it was withdrawn")
        if standing is not None and standing.reason in _BEFORE_PINS:
            return _Finding(standing.reason, pinned, standing.detail)
        offer = None if fit else self._offer(live, pinned)
        if offer is not None and offer.reason in _BEFORE_PINS:
            return offer
        if live.key in self._matching.mixed:
            detail = "it belongs to another manifest or profile than other definitions of this listing"
            return _Finding(Reason.MIXED, pinned, detail)
        if fit is not None and fit.exact:
            return _Finding(Reason.VERIFIED, pinned, forward=live)
        if fit is not None:
            detail = "differs only in what equiv/1 leaves out; the pinned definition is forwarded"
            return _Finding(Reason.EQUIVALENT, pinned, detail, forward=fit.definition)
        if live.kind in ENFORCED and self._matching.is_own(live.key):
            return self._other_profile(pinned)
        return offer or self._unknown(live, pinned)

    def _is_revoked(self, live: Definition, fitted: Digest | None) -> bool:
        if live.digest in self._revoked or fitted in self._revoked:
            return True
        fits = self._matching.fits[live.key]
        manifests = {self._matching.profiles[number].manifest for number in fits}
        return bool(manifests) and all(digest in self._revoked for digest in manifests)

    def _other_profile(self, pinned: Digest | None) -> _Finding:
        whole = self._matching.own_whole()
        if whole is None:
            return _Finding(
                Reason.MIXED, pinned, "no profile of the pinned manifest holds all of this listing"
            )
        detail = f"the server is in profile {escape(whole.name, limit=80)}, which is not accepted"
        return _Finding(Reason.PROFILE_CHANGED, pinned, detail)

    def _offer(self, live: Definition, pinned: Digest | None) -> _Finding | None:
        """What a signed manifest that holds the whole listing makes of a definition that is not pinned."""
        offered = self._matching.offered
        if offered is None or not self._matching.is_offered(live.key):
            return None
        signer = offered.signer.identity
        about = f"version {escape(offered.manifest.version, limit=80)}, signed by {signer}"
        if self._pins.signer is None:
            # What is pinned without a signature moves by an approval, not by whoever signs first.
            first = not self._pins.profiles and not self._pins.known
            return _Finding(Reason.FIRST_SIGNED, pinned, about) if first else None
        if signer != self._pins.signer:
            return _Finding(Reason.SIGNER_CHANGED, pinned, f"{about}; pinned is {self._pins.signer}")
        accepted = self._pins.sequence or 0
        if offered.sequence < accepted or (self._pins.profiles and offered.sequence == accepted):
            detail = f"{about}, has sequence {offered.sequence}; accepted was {accepted}"
            return _Finding(Reason.ROLLBACK, pinned, detail)
        return _Finding(Reason.UPGRADE, pinned, about)

    def _unknown(self, live: Definition, pinned: Digest | None) -> _Finding:
        if self._pins.standing is not None:  # signer-unknown
            return _Finding(self._pins.standing.reason, pinned, self._pins.standing.detail)
        if self._pending:
            return _Finding(Reason.PENDING, pinned, "a look-up is under way")
        detail = self._almost(live)
        if not self._pins.profiles and not self._pins.known:
            return _Finding(Reason.FIRST_UNSIGNED, pinned, detail)
        if live.kind is Kind.INSTRUCTIONS:
            return _Finding(Reason.INSTRUCTIONS_CHANGED, pinned, detail)
        return _Finding(Reason.ADDED if pinned is None else Reason.CHANGED, pinned, detail)

    def _almost(self, live: Definition) -> str:
        """What nearly would have let a definition pass, for the person who looks into it."""
        if (*live.key, live.digest) in self._pins.unaccepted:
            return "the project's lockfile pins it, and you have not accepted that"
        base = self._matching.base
        if base is None or self._policy.equivalences == "none":
            return ""
        known = self._matching.profiles[base].definitions.get(live.key, ())
        if any(one.normal() == normal_digest(live) for one in known):
            return "equal in normal form, but the pinned text that would have to be forwarded is not at hand"
        return ""

    def _missing(self) -> Iterator[Verdict]:
        """What the accepted profile holds and the server, asked for it, did not show."""
        if self._matching.base is None:
            return
        faults = {(fault.kind, fault.name) for fault in self._surface.faults}
        for key, known in self._matching.profiles[self._matching.base].definitions.items():
            absent = key not in self._surface.definitions and key not in faults
            if absent and key[0] in self._surface.inspected:
                action = self._policy.action_for(Reason.MISSING, key[0])
                yield Verdict(*key, Reason.MISSING, action, None, known[0].exact)

    def _aspects(self) -> Iterator[Verdict]:
        """What the server says of itself beside its definitions, where both sides are known and differ."""
        for aspect, pinned, live in self._about():
            if pinned is not None and live is not None and pinned != live:
                reason = _ABOUT[aspect]
                yield Verdict(aspect, aspect.value, reason, self._policy.action_for(reason), live, pinned)

    def _as_pinned(self) -> frozenset[Aspect]:
        """What the server says of itself that was accepted, of a server whose pins count."""
        if self._pins.standing is not None:
            return frozenset()
        return frozenset(
            aspect for aspect, pinned, live in self._about() if live is not None and live == pinned
        )

    def _about(self) -> Iterator[tuple[Aspect, Digest | None, Digest | None]]:
        if self._matching.base is None:
            return
        base, surface = self._matching.profiles[self._matching.base], self._surface
        yield Aspect.SERVER_INFO, base.server_info, _digest(server_info_digest, surface.server_info)
        yield Aspect.CAPABILITIES, base.capabilities, _digest(capabilities_digest, surface.capabilities)

    def _outcome(self, verdicts: Sequence[Verdict]) -> Outcome:
        base, standing = self._matching.base, self._pins.standing
        if base is None and (standing is None or standing.reason is Reason.SIGNER_UNKNOWN):
            return Outcome.UNPINNED
        if any(v.reason not in _AS_PINNED | _NOTES or not v.passes for v in verdicts):
            return Outcome.DRIFT
        known = () if base is None else self._matching.profiles[base].definitions
        pinned = any(kind is Kind.TOOL for kind, _ in known)
        shown = any(kind is Kind.TOOL for kind, _ in self._surface.definitions)
        gone = pinned and not shown and Kind.TOOL in self._surface.inspected
        return Outcome.DRIFT if gone else Outcome.VERIFIED


def _digest(digest: Callable[[JsonObject], Digest | None], value: JsonObject) -> Digest | None:
    """The digest of what a server says of itself, None where that has no canonical form: it is only noted."""
    try:
        return digest(value)
    except CanonicalError:
        return None


def _closed(verdict: Verdict, closing: Verdict) -> Verdict:
    """A verdict that passes, closed by policy because of what the server says of itself."""
    if not verdict.passes or verdict.reason is Reason.MISSING:
        return verdict
    return verdict._replace(reason=closing.reason, action=closing.action, detail=f"{closing.name} changed")
