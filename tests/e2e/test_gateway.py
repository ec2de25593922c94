# SPDX-License-Identifier: Apache-2.0
"""The HTTP gateway as hosts use it: a process of its own, in front of a server that can do anything."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_lines import audit_lines
from servers import http_server
from terminal import at_terminal

Json = Any
_CODE = "import sys; from toolnotary_cli.main import main; sys.exit(main())"


class Answer:
    """What a host got."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def message(self) -> Json:
        """The one message in it."""
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            [text] = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        return json.loads(text)


class Gate:
    """A running gateway."""

    def __init__(self, urls: list[str], errors: Path) -> None:
        self.urls = urls
        self._errors = errors

    @property
    def told(self) -> str:
        return self._errors.read_text(encoding="utf-8")

    def send(self, method: str, body: bytes = b"", path: str | None = None, **headers: str) -> Answer:
        address, _, known = self.urls[0].removeprefix("http://").partition("/")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
            connection.request(method, path or f"/{known}", body or None, named)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())

    def post(self, message: Json, **headers: str) -> Answer:
        content = {"content_type": "application/json", "accept": "application/json, text/event-stream"}
        return self.send("POST", json.dumps(message).encode(), **{**content, **headers})

    def ask(self, method: str, params: Json = None, **headers: str) -> Json:
        message = {"jsonrpc": "2.0", "id": 7, "method": method}
        return self.post(message | ({} if params is None else {"params": params}), **headers).message


@contextlib.contextmanager
def gateway(folder: Path, *arguments: str) -> Iterator[Gate]:
    """A gateway on a free port, until the block ends."""
    errors = folder / "gateway.log"
    command = [sys.executable, "-c", _CODE, "gateway", "--port", "0", *arguments]
    with errors.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, stderr=stream, stdout=subprocess.DEVNULL)
    try:
        yield Gate(_announced(process, errors), errors)
    finally:
        process.terminate()
        process.wait(30)


def _announced(process: "subprocess.Popen[bytes]", errors: Path) -> list[str]:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        lines = errors.read_text(encoding="utf-8").splitlines()
        if urls := [line.rpartition(" ")[2] for line in lines if " listening on " in line]:
            return urls
        time.sleep(0.02)
    raise AssertionError(errors.read_text(encoding="utf-8"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path / "home"))
    return tmp_path


def pin(url: str, folder: Path, name: str = "acme") -> None:
    pinned = at_terminal(["lock", "--server", name, url], ("[yes/no]", "yes\n"), directory=folder)
    assert pinned.code == 0, pinned.shown


def test_a_rug_pull_is_withheld_and_its_calls_are_refused(home: Path) -> None:
    with http_server.serve() as server:
        pin(server.url, home)
        with gateway(home, "--upstream", server.url) as gate:
            assert [tool["name"] for tool in gate.ask("tools/list")["result"]["tools"]] == ["add", "echo"]
            gate.ask("tools/call", {"name": "echo", "arguments": {}})
            assert server.calls()[-1] == "tools/call"
            server.script["tools"] = [http_server.TOOLS[0], *http_server.POISONED]
            assert [tool["name"] for tool in gate.ask("tools/list")["result"]["tools"]] == ["add"]
            refused = gate.ask("tools/call", {"name": "echo", "arguments": {}})["result"]
            assert refused["isError"]
            assert "toolnotary explain acme" in refused["content"][0]["text"]
            assert server.calls().count("tools/call") == 1
            assert "withheld tool echo (changed)" in gate.told


def test_what_the_server_is_sent_is_what_the_host_sent_and_no_compression_is_asked_for(home: Path) -> None:
    with http_server.serve() as server, gateway(home, "--upstream", server.url) as gate:
        sent = {
            "Authorization": "Bearer abc",
            "Mcp-Param-Region": "eu",
            "Accept-Encoding": "gzip",
            "X-Odd": "1",
        }
        gate.ask("ping", **sent)
        received = server.requests[-1].headers
        assert {name: received[name.lower()] for name in sent} == {**sent, "Accept-Encoding": "identity"}
        assert received["host"] == server.url.split("/")[2]


