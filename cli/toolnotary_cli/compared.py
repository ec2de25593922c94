# SPDX-License-Identifier: Apache-2.0
"""Both sides of a definition, drawn: what is pinned, what was shown, what differs, what would let it pass."""

import json
from collections.abc import Iterator
from typing import Final

from toolnotary_cli.sides import Sides
from toolnotary_cli.wording import override_document, override_line
from toolnotary_verifier.canonical import JsonObject, JsonValue, plain
from toolnotary_verifier.definition import Definition
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Reason

_GUTTER: Final = "      | "
_LINE: Final = 2000
_APPROVED: Final = "a person approves exactly this, or the server shows what is pinned again"
_MENDED: Final = "whoever makes the server mends it: no approval covers it"
_LEADS_ON: Final = {
    Reason.INVALID: _MENDED,
    Reason.AMBIGUOUS: _MENDED,
    Reason.IDENTITY: "what is pinned is started again, or this launch is pinned under a name of its own",
    Reason.REVOKED: "a person accepts it again, or the server shows something that is accepted",
    Reason.SIGNER_CHANGED: "its publisher confirms the other key elsewhere, and a person approves it",
    Reason.ROLLBACK: "the server shows the newer version again, or a person approves the older one",
    Reason.MIXED: "the server shows one version and profile again: no approval covers a mixture",
    Reason.PENDING: "the look-up ends",
    Reason.FIRST_SIGNED: "a person, or your policy, pins the server",
    Reason.FIRST_UNSIGNED: "a person pins the server",
    Reason.SIGNER_UNKNOWN: "your policy names its signer",
}


def leads_on(reason: Reason) -> str:
    """What would have to happen for a definition to pass."""
    return _LEADS_ON.get(reason, _APPROVED)


def document(sides: Sides, reason: Reason | None) -> JsonObject:
    """Both sides for programs."""
    live: JsonObject | None = None
    if sides.live_digest is not None:
        live = {
            "digest": sides.live_digest,
            "definition": _value(sides.live),
            "seen": sides.seen or None,
        }
    accepted = sides.accepted
    return {
        "pinned": [{"digest": digest, "definition": _value(text)} for digest, text in sides.pinned],
        "live": live,
        "accepted": None if accepted is None else {"at": accepted.at or None, "signer": accepted.signer},
        "override": None if sides.override is None else {**override_document(sides.override)},
        "leadsOn": None if reason is None else leads_on(reason),
    }


def lines(sides: Sides, reason: Reason | None, *, live_by: str) -> Iterator[str]:
    """Both sides for people; every line of a server's text stands behind a gutter.

    Args:
        sides: both sides.
        reason: why it did not pass; None where it did.
        live_by: the command that shows what the server shows, where that is not at hand.
    """
    if sides.override is not None:
        yield f"    OVERRIDE: {override_line(sides.override)}"
    yield from _accepted(sides)
    for digest, text in sides.pinned:
        yield f"    pinned {digest.short}, {_words(text)}"
        yield from _text(text)
    if sides.live_digest is not None and sides.live_digest not in {digest for digest, _ in sides.pinned}:
        since = f", kept {escape(sides.seen, limit=40)}" if sides.seen else ""
        yield f"    shown {sides.live_digest.short}{since}, {_words(sides.live)}"
        yield from _text(sides.live)
        if sides.live is None:
            yield f"      to see it: {live_by}"
        yield from _difference(sides)
    elif sides.live_digest is not None:
        yield "    shown: the same, at the last look"
    elif reason is None:
        yield "    shown: nobody looked at it under what is pinned now"
    if reason is not None:
        yield f"    it passes once {leads_on(reason)}"


def _accepted(sides: Sides) -> Iterator[str]:
    if sides.accepted is None:
        return
    at = escape(sides.accepted.at, limit=40) or "no record says when"
    if sides.accepted.signer is None:
        yield f"    accepted by you, without a signature: {at}"
    else:
        yield f"    signed by {escape(sides.accepted.signer, limit=120)}; accepted: {at}"


def _words(text: Definition | None) -> str:
    if text is None:
        return "text not at hand"
    return "word for word (words of the server: read them, follow none)"


def _text(text: Definition | None) -> Iterator[str]:
    if text is not None:
        for line in json.dumps(_value(text), indent=2, ensure_ascii=True).split("\n"):
            yield f"{_GUTTER}{escape(line, limit=_LINE)}"


def _difference(sides: Sides) -> Iterator[str]:
    """Word by word, against each definition that is pinned; needs the extra `review`."""
    for digest, text in sides.pinned:
        if text is None or sides.live is None:
            continue
        yield f"    difference, from {digest.short}:"
        try:
            from toolnotary_cli.drawing import review_lines
            from toolnotary_verifier.review import review

            for line in review_lines(review(_alone(text), _alone(sides.live))):
                yield f"    {line}"
        except ConfigurationError as error:
            if error.code != "missing-extra":
                raise
            yield f"      {error.message}: {error.remedy}"


def _alone(definition: Definition) -> Surface:
    return Surface(definitions={definition.key: definition}, inspected=frozenset((definition.kind,)))


def _value(definition: Definition | None) -> JsonValue:
    return None if definition is None else plain(json.loads(definition.canonical))
