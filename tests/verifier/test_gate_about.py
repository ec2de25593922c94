# SPDX-License-Identifier: Apache-2.0
"""The gate: what a server says of itself reaches a host as far as it is pinned, else as far as it must."""

import json
from typing import Any

import pytest
from gatebench import EVIL, Bench, judge_by, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Aspect, Judgement

Json = Any
A = tool("a")
INFO = {
    "name": EVIL,
    "version": "1.2.3",
    "title": EVIL,
    "description": EVIL,
    "websiteUrl": EVIL,
    "icons": [{"src": EVIL}],
}
CAPABILITIES = {
    "tools": {"listChanged": True, "note": EVIL},
    "logging": {"note": EVIL},
    "completions": EVIL,
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}, EVIL: {}}},
    "experimental": {EVIL: {}},
    "extensions": {"io.modelcontextprotocol/ui": {"note": EVIL}},
    EVIL: {},
}
KEPT = {
    "tools": {"listChanged": True},
    "logging": {},
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
}
STAMP = "io.modelcontextprotocol/serverInfo"


def bench_of(*about: Aspect) -> Bench:
    """A gate to which these are as pinned, and one tool."""
    return Bench([], judge=judge_by({Kind.TOOL: [A]}, about=about))


def opened(bench: Bench, line: bytes) -> Json:
    """What the host gets for this answer to `initialize`."""
    bench.request(0, "initialize", {"protocolVersion": "2025-06-18"})
    bench.from_server(line)
    return bench.told()


def handshake(**result: Json) -> bytes:
    """An answer to `initialize`."""
    return json.dumps({"jsonrpc": "2.0", "id": 0, "result": result}).encode() + b"\n"


def test_of_a_server_that_is_not_pinned_nothing_but_what_the_protocol_needs_reaches_the_host() -> None:
    bench = bench_of()
    line = handshake(
        protocolVersion="2025-06-18",
        capabilities=CAPABILITIES,
        serverInfo=INFO,
        instructions=EVIL,
        _meta={EVIL: EVIL},
        more=EVIL,
        **{EVIL: 1},
    )
    answer = opened(bench, line)
    assert answer == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": KEPT,
            "serverInfo": {"name": "acme/files", "version": "1.2.3"},
        },
    }


def test_the_same_holds_for_the_stateless_era() -> None:
    bench = bench_of()
    bench.request("d", "server/discover", stateless=True)
    result = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25"],
        "capabilities": CAPABILITIES,
        "instructions": EVIL,
        "ttlMs": 1000,
        "cacheScope": "public",
        "_meta": {STAMP: INFO, "x": EVIL},
        "more": EVIL,
    }
    bench.from_server({"jsonrpc": "2.0", "id": "d", "result": result})
    assert bench.told()["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25"],
        "capabilities": KEPT,
        "ttlMs": 1000,
        "cacheScope": "public",
        "_meta": {STAMP: {"name": "acme/files", "version": "1.2.3"}},
    }


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("protocolVersion", f"2025-06-18 {EVIL}"),
        ("protocolVersion", [EVIL]),
        ("resultType", f"complete {EVIL}"),
        ("supportedVersions", ["2026-07-28", f"{EVIL} {EVIL}"]),
        ("supportedVersions", {"a": EVIL}),
        ("supportedVersions", ["1"] * 100),
        ("ttlMs", EVIL),
        ("ttlMs", True),
        ("ttlMs", -1),
        ("cacheScope", EVIL),
        ("capabilities", EVIL),
        ("serverInfo", EVIL),
        ("serverInfo", {"name": EVIL, "version": f"1 {EVIL}"}),
        ("serverInfo", {"name": EVIL, "version": "1" * 100}),
        ("serverInfo", {"name": EVIL, "version": {"a": EVIL}}),
        ("_meta", {STAMP: {"name": EVIL, "version": f"1 {EVIL}"}}),
        ("_meta", EVIL),
    ],
)
def test_a_member_that_is_not_of_its_form_carries_nothing(member: str, value: Json) -> None:
    bench = bench_of()
    answer = opened(bench, handshake(**{member: value}))
    assert EVIL not in json.dumps(answer)
    assert "1" * 100 not in json.dumps(answer)
    assert answer["result"].get(member) != value


def test_what_is_pinned_passes_byte_for_byte_and_nothing_is_told() -> None:
    bench = bench_of(*Aspect)
    line = handshake(protocolVersion="2025-06-18", capabilities=CAPABILITIES, serverInfo=INFO, _meta={})
    opened(bench, line)
    assert bench.host == [line]
    assert bench.log == []


def test_an_empty_version_is_one() -> None:
    bench = bench_of(*Aspect)
    line = handshake(protocolVersion="2025-06-18", capabilities={}, serverInfo={"name": "x", "version": ""})
    opened(bench, line)
    assert bench.host == [line]


def test_a_version_which_no_pin_holds_is_no_place_for_a_text() -> None:
    bench = bench_of(*Aspect)
    answer = opened(bench, handshake(serverInfo={**INFO, "version": f"1.0 {EVIL}"}))
    assert answer["result"]["serverInfo"] == {**INFO, "version": "unknown"}
    assert "serverInfo.version" in bench.log[-1].text


def test_capabilities_that_changed_are_cut_to_those_that_every_host_knows_and_the_rest_stays() -> None:
    bench = bench_of(Aspect.SERVER_INFO)
    result = opened(bench, handshake(capabilities=CAPABILITIES, serverInfo=INFO))["result"]
    assert result == {"capabilities": KEPT, "serverInfo": INFO}


def test_a_second_description_beside_the_pinned_one_does_not_pass() -> None:
    bench = bench_of(*Aspect)
    other = {**INFO, "title": "another"}
    result = opened(bench, handshake(serverInfo=INFO, _meta={STAMP: other}))["result"]
    assert result["serverInfo"] == INFO
    assert result["_meta"] == {STAMP: {"name": "acme/files", "version": "1.2.3"}}


@pytest.mark.parametrize("key", ["serverinfo", "ServerInfo", "PROTOCOLVERSION", "Capabilities"])
def test_a_member_in_another_case_is_not_passed_on(key: str) -> None:
    bench = bench_of(*Aspect)
    answer = opened(bench, handshake(**{key: EVIL}))
    assert "error" in answer
    assert EVIL not in json.dumps(answer)


def test_what_was_left_out_is_told_once_and_escaped() -> None:
    bench = bench_of()
    line = handshake(serverInfo=INFO, **{"x\u202e": 1})
    opened(bench, line)
    opened(bench, line)
    told = [entry.text for entry in bench.log if entry.code == "about-withheld"]
    assert len(told) == 1
    assert "serverInfo.title" in told[0]
    assert "x\\u{202e}" in told[0]


def test_beside_an_answer_nothing_reaches_the_host() -> None:
    bench = bench_of(*Aspect)
    result = json.dumps({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": INFO})
    answer = opened(bench, f'{{"jsonrpc":"2.0","id":0,"result":{result},"x":"{EVIL} beside"}}\n'.encode())
    assert "beside" not in json.dumps(answer)


def test_an_answer_that_cannot_be_judged_is_presented_as_if_nothing_were_pinned() -> None:
    def judge(_surface: Surface) -> Judgement:
        raise CannotTell("text-missing", "no text")

    bench = Bench([], judge=judge)
    result = opened(bench, handshake(serverInfo=INFO, instructions=EVIL))["result"]
    assert result == {"serverInfo": {"name": "acme/files", "version": "1.2.3"}}
    assert bench.closed is None
