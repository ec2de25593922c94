# SPDX-License-Identifier: Apache-2.0
"""An explanation, drawn for whoever reads it, a model included, and for programs."""

from collections.abc import Iterator
from typing import Final

from toolnotary_cli import caused, compared
from toolnotary_cli.explanation import Definitions, Explanation, Pinned
from toolnotary_cli.wording import called, override_document, override_line
from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape, visible
from toolnotary_verifier.looks import Look
from toolnotary_verifier.verdict import Inspection, Outcome, Reason

SCHEMA: Final = "https://toolnotary.dev/output/explain/v1"
_OUTCOMES: Final = {
    Outcome.VERIFIED: "everything it showed was as pinned",
    Outcome.DRIFT: "something was not as pinned",
    Outcome.UNPINNED: "nothing is pinned for it that counts, so nothing of it passes",
    Outcome.NOT_INSPECTED: "it could not be inspected",
}
_STANDINGS: Final = {
    "pinned": "it passes as long as the server shows exactly this definition",
    "withdrawn": "it was withdrawn; it does not pass until a person accepts it again",
    "unaccepted": "the lockfile pins it, and the user has not accepted that; it does not pass",
    "unpinned": "nothing is pinned under this name; it does not pass",
    "blocked": "the server as a whole is held back, and this with it",
}
_UNLISTED: Final = "it passes only once this list can be had, and holds exactly this definition"
# Why a definition was withheld, for whoever reads it.
REASONS: Final = {
    Reason.INVALID: "the server shows a definition that is not valid; toolnotary check says why",
    Reason.AMBIGUOUS: "the server shows several definitions under this name, or one that looks like it",
    Reason.IDENTITY: "what is started is not what is pinned under the server's name",
    Reason.REVOKED: "the server shows a definition that was withdrawn",
    Reason.SIGNER_CHANGED: "what the server shows is signed by another identity than the accepted one",
    Reason.ROLLBACK: "what the server shows belongs to an older version than the accepted one",
    Reason.MIXED: "no single version and profile holds this together with the rest of what the server shows",
    Reason.PROFILE_CHANGED: "what the server shows belongs to a profile of its version that is not accepted",
    Reason.UPGRADE: "the server shows a newer version, signed by its publisher, that nobody has approved",
    Reason.PENDING: "what the server shows is not known, and was being looked up",
    Reason.CHANGED: "the server shows another definition than the pinned one",
    Reason.ADDED: "the server shows it, and nothing is pinned under its name",
    Reason.INSTRUCTIONS_CHANGED: "the server shows other instructions than the pinned ones",
    Reason.FIRST_SIGNED: "the server is signed, and not pinned yet",
    Reason.FIRST_UNSIGNED: "nothing of this server is pinned, and nobody signed it",
    Reason.SIGNER_UNKNOWN: "what is pinned is signed by nobody that your policy names",
    Reason.MISSING: "it is pinned, and the server does not show it",
}
_BY_POLICY: Final = "the policy keeps it back"


def document(explanation: Explanation) -> JsonObject:
    """The explanation for programs."""
    return {
        "schema": SCHEMA,
        "server": explanation.server,
        "known": explanation.known,
        "accepted": explanation.accepted,
        "withdrawn": explanation.withdrawn,
        "entries": [_entry(entry, explanation.decide) for entry in explanation.entries],
        "elsewhere": [_seen(look) for look in explanation.elsewhere],
    }


def _entry(entry: Pinned, decide: str) -> JsonObject:
    look = entry.look
    return {
        "launch": entry.launch,
        "pinnedTo": entry.about,
        "blocked": entry.blocked or None,
        "lastSeen": None
        if look is None
        else {**_seen(look), "current": entry.is_current, "declined": entry.is_declined},
        "definitions": [
            {
                "kind": one.kind.value,
                "name": one.name,
                "standing": one.standing,
                "digests": list[JsonValue](one.digests),
                "objection": None
                if one.objection is None
                else {"reason": one.objection.reason.value, "live": one.objection.live},
                "comparison": None
                if one.sides is None
                else compared.document(one.sides, None if one.objection is None else one.objection.reason),
            }
            for one in entry.definitions
        ],
        "causes": None if entry.causes is None else caused.document(entry.causes),
        "overrides": [{**override_document(one)} for one in entry.overrides],
        "commands": {"difference": entry.difference, "decide": decide if entry.is_approvable else None}
        if entry.objected
        else None,
    }


def _seen(look: Look) -> JsonObject:
    return {
        "at": look.at,
        "outcome": look.outcome.value,
        "counts": dict(look.counts),
        "objections": [
            {"kind": one.kind.value, "name": one.name, "reason": one.reason.value, "live": one.live}
            for one in look.objections
        ],
        "unnamed": look.unnamed,
        "inspection": look.inspection.value,
        "why": look.why or None,
    }


