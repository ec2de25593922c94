# SPDX-License-Identifier: Apache-2.0
"""Whoever sends requests to the review page without being the person who opened it gets nothing from it."""

import os
import re
import secrets
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from pinned_servers import LOSE, POISONED, Bench, bench
from reviewing import OPENS, PRESSES, Page, Visitor

from toolnotary_cli.page import peers, visit
from toolnotary_cli.page.board import Board, Shown
from toolnotary_cli.page.door import Door
from toolnotary_cli.page.markup import element

__all__ = ["bench"]

Json = Any
SUBJECT = "sha256:" + "0" * 64


@pytest.fixture
def door() -> Iterator[Door]:
    """A page in this process, whose requests end soon."""
    board = Board()
    sheet = element("p", "what files shows")
    board.put(Shown(SUBJECT, "files is not as it was pinned", "Lead", [sheet], "Accept", "Decline", "late"))
    opened = Door(board, secrets.token_urlsafe(32), seconds=0.5)
    threading.Thread(target=opened.serve_forever, args=(0.05,), daemon=True).start()
    yield opened
    opened.shutdown()
    opened.server_close()


@pytest.fixture
def changed(bench: Bench) -> Bench:
    bench.pin()
    bench.shows(POISONED, LOSE)
    return bench


def asked(bench: Bench) -> Page:
    return Page("approve", "files", "--start", "--page", "--no-open", directory=bench.folder)


@pytest.fixture
def page(door: Door) -> Visitor:
    return Visitor(door.url)


def still_asks(page: Visitor) -> bool:
    return page.open().text.count(">Accept</button>") == 1


def test_every_answer_forbids_scripts_frames_caches_and_referrers(page: Visitor) -> None:
    answers = [
        page.open(),
        page.ask(path="/"),
        page.ask(headers={"Host": "evil.example"}),
        page.ask("OPTIONS"),
        page.post({"subject": "x", "answer": "no"}),
    ]
    assert [answer.code for answer in answers] == [200, 404, 421, 501, 409]
    for answer in answers:
        policy = answer.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert {"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} <= {*policy}
        assert not any("unsafe" in part or "http" in part or part.startswith("script") for part in policy)
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["server"] == "toolnotary"
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert not re.search(r"(?i)<script|\son\w+=|<(link|img|iframe|base)|javascript:", answer.text)
        assert page.token not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/", "/x/", "/{token}", "/{token}x/", "/{start}/", "/../{token}/", "/{token}/?answer=yes",
     "/{token}/0", "/{token}/2", "/{token}/-1", "/{token}/1/", "/{token}/%31", "/{token}/favicon.ico"],
)  # fmt: skip
def test_any_other_path_is_unknown(page: Visitor, path: str) -> None:
    path = path.format(token=page.token, start=page.token[:-1])
    assert page.ask(path=path, headers=OPENS).code == 404


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", "",
     "[::1]:{port}", "127.1:{port}"],
)  # fmt: skip
def test_a_page_that_is_asked_for_by_another_name_is_not_shown(page: Visitor, host: str) -> None:
    """DNS rebinding: a name of the attacker's leads here, and the browser sends that name."""
    headers = {**OPENS, "Host": host.format(port=page.port)}
    answer = page.ask(headers=headers)
    assert answer.code == 421
    assert "files" not in answer.text
    assert page.ask("POST", f"/{page.token}/answer", headers={**PRESSES, "Host": "evil.example"}).code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"},
        {**OPENS, "Sec-Purpose": "prefetch"},
    ],
)
def test_a_page_that_no_window_shows_counts_as_opened_by_nobody(
    page: Visitor, headers: dict[str, str]
) -> None:
    assert page.ask(headers=headers).code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://localhost:{port}"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {},
    ],
)
def test_an_answer_that_another_page_sends_does_not_count(page: Visitor, headers: dict[str, str]) -> None:
    given = {name: value.format(port=page.port) for name, value in headers.items()}
    form = f"subject={page.subject().replace(':', '%3A')}&answer=yes"
    kind = {"Content-Type": PRESSES["Content-Type"]}
    answer = page.ask("POST", f"/{page.token}/answer", headers={**kind, **given}, body=form)
    assert answer.code == 403
    assert still_asks(page)


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://127.0.0.1:{port}"}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}]
)
def test_an_answer_that_the_page_itself_sends_counts(
    door: Door, page: Visitor, headers: dict[str, str]
) -> None:
    """With metadata of the fetch, as browsers have sent since 2023, or with an origin alone."""
    given = {name: value.format(port=page.port) for name, value in headers.items()}
    form = f"subject={page.subject().replace(':', '%3A')}&answer=no"
    kind = {"Content-Type": PRESSES["Content-Type"]}
    assert page.ask("POST", f"/{page.token}/answer", headers={**kind, **given}, body=form).code == 303
    assert door.board.wait(0) is False


