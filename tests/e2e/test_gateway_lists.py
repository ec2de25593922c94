# SPDX-License-Identifier: Apache-2.0
"""Lists through the gateway: the last state is verified, what was verified is called, and nobody crosses."""

import contextlib
import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import shells
from audit_lines import audit_lines
from proxybench import Wire
from servers import sessions_http
from servers.sessions_http import HANDSHAKE, STATELESS, Asked, Served

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import assemble

Json = Any
META = "io.modelcontextprotocol/"


def tool(name: str, description: str = "fine") -> Json:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


A, B, MORE = tool("a"), tool("b"), tool("more")
EVIL = tool("b", "POISON")


@pytest.fixture
def home() -> Path:
    """The personal folder of this test, which the gateway shares."""
    found = Path(os.environ["TOOLNOTARY_HOME"])
    found.chmod(0o700)
    return found


def pin(url: str, home: Path, *tools: Json) -> None:
    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    surface = assemble({Kind.TOOL: list(tools)}, inspected=tuple(Kind), server_info={}, capabilities={})
    pin_surface(surface, server=shells.SERVER, launch=Launch.from_url(url)).apply(project)


class Host:
    """One host: in a session where the server opens one, else stateless."""

    def __init__(
        self, url: str, *, token: str = "", session: str | None = None, modern: bool = False
    ) -> None:
        self.session = session
        self.token = token
        self._url = url
        self._is_modern = modern
        self.heard: list[Json] = []
        self._more = threading.Condition()

    def open(self, **capabilities: Json) -> None:
        about = {"protocolVersion": HANDSHAKE, "capabilities": capabilities, "clientInfo": {}}
        status, headers, _ = self.post({"id": 0, "method": "initialize", "params": about})
        assert status == 200
        self.session = headers.get("mcp-session-id")
        self.post({"method": "notifications/initialized"})

    def post(self, message: Json) -> tuple[int, dict[str, str], Json]:
        """Status, headers and the last message of the answer."""
        with self._sent("POST", json.dumps({"jsonrpc": "2.0", **message}).encode()) as response:
            found = {name.lower(): value for name, value in response.getheaders()}
            body = response.read().decode()
        events = [line[6:] for line in body.splitlines() if line.startswith("data: ")]
        text = events[-1] if events else body
        return response.status, found, json.loads(text) if text.strip() else None

    def ask(self, method: str, request_id: Json = 1, **params: Json) -> Json:
        if self._is_modern:
            params["_meta"] = {f"{META}protocolVersion": STATELESS, f"{META}clientCapabilities": {}}
        return self.post({"id": request_id, "method": method, "params": params})[2]

    def tools(self) -> list[str]:
        return [one["name"] for one in self.ask("tools/list")["result"]["tools"]]

    def calls(self, name: str) -> bool:
        """Whether a call went through."""
        answer = self.ask("tools/call", name=name, arguments={})
        assert "result" in answer, answer
        return not answer["result"].get("isError")

    def listen(self, **params: Json) -> None:
        """Open a stream for what nobody asked for, and wait until the server has it."""
        opened = threading.Event()
        threading.Thread(target=self._listen, args=(opened, params), daemon=True).start()
        assert opened.wait(30)

    def _listen(self, opened: threading.Event, params: Json) -> None:
        body = b""
        if self._is_modern:
            meta = {f"{META}protocolVersion": STATELESS, f"{META}clientCapabilities": {}}
            wanted = {"notifications": {"toolsListChanged": True}, "_meta": meta}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": wanted}
            body = json.dumps({**asked, **params}).encode()
        is_over = contextlib.suppress(OSError, http.client.HTTPException)
        with is_over, self._sent("POST" if body else "GET", body) as response:
            while line := response.readline():
                opened.set()
                if line.startswith(b"data: "):
                    with self._more:
                        self.heard.append(json.loads(line[6:]))
                        self._more.notify_all()

    def hears(self, what: Callable[[Json], bool]) -> Json:
        """Wait for a message on the stream."""
        with self._more:
            assert self._more.wait_for(lambda: any(map(what, self.heard)), 30), self.heard
        return next(filter(what, self.heard))

    @contextlib.contextmanager
    def _sent(self, method: str, body: bytes) -> Iterator[http.client.HTTPResponse]:
        address, _, path = self._url.removeprefix("http://").partition("/")
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.session is not None:
            headers["Mcp-Session-Id"] = self.session
        if self._is_modern:
            asked = json.loads(body)
            headers["MCP-Protocol-Version"] = STATELESS
            headers["Mcp-Method"] = asked["method"]
            if "name" in asked["params"]:
                headers["Mcp-Name"] = asked["params"]["name"]
        elif self.session is not None:
            headers["MCP-Protocol-Version"] = HANDSHAKE
        with contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as connection:
            connection.request(method, f"/{path}", body or None, headers)
            yield connection.getresponse()


