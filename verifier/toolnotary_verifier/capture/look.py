# SPDX-License-Identifier: Apache-2.0
"""One look at a server: every list to its end, again where the server says that it changed."""

from collections.abc import Mapping

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.capture.conversation import Answer, Conversation
from toolnotary_verifier.capture.opening import UNAUTHORIZED, Opener, Opening
from toolnotary_verifier.capture.transport import StatusError
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.jsonrpc import CAPABILITY, HANDSHAKE, LIST_METHOD, METHOD_NOT_FOUND, STATELESS
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.listing import Listing
from toolnotary_verifier.surface import Surface, assemble

REVISIONS = (STATELESS, *HANDSHAKE)
# What a client that can do more declares, each with no settings of its own.
CAPABLE = ("elicitation", "roots", "sampling")
_LISTS = (Kind.TOOL, Kind.PROMPT, Kind.RESOURCE, Kind.TEMPLATE)
_SETTLE_SECONDS = 0.25
_ROUNDS = 3


class Look:
    """One look; `read` gives its surface.

    Attributes:
        opening: what was agreed on, None before that.
        refused: kinds that the server advertises and would not list; the surface says nothing about these.
    """

    def __init__(
        self, talk: Conversation, *, declared: Mapping[str, JsonValue], limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.refused: set[Kind] = set()
        self.opening: Opening | None = None
        self._talk = talk
        self._opener = Opener(talk, declared=declared, limits=limits)
        self._limits = limits
        self._server = talk.transport.server

    def read(self, revisions: tuple[str, ...] = REVISIONS) -> Surface:
        """The server's surface.

        Args:
            revisions: the revisions to ask for, newest first.

        Raises:
            CannotTell: `no-answer`, `server-ended`, `handshake-refused`, `protocol-version`,
                `listing-refused`, or the connection's own.
            InvalidInput: an answer that cannot be used.
        """
        opening = self.opening = self._opener.open(revisions)
        listings = self._lists(opening)
        return assemble(
            {kind: listing.entries for kind, listing in listings.items()},
            instructions=opening.instructions,
            inspected=[kind for kind in Kind if kind not in self.refused],
            protocol_version=opening.protocol_version,
            server_info=opening.server_info,
            capabilities=opening.capabilities,
            notes=self._talk.notes,
            limits=self._limits,
            parsed=True,
        )

    def _lists(self, opening: Opening) -> dict[Kind, Listing]:
        found: dict[Kind, Listing] = {}
        # Tools are asked for in any case: a host may do so too, and would get what was never looked at.
        pending = [kind for kind in _LISTS if kind is Kind.TOOL or _advertises(opening, kind)]
        for _ in range(_ROUNDS):
            self._talk.changed.difference_update(pending)
            for kind in pending:
                listing = self._list(opening, kind)
                if listing is not None:
                    found[kind] = listing
            self._settle(opening)
            pending = [kind for kind in pending if kind in self._talk.changed and kind in found]
            if not pending:
                return found
        self._talk.note("its lists kept changing while they were read")
        return found

    def _settle(self, opening: Opening) -> None:
        """Let a server that announces changes announce one that its start brought about."""
        announces = any(
            isinstance(value, dict) and value.get("listChanged") is True
            for value in opening.capabilities.values()
        )
        if announces and self._talk.transport.is_duplex and not opening.is_stateless:
            self._talk.drain(deadline=self._talk.clock() + _SETTLE_SECONDS)

    def _list(self, opening: Opening, kind: Kind) -> Listing | None:
        """One list to its end, an empty one looked at twice; None if there is no such list."""
        listing = self._pages(opening, kind)
        if listing is not None and not listing.entries and _advertises(opening, kind):
            return self._pages(opening, kind)
        return listing

    def _pages(self, opening: Opening, kind: Kind) -> Listing | None:
        listing = Listing(kind, limits=self._limits)
        deadline = self._talk.within(self._limits.listing_seconds)
        while not listing.done:
            answer = self._page(opening, kind, listing.params, deadline)
            if answer.code is not None:
                self._refusal(opening, kind, answer)
                return None
            try:
                listing.receive(answer.result, answer.size)
            except InvalidInput as error:
                raise InvalidInput(
                    error.code, f"{self._server}: {error.message}", remedy=error.remedy
                ) from None
        return listing

    def _page(self, opening: Opening, kind: Kind, params: JsonObject, deadline: float) -> Answer:
        if opening.is_stateless:
            params = {**params, "_meta": self._opener.meta()}
        try:
            return self._talk.ask(LIST_METHOD[kind], params, deadline=deadline)
        except StatusError as refusal:
            if refusal.status in UNAUTHORIZED or kind is Kind.TOOL:
                raise
            return Answer(None, refusal.status, f"HTTP status {refusal.status}", 0)

    def _refusal(self, opening: Opening, kind: Kind, answer: Answer) -> None:
        """Tell "there is no such list" from "it could not be looked at"."""
        if answer.code == METHOD_NOT_FOUND or not _advertises(opening, kind):
            return
        said = f"error {answer.code}: {answer.message}"
        if kind is Kind.TOOL:
            message = f"{self._server}: it would not list its tools: {said}"
            raise CannotTell("listing-refused", message, remedy="look at what it needs to be set up")
        self.refused.add(kind)
        self._talk.note(f"it would not give its list of {LIST_METHOD[kind].removesuffix('/list')}: {said}")


def _advertises(opening: Opening, kind: Kind) -> bool:
    return CAPABILITY[kind] in opening.capabilities