def test_reading_a_page_answers_nothing(page: Visitor) -> None:
    subject = page.subject()
    for path in ("answer", f"answer?subject={subject}&answer=yes", f"?subject={subject}&answer=yes"):
        assert page.ask(path=f"/{page.token}/{path}", headers=OPENS).code in (404, 405)
    for method in ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"):
        assert page.ask(method, f"/{page.token}/answer", headers=PRESSES).code == 501
    assert page.ask("POST", f"/{page.token}/", headers=PRESSES, body="answer=yes").code == 404
    assert still_asks(page)


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        ("", {}, 400),
        ("answer=yes", {}, 400),
        ("subject={subject}", {}, 400),
        ("subject={subject}&answer=maybe", {}, 400),
        ("subject={subject}&answer=yes&more=1", {}, 400),
        ("subject={subject}&answer=no&answer=yes", {}, 400),
        ("subject={subject}&answer=yes\u00ff", {}, 400),
        ("subject={other}&answer=yes", {}, 409),
        ("subject={subject}&answer=yes", {"Content-Type": "text/plain"}, 415),
        ("subject={subject}&answer=yes", {"Content-Type": "application/json"}, 415),
        ("x" * 1025, {}, 413),
        ("subject={subject}&answer=yes", {"Content-Length": "9" * 9}, 413),
        ("subject={subject}&answer=yes", {"Content-Length": "-1"}, 411),
        ("subject={subject}&answer=yes", {"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_what_is_no_answer_of_the_form_does_not_count(
    page: Visitor, body: str, headers: dict[str, str], code: int
) -> None:
    subject = page.subject()
    other = subject[:-1] + ("0" if subject[-1] != "0" else "1")
    text = body.format(subject=subject.replace(":", "%3A"), other=other.replace(":", "%3A"))
    given = {**PRESSES, **headers}
    answer = page.ask("POST", f"/{page.token}/answer", headers=given, body=text.encode("latin-1"))
    assert answer.code == code
    assert still_asks(page)


def test_an_answer_counts_once(changed: Bench) -> None:
    """A second tab, a reload, and whoever recorded the request get a page that says so."""
    before = (changed.folder / "toolnotary.lock").read_bytes()
    with asked(changed) as page:
        subject = page.subject()
        assert page.press("no", subject).code == 303
        again = page.press("yes", subject)
        assert again.code == 409
        assert "answered already" in again.text
        assert "Declined: files" in page.settle().text
        code, out, _ = page.end()
    assert (code, out) == (1, "declined: files stays as it was pinned\n")
    assert (changed.folder / "toolnotary.lock").read_bytes() == before


def test_of_two_pages_about_one_change_one_counts(changed: Bench) -> None:
    with asked(changed) as page, asked(changed) as other:
        assert len(page.token) >= 43, "256 bits"
        assert page.token != other.token
        assert other.ask(path=f"/{page.token}/", headers=OPENS).code == 404
        subject = other.subject()
        assert subject == page.subject(), "it is the same change"
        assert page.press("yes").code == 303
        assert "Accepted: files" in page.settle().text
        assert page.end()[0] == 0
        after = changed.files
        assert other.press("yes", subject).code == 303
        told = other.settle().text
        assert "changed after this was shown" in told
        assert "nothing was accepted" in told
        code, _, err = other.end()
        assert (code, "decided-meanwhile" in err) == (1, True)
        assert changed.files == after


# What does not speak HTTP as a browser does


def talk(door: Door, *parts: bytes, pause: float = 0.0) -> bytes:
    """What comes back to these bytes until the other side hangs up."""
    with socket.create_connection(("127.0.0.1", door.server_port), timeout=30) as connection:
        answer = b""
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            while chunk := connection.recv(65536):
                answer += chunk
        except ConnectionError:
            pass  # it hung up in the middle
        return answer


def get(door: Door, *headers: bytes) -> bytes:
    return b"\r\n".join(
        [f"GET /{door.token}/ HTTP/1.1".encode(), b"Host: " + door.authority.encode(), *headers, b"", b""]
    )


@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET /token/\r\n\r\n",
        b"GET /token/ HTTP/9.9\r\n\r\n",
        b"GET /token/ HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        b"GET http://HOST/token/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /token/ HTTP/1.1\r\nHost: HOST, evil.example\r\n\r\n",
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /token/ HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_of_a_browser_is_refused(door: Door, request_: bytes) -> None:
    answer = talk(
        door, request_.replace(b"HOST", door.authority.encode()).replace(b"token", door.token.encode())
    )
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert b"what files shows" not in answer
    assert b"what files shows" in talk(door, get(door)), "others are served"


def test_a_request_that_trickles_ends_and_keeps_nobody_waiting(door: Door) -> None:
    """Each byte comes in time, and all of them together do not."""
    began = time.monotonic()
    answer = talk(door, *(bytes([byte]) for byte in get(door)), pause=0.05)
    assert answer == b""
    assert time.monotonic() - began < 20
    body = f"POST /{door.token}/answer HTTP/1.1\r\nHost: ".encode() + door.authority.encode()
    body += b"\r\nOrigin: http://" + door.authority.encode() + b"\r\nContent-Length: 20"
    body += b"\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
    assert b" 303 " not in talk(door, body, *(b"a" for _ in range(20)), pause=0.05)
    assert b"what files shows" in talk(door, get(door))


def test_connections_that_are_held_open_are_few_and_end(door: Door) -> None:
    held = [socket.create_connection(("127.0.0.1", door.server_port), timeout=30) for _ in range(50)]
    try:
        for connection in held:
            assert connection.recv(1) == b"", "each is hung up on"
        assert b"what files shows" in talk(door, get(door))
    finally:
        for connection in held:
            connection.close()


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")


@on_linux
@pytest.mark.parametrize(("state", "own"), [("01", True), ("01", False), ("04", True)])
@pytest.mark.parametrize("family", [0, 1], ids=["IPv4", "IPv6"])
def test_on_linux_a_connection_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: Door, *, state: str, own: bool, family: int
) -> None:
    """The tables are written as another user's connection would be in them: a test cannot be two users."""
    tables = (tmp_path / "tcp", tmp_path / "tcp6")
    monkeypatch.setattr(peers, "_TABLES", tables)
    with socket.create_connection(("127.0.0.1", door.server_port), timeout=30) as connection:
        here, there = (f":{port:04X}" for port in (door.server_port, connection.getsockname()[1]))
        uid = os.getuid() if own else os.getuid() + 1
        rows = [
            [row("0100007F" + here, "00000000:0000", "0A", os.getuid())],
            [row("0000000000000000FFFF00000100007F" + here, ":0000", "01", os.getuid())],
        ]
        address = ("0100007F", "0000000000000000FFFF00000100007F")[family]
        rows[family].append(row(address + there, address + here, state, uid))
        for table, lines in zip(tables, rows, strict=True):
            table.write_text("\n".join(["  sl  local_address ...", *lines, ""]), encoding="ascii")
        connection.sendall(get(door))
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert (b"what files shows" in answer) is (own and state == "01")
    assert (b" 403 " in answer) is not (own and state == "01")


