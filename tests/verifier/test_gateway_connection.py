# SPDX-License-Identifier: Apache-2.0
"""What the gateway reads of a server besides bodies, on a connection of its own: bounded, and not kept."""

import asyncio
import contextlib

import pytest

from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.shells.gateway import client
from toolnotary_verifier.shells.gateway.upstream import Upstream
from toolnotary_verifier.shells.http.message import Request, UpstreamError

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
DEADLINE = 30.0


async def read(response: bytes, endless: bytes) -> bytes:
    """The body of a response that goes on so until nobody reads it any more."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        try:
            for _ in range(1 << 10 if endless else 0):
                writer.write(endless)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, asyncio.timeout(DEADLINE):
        port = server.sockets[0].getsockname()[1]
        upstream = Upstream(UrlSource(url=f"http://127.0.0.1:{port}/mcp"))
        reply = await upstream.send(Request("GET", (), b""))
        try:
            return await reply.read(1 << 20)
        finally:
            await reply.aclose()
            upstream.close()


@pytest.mark.parametrize(
    ("head", "endless"),
    [(HEAD + b"0\r\n", b"a: b\r\n" * 10_000), (HEAD + b"5;", b"a" * (64 << 10))],
    ids=["trailers", "chunk-extension"],
)
def test_what_never_ends_beside_a_body_is_not_read(head: bytes, endless: bytes) -> None:
    with pytest.raises(UpstreamError, match="headers that do not end"):
        asyncio.run(read(head, endless))


def test_few_trailers_are_read_over() -> None:
    assert asyncio.run(read(HEAD + b"0\r\na: b\r\n\r\n", b"")) == b"hello"


@pytest.mark.parametrize("status", [b"600", b"999"])
def test_a_status_that_is_none_is_no_answer(status: bytes) -> None:
    with pytest.raises(UpstreamError, match="no HTTP"):
        asyncio.run(read(HEAD.replace(b"200", status) + b"0\r\n\r\n", b""))


def test_a_proxy_that_opens_no_tunnel_in_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_CONNECT_SECONDS", 0.2)

    async def work() -> None:
        is_left = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                await reader.read()  # it says nothing
            is_left.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, asyncio.timeout(DEADLINE):
            environment = {"HTTPS_PROXY": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}
            upstream = Upstream(UrlSource(url="https://mcp.acme.example/mcp", environment=environment))
            with pytest.raises(UpstreamError, match="does not accept connections"):
                await upstream.send(Request("GET", (), b""))
            await is_left.wait()

    asyncio.run(work())
