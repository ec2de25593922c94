# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on the event loop of a test: each connection carries one request, which a function answers.

    async with serve(answer) as server:     async def answer(request): ...
        server.url, server.requests

What the function writes goes out as it is, when it is written.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Json = Any
JSON = "application/json"
EVENTS = "text/event-stream"
TOOLS = [{"name": "echo", "description": "Gives back the text.", "inputSchema": {"type": "object"}}]


@dataclass
class Request:
    """One request, and the connection that it came on."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def message(self) -> Json:
        """Its body."""
        return json.loads(self.body)

    def head(self, kind: str, status: str = "200 OK", **headers: str) -> None:
        """Begin a response that ends with its connection."""
        named = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items())]
        self.writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())

    async def write(self, content: bytes) -> None:
        """Write some of the body, in a piece of its own."""
        self.writer.write(content)
        await self.writer.drain()

    def answer(self, result: Json) -> None:
        """Answer with one JSON text."""
        self.head(JSON)
        self.writer.write(json.dumps({"jsonrpc": "2.0", "id": self.message["id"], "result": result}).encode())


@dataclass
class Served:
    """A running server."""

    url: str
    requests: list[Request] = field(default_factory=list)


@contextlib.asynccontextmanager
async def serve(answer: Callable[[Request], Awaitable[None]]) -> AsyncIterator[Served]:
    """A server on a free port of the loopback interface; what it is doing ends with the block."""
    under_way: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            request = Request(method, path, headers, body, reader, writer)
            served.requests.append(request)
            await answer(request)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    served = Served(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    try:
        yield served
    finally:
        server.close()
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
