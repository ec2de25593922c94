# SPDX-License-Identifier: Apache-2.0
"""The transport for httpx and httpx2: what passes it, what it refuses, and what it leaves behind."""

import asyncio
import gc
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
from servers import http_server
from servers.http_server import POISONED, TOOLS
from servers.tunnel import tunnel

from toolnotary_cli.main import main
from toolnotary_verifier import places
from toolnotary_verifier.errors import ConfigurationError, InvalidInput, Refused
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.saved import read_saved
from toolnotary_verifier.shells.httpx import guarded, guarded_clients

Json = Any
Scenario = Callable[[], Awaitable[None]]
ACCEPT = {"accept": "application/json, text/event-stream"}
# Nothing here depends on it: it only ends a test that would hang.
DEADLINE = 30.0
ECHO = {"name": "echo", "arguments": {}}


@pytest.fixture(params=[httpx, httpx2], ids=lambda library: library.__name__)
def library(request: pytest.FixtureRequest) -> ModuleType:
    """Each of the two."""
    module: ModuleType = request.param
    return module


@pytest.fixture
def served(tmp_path: Path) -> Iterator[http_server.Served]:
    """A server, pinned as acme."""
    with http_server.serve() as server:
        pin(server.url)
        yield server


def pin(url: str, server: str = "acme", *, lockfile: Path | None = None) -> None:
    """Pin what the servers of these tests show."""
    state, policy = places.state_file(), places.personal_policy()
    lockfile = lockfile or places.home() / places.LOCKFILE
    project = Project.load(lockfile=lockfile, state=state, personal_policy=policy)
    surface = read_saved([json.dumps({"tools": TOOLS}).encode()])
    pin_surface(surface, server=server, launch=Launch.from_url(url)).apply(project)


def run(scenario: Scenario) -> None:
    """Run it, and see that nothing of it is left on the loop."""

    async def whole() -> None:
        async with asyncio.timeout(DEADLINE):
            await scenario()
            while len(asyncio.all_tasks()) > 1:  # what the library itself still closes
                await asyncio.sleep(0.01)

    asyncio.run(whole())


