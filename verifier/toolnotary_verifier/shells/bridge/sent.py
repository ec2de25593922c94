# SPDX-License-Identifier: Apache-2.0
"""What a host sent and is under way, found by the ids of its requests."""

import asyncio
from collections.abc import Iterable
from typing import Final

from toolnotary_verifier.shells.bridge.awaited import Awaited
from toolnotary_verifier.shells.bridge.said import Said

_LISTEN: Final = "subscriptions/listen"


class Sent:
    """One line that is under way.

    Attributes:
        said: the line.
        awaited: the requests in it.
        task: sends it, and reads what comes for it.
    """

    task: asyncio.Task[None]

    def __init__(self, said: Said) -> None:
        self.said = said
        self.awaited = Awaited(said.ids)


class UnderWay:
    """All that is under way; of requests with one id, the last one is found."""

    def __init__(self) -> None:
        self._found: dict[str, Sent] = {}
        self._all: set[Sent] = set()

    def __len__(self) -> int:
        return len(self._all)

    def add(self, sent: Sent) -> None:
        """It is under way."""
        self._all.add(sent)
        self._found.update(dict.fromkeys(sent.said.ids, sent))

    def find(self, key: str) -> Sent | None:
        """The one with a request of this key."""
        return self._found.get(key)

    def remove(self, sent: Sent) -> None:
        """It is not under way any more."""
        self._all.discard(sent)
        for key in sent.said.ids:
            if self._found.get(key) is sent:
                del self._found[key]

    def awaited(self) -> Iterable[Sent]:
        """Those with a request that is not answered."""
        return [sent for sent in self._all if sent.awaited]

    async def settled(self, seconds: float) -> None:
        """Wait until all is answered that ever will be, but no longer than this."""
        tasks = [sent.task for sent in self.awaited() if sent.said.method != _LISTEN]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
