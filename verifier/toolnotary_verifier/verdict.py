# SPDX-License-Identifier: Apache-2.0
"""The outcome for one definition and for a server, with stable reason codes (docs/reference/verdicts.md)."""

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Definition, Kind


class Reason(StrEnum):
    """Why a definition is in its state. Order is precedence: the first that applies is the verdict."""

    INVALID = "invalid"
    AMBIGUOUS = "ambiguous"
    IDENTITY = "identity"
    REVOKED = "revoked"
    SIGNER_CHANGED = "signer-changed"
    ROLLBACK = "rollback"
    MIXED = "mixed"
    VERIFIED = "verified"
    EQUIVALENT = "equivalent"
    OVERRIDE = "override"
    PROFILE_CHANGED = "profile-changed"
    UPGRADE = "upgrade"
    PENDING = "pending"
    CHANGED = "changed"
    ADDED = "added"
    INSTRUCTIONS_CHANGED = "instructions-changed"
    FIRST_SIGNED = "first-signed"
    FIRST_UNSIGNED = "first-unsigned"
    SIGNER_UNKNOWN = "signer-unknown"
    MISSING = "missing"
    SERVER_INFO_CHANGED = "server-info-changed"
    CAPABILITIES_CHANGED = "capabilities-changed"


class Action(StrEnum):
    """What the gate does, from lax to strict. `PROMPT` blocks until a person has answered elsewhere."""

    ALLOW = "allow"
    NOTE = "note"
    PROMPT = "prompt"
    BLOCK = "block"

    @property
    def strictness(self) -> int:
        """0 for allow to 3 for block."""
        return _STRICTNESS[self]

    @property
    def passes(self) -> bool:
        """Whether what it is about may reach a host."""
        return self in (Action.ALLOW, Action.NOTE)


_STRICTNESS = {action: level for level, action in enumerate(Action)}


class Outcome(StrEnum):
    """The state of a server; every server asked about is in exactly one."""

    VERIFIED = "verified"
    DRIFT = "drift"
    UNPINNED = "unpinned"
    NOT_INSPECTED = "not-inspected"


class Inspection(StrEnum):
    """What of a server's messages is looked at, from least to most."""

    PARSED = "parsed"
    WIRE = "wire"


class Aspect(StrEnum):
    """What a verdict can be about besides a definition: what the server says of itself at start-up."""

    SERVER_INFO = "serverInfo"
    CAPABILITIES = "capabilities"


class Verdict(NamedTuple):
    """What was decided about one definition, or about one aspect of the server.

    Attributes:
        kind: what the definition defines; an aspect where the verdict is about the server itself.
        name: its name as received (escape before showing).
        reason: the stable reason code.
        action: what follows.
        live: digest of what the server says now, `None` if absent or not canonicalizable.
        pinned: digest of what is pinned, `None` if nothing is.
        detail: one escaped line for people, possibly empty; it can hold words of the server.
        code: why an `invalid` definition is none (docs/reference/codes.md); none of the server's words.
    """

    kind: Kind | Aspect
    name: str
    reason: Reason
    action: Action
    live: Digest | None = None
    pinned: Digest | None = None
    detail: str = ""
    code: str = ""

    @property
    def passes(self) -> bool:
        """Whether the definition may reach a host."""
        return self.action.passes


# Verdicts that no approval covers (`approval.accept`): one of them, and nothing of the surface is approved.
NEVER_APPROVED = frozenset((Reason.IDENTITY, Reason.MIXED, Reason.PENDING, Reason.SIGNER_UNKNOWN))


# Verdicts that a break-glass can put aside for a while: a pinned server shows what nobody approved yet. What
# goes before them in the table says that something is not what it claims to be; what comes after, that
# nothing is pinned.
OVERRIDABLE = frozenset(
    (
        Reason.PROFILE_CHANGED,
        Reason.UPGRADE,
        Reason.PENDING,
        Reason.CHANGED,
        Reason.ADDED,
        Reason.INSTRUCTIONS_CHANGED,
    )
)


def may_be_approved(objections: Iterable[tuple[object, Reason, Digest | None]]) -> bool:
    """Whether an approval could let through anything that was objected to.

    Args:
        objections: kind or aspect, reason and live digest of each. A definition without a digest is none
            (`invalid`, `ambiguous`), and nothing can be bound to it.
    """
    found = list(objections)
    if any(reason in NEVER_APPROVED for _, reason, _ in found):
        return False
    return not found or any(live is not None or isinstance(kind, Aspect) for kind, _, live in found)


class Judgement(NamedTuple):
    """All verdicts about one surface of one server.

    Attributes:
        server: the name given by the user or policy, never the server's own.
        outcome: the server's state.
        verdicts: one a definition, sorted by kind and name.
        forward: what may be handed to the host, by kind and name: the live definition where it is pinned
            exactly, the pinned one where the two are only equivalent.
        offered: digest of the signed manifest on offer that holds all of the listing, None if none does.
        profile: the profile of the pinned manifest that holds all of it, if none that is accepted does.
        as_pinned: what the server says of itself that is as it was pinned.
        inspection: what was looked at: the bytes that the server sent, or what a parser made of them.
        held_to: gives the digest of the pins that it was judged by (`pins.Pins.digest`), None where it was
            judged by none. Asked for when an outcome is recorded, not when a listing is judged.
    """

    server: str
    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    forward: Mapping[tuple[Kind, str], Definition] = MappingProxyType({})
    offered: Digest | None = None
    profile: str | None = None
    as_pinned: frozenset[Aspect] = frozenset()
    inspection: Inspection = Inspection.WIRE
    held_to: Callable[[], Digest | None] = lambda: None

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """The verdicts that keep something from the host."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passes)

    @property
    def is_approvable(self) -> bool:
        """Whether an approval could let through anything that is kept from the host, or nothing is."""
        return may_be_approved((v.kind, v.reason, v.live) for v in self.objections)

    @property
    def changes(self) -> tuple[Verdict, ...]:
        """The verdicts about what is not as pinned, whether or not it passes."""
        return tuple(v for v in self.verdicts if v.reason not in (Reason.VERIFIED, Reason.EQUIVALENT))

    @property
    def change_set(self) -> Digest:
        """What an approval is bound to: the digest over name, verdict and live digest of every change."""
        rows = sorted([v.kind, v.name, v.reason, v.live or ""] for v in self.changes)
        return Digest.of(json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode("ascii"))

    @property
    def counts(self) -> Mapping[Reason, int]:
        """How many verdicts there are of each reason, in order of precedence; they add up to all."""
        found = [verdict.reason for verdict in self.verdicts]
        return {reason: found.count(reason) for reason in Reason if reason in found}