def is_change(message: Json) -> bool:
    return bool(message.get("method") == "notifications/tools/list_changed")


def eventually(what: Callable[[], object]) -> None:
    until = time.monotonic() + 30
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


@contextlib.contextmanager
def before(server: Served, home: Path, *pinned: Json) -> Iterator[shells.Front]:
    pin(server.url, home, *pinned)
    with shells.gateway(server.url, home) as front:
        yield front


@pytest.mark.parametrize("modern", [False, True])
def test_a_host_that_calls_without_a_listing_is_served_from_one_that_was_verified(
    home: Path, modern: bool
) -> None:
    with sessions_http.serve(lambda _: [A, EVIL]) as server, before(server, home, A, B) as front:
        host = Host(front.url, modern=modern)
        if not modern:
            host.open()
        assert host.calls("a")
        assert not host.calls("b")
        assert len(server.listings) == 1
        assert server.called == [("", "a")]


def test_a_change_in_a_session_is_verified_before_the_host_hears_of_it(home: Path) -> None:
    with (
        sessions_http.serve(lambda asked: [A, B] if asked.number == 0 else [A, EVIL]) as server,
        before(server, home, A, B) as front,
    ):
        host = Host(front.url)
        host.open()
        host.listen()
        assert host.calls("b")
        server.notify()
        host.hears(is_change)
        assert len(server.listings) == 2
        assert not host.calls("b")
        assert host.calls("a")


def test_a_storm_on_a_stream_is_few_listings_and_the_last_state_counts(home: Path) -> None:
    shown = [A, B]
    with sessions_http.serve(lambda _: shown) as server, before(server, home, A, B) as front:
        host = Host(front.url)
        host.open()
        host.listen()
        assert host.tools() == ["a", "b"]
        server.notify(times=200)
        host.hears(is_change)
        shown[1] = EVIL
        server.notify(times=200)
        eventually(lambda: not host.calls("b"))
        assert host.calls("a")
        assert len(server.listings) <= 5
        assert len(host.heard) <= 4


def test_a_server_that_announces_while_it_lists_is_no_loop(home: Path) -> None:
    with sessions_http.serve(lambda _: [A], noise=50) as server, before(server, home, A) as front:
        host = Host(front.url)
        host.open()
        host.listen()
        assert host.tools() == ["a"]
        time.sleep(4)
        assert len(server.listings) <= 5


def test_what_is_announced_in_one_session_is_not_told_in_another(home: Path) -> None:
    with sessions_http.serve(lambda _: [A]) as server, before(server, home, A) as front:
        hosts = [Host(front.url), Host(front.url)]
        for host in hosts:
            host.open()
            host.listen()
            assert host.tools() == ["a"]
        server.notify(hosts[0].session)
        hosts[0].hears(is_change)
        assert hosts[1].heard == []


