# SPDX-License-Identifier: Apache-2.0
"""What of the SDK is used, by its shape: both majors have it, and whatever else behaves like them."""

from pathlib import Path
from typing import Any, Protocol


class Item(Protocol):
    """A `SessionMessage`: a message, and what a transport is to know about it, such as HTTP headers."""

    message: Any
    metadata: Any


# What a transport reads: it hands on what it could not read as the exception that says why.
Said = Item | Exception


class Reads(Protocol):
    """A stream that is read; `last_context`, where it has one, is that of whoever sent the last item."""

    async def receive(self) -> Said:
        """The next item; raises what anyio's streams raise."""

    async def aclose(self) -> None:
        """Read nothing more."""


class Writes(Protocol):
    """A stream that is written."""

    async def send(self, item: Item, /) -> None:
        """Send an item; waits until it is taken."""

    async def aclose(self) -> None:
        """Write nothing more."""


class Parameters(Protocol):
    """How a server is started over stdio: `StdioServerParameters`."""

    command: str
    args: list[str]
    env: dict[str, str] | None
    cwd: str | Path | None