def lines(explanation: Explanation) -> Iterator[str]:
    """The explanation for people; nothing in it grants anything."""
    server = escape(explanation.server, limit=200)
    if not explanation.entries:
        yield from _unpinned(explanation, server)
    for entry in explanation.entries:
        yield f"{server}: pinned to {entry.about}"
        yield f"  launch: {entry.launch}"
        if entry.blocked:
            yield f"  held back: {escape(entry.blocked, limit=600)}"
        for override in entry.overrides:
            yield f"  OVERRIDE: {override_line(override)}"
        yield from _last_look(entry)
        yield from _names(entry, explanation.asked)
        if entry.objected:
            yield f"  to see the difference: {entry.difference}"
    for look in explanation.elsewhere:
        yield f"{server}, as it was started or reached otherwise than is pinned here: {_told(look)}"
        yield from _objections(look, explanation.asked)
    if any(entry.is_approvable for entry in explanation.entries):
        yield f"Only a person can change what is pinned, in a terminal: {explanation.decide}"
    elif explanation.waits:
        yield f"Only a person can accept it, in a terminal: {explanation.decide}"
    elif not explanation.entries:
        yield f"Only a person can pin it, in a terminal: {explanation.pin}"
    else:
        yield "Only a person can change what is pinned, in a terminal (toolnotary lock --help)"


def _unpinned(explanation: Explanation, server: str) -> Iterator[str]:
    """What is known where the lockfile that was looked at pins nothing; a state names no lockfile."""
    if explanation.accepted or explanation.elsewhere:
        yield f"{server}: not pinned in the lockfile that was looked at, and known: another one may pin it"
        yield f"  by that one: {explanation.elsewhere_pinned}"
    else:
        yield f"{server}: not pinned here; nothing of it passes until a person pins it"
    if explanation.withdrawn and not explanation.accepted:
        yield "  what was accepted of it was withdrawn"
    if explanation.known:
        yield "  the user decided about it before, so it is not a first sight"


def _last_look(entry: Pinned) -> Iterator[str]:
    if entry.look is None:
        yield "  no run, lock or approve has recorded a look at it yet"
        return
    yield f"  last look: {_told(entry.look)}"
    if not entry.is_current:
        yield "    that was under other pins than now; no look since is recorded"
        yield from _objections(entry.look, None)
    elif entry.is_declined:
        yield "    the user declined exactly what it showed"
    if entry.causes is not None:
        yield from (f"    {line}" for line in caused.lines(entry.causes))


def _told(look: Look) -> str:
    counts = ", ".join(f"{number} {escape(reason, limit=40)}" for reason, number in look.counts.items())
    since = escape(look.at, limit=40) or "an unknown time"
    if look.why:
        return f"{look.outcome.value} since {since}: {visible(look.why, limit=400)}; nothing of that passes"
    seen = "" if look.inspection is Inspection.WIRE else f"; inspection: {look.inspection.value}"
    told = f"{_OUTCOMES[look.outcome]} ({counts or 'it showed nothing'}{seen})"
    return f"{look.outcome.value} since {since}: {told}"


def _objections(look: Look, asked: str | None) -> Iterator[str]:
    for one in look.objections:
        if asked in (None, one.name):
            digest = f": {one.live}" if one.live else ""
            yield f"    {called(one.kind, one.name)}: {one.reason.value}{digest}"
    if look.unnamed:
        yield f"    {look.unnamed} more did not pass, and are not recorded by name"


def _names(entry: Pinned, asked: str | None) -> Iterator[str]:
    look = entry.look if entry.is_current else None
    for one in entry.definitions:
        is_unlisted = look is not None and look.unlisted is one.kind
        yield from _definition(one, single=asked is not None, is_unlisted=is_unlisted)
        if one.sides is not None:
            reason = None if one.objection is None else one.objection.reason
            yield from compared.lines(one.sides, reason, live_by=entry.difference)
    if look is None:
        return
    if look.why:
        yield f"  to see what the server shows: {entry.difference}"
    for aspect in (one for one in look.objections if not isinstance(one.kind, Kind)):
        yield f"  {aspect.kind.value}: {aspect.reason.value}: {_BY_POLICY}"
    shown = {one.name for one in entry.definitions if one.objection is not None}
    others = [one for one in look.objections if isinstance(one.kind, Kind) and one.name not in shown]
    if others and asked is not None:
        yield f"  {len(others) + look.unnamed} more of this server did not pass"
    elif look.unnamed:
        yield f"  {look.unnamed} more did not pass, and are not recorded by name"


def _definition(one: Definitions, *, single: bool, is_unlisted: bool) -> Iterator[str]:
    name = called(one.kind, one.name)
    if one.objection is None:
        is_held_up = is_unlisted and one.standing == "pinned"
        yield f"  {name}: {one.standing}: {_UNLISTED if is_held_up else _STANDINGS[one.standing]}"
        if single:
            yield from (f"    {digest}" for digest in one.digests)
        return
    reason = one.objection.reason
    yield f"  {name}: withheld, {reason.value}: {REASONS.get(reason, _BY_POLICY)}"
    for digest in one.digests or ("nothing",):
        yield f"    pinned: {digest}"
    yield f"    shown:  {one.objection.live or 'nothing that can be told from its digest'}"
