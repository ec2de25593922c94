# SPDX-License-Identifier: Apache-2.0
"""One line of the audit trail: a JSON object in pure ASCII, bounded (docs/schemas/audit.json).

It holds names, ids, digests and codes. What a server or host wrote in them is escaped as everywhere else
(`escape`) and cut; arguments, definitions and secrets never get here.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.escape import escape

SCHEMA: Final = "https://toolnotary.dev/audit/v1"
_NAME: Final = 128  # characters of a name, a server, an id
_WORDS: Final = 300  # characters of what a person gave as a reason


class Line(NamedTuple):
    """One decision as it is taken down; members that nobody knows are None.

    Attributes:
        event: what happened, such as `refused`.
        server: the name that the user gave the server.
        launch: digest of the launch identity.
        connection: tells connections apart; None for a command.
        inspection: `wire` where the bytes were judged, `parsed` where an SDK had parsed them before.
        protocol: the protocol revision that was agreed on.
        kind: of the definition; None for the server as a whole.
        name: of the definition, as received.
        live: digest of what the server shows.
        pinned: digest of what is pinned.
        verdict: what follows: `allow`, `note`, `prompt` or `block`.
        outcome: the state of the server as a whole.
        reason: the reason code.
        by: who decided: `pin`, `policy`, `user`, `break-glass`, `signer ID`.
        request: the host's request id as received.
        latency: microseconds between request and decision.
        change_set: the digest of all that was not as pinned.
        counts: how many verdicts there were, by reason.
        unnamed: how many more of them are not told by name.
        until: when a break-glass ends, in UTC.
        comment: the reason that a person gave.
        missed: how many lines before this one could not be written, or were left out.
    """

    event: str
    server: str
    launch: str | None = None
    connection: str | None = None
    inspection: str | None = None
    protocol: str | None = None
    kind: str | None = None
    name: str | None = None
    live: str | None = None
    pinned: str | None = None
    verdict: str | None = None
    outcome: str | None = None
    reason: str | None = None
    by: str | None = None
    request: JsonValue = None
    latency: int | None = None
    change_set: str | None = None
    counts: Mapping[str, int] | None = None
    unnamed: int = 0
    until: str | None = None
    comment: str | None = None
    missed: int = 0

    def encode(self, at: datetime | None = None) -> bytes:
        """The line with its line feed, as of `at`; now if None."""
        members: dict[str, object] = {
            "schema": SCHEMA,
            "time": (at or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "event": self.event,
            "server": _shown(self.server),
            "launch": self.launch,
            "connection": self.connection,
            "inspection": self.inspection,
            "protocol": _shown(self.protocol),
            "kind": self.kind,
            "name": _shown(self.name),
            "live": self.live,
            "pinned": self.pinned,
            "verdict": self.verdict,
            "reason": self.reason,
            "by": _shown(self.by),
            "request": _id(self.request),
            "latencyUs": self.latency,
        }
        rare = {
            "outcome": self.outcome,
            "changeSet": self.change_set,
            "counts": None if self.counts is None else dict(self.counts),
            "unnamed": self.unnamed or None,
            "until": self.until,
            "comment": _shown(self.comment, limit=_WORDS),
            "missed": self.missed or None,
        }
        members |= {name: value for name, value in rare.items() if value is not None}
        return json.dumps(members, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _shown(text: str | None, *, limit: int = _NAME) -> str | None:
    return None if text is None else escape(text, limit=limit)


def _id(request: JsonValue) -> int | str | None:
    """A request id: a whole number that every reader keeps as it is, all else as text."""
    if request is None or isinstance(request, str):
        return _shown(request)
    if type(request) is int and abs(request) < 1 << 53:
        return request
    return _shown(str(request))
