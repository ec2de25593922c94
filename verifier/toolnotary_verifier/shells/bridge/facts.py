# SPDX-License-Identifier: Apache-2.0
"""What the headers of a request say, in both eras: what it is, which revision, which session."""

import re
from collections.abc import Sequence
from typing import Final

from toolnotary_verifier.shells.bridge.mirrored import header_value
from toolnotary_verifier.shells.bridge.said import Said
from toolnotary_verifier.shells.http.agreement import NAMED
from toolnotary_verifier.shells.http.message import (
    EVENT_STREAM,
    JSON,
    METHOD,
    NAME,
    SESSION,
    VERSION,
    Header,
    UpstreamError,
    header,
)

_CONTENT: Final = [(b"content-type", JSON), (b"accept", JSON + b", " + EVENT_STREAM)]
_EVENTS: Final = [(b"accept", EVENT_STREAM)]
_VISIBLE: Final = re.compile(rb"[!-~]{1,1024}")


class Facts:
    """What one host and its server agreed on.

    Attributes:
        session: the session that the server opened; None where it opened none.
        revision: the protocol revision of the handshake era; empty before it is agreed on.
    """

    def __init__(self) -> None:
        self.session: bytes | None = None
        self.revision = ""
        self._named = ""

    @property
    def is_stateless(self) -> bool:
        """Whether all that the host said so far belongs to the stateless era."""
        return bool(self._named) and not self.revision

    def of(self, said: Said) -> list[Header]:
        """The headers of a POST."""
        if said.method == "initialize":
            return list(_CONTENT)
        self._named = said.revision or self._named
        revision = said.revision or self.revision or self._named
        headers = [*_CONTENT, *self._common(revision)]
        if revision and revision != self.revision and said.method:
            headers.append((METHOD, header_value(said.method)))
            name = said.params.get(NAMED.get(said.method, ""))
            if isinstance(name, str):
                headers.append((NAME, header_value(name)))
        return headers

    def of_stream(self, last_event: bytes = b"") -> list[Header]:
        """The headers of a GET, which resumes behind an event where one is named."""
        resumed = [(b"last-event-id", last_event)] if last_event else []
        return [*_EVENTS, *resumed, *self._common(self.revision)]

    def agree(self, headers: Sequence[Header], revision: object) -> None:
        """Take down what the answer to `initialize` says.

        Raises:
            UpstreamError: the id of the session is too long, or cannot be sent in a header.
        """
        session = header(headers, SESSION)
        if session is not None and not _VISIBLE.fullmatch(session):
            raise UpstreamError("opened a session whose id is too long, or not visible ASCII")
        self.session = session
        self.revision = revision if isinstance(revision, str) else ""

    def _common(self, revision: str) -> list[Header]:
        headers = [(VERSION, header_value(revision))] if revision else []
        return headers if self.session is None else [*headers, (SESSION, self.session)]
