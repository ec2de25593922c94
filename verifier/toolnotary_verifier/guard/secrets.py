# SPDX-License-Identifier: Apache-2.0
"""What nobody may read but the server: secrets of its launch, and what hosts send it to be let in."""

from typing import TYPE_CHECKING, Final

from toolnotary_verifier.guard.reached import Reached
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.capture.concealed import Concealed
    from toolnotary_verifier.capture.source import Source

_CREDENTIALS: Final = 64  # of which the newest are known


class Secrets:
    """The secrets of one server; what repeats them is neither kept nor shown nor asked about."""

    def __init__(self, reached: Reached) -> None:
        """Those of how it is started or reached."""
        self._reached = reached
        self._credentials: dict[str, None] = {}
        self._concealed: tuple[tuple[str, ...], Concealed] | None = None

    def know(self, credential: str) -> None:
        """Know the value of a header with which a host is let in."""
        if credential in self._credentials:
            return
        self._credentials[credential] = None
        while len(self._credentials) > _CREDENTIALS:
            del self._credentials[next(iter(self._credentials))]

    def source(self) -> "Source":
        """How the server is started or reached, with all that nobody else may read."""
        from dataclasses import replace  # where something is not as pinned: it costs as much as a small room

        from toolnotary_verifier.capture.source import UrlSource

        source = self._reached.source()
        if not isinstance(source, UrlSource):
            return source
        sent = {f"of a host {number}": value for number, value in enumerate(tuple(self._credentials))}
        return replace(source, headers={**source.headers, **sent})

    def masked(self, text: str) -> str:
        """A text as it is told or written: without those of them that it cannot hold by chance.

        A server chooses the names of its tools, and may choose what it was given.
        """
        known = self._concealed
        if known is None or known[0] != tuple(self._credentials):
            from toolnotary_verifier.capture.concealed import Concealed

            known = self._concealed = tuple(self._credentials), Concealed.of(self.source())
        return known[1].mask_unmistakable(text)

    def refuse_in(self, surface: Surface) -> None:
        """Refuse a surface that repeats one of them.

        Raises:
            Refused: `secret-in-surface`.
        """
        from toolnotary_verifier.capture.concealed import Concealed

        Concealed.of(self.source()).refuse_in(surface)
