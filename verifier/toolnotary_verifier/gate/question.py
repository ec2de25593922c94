# SPDX-License-Identifier: Apache-2.0
"""What a host is asked about what is withheld, and what its answer says; as values, for whoever writes files.

A model may read the question, so it holds our words, names and reasons.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue
from toolnotary_verifier.escape import escape
from toolnotary_verifier.gate.shape import misspells
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

LATER: Final = "review later"
DECLINE: Final = "decline"
ACCEPT: Final = "accept"
_NAMED: Final = 8
_LONGEST: Final = 60  # characters of a name
_REPLY: Final = frozenset(("action", "content"))


class Said(StrEnum):
    """How a question ended."""

    DECLINED = "declined"
    ACCEPTED = "accepted"
    LATER = "later"
    DISMISSED = "dismissed"
    SILENT = "silent"
    STALE = "stale"
    UNSUPPORTED = "unsupported"
    UNASKED = "unasked"

    @property
    def is_by_a_person(self) -> bool:
        """Whether somebody answered."""
        return self in (Said.DECLINED, Said.ACCEPTED, Said.LATER, Said.DISMISSED)

    @property
    def was_shown(self) -> bool:
        """Whether somebody may have seen the question."""
        return self not in (Said.UNSUPPORTED, Said.UNASKED)


class Withheld(NamedTuple):
    """Something is withheld that a person may be asked about, if nobody was yet.

    Attributes:
        change_set: what is not as pinned.
        surface: what the server shows.
        judgement: what was decided about it.
    """

    change_set: Digest
    surface: Surface
    judgement: Judgement


class Answered(NamedTuple):
    """A question ended.

    Attributes:
        change_set: what it was about.
        said: how.
        live: what is verified now, where that is what was asked about; else None.
    """

    change_set: Digest
    said: Said
    live: Surface | None = None


Matter = Withheld | Answered


class Invitation(NamedTuple):
    """Leave to ask.

    Attributes:
        change_set: about what.
        may_accept: whether the person may say yes there.
        seconds: how long an answer is waited for.
    """

    change_set: Digest
    may_accept: bool
    seconds: float


def said(message: JsonObject, invitation: Invitation) -> Said:
    """What an answer says; what cannot be read in one way only says nothing."""
    result = message.get("result")
    if misspells(message) or "error" in message or not isinstance(result, dict) or misspells(result, _REPLY):
        return Said.UNSUPPORTED
    action, content = result.get("action"), result.get("content")
    if action == "decline":
        return Said.DECLINED
    if action != "accept":
        return Said.DISMISSED if action == "cancel" else Said.UNSUPPORTED
    decision = content.get("decision") if isinstance(content, dict) and not misspells(content) else None
    if decision == DECLINE:
        return Said.DECLINED
    return Said.ACCEPTED if decision == ACCEPT and invitation.may_accept else Said.LATER


def params_of(judgement: Judgement, remedy: str, invitation: Invitation) -> JsonObject:
    """The question (MCP: elicitation, form mode).

    Args:
        judgement: what was decided.
        remedy: how a person reviews it.
        invitation: the leave to ask.
    """
    return {
        "message": _message(judgement, remedy),
        "requestedSchema": _schema(may_accept=invitation.may_accept),
    }


def _message(judgement: Judgement, remedy: str) -> str:
    shown = [
        f"{verdict.kind} {_name(verdict.name)} ({verdict.reason})"
        for verdict in judgement.objections[:_NAMED]
    ]
    more = len(judgement.objections) - len(shown)
    named = ", ".join(shown) + (f" and {more} more" if more else "")
    server = escape(judgement.server, limit=120)
    return (
        f"toolnotary withholds definitions of the server {server} that are not as they were pinned: {named}. "
        f"What is pinned goes on working. {remedy[0].upper()}{remedy[1:]}"
    )


def _name(name: str) -> str:
    """A name that the server chose, in one word, so that it reads as no sentence."""
    return escape(name[:_LONGEST]).replace(" ", "\\u{20}") + ("..." if len(name) > _LONGEST else "")


def _schema(*, may_accept: bool) -> JsonObject:
    choices: list[JsonValue] = [LATER, DECLINE]
    told = f"'{LATER}': it stays withheld until you look at it. '{DECLINE}': you do not want exactly this."
    if may_accept:
        choices.append(ACCEPT)
        told = f"{told} '{ACCEPT}': exactly this is pinned from now on, without a look at it."
    decision: JsonObject = {"type": "string", "title": "Decision", "description": told, "enum": choices}
    return {"type": "object", "properties": {"decision": decision}, "required": ["decision"]}