def test_two_hosts_of_one_caller_that_listen_under_one_id_both_hear_of_a_change(home: Path) -> None:
    shown = [A, B]
    with (
        sessions_http.serve(lambda _: shown, has_sessions=False) as server,
        before(server, home, A, B) as front,
    ):
        hosts = [Host(front.url, token="same", modern=True) for _ in range(2)]
        for host in hosts:
            host.listen()
        assert hosts[0].calls("b")
        shown[1] = EVIL
        server.notify()
        for host in hosts:
            host.hears(is_change)
            assert not host.calls("b")


@pytest.mark.parametrize("modern", [False, True])
def test_two_callers_with_different_lists_see_their_own_and_nobody_is_asked(home: Path, modern: bool) -> None:
    lists = {"reader": [A], "writer": [A, B, MORE]}
    with (
        sessions_http.serve(lambda asked: lists[asked.token], has_sessions=not modern) as server,
        before(server, home, A, B, MORE) as front,
    ):
        hosts = {token: Host(front.url, token=token, modern=modern) for token in lists}
        for host in hosts.values():
            if not modern:
                host.open(elicitation={})
                host.listen()
        for _ in range(3):
            assert hosts["reader"].tools() == ["a"]
            assert hosts["writer"].tools() == ["a", "b", "more"]
            assert not hosts["reader"].calls("b"), "what another caller sees is not called for this one"
            assert hosts["writer"].calls("b")
        time.sleep(2)
        assert hosts["reader"].heard == hosts["writer"].heard == []
        assert ("reader", "b") not in server.called
        assert "[withheld]" not in front.said
        assert "[asked]" not in front.said


def test_a_caller_whose_token_ran_out_hears_it_and_goes_on_with_another(home: Path) -> None:
    shown = [A, B]
    with sessions_http.serve(lambda _: shown, tokens={"old"}) as server, before(server, home, A, B) as front:
        host = Host(front.url, token="old")
        host.open()
        host.listen()
        assert host.calls("b")
        server.tokens = {"new"}
        assert host.post({"id": 5, "method": "tools/list", "params": {}})[0] == 401
        host.token = "new"
        assert host.tools() == ["a", "b"]
        assert host.calls("b")
        shown[1] = EVIL
        server.notify()  # on the stream that was opened with the old token
        host.hears(is_change)
        assert not host.calls("b"), "a change on one stream of a session holds for all of it"


def test_a_session_that_the_server_forgot_is_begun_anew_and_verified_anew(home: Path) -> None:
    shown = [A, B]
    with sessions_http.serve(lambda _: shown) as server, before(server, home, A, B) as front:
        host = Host(front.url)
        host.open()
        assert host.calls("b")
        server.forget(host.session or "")
        assert host.post({"id": 5, "method": "tools/call", "params": {"name": "b"}})[0] == 404
        assert host.post({"id": 6, "method": "tools/list"})[0] == 404
        shown[1] = EVIL
        host.session = None
        host.open()
        assert not host.calls("b")
        assert host.calls("a")


def test_a_gateway_that_is_started_anew_verifies_a_session_that_it_never_saw_open(home: Path) -> None:
    shown = [A, B]
    with sessions_http.serve(lambda _: shown) as server:
        pin(server.url, home, A, B)
        with shells.gateway(server.url, home) as front:
            host = Host(front.url)
            host.open()
            assert host.calls("b")
        shown[1] = EVIL
        with shells.gateway(server.url, home) as front:
            again = Host(front.url, session=host.session)
            again.listen()
            assert again.calls("a")
            assert not again.calls("b")
            pin(server.url, home, A, EVIL)
            again.hears(is_change)
            assert again.calls("b")


def test_of_replicas_behind_one_url_the_evil_one_lets_nothing_pass(home: Path) -> None:
    def replicas(asked: Asked) -> Json:
        return [A, EVIL, MORE] if asked.number % 2 else [A, B]

    with sessions_http.serve(replicas) as server, before(server, home, A, B) as front:
        host = Host(front.url)
        host.open()
        for number in range(10):
            shown = host.ask("tools/list", number)["result"]["tools"]
            assert shown in ([A, B], [A])
            assert host.calls("b") is (shown == [A, B])
            assert not host.calls("more")
        assert front.said.count("withheld tool b (changed)") == 1
        assert ("", "more") not in server.called


