# SPDX-License-Identifier: Apache-2.0
"""Which requests and answers of a connection belong together, where it has more than one stream each way.

Over stdio there is one stream each way, and an id names one request of one host. Over HTTP every request
opens an exchange with streams of its own (MCP, transports: Streamable HTTP). Where hosts have a session, the
ids of a host are still its own; where they have none, several hosts that look alike may use the same ids at
once, and only the exchange tells whose they are.
"""

from collections.abc import Hashable
from enum import Enum
from typing import Final

# Names an exchange: whatever a shell chooses. None where there is but one, and for what nobody asked for.
Exchange = Hashable
Place = tuple[Exchange, str]


class Streams(Enum):
    """How the streams of a connection are shared."""

    ONE = "one"
    SESSION = "session"
    SHARED = "shared"


class Placing:
    """Where a request of the host is found again: by its id, in its exchange where ids are shared.

    Attributes:
        is_one: whether there is but one stream each way.
        is_shared: whether several hosts may use the same ids at once.
    """

    def __init__(self, streams: Streams) -> None:
        self.is_one: Final = streams is Streams.ONE
        self.is_shared: Final = streams is Streams.SHARED

    def place(self, exchange: Exchange, key: str) -> Place:
        """The place of a request by its exchange and its folded id."""
        return (exchange if self.is_shared else None), key

    def of_own(self, own_id: str) -> Exchange:
        """The exchange of a request of our own: one for each, where there are exchanges."""
        return None if self.is_one else own_id