async def ask(client: Any, url: str, method: str, params: Json = None) -> Json:
    """The answer to one message."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method} | ({} if params is None else {"params": params})
    response = await client.post(url, json=message, headers=ACCEPT)
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        [text] = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    return json.loads(text)


async def names(client: Any, url: str) -> list[str]:
    """What a host lists."""
    return [tool["name"] for tool in (await ask(client, url, "tools/list"))["result"]["tools"]]


# What passes


@pytest.mark.parametrize("answer", ["json", "sse"])
def test_a_rug_pull_is_withheld_and_its_calls_are_refused(
    library: ModuleType, answer: str, served: http_server.Served
) -> None:
    served.script["answer"] = answer

    async def scenario() -> None:
        transport = guarded(library, served.url, server="acme")
        async with library.AsyncClient(transport=transport) as client:
            assert await names(client, served.url) == ["add", "echo"]
            await ask(client, served.url, "tools/call", ECHO)
            assert served.calls()[-1] == "tools/call"
            served.script["tools"] = [TOOLS[0], *POISONED]
            assert await names(client, served.url) == ["add"]
            refused = (await ask(client, served.url, "tools/call", ECHO))["result"]
            assert refused["isError"]
            assert "toolnotary explain acme" in refused["content"][0]["text"]

    run(scenario)
    assert served.calls().count("tools/call") == 1


def test_a_call_without_a_listing_is_verified_by_a_listing_with_the_headers_of_its_caller(
    library: ModuleType, served: http_server.Served
) -> None:
    async def scenario() -> None:
        client = library.AsyncClient(
            transport=guarded(library, served.url, server="acme"), headers={"x-tenant": "7"}
        )
        async with client:
            await ask(client, served.url, "tools/call", ECHO)

    run(scenario)
    assert served.calls() == ["tools/list", "tools/call"]
    assert [request.headers["x-tenant"] for request in served.requests] == ["7", "7"]


class Scoped:
    """A server whose tokens let one list and another one call, as after a step-up (RFC 6750: scopes)."""

    CHALLENGE = 'Bearer error="insufficient_scope", scope="call"'

    def __init__(self, library: ModuleType) -> None:
        self.library = library
        self.asked: list[tuple[str, str]] = []
        self.tools = TOOLS

    def answer(self, request: Any) -> Any:
        """The response to a message."""
        message = json.loads(request.content)
        method, token = message["method"], request.headers["authorization"]
        self.asked.append((token.removeprefix("Bearer "), method))
        if method != {"Bearer lists": "tools/list", "Bearer calls": "tools/call"}[token]:
            headers = {"www-authenticate": self.CHALLENGE}
            return self.library.Response(403, headers=headers, json={"error": "insufficient_scope"})
        result = {"tools": self.tools} if method == "tools/list" else {"content": []}
        return self.library.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": result})

    def client(self, token: str, transport: Any, **headers: str) -> Any:
        """A client with this token behind a transport that others share."""
        return self.library.AsyncClient(
            transport=transport, headers={"authorization": f"Bearer {token}", **headers}
        )


async def called(client: Any, url: str, name: str) -> Any:
    """The response to a call."""
    params = {"name": name, "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return await client.post(url, json=message, headers=ACCEPT)


def test_a_token_that_may_call_and_not_list_calls_what_the_one_before_it_was_shown(
    library: ModuleType,
) -> None:
    scoped = Scoped(library)
    url = "http://127.0.0.1:1/mcp"
    pin(url)

    async def scenario() -> None:
        transport = guarded(library, url, server="acme", inner=library.MockTransport(scoped.answer))
        lists, calls = scoped.client("lists", transport), scoped.client("calls", transport)
        for name in ("echo", "unheard"):  # nothing is verified yet: the refusal is the server's own
            refused = await called(calls, url, name)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (403, scoped.CHALLENGE)
        assert await names(lists, url) == ["add", "echo"]
        assert (await called(calls, url, "echo")).json()["result"] == {"content": []}
        assert (await called(calls, url, "unheard")).status_code == 403
        other = scoped.client("calls", transport, **{"x-tenant": "7"})
        assert (await called(other, url, "echo")).status_code == 403, "that is another host"
        scoped.tools = [TOOLS[0], *POISONED]
        assert await names(lists, url) == ["add"]
        assert (await called(calls, url, "echo")).status_code == 403
        listed = await calls.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert listed.status_code == 403, "a list is shown to nobody whom the server does not show it to"
        await transport.aclose()

    run(scenario)
    assert scoped.asked.count(("calls", "tools/call")) == 1


def test_messages_ask_for_no_compression_and_whatever_else_is_sent_goes_by_as_it_is(
    library: ModuleType, served: http_server.Served
) -> None:
    served.script["move"] = "html"
    root = served.url.removesuffix("/mcp")

    async def scenario() -> None:
        async with library.AsyncClient(transport=guarded(library, served.url, server="acme")) as client:
            metadata = await client.get(f"{root}/.well-known/oauth-protected-resource/mcp")
            assert metadata.text.startswith("<html>")
            assert (await client.post(f"{root}/register", json={"redirect_uris": []})).status_code == 200
            # Of the server itself, the same is no message.
            assert (await client.post(served.url, json={"jsonrpc": "2.0", "id": 1})).status_code == 502

    run(scenario)
    assert [request.path for request in served.requests] == [
        "/.well-known/oauth-protected-resource/mcp",
        "/register",
        "/mcp",
    ]
    codings = [request.headers["accept-encoding"] for request in served.requests]
    assert "gzip" in codings[0]
    assert "gzip" in codings[1]
    assert codings[2] == "identity"


# What is refused


@pytest.mark.parametrize("path", ["/mcp/", "/other", "/mcp?tenant=8"])
def test_a_message_for_any_other_url_is_not_sent(
    library: ModuleType, path: str, served: http_server.Served
) -> None:
    other = served.url.removesuffix("/mcp") + path

    async def scenario() -> None:
        async with library.AsyncClient(transport=guarded(library, served.url, server="acme")) as client:
            with pytest.raises(Refused) as refused:
                await client.post(other, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
            assert refused.value.code == "other-url"
            with pytest.raises(Refused, match="other-url"):
                await client.get(other, headers={"accept": "text/event-stream"})

    run(scenario)
    assert served.requests == []


@pytest.mark.parametrize("follows", [True, False])
def test_a_redirect_is_followed_within_the_origin_and_never_beyond(
    library: ModuleType, follows: bool, served: http_server.Served
) -> None:
    with http_server.serve(tools=POISONED) as elsewhere:
        served.script["elsewhere"] = elsewhere.url

        async def scenario() -> None:
            transport = guarded(library, served.url, server="acme")
            async with library.AsyncClient(transport=transport, follow_redirects=follows) as client:
                for move in ("redirect-away", "redirect-get", "redirect-loop"):
                    served.script["move"] = move
                    assert "error" in await ask(client, served.url, "ping")
                served.script["move"] = "redirect-home"
                assert await names(client, served.url) == ["add", "echo"]

        run(scenario)
        assert elsewhere.requests == []
    assert served.requests[-1].path == "/moved"


def test_what_keeps_run_from_starting_a_server_is_raised_at_once_and_as_no_error_of_the_library(
    library: ModuleType, served: http_server.Served, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as refused:
        guarded(library, "http://127.0.0.1:9/other", server="acme")
    assert refused.value.code == "identity"
    broken = tmp_path / "toolnotary.lock"
    broken.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="lockfile-"):
        guarded_clients(library, served.url, server="acme", lockfile=broken)
    assert not any(issubclass(one, library.HTTPError) for one in (Refused, InvalidInput, ConfigurationError))
    assert served.requests == []


def test_a_server_that_cannot_be_reached_raises_what_it_raises_without_us(library: ModuleType) -> None:
    async def scenario() -> None:
        async with library.AsyncClient(transport=guarded(library, "http://127.0.0.1:9/mcp")) as client:
            with pytest.raises(library.ConnectError):
                await ask(client, "http://127.0.0.1:9/mcp", "ping")

    run(scenario)


# What is followed


def test_a_pin_that_is_withdrawn_counts_no_more_in_any_client_of_the_server(
    library: ModuleType, served: http_server.Served, capsys: pytest.CaptureFixture[str]
) -> None:
    async def refused(client: Any) -> None:
        while "isError" not in (await ask(client, served.url, "tools/call", ECHO)).get("result", {}):
            await asyncio.sleep(0.05)

    async def scenario() -> None:
        clients = guarded_clients(library, served.url, server="acme")
        async with clients() as one, clients() as other:
            for client in (one, other):
                assert "result" not in await ask(client, served.url, "tools/call", ECHO)
            assert await asyncio.to_thread(main, ["revoke", "acme"]) == 0
            await asyncio.gather(refused(one), refused(other))

    run(scenario)


def test_a_client_that_is_made_later_sees_what_changed_in_between(
    library: ModuleType, served: http_server.Served, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario() -> None:
        clients = guarded_clients(library, served.url, server="acme")
        async with clients() as client:
            assert await names(client, served.url) == ["add", "echo"]
        assert await asyncio.to_thread(main, ["revoke", "acme"]) == 0
        async with clients() as client:
            assert await names(client, served.url) == []

    run(scenario)


# Where it runs


def test_a_client_that_nobody_closed_leaves_nothing_on_the_loop(
    library: ModuleType, served: http_server.Served
) -> None:
    async def scenario() -> None:
        def used() -> Any:
            return library.AsyncClient(
                transport=guarded(library, served.url, server="acme", inner=answering(library))
            )

        client = used()
        assert await names(client, served.url) == ["add", "echo"]
        assert len(asyncio.all_tasks()) > 1
        del client
        gc.collect()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.01)

    run(scenario)


def answering(library: ModuleType) -> Any:
    """A transport of the library that needs no server."""

    def answer(request: Any) -> Any:
        message = json.loads(request.content)
        body = {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": TOOLS}}
        return library.Response(200, json=body)

    return library.MockTransport(answer)


def test_a_transport_outlives_the_loop_that_it_was_used_on(
    library: ModuleType, served: http_server.Served
) -> None:
    client = library.AsyncClient(transport=guarded(library, served.url, server="acme"))

    async def listed() -> list[str]:
        return await names(client, served.url)

    assert asyncio.run(listed()) == ["add", "echo"]
    served.script["tools"] = [TOOLS[0], *POISONED]
    assert asyncio.run(listed()) == ["add"]
    asyncio.run(client.aclose())


def test_two_loops_at_once_need_a_client_each(library: ModuleType, served: http_server.Served) -> None:
    client = library.AsyncClient(transport=guarded(library, served.url, server="acme"))
    raised: list[ConfigurationError] = []

    async def listed() -> None:
        async with library.AsyncClient(transport=guarded(library, served.url, server="acme")) as own:
            assert await names(own, served.url) == ["add", "echo"]
        try:
            await names(client, served.url)
        except ConfigurationError as error:
            raised.append(error)

    async def scenario() -> None:
        async with client:
            assert await names(client, served.url) == ["add", "echo"]
            thread = threading.Thread(target=asyncio.run, args=(listed(),))
            thread.start()
            await asyncio.to_thread(thread.join)

    run(scenario)
    assert [error.code for error in raised] == ["event-loop"]


def test_without_an_event_loop_of_asyncio_it_says_what_it_needs(library: ModuleType) -> None:
    transport = guarded(library, "http://127.0.0.1:9/mcp")
    request = library.Request("POST", "http://127.0.0.1:9/mcp", json={"jsonrpc": "2.0"})
    with pytest.raises(ConfigurationError, match="event-loop"):
        transport.handle_async_request(request).send(None)


def test_it_imports_neither_library() -> None:
    code = "import sys, toolnotary_verifier.shells.httpx; print(*{'httpx', 'httpx2'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "\n"


# What a program says


def test_the_lockfile_that_is_named_counts(library: ModuleType, tmp_path: Path) -> None:
    lockfile = tmp_path / "toolnotary.lock"
    with http_server.serve() as server:
        pin(server.url, lockfile=lockfile)

        async def listed(**options: Any) -> list[str]:
            transport = guarded(library, server.url, server="acme", **options)
            async with library.AsyncClient(transport=transport) as client:
                return await names(client, server.url)

        assert asyncio.run(listed(lockfile=lockfile)) == ["add", "echo"]
        assert asyncio.run(listed()) == []


def test_the_policy_that_is_named_counts(
    library: ModuleType, served: http_server.Served, tmp_path: Path
) -> None:
    policy = tmp_path / "toolnotary.toml"
    policy.write_text("[limits]\ntools = 1\n", encoding="utf-8")

    async def listed(**options: Any) -> Json:
        transport = guarded(library, served.url, server="acme", **options)
        async with library.AsyncClient(transport=transport) as client:
            return await ask(client, served.url, "tools/list")

    assert "result" in asyncio.run(listed())
    assert "error" in asyncio.run(listed(policy=policy))


def test_a_server_is_found_by_its_url_where_no_name_is_given(
    library: ModuleType, served: http_server.Served
) -> None:
    async def scenario() -> None:
        async with library.AsyncClient(transport=guarded(library, served.url)) as client:
            assert await names(client, served.url) == ["add", "echo"]

    run(scenario)


def test_people_read_what_was_done_in_the_log_of_the_program(
    library: ModuleType, served: http_server.Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.script["tools"] = [TOOLS[0], *POISONED]

    async def scenario() -> None:
        async with library.AsyncClient(transport=guarded(library, served.url, server="acme")) as client:
            await names(client, served.url)

    run(scenario)
    [record] = [record for record in caplog.records if "withheld" in record.message]
    assert (record.name, record.levelno) == ("toolnotary", logging.WARNING)
    assert "acme: drift: withheld tool echo (changed)" in record.message


def test_a_transport_that_is_given_sends_and_is_closed(library: ModuleType) -> None:
    pin("https://mcp.acme.example/mcp")

    class Inner(library.AsyncBaseTransport):  # type: ignore[name-defined,misc]  # of either library
        closed = 0

        async def handle_async_request(self, request: Any) -> Any:
            return await answering(library).handle_async_request(request)

        async def aclose(self) -> None:
            Inner.closed += 1

    async def scenario() -> None:
        url = "https://mcp.acme.example/mcp"
        async with library.AsyncClient(transport=guarded(library, url, inner=Inner())) as client:
            assert await names(client, url) == ["add", "echo"]
        async with guarded_clients(library, url, inner=Inner)() as client:
            assert await names(client, url) == ["add", "echo"]

    run(scenario)
    assert Inner.closed == 2


def test_https_goes_through_the_proxy_of_the_environment(
    library: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tunnel() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)

        async def scenario() -> None:
            url = "https://127.0.0.1:9/mcp"
            async with library.AsyncClient(transport=guarded(library, url)) as client:
                with pytest.raises(library.TransportError):
                    await ask(client, url, "ping")

        run(scenario)
        assert proxy.targets == ["127.0.0.1:9"]


def test_a_factory_gives_clients_as_frameworks_ask_for_them(
    library: ModuleType, served: http_server.Served
) -> None:
    served.script["token"] = "T"

    async def scenario() -> None:
        clients = guarded_clients(library, served.url, server="acme")

        class Token(library.Auth):  # type: ignore[name-defined,misc]  # of either library
            def auth_flow(self, request: Any) -> Any:
                request.headers["authorization"] = "Bearer T"
                yield request

        async with clients(headers={"x-a": "b"}, timeout=library.Timeout(5), auth=Token()) as client:
            assert await names(client, served.url) == ["add", "echo"]
            assert client.timeout == library.Timeout(5)
            assert client.headers["x-a"] == "b"
        async with clients() as client:
            assert client.timeout.read == 300

    run(scenario)
