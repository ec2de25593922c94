# SPDX-License-Identifier: Apache-2.0
"""A host on the protocol's Python SDK, of either major, behind `guarded`: it does what it is told, in order.

    .tests/mcp2/bin/python tests/clients/sdk_host.py '{"server": NAME, "url": URL, "steps": [...]}'

`command` (argv) in place of `url` starts the server; with `elicits` every elicitation is declined, and the
messages of all are printed as `asked`. `mode`: "session" for a `ClientSession`, else that of
the `Client` of 2.x. It prints one JSON object: what each step gave, what was notified, whatever was raised,
and which tasks and threads were left behind.

Steps: "list" gives names; "tools" gives descriptions, and asks something else meanwhile; "instructions";
["call", NAME, ARGUMENTS] gives [refused or failed, text]; ["cancel", NAME] calls, and gives up once progress
was reported; "changed" waits for a list_changed; ["write", FILE, TEXT]; ["unwritable", FILE];
["sleep", SECONDS].
"""

import asyncio
import json
import logging
import os
import sys
import threading
import traceback
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as streamable_http_client

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "verifier"))

from toolnotary_verifier.shells.mcp import guarded  # after the path is set

Json = Any
_DEADLINE = 50
_ENDING = 20.0


class Host:
    """One connection."""

    def __init__(self, plan: Json) -> None:
        self.plan = plan
        self.notified: list[str] = []
        self.changed = asyncio.Event()
        self.instructions: str | None = None
        self.client: Any = None
        self.asked: list[str] = []
        self.decline = self._decline if plan.get("elicits") else None

    async def _decline(self, _context: Any, params: Any) -> Any:
        self.asked.append(params.message)
        return mcp.types.ElicitResult(action="decline")

    async def message(self, message: Any) -> None:
        """Keep what is notified."""
        found = getattr(message, "root", message)
        method = getattr(found, "method", type(found).__name__)
        self.notified.append(method)
        if method == "notifications/tools/list_changed":
            self.changed.set()

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect."""
        plan = self.plan
        if "url" in plan:
            launch: Any = plan["url"]
            transport = streamable_http_client(launch)
        else:
            launch = StdioServerParameters(
                command=plan["command"][0], args=plan["command"][1:], env=dict(os.environ)
            )
            transport = stdio_client(launch)
        held = guarded(transport, launch, server=plan["server"])
        if plan["mode"] == "session":
            reads, writes, *_ = await stack.enter_async_context(held)
            session = ClientSession(
                reads, writes, message_handler=self.message, elicitation_callback=self.decline
            )
            self.client = await stack.enter_async_context(session)
            self.instructions = (await self.client.initialize()).instructions
        else:
            client = mcp.Client(
                held,
                mode=plan["mode"],
                message_handler=self.message,
                elicitation_callback=self.decline,
            )
            self.client = await stack.enter_async_context(client)
            self.instructions = self.client.instructions

    async def do(self, step: Json) -> Json:
        """One step."""
        name, *rest = [step] if isinstance(step, str) else step
        if name == "list":
            return [tool.name for tool in (await self.client.list_tools()).tools]
        if name == "tools":
            return await self.tools()
        if name == "instructions":
            return self.instructions
        if name == "call":
            return _told(await self.client.call_tool(*rest))
        if name == "cancel":
            return await self.cancel(rest[0])
        if name == "changed":
            await self.changed.wait()
            return True
        if name == "unwritable":
            Path(rest[0]).unlink()
            return Path(rest[0]).mkdir()
        if name == "write":
            return Path(rest[0]).write_text(rest[1], encoding="utf-8")
        await asyncio.sleep(float(rest[0]))
        return None

    async def tools(self) -> Json:
        """What is listed while a ping is under way, which may never be answered."""
        ping = asyncio.create_task(self.client.send_ping())
        listed = await self.client.list_tools()
        ping.cancel()
        await asyncio.gather(ping, return_exceptions=True)
        return [tool.description for tool in listed.tools]

    async def cancel(self, name: str) -> Json:
        """Call, and give up once the call has begun."""
        begun = asyncio.Event()

        async def progress(*_: Any) -> None:
            begun.set()

        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await self.client.call_tool(name, {}, progress_callback=progress)

            tasks.start_soon(call)
            await begun.wait()
            tasks.cancel_scope.cancel()
        return "cancelled"


def _told(result: Any) -> Json:
    failed = getattr(result, "is_error", None)
    return [bool(result.isError if failed is None else failed), result.content[0].text]


def _begun_since(before: set[threading.Thread]) -> set[threading.Thread]:
    """Threads that are not only there to be used again."""
    pools = ("AnyIO", "asyncio_")
    return {one for one in set(threading.enumerate()) - before if not one.name.startswith(pools)}


async def main(plan: Json) -> Json:
    """Do it all; never raises."""
    given: list[Json] = []
    raised = None
    host = Host(plan)
    before = set(threading.enumerate())
    try:
        async with asyncio.timeout(_DEADLINE), AsyncExitStack() as stack:
            await host.open(stack)
            for step in plan["steps"]:
                given.append(await host.do(step))  # noqa: PERF401 - what was given before an error counts
    except BaseException as error:  # noqa: BLE001 - told to whoever looks
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raised = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    left = [str(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for waiting in _begun_since(before):
        # asyncio's own, which ends a moment after the process that it waits for, and only then.
        if waiting.name.startswith("asyncio-waitpid"):
            await asyncio.to_thread(waiting.join, _ENDING)
    left += [one.name for one in _begun_since(before)]
    return {
        "given": given,
        "notified": host.notified,
        "asked": host.asked,
        "raised": raised,
        "left": left,
    }


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
