# SPDX-License-Identifier: Apache-2.0
"""Streams that a GET opens (until 2025-11-25): for what nobody asked for, and for what is left of another."""

import asyncio
from contextlib import aclosing
from typing import Final

from toolnotary_verifier.shells.bridge.reading import Place
from toolnotary_verifier.shells.bridge.sent import Sent
from toolnotary_verifier.shells.bridge.session import Session, left

_ATTEMPTS: Final = 5  # in a row that bring nothing


async def listen(session: Session, opened: asyncio.Event) -> None:
    """Hand on what comes, until the server says that it has no such stream.

    Args:
        session: both ends.
        opened: set once the server has answered for the first time.
    """
    place = Place()
    while True:
        try:
            response = await session.stream(place)
        finally:
            opened.set()
        if response.status >= 400:
            await left(response)
            if response.status < 500:
                return
        else:
            async with aclosing(session.lines(response, place)) as lines:
                async for line in lines:
                    await session.hand_on(line)
        await asyncio.sleep(place.pause())


async def resume(session: Session, place: Place, sent: Sent) -> None:
    """Go on reading for requests the stream of which ended before they were answered.

    Args:
        session: both ends.
        place: where the stream ended.
        sent: what waits.
    """
    attempts = 0
    while sent.awaited and not sent.awaited.is_given_up and attempts < _ATTEMPTS:
        await asyncio.sleep(place.pause())
        before, attempts = place.last_event, attempts + 1
        response = await session.stream(place)
        if response.status >= 400:
            await left(response)
            if response.status < 500:
                return
            continue
        async with aclosing(session.lines(response, place)) as lines:
            async for line in lines:
                await session.hand_on(line, sent)
                if not sent.awaited:
                    return
        if place.last_event != before:
            attempts = 0