def test_a_host_that_is_not_signed_in_hears_it_from_the_server_also_where_we_asked(home: Path) -> None:
    with http_server.serve(token="right") as server, gateway(home, "--upstream", server.url) as gate:
        for method in ("ping", "tools/list"):
            assert gate.post({"jsonrpc": "2.0", "id": 1, "method": method}).status == 401
            assert "in an answer, no message" in gate.told
        assert gate.ask("tools/list", authorization="Bearer right")["result"] == {"tools": []}


def test_a_session_that_the_server_forgot_is_begun_anew_by_the_host(home: Path) -> None:
    with (
        http_server.serve(sessions=True, era="handshake") as server,
        gateway(home, "--upstream", server.url) as gate,
    ):
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "h", "version": "1"},
        }
        begun = gate.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert begun.headers["mcp-session-id"] == http_server.SESSION
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert gate.post(listing, mcp_session_id=http_server.SESSION).status == 200
        assert gate.post(listing, mcp_session_id="another").status == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "none"}, 200),
        ({"sec_fetch_site": "same-site", "origin": "http://localhost:3000"}, 200),
        ({"host": "localhost:99", "origin": "http://localhost:3000"}, 200),
        ({"host": "gate.acme.example"}, 200),
        ({"origin": "https://app.acme.example"}, 200),
    ],
)
def test_who_is_let_in(home: Path, headers: dict[str, str], status: int) -> None:
    named = ["--allow-host", "gate.acme.example", "--allow-origin", "https://app.acme.example"]
    with http_server.serve() as server, gateway(home, "--upstream", server.url, *named) as gate:
        answer = gate.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **headers)
        assert answer.status == status
        assert answer.headers.get("access-control-allow-origin") == (
            headers.get("origin") if status == 200 else None
        )


def test_a_page_that_was_let_in_may_ask_before_it_sends(home: Path) -> None:
    with (
        http_server.serve() as server,
        gateway(home, "--upstream", server.url, "--allow-origin", "https://app.acme.example") as gate,
    ):
        asked = gate.send("OPTIONS", origin="https://app.acme.example")
        assert asked.status == 204
        assert "mcp-session-id" in asked.headers["access-control-allow-headers"]
        assert gate.send("OPTIONS", origin="https://other.example").status == 403
        assert server.requests == []


@pytest.mark.parametrize(
    "move", ["redirect-away", "redirect-loop", "redirect-get", "html", "not-http", "error-500"]
)
def test_what_is_no_answer_of_the_pinned_server_is_an_error(home: Path, move: str) -> None:
    with (
        http_server.serve(answer="sse") as other,
        http_server.serve(move=move, elsewhere=other.url) as server,
        gateway(home, "--upstream", server.url) as gate,
    ):
        answer = gate.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status == (500 if move == "error-500" else 502)
        assert other.requests == []


def test_a_redirect_within_the_origin_is_followed(home: Path) -> None:
    with http_server.serve(move="redirect-home") as server, gateway(home, "--upstream", server.url) as gate:
        assert gate.ask("server/discover", {"_meta": {}})["result"]["supportedVersions"] == ["2026-07-28"]
        assert [request.path for request in server.requests] == ["/mcp", "/moved"]


@pytest.mark.parametrize(
    "move",
    [
        *("drip", "huge", "huge-length", "huge-event", "truncated", "wrong-id", "other-id-first", "accepted"),
        *("gzip", "negative-chunk", "negative-chunk-events", "answer-elsewhere", "close"),
    ],
)
def test_a_listing_that_cannot_be_read_lets_nothing_pass(home: Path, move: str) -> None:
    (home / "home").mkdir()
    (home / "home" / "toolnotary.toml").write_text("[timeouts]\nlisting = 1.0\nfirst-start = 1.0\n")
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["move"] = move
        with gateway(home, "--upstream", server.url) as gate:
            listed = gate.ask("tools/list")
            passed = [tool["description"] for tool in listed.get("result", {}).get("tools", [])]
            if move in ("other-id-first", "answer-elsewhere"):
                assert passed == [tool["description"] for tool in http_server.TOOLS]
            else:
                assert passed == []
                assert "listing" in gate.told


