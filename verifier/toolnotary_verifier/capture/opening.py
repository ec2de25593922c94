# SPDX-License-Identifier: Apache-2.0
"""How a connection begins: which revision both sides speak, and what the server says of itself.

MCP 2026-07-28 (stdio: "dual-era clients") has a client probe with `server/discover` and fall back to
`initialize` on any error or silence. Here `initialize` follows after a short silence without giving up on the
probe, and whichever is answered first decides: a slow start is then never taken for an old server.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from toolnotary_verifier.canonical import CanonicalError, JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.capture.conversation import Answer, Conversation
from toolnotary_verifier.capture.transport import StatusError
from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import (
    HANDSHAKE,
    META_CAPABILITIES,
    META_CLIENT,
    META_SERVER,
    META_VERSION,
    STATELESS,
)
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits

# Revisions that a handshake may settle on: the two that we ask for, and older ones that servers answer with.
AGREED = (*HANDSHAKE, "2025-03-26", "2024-11-05")
UNAUTHORIZED = (401, 403)
_RECORDED_DEPTH = DEFAULT_LIMITS.definition_depth  # what is recorded beside the definitions is none itself
_CLIENT = {"name": "toolnotary", "version": "1"}  # constant: no surface may depend on our release


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the server said of itself when the connection began."""

    protocol_version: str
    server_info: JsonObject
    capabilities: JsonObject
    instructions: JsonValue

    @property
    def is_stateless(self) -> bool:
        """Whether every request carries its own facts."""
        return self.protocol_version == STATELESS


class Opener:
    """Opens one connection, declaring the client capabilities it is given."""

    def __init__(self, talk: Conversation, *, declared: Mapping[str, JsonValue], limits: Limits) -> None:
        self._talk = talk
        self._declared = dict(declared)
        self._limits = limits
        self._server = talk.transport.server

    def open(self, revisions: tuple[str, ...]) -> Opening:
        """Agree on the first of `revisions` (newest first) that the server speaks.

        Raises:
            CannotTell: `no-answer`, `handshake-refused`, `protocol-version`, or the connection's own.
            InvalidInput: an answer that cannot be used.
        """
        deadline = self._talk.within(self._limits.first_start_seconds)
        if STATELESS not in revisions:
            return self._shake(revisions, deadline)
        older = tuple(revision for revision in revisions if revision != STATELESS)
        return self._newest(older, deadline) if older else self._discover(deadline)

    def meta(self) -> JsonObject:
        """The `_meta` of every request of the stateless era."""
        return {META_VERSION: STATELESS, META_CLIENT: dict(_CLIENT), META_CAPABILITIES: self._declared}

    def _discover(self, deadline: float) -> Opening:
        answer = self._talk.ask("server/discover", {"_meta": self.meta()}, deadline=deadline)
        if not _is_stateless(answer):
            raise CannotTell("protocol-version", f"{self._server}: it does not speak {STATELESS}")
        return self._opening(answer.result, STATELESS)

    def _newest(self, older: tuple[str, ...], deadline: float) -> Opening:
        probe = self._probe(deadline)
        if isinstance(probe, Answer):
            if _is_stateless(probe):
                return self._opening(probe.result, STATELESS)
            return self._shake(older, deadline)
        if probe is None:
            return self._shake(older, deadline)
        hello = self._talk.post("initialize", self._hello(older[0]), deadline=deadline)
        waiting = [probe, hello]
        while True:
            found = self._talk.wait(*waiting, deadline=deadline)
            if found is None:
                raise self._talk.unanswered()
            answered, answer = found
            if answered == hello:
                return self._agreed(answer, older[0], deadline) or self._shake(older[1:], deadline)
            if _is_stateless(answer):
                return self._opening(answer.result, STATELESS)
            waiting.remove(probe)

    def _probe(self, deadline: float) -> Answer | int | None:
        """The answer to `server/discover`; its id while there is none; None where HTTP refused it."""
        patience = deadline
        if self._talk.transport.is_duplex:
            patience = min(deadline, self._talk.clock() + self._limits.probe_seconds)
        try:
            probe = self._talk.post("server/discover", {"_meta": self.meta()}, deadline=deadline)
            found = self._talk.wait(probe, deadline=patience)
        except StatusError as refusal:
            if refusal.status in UNAUTHORIZED:
                raise
            return None
        return probe if found is None else found[1]

    def _shake(self, revisions: tuple[str, ...], deadline: float) -> Opening:
        said = ""
        for revision in revisions:
            answer = self._talk.ask("initialize", self._hello(revision), deadline=deadline)
            opening = self._agreed(answer, revision, deadline)
            if opening is not None:
                return opening
            said = f": {answer.message}" if answer.message else ""
        raise CannotTell(
            "handshake-refused",
            f"{self._server}: it refuses every initialize{said}",
            remedy="see that it is an MCP server, and what it needs to be set up",
        )

    def _agreed(self, answer: Answer, asked: str, deadline: float) -> Opening | None:
        """The opening that an answer to `initialize` gives, confirmed; None if it was an error."""
        if answer.code is not None:
            return None
        version = answer.result.get("protocolVersion") if isinstance(answer.result, dict) else None
        if version not in AGREED:
            shown = escape(version, limit=40) if isinstance(version, str) else "none"
            raise CannotTell(
                "protocol-version",
                f"{self._server}: asked for revision {asked}, it answers {shown}",
                remedy="use a release of it that speaks a published revision of MCP",
            )
        opening = self._opening(answer.result, version)
        self._talk.transport.protocol_version = version
        self._talk.tell("notifications/initialized", deadline=deadline)
        return opening

    def _opening(self, result: JsonObject, version: str) -> Opening:
        meta = result.get("_meta")
        stamped = meta.get(META_SERVER) if isinstance(meta, dict) else None
        return Opening(
            protocol_version=version,
            server_info=self._recorded(result.get("serverInfo", stamped), "serverInfo"),
            capabilities=self._recorded(result.get("capabilities"), "capabilities"),
            instructions=result.get("instructions"),
        )

    def _recorded(self, value: JsonValue, what: str) -> JsonObject:
        """An object that a manifest will record; anything else is noted and left out."""
        if value is None:
            return {}
        try:
            size = len(canonical_bytes(value, max_depth=_RECORDED_DEPTH))
        except CanonicalError as error:
            raise InvalidInput(error.code, f"{self._server}: {what}: {error.message}") from None
        if not isinstance(value, dict) or size > self._limits.definition_bytes:
            self._talk.note(f"{what} is no object, or too large to record")
            return {}
        return value

    def _hello(self, revision: str) -> JsonObject:
        return {"protocolVersion": revision, "capabilities": self._declared, "clientInfo": dict(_CLIENT)}


def _is_stateless(answer: Answer) -> bool:
    versions = answer.result.get("supportedVersions") if isinstance(answer.result, dict) else None
    return isinstance(versions, list) and STATELESS in versions
