# SPDX-License-Identifier: Apache-2.0
"""The gate tells what it decides, for an audit trail: who was refused, why, and how long that took."""

from gatebench import META, Bench, Json, judge_by, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate import Decision
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.verdict import Outcome, Reason

A, B = tool("a"), tool("b")
EVIL = tool("b", "poison")


def listed(*shown: Json, **more: Json) -> Bench:
    """A connection whose tools were listed; `a` and `b` are pinned."""
    bench = Bench([A, B], **more)
    bench.shake_hands()
    bench.listed(*shown)
    return bench


def of(bench: Bench, event: str) -> list[Decision]:
    return [one for one in bench.decisions if one.event == event]


def test_a_judgement_is_told_once_with_what_is_not_as_pinned_by_name() -> None:
    bench = listed(A, EVIL)
    whole, changed = of(bench, "judged")
    assert whole.judgement is not None
    assert (whole.judgement.outcome, whole.protocol) == (Outcome.DRIFT, "2025-06-18")
    assert changed.verdict is not None
    assert (changed.kind, changed.name, changed.verdict.reason) == (Kind.TOOL, "b", Reason.CHANGED)
    bench.listed(A, EVIL, request_id="again")
    assert len(of(bench, "judged")) == 2
    bench.listed(A, B, request_id="at last")
    assert [one.name for one in of(bench, "judged")] == [None, "b", None]


def test_a_server_that_changes_a_thousand_tools_fills_no_trail() -> None:
    bench = listed(*(tool(f"t{number}") for number in range(1000)))
    whole, *named = of(bench, "judged")
    assert (len(named), whole.unnamed) == (64, 936)


def test_a_refused_call_is_told_with_its_id_its_digests_and_when_it_came() -> None:
    bench = listed(A, EVIL)
    bench.call("b", "seven")
    bench.call("none", 8)
    first, second = of(bench, "refused")
    assert first.verdict is not None
    assert (first.name, first.request, first.verdict.reason) == ("b", "seven", Reason.CHANGED)
    assert None not in (first.verdict.live, first.verdict.pinned)
    assert (second.request, second.verdict, second.reason) == (8, None, "not-listed")
    assert first.since == bench.now


def test_a_call_that_waited_for_a_listing_came_when_it_came() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.call("b", "early")
    came = bench.now
    bench.now += 3
    bench.answer_listing(A)
    assert [(one.request, one.since) for one in of(bench, "refused")] == [("early", came)]


def test_a_refusal_because_nothing_could_be_listed_says_so() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.call("a")
    bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": {"tools": "none"}})
    assert [one.reason for one in of(bench, "refused")] == ["listing-failed"]


def test_a_request_that_there_was_no_room_for_is_told() -> None:
    bench = Bench([A], limits=Limits(held_requests=1))
    bench.shake_hands()
    bench.call("a", 1)
    bench.call("a", 2)
    assert [(one.request, one.reason) for one in of(bench, "refused")] == [(2, "too-many-waiting")]


def test_calls_that_pass_are_told_where_every_call_is_wanted_and_only_there() -> None:
    quiet = listed(A, B)
    assert quiet.call("a")
    assert not of(quiet, "allowed")
    bench = listed(A, B, every_call=True)
    for stateless in (False, True):
        bench.call("a", f"call {stateless}", stateless=stateless)
        if stateless:
            bench.answer_listing(A, B)
    first, second = of(bench, "allowed")
    assert (first.request, second.request) == ("call False", "call True")
    assert (first.protocol, second.protocol) == (
        "2025-06-18",
        META["io.modelcontextprotocol/protocolVersion"],
    )
    assert first.verdict is not None
    assert first.verdict.live == first.verdict.pinned
    assert bench.asked()["params"]["name"] == "a"


def test_what_passes_is_byte_for_byte_the_same_where_every_call_is_told() -> None:
    line = (
        b'{"jsonrpc": "2.0",  "id":1,"method":"tools/call","params":{"name":"a","arguments":{"x": 1.50}}}\n'
    )
    bench = listed(A, B, every_call=True)
    bench.from_host(line)
    assert bench.server[-1] == line


def test_a_gate_that_was_closed_lets_nothing_pass_any_more() -> None:
    bench = listed(A, B)
    bench.gate.close()
    before = list(bench.server), list(bench.host)
    assert not bench.call("a")
    assert not bench.from_server({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    assert (bench.server, bench.host) == before


def test_another_judgement_of_the_same_listing_is_told() -> None:
    bench = listed(A, B)
    bench.repin([A], judge=judge_by({Kind.TOOL: [A]}))
    assert [one.name for one in of(bench, "judged")] == [None, None, "b"]
