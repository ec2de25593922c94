# SPDX-License-Identifier: Apache-2.0
"""What a look at a server came to, as state records it: for `status` and `explain`, it decides nothing."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Self

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import visible
from toolnotary_verifier.shape import array, members
from toolnotary_verifier.verdict import Aspect, Inspection, Judgement, Outcome, Reason

# Nothing of state is ever removed, and a server chooses what is objected to: each look takes so much at most.
_MOST_OBJECTIONS: Final = 64
_LONGEST_NAME: Final = 128  # characters
_LONGEST_WHY: Final = 300
MEMBERS: Final = ("outcome", "changeSet", "counts", "pinned", "objections", "unnamed")
OPTIONAL: Final = ("unlisted", "why", "inspection")  # where less was inspected than the bytes of a listing


class Objection(NamedTuple):
    """What did not pass when a server was looked at.

    Attributes:
        kind: what the definition defines; an aspect where it is about the server itself.
        name: its name as received (escape before showing).
        reason: why it did not pass.
        live: digest of what the server showed; None where nothing was there that has one.
    """

    kind: Kind | Aspect
    name: str
    reason: Reason
    live: Digest | None


class Look(NamedTuple):
    """What one look at a server came to.

    Attributes:
        outcome: the state in which it was seen.
        change_set: the digest of all that was not as pinned.
        counts: how many verdicts there were, by reason.
        pinned: identifies what it was held to (`pins.Pins.digest`); None where it was held to nothing.
        objections: what did not pass, as far as it is recorded by name: what is pinned first, then tools.
        unnamed: how many more did not pass.
        at: when it was first seen like this, in UTC; empty before it is recorded.
        why: why it could not be inspected, escaped; empty where it could, or where nobody knows.
        unlisted: the kind whose list could not be had, where that is why.
        inspection: what was looked at.
    """

    outcome: Outcome
    change_set: Digest
    counts: Mapping[str, int]
    pinned: Digest | None = None
    objections: tuple[Objection, ...] = ()
    unnamed: int = 0
    at: str = ""
    why: str = ""
    unlisted: Kind | None = None
    inspection: Inspection = Inspection.WIRE

    @classmethod
    def of(cls, judgement: Judgement, *, masked: Callable[[str], str] = str) -> Self:
        """The look that ended in this judgement.

        Args:
            judgement: what was decided.
            masked: gives a text without secrets; a name that holds one is not recorded.
        """
        ranked = sorted(judgement.objections, key=lambda v: (v.pinned is None, v.kind is not Kind.TOOL))
        short = [verdict for verdict in ranked if _is_recordable(verdict.name)]
        short = [verdict for verdict in short if masked(verdict.name) == verdict.name]
        named = tuple(Objection(v.kind, v.name, v.reason, v.live) for v in short[:_MOST_OBJECTIONS])
        return cls(
            outcome=judgement.outcome,
            change_set=judgement.change_set,
            counts={reason.value: count for reason, count in judgement.counts.items()},
            pinned=judgement.held_to(),
            objections=named,
            unnamed=len(ranked) - len(named),
            inspection=judgement.inspection,
        )

    @classmethod
    def failed(cls, kind: Kind, why: str, *, pinned: Digest | None) -> Self:
        """The look at a server whose list of one kind could not be had: nothing of it passes.

        Args:
            kind: what was to be listed.
            why: what was wrong, behind "tool listing"; text from the server in it is escaped already.
            pinned: what the server is held to (`pins.Pins.digest`).
        """
        nothing = Judgement(server="", outcome=Outcome.NOT_INSPECTED, verdicts=())
        told = visible(f"{kind.value} listing {why}", limit=_LONGEST_WHY)
        return cls(nothing.outcome, nothing.change_set, {}, pinned, why=told, unlisted=kind)

    @classmethod
    def parse(cls, event: JsonObject, *, code: str) -> Self:
        """The look that an `inspected` event tells of, which has all of its members.

        Raises:
            InvalidInput: `code`, `bad-digest`.
        """
        counts = members(event["counts"], "counts", code=code, optional=None)
        unnamed = event["unnamed"]
        if any(type(count) is not int or count < 0 for count in (unnamed, *counts.values())):
            raise InvalidInput(code, "a count is not a whole number")
        inspection = event.get("inspection", Inspection.WIRE)
        if inspection not in list(Inspection):
            raise InvalidInput(code, "an inspection that this release does not know")
        if event["outcome"] not in list(Outcome):
            raise InvalidInput(code, "an outcome that this release does not know")
        rows = array(event["objections"], "objections", code=code)
        return cls(
            outcome=Outcome(event["outcome"]),
            change_set=Digest.from_text(event["changeSet"]),
            counts=counts,
            pinned=_digest(event["pinned"]),
            objections=tuple(_objection(row, code) for row in rows),
            unnamed=unnamed,
            at=_string(event.get("at", ""), code),
            why=_string(event.get("why", ""), code),
            unlisted=_kind(event.get("unlisted"), code),
            inspection=Inspection(inspection),
        )

    def members(self) -> JsonObject:
        """The members of its event; `at` is added when it is recorded."""
        optional = {
            "why": self.why,
            "unlisted": None if self.unlisted is None else self.unlisted.value,
            "inspection": None if self.inspection is Inspection.WIRE else self.inspection.value,
        }
        return {
            **{name: value for name, value in optional.items() if value},
            "outcome": self.outcome.value,
            "changeSet": self.change_set,
            "counts": dict(self.counts),
            "pinned": self.pinned,
            "objections": [[one.kind.value, one.name, one.reason.value, one.live] for one in self.objections],
            "unnamed": self.unnamed,
        }


def _is_recordable(name: str) -> bool:
    """Whether a name, which a server chooses, is short enough and is text: a lone surrogate is in no JSON."""
    return len(name) <= _LONGEST_NAME and not any("\ud800" <= character <= "\udfff" for character in name)


def _objection(row: JsonValue, code: str) -> Objection:
    kinds: dict[str, Kind | Aspect] = {one.value: one for one in (*Kind, *Aspect)}
    parts = array(row, "an objection", code=code)
    if len(parts) != 4 or parts[0] not in list(kinds) or parts[2] not in list(Reason):
        raise InvalidInput(code, "an objection is not kind, name, reason and digest")
    return Objection(kinds[parts[0]], _string(parts[1], code), Reason(parts[2]), _digest(parts[3]))


def _kind(value: JsonValue, code: str) -> Kind | None:
    if value is None:
        return None
    if value not in list(Kind):
        raise InvalidInput(code, "the kind of a list is none that this release knows")
    return Kind(value)


def _string(value: JsonValue, code: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(code, "a text is not a string")
    return value


def _digest(value: JsonValue) -> Digest | None:
    return None if value is None else Digest.from_text(value)