def test_how_long_a_list_may_be_kept_is_bounded_by_how_long_it_is_believed_here(home: Path) -> None:
    (home / "toolnotary.toml").write_text("[limits]\nreverify-seconds = 2\n", encoding="utf-8")
    shown = [A, B]
    with sessions_http.serve(lambda _: shown) as server, before(server, home, A, B) as front:
        host = Host(front.url, modern=True)
        assert host.ask("tools/list")["result"]["ttlMs"] == 2000
        shown[1] = EVIL
        time.sleep(2.5)
        assert not host.calls("b")


# Questions in a host


def asked_in(host: Host) -> Json:
    return host.hears(lambda message: message.get("method") == "elicitation/create")


def test_a_session_is_asked_on_its_own_stream_and_answers_by_a_post(home: Path) -> None:
    with (
        sessions_http.serve(lambda asked: [A, MORE] if asked.token == "one" else [A]) as server,
        before(server, home, A) as front,
    ):
        hosts = [Host(front.url, token=token) for token in ("one", "two")]
        for host in hosts:
            host.open(elicitation={})
            assert host.tools() == ["a"]
        for host in hosts:
            host.listen()
        question = asked_in(hosts[0])
        assert question["params"]["mode"] == "form"
        assert "tool more (added)" in question["params"]["message"]
        answer = {"id": question["id"], "result": {"action": "decline"}}
        hosts[1].post(answer)
        time.sleep(1)
        assert not [line for line in audit_lines() if line["event"] == "answered"], "from another session"
        assert hosts[0].post(answer)[0] == 202
        eventually(lambda: [line for line in audit_lines() if line["event"] == "declined"])
        assert server.answers == [], "no server sees an answer to a question of ours"
        assert hosts[1].heard == []
        assert not hosts[0].calls("more")


def test_a_yes_over_http_pins_what_was_named_where_the_policy_says_so(home: Path) -> None:
    (home / "toolnotary.toml").write_text("[elicitation]\ngrant = true\n", encoding="utf-8")
    with sessions_http.serve(lambda _: [A, MORE]) as server, before(server, home, A) as front:
        host = Host(front.url)
        host.open(elicitation={"form": {}})
        host.listen()
        assert not host.calls("more")
        question = asked_in(host)
        host.post({"id": question["id"], "result": {"action": "accept", "content": {"decision": "accept"}}})
        host.hears(is_change)
        assert host.calls("more")


def test_a_host_behind_the_bridge_is_asked_through_its_pipe(home: Path) -> None:
    with sessions_http.serve(lambda _: [A, MORE]) as server:
        pin(server.url, home, A)
        command = [sys.executable, "-m", "toolnotary_cli", "run", "--server", shells.SERVER]
        with Wire([*command, "--url", server.url]) as host:
            host.shake_hands(elicitation={})
            assert host.tools() == ["a"]
            while (question := host.message()).get("method") != "elicitation/create":
                pass
            said = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
            host.write(json.dumps(said).encode() + b"\n")
            eventually(lambda: [line for line in audit_lines() if line["event"] == "declined"])
            assert server.answers == []
            assert host.call("more")[0]
            assert host.end() == 0


def test_a_stateless_host_and_one_without_a_stream_are_sent_nothing(home: Path) -> None:
    with sessions_http.serve(lambda _: [A, MORE]) as server, before(server, home, A) as front:
        silent, modern = Host(front.url), Host(front.url, modern=True)
        silent.open(elicitation={})
        modern.listen()
        assert silent.tools() == modern.tools() == ["a"]
        time.sleep(3)
        assert modern.heard == []
        assert not [line for line in audit_lines() if line["event"] == "asked"]