def row(local: str, remote: str, state: str, uid: int) -> str:
    return f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  {uid}        0 1"


@on_linux
def test_on_linux_whoever_hung_up_is_nobody_and_answers_nothing(
    monkeypatch: pytest.MonkeyPatch, door: Door, page: Visitor
) -> None:
    """A connection that was reset stands in no table, and what it sent can be read all the same."""
    form = f"subject={page.subject().replace(':', '%3A')}&answer=yes"
    head = f"POST /{door.token}/answer HTTP/1.1\r\nHost: {door.authority}\r\nContent-Length: {len(form)}"
    lines = [head, *(f"{name}: {value}" for name, value in PRESSES.items()), "", form]
    is_gone, found = threading.Event(), Queue[bool]()

    def late(peer: int, own: int) -> bool:
        assert is_gone.wait(30)
        is_own = peers.is_own(peer, own)
        found.put(is_own)
        return is_own

    with monkeypatch.context() as patched:
        patched.setattr(visit, "is_own", late)
        with socket.create_connection(("127.0.0.1", door.server_port), timeout=30) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall("\r\n".join(lines).encode())
        is_gone.set()
        assert found.get(timeout=30) is False
    assert still_asks(page)


@on_linux
def test_on_linux_a_connection_of_ones_own_may_be_one_of_ipv6(door: Door) -> None:
    try:
        connection = socket.socket(socket.AF_INET6)
        connection.connect(("::ffff:127.0.0.1", door.server_port))
    except OSError:
        pytest.skip("no IPv6 here")
    with connection:
        connection.sendall(get(door))
        connection.settimeout(30)
        assert b" 200 " in connection.recv(65536)