def test_several_servers_stand_under_paths_of_their_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "Bearer right")
    with http_server.serve(token="right") as first, http_server.serve(tools=http_server.POISONED) as second:
        file = home / "gateway.toml"
        file.write_text(
            f'[upstreams.one]\nurl = "{first.url}"\nserver = "acme"\n'
            'headers = { Authorization = "ACME_KEY" }\n'
            f'[upstreams.two]\nurl = "{second.url}"\n'
        )
        with gateway(home, "--config", str(file)) as gate:
            assert [url.rpartition("/")[2] for url in gate.urls] == ["one", "two"]
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
            assert gate.send("POST", message, path="/one").status == 200
            assert gate.send("POST", message, path="/two").status == 200
            assert gate.send("POST", message, path="/three").status == 404
            assert {first.calls()[0], second.calls()[0]} == {"tools/list"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "must hold tables"),
        ("[upstreams.a]", "has no url"),
        ('[upstreams.a]\nurl = "http://127.0.0.1/mcp"\nurll = 1', "is no key of it"),
        ('[upstreams."a/b"]\nurl = "http://127.0.0.1/mcp"', "stands in a path"),
        ('[upstreams.a]\nurl = "http://127.0.0.1/mcp"\nheaders = 1', "headers must name variables"),
        ('[upstreams.a]\nurl = "http://127.0.0.1/mcp"\nconnect_to = "nowhere"', "connect_to is no HOST:PORT"),
        ("no toml", "is no TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused(home: Path, text: str, why: str) -> None:
    (home / "gateway.toml").write_text(text)
    command = [sys.executable, "-c", _CODE, "gateway", "--config", "gateway.toml"]
    ended = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert (ended.returncode, why in ended.stderr, "gateway-file" in ended.stderr) == (2, True, True), (
        ended.stderr
    )


def test_a_variable_that_is_not_there_is_told_with_the_place_that_names_it(home: Path) -> None:
    text = '[upstreams.a]\nurl = "http://127.0.0.1/mcp"\nheaders = { "X-Api-Key" = "NO_SUCH" }'
    (home / "gateway.toml").write_text(text)
    command = [sys.executable, "-c", _CODE, "gateway", "--config", "gateway.toml"]
    ended = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    told = "gateway.toml [upstreams.a]: headers: there is no environment variable NO_SUCH"
    assert (ended.returncode, told in ended.stderr) == (2, True), ended.stderr


def test_a_revoked_pin_lets_nothing_pass_within_two_seconds(home: Path) -> None:
    with http_server.serve() as server:
        pin(server.url, home)
        with gateway(home, "--upstream", server.url) as gate:
            assert len(gate.ask("tools/list")["result"]["tools"]) == 2
            revoked = at_terminal(["revoke", "acme"], ("[yes/no]", "yes\n"), directory=home)
            assert revoked.code == 0, revoked.shown
            time.sleep(2)
            assert gate.ask("tools/call", {"name": "add", "arguments": {}})["result"]["isError"]


def test_what_only_the_host_can_be_shown_is_reviewed_as_it_was_shown(home: Path) -> None:
    """Behind a token that the host alone has: nobody else can look, and a person decides all the same."""
    with http_server.serve() as server:
        pin(server.url, home)
        server.script |= {"token": "right", "tools": [http_server.TOOLS[0], *http_server.POISONED]}
        with gateway(home, "--upstream", server.url) as gate:
            shown = gate.ask("tools/list", authorization="Bearer right")["result"]["tools"]
            assert [tool["name"] for tool in shown] == ["add"]
            deadline = time.monotonic() + 30  # it is kept beside the connection
            while not list((home / "home" / "seen").rglob("*.json")):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            asked = len(server.requests)
            live = at_terminal(["approve", "acme"], directory=home)
            assert "unauthorized" in live.shown
            assert "reviewed with: toolnotary approve acme --seen" in live.shown
            session = at_terminal(["approve", "acme", "--seen"], ("[yes/no]", "yes\n"), directory=home)
            assert session.code == 0, session.shown
            assert f"on a guarded connection, started as {server.url}" in session.shown
            assert len(server.requests) == asked + 1, "the server was asked by the first of them alone"
            for _ in range(600):
                shown = gate.ask("tools/list", authorization="Bearer right")["result"]["tools"]
                if len(shown) > 1:
                    break
                time.sleep(0.05)
            assert [tool["name"] for tool in shown] == ["add", "echo"]


@pytest.mark.parametrize("whose", ["gateway", "authorization", "x_auth_token", "private_token"])
def test_what_repeats_a_credential_is_not_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    """That of the gateway itself, and that of a host which the gateway hands on."""
    monkeypatch.setenv("KEY", "Bearer s3cret-s3cret")
    own, sent = (
        (["--header", "Authorization=KEY"], {})
        if whose == "gateway"
        else ([], {whose: "Bearer s3cret-s3cret"})
    )
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["tools"] = [{**http_server.TOOLS[0], "description": "Say s3cret-s3cret."}]
        with gateway(home, "--upstream", server.url, *own) as gate:
            assert gate.ask("tools/list", **sent)["result"]["tools"] == []
            deadline = time.monotonic() + 30
            while "secret-in-surface" not in gate.told:
                assert time.monotonic() < deadline, gate.told
                time.sleep(0.05)
        assert list((home / "home").rglob("seen/*/*.json")) == []


@pytest.mark.parametrize("whose", ["gateway", "host"])
def test_no_line_repeats_a_credential_that_a_server_speaks(
    home: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    monkeypatch.setenv("KEY", "Bearer s3cret-s3cret")
    own = ["--header", "Authorization=KEY"] if whose == "gateway" else []
    sent = {} if own else {"authorization": "Bearer s3cret-s3cret"}
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["tools"] = [{**http_server.TOOLS[0], "name": "s3cret-s3cret"}]
        with gateway(home, "--upstream", server.url, *own) as gate:
            assert gate.ask("tools/list", **sent)["result"]["tools"] == []
            assert "withheld tool *** (added)" in gate.told
            assert "s3cret" not in gate.told
        files = [path for path in home.rglob("*") if path.is_file()]
        assert "audit.jsonl" in {path.name for path in files}
        assert [path for path in files if b"s3cret" in path.read_bytes()] == []


def test_what_is_no_request_goes_to_no_server_and_is_told_by_no_line(home: Path) -> None:
    torn = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5;\nhello\r\n0\r\n\r\n"
    )
    upgraded = b"GET /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with http_server.serve() as server:
        pin(server.url, home)
        asked = len(server.requests)
        with gateway(home, "--upstream", server.url) as gate:
            port = int(gate.urls[0].rpartition(":")[2].partition("/")[0])
            for sent, status in ((torn, b" 400 "), (upgraded, b" 403 ")):
                with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                    connection.sendall(sent)
                    assert status in connection.recv(4096)
            assert gate.send("OPTIONS").status == 405
            assert gate.told.count("\n") == 1
        assert len(server.requests) == asked


def said_to(gate: Gate, *parts: bytes) -> bytes:
    """What is answered to these bytes, on a connection of their own."""
    port = int(gate.urls[0].rpartition(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with contextlib.suppress(ConnectionError):  # it may end before all of it was sent
            for part in parts:
                connection.sendall(part)
        return connection.recv(4096)


def test_more_headers_than_any_host_sends_are_refused_and_kept_by_nobody(home: Path) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    with http_server.serve() as server:
        pin(server.url, home)
        asked = len(server.requests)
        with gateway(home, "--upstream", server.url) as gate:
            for parts in (
                [head, b"".join(b"X-%d: a\r\n" % n for n in range(300)), b"\r\n"],
                [head + b"X: " + b"a" * (80 << 10) + b"\r\n\r\n"],
                [head, b"X: ", *([b"a" * (16 << 10)] * 64)],
                [head, *([b"A: b\r\n" * 1024] * 64)],
                [chunked, *([b"A: b\r\n" * 1024] * 64)],
            ):
                assert said_to(gate, *parts).startswith(b"HTTP/1.1 431 "), parts[-1][:20]
            few = b"".join(b"X-%d: a\r\n" % n for n in range(80))
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
            told = said_to(gate, head + few + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert told.startswith(b"HTTP/1.1 200 ")
        assert len(server.requests) == asked + 1


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        (b"try again later\n", True),
        (b"Error: connect ECONNREFUSED 127.0.0.1:8080", True),
        (b"", True),
        (b'tools: {"name": "echo", "description": "POISON"}', False),
        (b"tools: [echo] POISON", False),
        (b"POISON " * 200, False),
    ],
)
def test_of_an_error_that_is_no_message_a_few_words_pass_and_nothing_in_which_a_definition_stands(
    home: Path, text: bytes, passes: bool
) -> None:
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["error"] = text
        with gateway(home, "--upstream", server.url) as gate:
            answer = gate.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (answer.status, answer.body) == (503, text if passes else b"")


def test_a_request_whose_headers_name_another_tool_is_refused_as_the_protocol_says(home: Path) -> None:
    version = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call"}
    call = message | {"params": {"name": "echo", "arguments": {}, "_meta": meta}}
    agreeing = {"mcp_protocol_version": version, "mcp_method": "tools/call", "mcp_name": "echo"}
    with http_server.serve(calls=True) as server:
        pin(server.url, home)
        with gateway(home, "--upstream", server.url) as gate:
            assert gate.post(call, **agreeing).status == 200
            for header, value in (("mcp_name", "add"), ("mcp_method", "tools/list")):
                refused = gate.post(call, **{**agreeing, header: value})
                assert (refused.status, refused.message["error"]["code"]) == (400, -32020)
            assert gate.told.count("its headers say another one [request-refused]") == 2
        assert server.calls().count("tools/call") == 1
    assert [line["reason"] for line in audit_lines() if line["event"] == "refused"] == ["request-refused"] * 2


def test_a_url_that_is_not_the_pinned_one_is_not_stood_before(home: Path) -> None:
    with http_server.serve() as server:
        pin(server.url, home)
    command = [
        sys.executable,
        "-c",
        _CODE,
        "gateway",
        "--server",
        "acme",
        "--upstream",
        "http://127.0.0.1:9/other",
    ]
    ended = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "identity" in ended.stderr


def test_what_is_decided_is_taken_down_and_what_a_person_lets_pass_passes_for_a_while(home: Path) -> None:
    call = ("tools/call", {"name": "echo", "arguments": {"text": "hunter2-hunter2"}})
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["tools"] = [http_server.TOOLS[0], *http_server.POISONED]
        with gateway(home, "--upstream", server.url) as gate:
            assert gate.ask(*call)["result"]["isError"]
            words = ["break-glass", "acme", "--reason", "index is down"]
            let_pass = at_terminal(words, ("[yes/no]", "yes\n"), directory=home)
            assert let_pass.code == 0, let_pass.shown
            deadline = time.monotonic() + 60
            while gate.ask(*call).get("result", {}).get("isError") and time.monotonic() < deadline:
                time.sleep(0.2)
            assert "no pin lets this pass: tool echo (override)" in gate.told
            ended = at_terminal(["revoke", "acme", "--override"], directory=home)
            assert ended.code == 0, ended.shown
            while not gate.ask(*call).get("result", {}).get("isError") and time.monotonic() < deadline:
                time.sleep(0.2)
        told = audit_lines(home / "home" / "audit.jsonl")
    about = [line["event"] for line in told if line["name"] == "echo" and line["event"] != "judged"]
    assert (about[0], about[-1], about.count("broke-glass"), about.count("ended")) == (
        "refused",
        "refused",
        1,
        1,
    )
    assert about.index("refused") < about.index("broke-glass") < about.index("allowed") < about.index("ended")
    refused = next(line for line in told if line["event"] == "refused")
    assert (refused["server"], refused["request"], refused["inspection"]) == ("acme", 7, "wire")
    assert "hunter2" not in (home / "home" / "audit.jsonl").read_text("ascii")


def test_what_a_person_lets_pass_passes_no_longer_than_that(home: Path) -> None:
    call = ("tools/call", {"name": "echo", "arguments": {}})
    with http_server.serve() as server:
        pin(server.url, home)
        server.script["tools"] = [http_server.TOOLS[0], *http_server.POISONED]
        with gateway(home, "--upstream", server.url) as gate:
            assert gate.ask(*call)["result"]["isError"]
            words = ["break-glass", "acme", "--reason", "index is down", "--for", "10s"]
            let_pass = at_terminal(words, ("[yes/no]", "yes\n"), directory=home)
            assert let_pass.code == 0, let_pass.shown
            deadline = time.monotonic() + 60
            while gate.ask(*call).get("result", {}).get("isError") and time.monotonic() < deadline:
                time.sleep(0.2)
            assert "no pin lets this pass: tool echo (override)" in gate.told
            while not gate.ask(*call).get("result", {}).get("isError") and time.monotonic() < deadline:
                time.sleep(0.2)
            assert gate.ask(*call)["result"]["isError"]
        told = audit_lines(home / "home" / "audit.jsonl")
    events = [line["event"] for line in told if line["name"] == "echo" and line["event"] != "judged"]
    assert events.index("allowed") < events.index("expired") < len(events) - 1
    assert events[-1] == "refused"
