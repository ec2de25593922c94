# SPDX-License-Identifier: Apache-2.0
"""Under which protocol revision and client capabilities a request sees the server."""

from toolnotary_verifier.canonical import CanonicalError, Flaw, JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.gate.shape import misspells
from toolnotary_verifier.gate.view import View
from toolnotary_verifier.jsonrpc import META_CAPABILITIES, META_VERSION
from toolnotary_verifier.limits import Limits

# What belongs to one request alone and must not stand in requests of our own.
_OF_ONE_REQUEST = frozenset(("progressToken", "io.modelcontextprotocol/logLevel"))
_HANDSHAKE = b""
_META = frozenset(("_meta",))
_FACTS = frozenset((META_VERSION, META_CAPABILITIES))


class Views:
    """The views of one connection, least recently used first.

    Attributes:
        handshake: the view of the handshake era, of which a connection has one.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.handshake = View()
        self._views: dict[bytes, View] = {_HANDSHAKE: self.handshake}

    def all(self) -> list[View]:
        """Every view."""
        return list(self._views.values())

    def of(self, params: JsonValue) -> View | None:
        """The view that a request belongs to; None if too many others are in use.

        Raises:
            CanonicalError: its `_meta` can be read in more than one way.
        """
        meta = stateless_meta(params)
        if meta is None:
            return self.handshake
        key = self._key(meta)
        view = self._views.get(key)
        kept = {name: value for name, value in meta.items() if name not in _OF_ONE_REQUEST}
        if view is None or kept != view.meta:
            canonical_bytes(kept, max_depth=self._limits.message_depth, parsed=True)
        if view is None:
            if len(self._views) > self._limits.views and not self._forget_one():
                return None
            view = View()
        view.meta = kept
        self._views.pop(key, None)  # behind the others: it was used last
        self._views[key] = view
        return view

    def like(self, view: View) -> View | None:
        """The view under the same revision and capabilities as one of another connection, if there is one."""
        return self._views.get(_HANDSHAKE if view.meta is None else self._key(view.meta))

    def restart(self) -> View:
        """The handshake view as it is before anything was said; what is under way there is verified anew."""
        if not self.handshake.is_busy:
            self.handshake = self._views[_HANDSHAKE] = View()
        for record in self.handshake.records.values():
            record.fresh = False
            record.due = record.due or record.attempt is not None
        return self.handshake

    def _key(self, meta: JsonObject) -> bytes:
        facts = [meta[META_VERSION], meta.get(META_CAPABILITIES)]
        return canonical_bytes(facts, max_depth=self._limits.message_depth, parsed=True)

    def _forget_one(self) -> bool:
        for key, view in self._views.items():
            if key != _HANDSHAKE and not view.is_busy:
                del self._views[key]
                return True
        return False


def stateless_meta(params: JsonValue) -> JsonObject | None:
    """`_meta` of a request of the stateless era, None for the handshake era (2026-07-28: `_meta`).

    Raises:
        CanonicalError: some reader could find another revision in it, or other capabilities.
    """
    if not isinstance(params, dict):
        return None
    meta = params.get("_meta")
    if isinstance(meta, Flaw):
        raise CanonicalError(meta.code, f"_meta: {meta.message}")
    facts = meta if isinstance(meta, dict) else {}
    if misspells(params, _META) or misspells(facts, _FACTS):
        raise CanonicalError("duplicate-key", "_meta can be read in more than one way")
    return facts if META_VERSION in facts else None
