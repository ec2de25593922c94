# SPDX-License-Identifier: Apache-2.0
"""Bodies and streams through the transport for httpx and httpx2: byte for byte, at once, ended in time."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
from servers import raw
from servers.raw import EVENTS, JSON, TOOLS

from toolnotary_verifier.shells.httpx import guarded

Json = Any
Scenario = Callable[[Any, raw.Served], Awaitable[None]]
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
ACCEPT = {"accept": f"{JSON}, {EVENTS}"}
LISTENS = {"accept": EVENTS}
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 30.0
# One of each: an id alone, a comment, several lines of data, every line end, a field that nobody knows.
SPELLED = (
    b"\xef\xbb\xbfid: 1\ndata:\n\n"
    b": still here\n\n"
    b'event: message\r\nid: 2\r\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"a":1.0}}'
    b"\r\n\r\n"
    b'retry: 10\rdata:{"jsonrpc":"2.0","id":7,"result":{"big":12345678901234567891,"e":"\\u00e9"}}\r\r'
)


@pytest.fixture(params=[httpx, httpx2], ids=lambda library: library.__name__)
def library(request: pytest.FixtureRequest) -> ModuleType:
    """Each of the two."""
    module: ModuleType = request.param
    return module


def run(
    library: ModuleType,
    answer: Callable[[raw.Request], Awaitable[None]],
    scenario: Scenario,
    **options: Any,
) -> None:
    """A client before a server that answers so, and what is done with it; nothing is left on the loop."""

    async def whole() -> None:
        async with asyncio.timeout(DEADLINE):
            async with raw.serve(answer) as server:
                transport = guarded(library, server.url, server="acme")
                async with library.AsyncClient(transport=transport, **options) as client:
                    await scenario(client, server)
            while len(asyncio.all_tasks()) > 1:  # connections of the server that end
                await asyncio.sleep(0.01)

    asyncio.run(whole())


# Byte for byte


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_events_pass_byte_for_byte_however_they_are_cut(library: ModuleType, size: int) -> None:
    async def answer(request: raw.Request) -> None:
        request.head(EVENTS)
        for at in range(0, len(SPELLED), size):
            await request.write(SPELLED[at : at + size])
            await asyncio.sleep(0)

    async def scenario(client: Any, server: raw.Served) -> None:
        response = await client.post(server.url, json=PING, headers=ACCEPT)
        # Where a cut falls into a CRLF, its CR ends the line, and reads the same.
        assert response.content == SPELLED if size > 1 else SPELLED.replace(b"\r\n", b"\r")

    run(library, answer, scenario)


def test_a_json_text_passes_byte_for_byte_with_its_status_and_headers(library: ModuleType) -> None:
    text = (
        b'{ "jsonrpc":"2.0","id":7,"result":{"x":1.0,"y":1e2,"z":"\\u0041","z":{}, "n":12345678901234567891}}'
    )
    plain = text.replace(b'"z":{}, ', b"")

    async def answer(request: raw.Request) -> None:
        request.head(JSON, "201 Created", X_Trace="7", Set_Cookie="a=b")
        await request.write(plain)

    async def scenario(client: Any, server: raw.Served) -> None:
        response = await client.post(server.url, json=PING, headers=ACCEPT)
        assert (response.status_code, response.content) == (201, plain)
        assert response.headers["x-trace"] == "7"
        assert client.cookies["a"] == "b"

    run(library, answer, scenario)


def test_a_request_arrives_as_it_was_sent(library: ModuleType) -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": 1e2}}'

    async def answer(request: raw.Request) -> None:
        request.answer({})

    async def scenario(client: Any, server: raw.Served) -> None:
        headers = {
            **ACCEPT,
            "content-type": JSON,
            "authorization": "Bearer T",
            "mcp-session-id": "s",
            "mcp-method": "ping",
            "last-event-id": "3",
            "host": "mcp.acme.example",
            "origin": "https://acme.example",
            "x-many": "1",
        }
        await client.post(server.url, content=body, headers=headers)
        [request] = server.requests
        assert request.body == body
        assert request.headers | headers == request.headers

    run(library, answer, scenario)


# At once


def test_an_event_is_there_before_the_next_one_is_sent(library: ModuleType) -> None:
    read = asyncio.Event()

    async def answer(request: raw.Request) -> None:
        request.head(EVENTS)
        await request.write(b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n')
        await read.wait()
        await request.write(b'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n')

    async def scenario(client: Any, server: raw.Served) -> None:
        async with client.stream("POST", server.url, json=PING, headers=ACCEPT) as response:
            chunks = response.aiter_bytes()
            assert b"progress" in await anext(chunks)
            read.set()
            assert b"result" in await anext(chunks)

    run(library, answer, scenario)


def test_what_nobody_asked_for_arrives_on_the_stream_that_listens(library: ModuleType) -> None:
    ended = asyncio.Event()

    async def answer(request: raw.Request) -> None:
        request.head(EVENTS)
        await request.write(
            b'id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
        )
        await request.reader.read()  # until the client goes away
        ended.set()

    async def scenario(client: Any, server: raw.Served) -> None:
        async with client.stream("GET", server.url, headers=LISTENS) as response:
            assert b"id: 1\n" in await anext(response.aiter_bytes())
        await ended.wait()

    run(library, answer, scenario)


# Its end


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stream_that_is_closed_or_cancelled_is_closed_for_the_server(
    library: ModuleType, method: str
) -> None:
    ended = asyncio.Semaphore(0)

    async def answer(request: raw.Request) -> None:
        request.head(EVENTS)
        await request.write(b": open\n\n")
        await request.reader.read()
        ended.release()

    async def scenario(client: Any, server: raw.Served) -> None:
        sent = {"json": PING} if method == "POST" else {}
        request = client.build_request(method, server.url, headers=ACCEPT, **sent)
        await (await client.send(request, stream=True)).aclose()  # nobody read any of it
        await ended.acquire()

        async def reads() -> None:
            async for _ in (await client.send(request, stream=True)).aiter_bytes():
                opened.set()

        opened = asyncio.Event()
        reading = asyncio.ensure_future(reads())
        await opened.wait()
        reading.cancel()
        await asyncio.wait({reading})
        await ended.acquire()

    run(library, answer, scenario)


def test_a_request_that_is_cancelled_before_its_answer_is_ended_for_the_server(library: ModuleType) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def answer(request: raw.Request) -> None:
        asked.set()
        await request.reader.read()
        ended.set()

    async def scenario(client: Any, server: raw.Served) -> None:
        waiting = asyncio.ensure_future(client.post(server.url, json=PING, headers=ACCEPT))
        await asked.wait()
        waiting.cancel()
        await asyncio.wait({waiting})
        await ended.wait()

    run(library, answer, scenario)


def test_closing_the_client_ends_a_stream_that_is_being_read(library: ModuleType) -> None:
    ended = asyncio.Event()

    async def answer(request: raw.Request) -> None:
        request.head(EVENTS)
        await request.write(b": open\n\n")
        await request.reader.read()
        ended.set()

    async def scenario(client: Any, server: raw.Served) -> None:
        async def reads() -> None:
            async with client.stream("GET", server.url, headers=LISTENS) as response:
                async for _ in response.aiter_bytes():
                    opened.set()

        opened = asyncio.Event()
        reading = asyncio.ensure_future(reads())
        await opened.wait()
        await client.aclose()
        await ended.wait()
        await asyncio.wait({reading})

    run(library, answer, scenario)


def test_a_stream_that_breaks_off_raises_what_it_raises_without_us(library: ModuleType) -> None:
    async def answer(request: raw.Request) -> None:
        request.head(EVENTS, Transfer_Encoding="chunked")
        await request.write(b"8\r\n: open\n\n\r\n")

    async def scenario(client: Any, server: raw.Served) -> None:
        async with client.stream("POST", server.url, json=PING, headers=ACCEPT) as response:
            with pytest.raises(library.RemoteProtocolError):
                await response.aread()

    run(library, answer, scenario)


def test_a_timeout_of_the_client_is_its_own(library: ModuleType) -> None:
    async def answer(request: raw.Request) -> None:
        await request.reader.read()

    async def scenario(client: Any, server: raw.Served) -> None:
        with pytest.raises(library.ReadTimeout):
            await client.post(server.url, json=PING, headers=ACCEPT)

    run(library, answer, scenario, timeout=0.1)


# Our own requests


def test_a_listing_of_ours_is_asked_for_again_where_the_connection_was_gone(library: ModuleType) -> None:
    async def answer(request: raw.Request) -> None:
        if len(server_requests) > 1:
            request.answer({"tools": TOOLS})

    server_requests: list[raw.Request] = []

    async def scenario(client: Any, server: raw.Served) -> None:
        nonlocal server_requests
        server_requests = server.requests
        listing = await client.post(server.url, json={**PING, "method": "tools/list"}, headers=ACCEPT)
        assert json.loads(listing.content)["result"] == {"tools": []}  # nobody pinned any
        assert [request.message["method"] for request in server.requests] == ["tools/list"] * 2

    run(library, answer, scenario)


def test_a_request_of_the_host_is_never_sent_twice(library: ModuleType) -> None:
    async def answer(request: raw.Request) -> None:
        """Nothing."""

    async def scenario(client: Any, server: raw.Served) -> None:
        with pytest.raises(library.RemoteProtocolError):
            await client.post(server.url, json=PING, headers=ACCEPT)
        assert len(server.requests) == 1

    run(library, answer, scenario)
