# SPDX-License-Identifier: Apache-2.0
"""What every framework does with the server `turning`, behind whichever way of guarding it.

A host gives what lists names and what calls a tool; the result is printed as one JSON object: the names
before and after the server turned, and what the model reads of each call.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

Json = Any
PLAN: Json = json.loads(sys.argv[1])
COMMAND: list[str] = PLAN.get("command", [])
SERVER: str = PLAN["server"]
URL: str = PLAN.get("url", "")
# The whole environment, so that the launch is the one that was pinned.
ENVIRONMENT = dict(os.environ)


async def do(names: Callable[[], Awaitable[list[str]]], call: Callable[[str, Json], Awaitable[str]]) -> None:
    """List, call, let the server turn, list and call again."""
    before = sorted(await names())
    read = [await call("greet", {"name": "Ada"}), await call("turn", {})]
    after = sorted(await names())
    read.append(await call("greet", {"name": "Ada"}))
    print(json.dumps({"before": before, "after": after, "read": read}))


def start(ways: dict[str, Callable[[], Awaitable[None]]]) -> None:
    """Run the way that was asked for."""
    asyncio.run(_within(ways[PLAN["way"]]))


async def _within(way: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(60):
        await way()
