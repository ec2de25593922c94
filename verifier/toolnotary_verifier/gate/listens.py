# SPDX-License-Identifier: Apache-2.0
"""Streams on which a host of the stateless era wants to be told of changes (2026-07-28: subscriptions)."""

from typing import Final

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.exchanges import Exchange, Place
from toolnotary_verifier.gate.view import View
from toolnotary_verifier.gate.waiting import answerable
from toolnotary_verifier.jsonrpc import frame, notification

CHANGED: Final = {
    Kind.TOOL: "notifications/tools/list_changed",
    Kind.PROMPT: "notifications/prompts/list_changed",
    Kind.RESOURCE: "notifications/resources/list_changed",
    Kind.TEMPLATE: "notifications/resources/list_changed",
}
_FILTER: Final = {
    Kind.TOOL: "toolsListChanged",
    Kind.PROMPT: "promptsListChanged",
    Kind.RESOURCE: "resourcesListChanged",
    Kind.TEMPLATE: "resourcesListChanged",
}
META_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
_MOST: Final = 32


class Listens:
    """The streams that hosts opened, by the places of their requests; at most 32 are told."""

    def __init__(self) -> None:
        self._open: dict[Place, tuple[JsonValue, View, JsonObject, Exchange]] = {}

    def open(
        self, place: Place, request_id: JsonValue, view: View | None, params: JsonValue, exchange: Exchange
    ) -> None:
        """Take note of a request for a stream; one that no answer can be given to is none."""
        wanted = params.get("notifications") if isinstance(params, dict) else None
        if view is None or not isinstance(wanted, dict) or not answerable(request_id):
            return
        if len(self._open) < _MOST:
            self._open[place] = (request_id, view, wanted, exchange)

    def close(self, place: Place) -> None:
        """Forget the stream of the request at this place, if there is one."""
        self._open.pop(place, None)

    def hang_up(self, exchange: Exchange) -> None:
        """Forget the stream of an exchange that has ended."""
        for place, (_, _, _, at) in list(self._open.items()):
            if at == exchange:
                del self._open[place]

    def announcements(self, view: View, kind: Kind) -> list[tuple[Exchange, bytes]]:
        """How a host is told on each stream under this view that a list changed, and in which exchange."""
        return [
            (exchange, frame(notification(CHANGED[kind], {"_meta": {META_SUBSCRIPTION: listen_id}})))
            for listen_id, listening, wanted, exchange in self._open.values()
            if listening is view and wanted.get(_FILTER[kind]) is True
        ]
