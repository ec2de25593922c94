# SPDX-License-Identifier: Apache-2.0
"""What a conversation needs of a connection, whichever way its bytes go."""

from typing import Protocol

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.errors import CannotTell


class Transport(Protocol):
    """One connection to one server, used by one thread.

    Attributes:
        kind: as a manifest's profile says it: `stdio` or `streamable-http`.
        is_duplex: whether frames can come at any time, not only in answer to a request.
        server: what messages call the server: escaped, secrets masked.
        protocol_version: set once a handshake agreed on a revision; HTTP states it in every later request.
    """

    kind: str
    is_duplex: bool
    server: str
    protocol_version: str | None

    def send(self, message: JsonObject, *, deadline: float) -> None:
        """Send one message, by `deadline` (monotonic seconds).

        Raises:
            CannotTell: the server is gone, cannot be reached, or refuses the request.
        """

    def receive(self, *, deadline: float) -> bytes | None:
        """The next frame from the server; None if none came by `deadline`, or none will come.

        Raises:
            CannotTell: `server-ended`, if the server is gone.
            InvalidInput: `too-large`, for a frame over the limit.
        """

    def explain(self) -> str:
        """What the server last said beside the protocol, for error messages: one line, or an empty string."""

    def mask(self, text: str) -> str:
        """`text` without the secrets that the connection was made with."""

    def close(self) -> None:
        """End the connection and everything that it started."""


class StatusError(CannotTell):
    """An HTTP status that is no answer; `status` tells a missing method from a missing permission."""

    def __init__(self, code: str, message: str, *, status: int, remedy: str = "") -> None:
        super().__init__(code, message, remedy=remedy)
        self.status = status
