# SPDX-License-Identifier: Apache-2.0
"""The gate: every bound on sizes, counts and times does what it says, and a gate that fails is closed."""

import json
import time
from itertools import pairwise

import pytest
from gatebench import META, Bench, Json, judge_by, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate.verification import Verification
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

A, B = tool("a"), tool("b")
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
BIG = tool("big", "x" * 900)


def listed(**more: Json) -> Bench:
    """A connection whose tools were listed and verified."""
    bench = Bench([A, B], **more)
    bench.shake_hands()
    bench.listed(A, B)
    return bench


def listings(bench: Bench) -> int:
    """How often the gate asked for tools."""
    return sum(b'"tools/list"' in line for line in bench.server)


def read_to_the_end(bench: Bench, pages: list[list[Json]]) -> Json:
    """What the host is told whose tools/list the server answers with these pages."""
    bench.request("list", "tools/list")
    for number, page in enumerate(pages, start=1):
        if listings(bench) < number:
            break  # the gate gave up
        cursor = {"nextCursor": f"cursor {number}"} if number < len(pages) else {}
        bench.answer_listing(*page, **cursor)
    return bench.told()


@pytest.mark.parametrize(
    ("limits", "pages", "why"),
    [
        (Limits(pages=2), [[A], [B], []], "3 pages, at most 2"),
        (Limits(tools=1), [[A, B]], "2 entries, at most 1"),
        (Limits(tools=1), [[A], [B]], "2 entries, at most 1"),
        (Limits(page_bytes=900), [[A, BIG]], "bytes in one page, at most 900"),
        (Limits(listing_bytes=1000), [[A], [BIG]], "bytes in all pages, at most 1000"),
        (Limits(cursor_bytes=7), [[A], [B]], "nextCursor has more than 7 bytes"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_listing_over_a_limit_is_read_no_further_and_nothing_of_it_is_shown(
    limits: Limits, pages: list[list[Json]], why: str
) -> None:
    pinned = [entry for page in pages for entry in page]
    assert "result" in read_to_the_end(Bench(pinned), pages), "without the limit nothing is wrong with it"
    bench = Bench(pinned, limits=limits)
    told = read_to_the_end(bench, pages)
    assert why in told["error"]["message"]
    assert bench.codes() == ["listing-failed"]
    asked = listings(bench)
    assert not bench.call("a"), "and no call passes: the next listing has to be verified first"
    assert listings(bench) == asked + 1


def test_a_definition_over_the_limit_is_withheld_and_the_others_stay() -> None:
    for limits, shown in ((DEFAULT_LIMITS, ["a", "big"]), (Limits(definition_bytes=500), ["a"])):
        bench = Bench([A, BIG], limits=limits)
        assert [one["name"] for one in bench.listed(A, BIG)["result"]["tools"]] == shown
        assert bench.call("big") is (len(shown) == 2)


def test_a_definition_that_is_deeper_than_the_limit_is_withheld_and_the_others_stay() -> None:
    deep = {**tool("deep"), "annotations": {"x": [[[[]]]]}}
    for limits, shown in ((DEFAULT_LIMITS, ["a", "deep"]), (Limits(definition_depth=5), ["a"])):
        bench = Bench([A, deep], limits=limits)
        assert [one["name"] for one in bench.listed(A, deep)["result"]["tools"]] == shown


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_of_openings_that_nobody_answers_so_many_are_forwarded_and_no_more(method: str) -> None:
    bench = Bench([A], limits=Limits(held_requests=3))
    params = {"_meta": META} if method == "server/discover" else {}
    passed = [bench.request(number, method, params) for number in range(5)]
    assert passed == [True, True, True, False, False]
    assert len(bench.server) == 3
    assert [json.loads(line)["id"] for line in bench.host] == [3, 4]
    assert all("error" in json.loads(line) for line in bench.host)
    bench.from_server({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})
    assert bench.request(9, method, params), "what was answered waits no longer"


@pytest.mark.parametrize("seconds", [7, 900])
def test_a_listing_counts_for_as_long_as_the_limit_says(seconds: float) -> None:
    bench = listed(limits=Limits(reverify_seconds=seconds))
    bench.pass_time(seconds - 1)
    assert bench.call("a")
    bench.pass_time(1)
    assert not bench.call("a")
    assert listings(bench) == 2


@pytest.mark.parametrize("seconds", [7, 900])
def test_a_host_is_told_to_keep_a_listing_for_no_longer_than_it_counts(seconds: float) -> None:
    bench = Bench([A], limits=Limits(reverify_seconds=seconds))
    assert bench.listed(A, stateless=True)["result"]["ttlMs"] == min(seconds, 3600) * 1000


@pytest.mark.parametrize("most", [2, 30])
def test_a_server_that_announces_for_ever_is_listed_after_pauses_up_to_the_limit(most: float) -> None:
    bench = listed(limits=Limits(quiet_seconds=most))
    bench.pass_time(60)
    times: list[float] = []
    bench.from_server(CHANGED)
    while len(times) < 12:
        times.append(bench.now)
        bench.from_server(CHANGED)  # and once more, while it is listed
        bench.answer_listing(A, B)
        assert bench.gate.deadline is not None
        bench.pass_time(bench.gate.deadline - bench.now)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert max(pauses) == pauses[-1] == most
    assert pauses == sorted(pauses)


@pytest.mark.parametrize("part", ["receive", "wake", "repin"])
def test_a_gate_that_fails_anywhere_is_closed_and_lets_nothing_more_through(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = False
    by_pins = judge_by({Kind.TOOL: [A, B]})

    def judge(surface: Surface) -> Judgement:
        if broken:
            raise ZeroDivisionError
        return by_pins(surface)

    bench = listed(judge=judge)
    broken = True
    if part == "receive":
        bench.request(1, "tools/list")
        bench.answer_listing(A)
    elif part == "repin":
        bench.repin([A], judge=judge)
    else:
        monkeypatch.setattr(Verification, "wake", lambda *_: 1 / 0)
        bench.wake()
    assert bench.closed is not None
    assert "ZeroDivisionError" in bench.closed
    assert bench.codes()[-1] == "gate-failed"
    reached = list(bench.server), list(bench.host)
    assert not bench.call("a")
    assert not bench.from_host(b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n')
    assert not bench.from_server(b'{"jsonrpc":"2.0","id":9,"result":{}}\n')
    bench.wake()
    assert (bench.server, bench.host) == reached
    assert bench.gate.deadline is None


def test_a_batch_of_a_million_parts_costs_one_line_and_holds_nobody_up() -> None:
    for part in (b"0", b"{}", b"[]", b'{"jsonrpc":"2.0","id":7,"result":{}}'):
        bench = listed()
        before = time.monotonic()
        assert not bench.from_server(b"[" + b",".join([part] * (1_000_000 // len(part))) + b"]\n")
        assert time.monotonic() - before < 20, "moving its parts about would take their square"
        assert len(bench.codes()) <= 1
        assert len(bench.host) <= 20


def test_a_batch_of_a_host_that_a_lenient_server_would_read_is_no_slower() -> None:
    bench = listed()
    before = time.monotonic()
    assert not bench.from_host(b"[" + b",".join([b"0"] * 500_000) + b"]\n")
    assert not bench.from_host(b"[" + b",".join([b"0"] * 500_000) + b",]\n")
    assert time.monotonic() - before < 20


def test_the_requests_that_a_long_batch_would_have_answered_get_an_error() -> None:
    bench = Bench([A])
    bench.shake_hands()
    answers = [{"jsonrpc": "2.0", "id": number, "result": {}} for number in range(1025)]
    assert not bench.from_server(json.dumps(answers[:-1]).encode() + b"\n")
    assert len(json.loads(bench.host[-1])) == 1024
    assert not bench.from_server(json.dumps(answers).encode() + b"\n")
    assert "error" in json.loads(bench.host[-1])
    assert bench.codes() == ["message-withheld"]
