# SPDX-License-Identifier: Apache-2.0
"""The gate: announced changes, deadlines, age, and what waits, within bounds."""

import json

from gatebench import EVIL, META, Bench, judge_by, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.gate import Gate, Side, Streams
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

A, B = tool("a"), tool("b")
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def listed(**more: object) -> Bench:
    """A connection whose tools were listed and verified."""
    bench = Bench([A, B], **more)  # type: ignore[arg-type]  # keyword arguments of Bench
    bench.shake_hands()
    bench.listed(A, B)
    return bench


def listings(bench: Bench) -> int:
    """How often the gate asked for tools."""
    return sum(b'"tools/list"' in line for line in bench.server)


def test_an_announced_change_is_verified_first_and_told_afterwards() -> None:
    bench = listed()
    bench.pass_time(60)
    before = len(bench.host)
    assert not bench.from_server(CHANGED)
    assert bench.asked()["method"] == "tools/list"
    assert len(bench.host) == before
    bench.answer_listing(A, tool("b", EVIL))
    assert bench.told() == CHANGED
    assert not bench.call("b")
    assert bench.call("a")


def test_a_call_after_an_announced_change_waits_for_the_verification() -> None:
    bench = listed()
    bench.pass_time(60)
    bench.from_server(CHANGED)
    assert not bench.call("b")
    bench.answer_listing(A, tool("b", EVIL))
    assert any(json.loads(line).get("id") == "call" and b"isError" in line for line in bench.host)


def test_a_change_before_anything_was_listed_passes_untouched() -> None:
    bench = Bench([A])
    bench.shake_hands()
    assert bench.from_server(CHANGED)


def test_a_storm_costs_at_most_three_listings_and_its_last_state_is_verified() -> None:
    bench = listed()
    bench.pass_time(60)
    for _ in range(200):
        bench.from_server(CHANGED)
    bench.answer_listing(A, B)
    assert bench.call("a") is False, "the list changed again since that listing began"
    bench.answer_listing(A, tool("b", EVIL))
    assert listings(bench) == 3
    assert sum(b"list_changed" in line for line in bench.host) <= 2
    assert not bench.call("b")


def test_a_server_that_announces_while_it_lists_is_asked_ever_more_seldom() -> None:
    bench = listed()
    bench.pass_time(60)
    bench.from_server(CHANGED)
    for _ in range(300):
        if b'"tools/list"' in bench.server[-1] and bench.gate.deadline is not None:
            bench.from_server(CHANGED)
            bench.answer_listing(A, B)
        bench.pass_time(1)
    assert listings(bench) < 15
    assert bench.gate.deadline is not None, "the last announcement is still to be verified"


def test_three_announcements_a_second_are_followed_ever_more_seldom_and_the_last_state_counts() -> None:
    bench = listed()
    bench.pass_time(60)
    for number in range(900):
        if b'"tools/list"' in bench.server[-1] and bench.gate.awaits(bench.asked()["id"]):
            bench.answer_listing(A, tool("b", f"change {number}"))
        bench.from_server(CHANGED)
        bench.pass_time(1 / 3)
    seen = listings(bench)
    assert seen < 15
    assert sum(b"list_changed" in line for line in bench.host) < 15
    while listings(bench) == seen:
        assert bench.gate.deadline is not None
        bench.pass_time(1)
    bench.answer_listing(A, tool("b", EVIL))
    assert not bench.call("b")
    assert bench.told()["result"]["isError"] is True


def test_changes_that_come_one_by_one_are_verified_at_once() -> None:
    bench = listed()
    for number in range(2, 22):
        bench.pass_time(9)
        bench.from_server(CHANGED)
        assert listings(bench) == number
        bench.answer_listing(A, B)


def test_the_first_change_is_verified_at_once_however_soon_after_a_listing_of_the_host() -> None:
    bench = listed()
    bench.from_server(CHANGED)
    assert listings(bench) == 2
    bench.answer_listing(A, B)
    bench.pass_time(0.5)
    bench.from_server(CHANGED)
    assert listings(bench) == 2, "the second within a second waits"
    bench.pass_time(0.6)
    assert listings(bench) == 3


def test_a_change_that_is_announced_while_another_view_is_listed_makes_that_listing_too_old() -> None:
    bench = listed()
    bench.request("s", "tools/list", stateless=True)
    bench.answer_listing(A, B)
    bench.pass_time(60)
    bench.request("h", "tools/list")
    first = bench.asked()["id"]
    bench.call("a", "s2", stateless=True)  # so that the other view was used last
    bench.from_server(CHANGED)
    bench.from_server({"jsonrpc": "2.0", "id": first, "result": {"tools": [A, B]}})
    before = len(bench.server)
    assert not bench.call("b"), "that listing may have begun before the change"
    assert bench.asked()["method"] == "tools/list"
    assert len(bench.server) == before + 1
    bench.answer_listing(A, tool("b", EVIL))
    assert bench.told()["result"]["isError"] is True


def test_a_handshake_while_something_is_listed_begins_anew_with_what_was_verified_before() -> None:
    bench = listed()
    bench.request("p", "prompts/list")
    bench.shake_hands()
    before = listings(bench)
    assert not bench.call("a"), "nothing was verified since the connection began anew"
    assert listings(bench) == before + 1


def test_two_hosts_that_look_alike_are_each_told_on_their_own_stream() -> None:
    pinned = judge_by({Kind.TOOL: [A]})
    gate = Gate(pinned, server="acme/files", streams=Streams.SHARED)
    listen = {"notifications": {"toolsListChanged": True}, "_meta": META}

    def feed(side: Side, exchange: object, **message: object) -> object:
        return gate.receive(
            side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n", 1000.0, exchange
        )

    def answered(asked: object) -> object:
        [own] = [one for one in asked.others if isinstance(one, str)]  # type: ignore[attr-defined]
        return feed(Side.SERVER, own, id=own, result={"tools": [A], "ttlMs": 0, "cacheScope": "private"})

    answered(feed(Side.HOST, 1, id=1, method="tools/list", params={"_meta": META}))
    for host in (2, 3):
        feed(Side.HOST, host, id=1, method="subscriptions/listen", params=listen)
    notice = {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
    answered(feed(Side.SERVER, 2, method="notifications/tools/list_changed", params=notice))
    for host in (2, 3):
        feed(Side.SERVER, host, method="notifications/tools/list_changed", params=notice)
    verified = answered(gate.wake(1002.0))
    told = {one: effects.to_host for one, effects in verified.others.items()}  # type: ignore[attr-defined]
    assert sorted(one for one, frames in told.items() if b"list_changed" in b"".join(frames)) == [2, 3]


def test_a_listing_that_is_too_old_is_verified_again_before_a_call() -> None:
    bench = listed(limits=Limits(reverify_seconds=300))
    bench.pass_time(299)
    assert bench.call("b")
    bench.pass_time(2)
    assert not bench.call("b")
    bench.answer_listing(A, tool("b", EVIL))
    assert bench.told()["result"]["isError"] is True


def test_a_server_that_never_answers_the_listing_costs_the_first_time_30_seconds_and_then_10() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.call("a", request_id=1)
    asked = bench.asked()["id"]
    bench.pass_time(29)
    assert not any(b"isError" in line for line in bench.host)
    bench.pass_time(1)
    assert bench.told()["result"]["isError"] is True
    cancelled = bench.asked()
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == asked
    bench.call("a", request_id=2)
    bench.pass_time(10)
    assert bench.told()["id"] == 2
    assert bench.gate.deadline is None


def test_an_answer_that_comes_too_late_is_dropped() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.call("a")
    asked = bench.asked()["id"]
    bench.pass_time(31)
    before = len(bench.host)
    bench.from_server({"jsonrpc": "2.0", "id": asked, "result": {"tools": [A]}})
    assert len(bench.host) == before
    assert bench.codes()[-1] == "stray-answer"


def test_a_failed_verification_withdraws_what_was_verified_before() -> None:
    bench = listed()
    bench.pass_time(60)
    bench.from_server(CHANGED)
    bench.pass_time(11)
    assert not bench.call("a")


def test_requests_that_wait_are_bounded_in_number_and_bytes() -> None:
    bench = Bench([A], limits=Limits(held_requests=3))
    for number in range(5):
        bench.call("a", request_id=number)
    refused = [json.loads(line)["id"] for line in bench.host]
    assert refused == [3, 4]
    big = Bench([A], limits=Limits(held_bytes=1000))
    big.request(1, "tools/call", {"name": "a", "arguments": {"x": "y" * 2000}})
    assert big.told()["result"]["isError"] is True


def test_a_cancelled_request_that_waits_is_dropped_and_its_cancellation_is_not_sent() -> None:
    bench = Bench([A])
    bench.call("a", request_id=5)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    assert not bench.from_host(cancel)
    bench.answer_listing(A)
    assert bench.from_host(cancel), "nothing of that id waits here: the server may know it"
    assert not any(b"tools/call" in line for line in bench.server)
    assert not bench.gate.is_waiting


def test_a_listing_under_way_serves_all_who_came_before_it_ended() -> None:
    bench = Bench([A])
    bench.request(1, "tools/list")
    bench.request(2, "tools/list")
    bench.call("a", request_id=3)
    assert listings(bench) == 1
    assert bench.gate.is_waiting
    bench.answer_listing(A)
    assert [json.loads(line)["id"] for line in bench.host] == [1, 2]
    assert bench.asked()["id"] == 3


def test_the_same_listing_again_is_recognized_by_its_bytes_and_not_judged_again() -> None:
    judged: list[Surface] = []
    by_pins = judge_by({Kind.TOOL: [A, B]})

    def judge(surface: Surface) -> Judgement:
        judged.append(surface)
        return by_pins(surface)

    bench = Bench([A, B], judge=judge)
    for _ in range(3):
        bench.listed(A, B)
    assert len(judged) == 1
    bench.listed(A, tool("b", EVIL))
    bench.listed(A, B)
    assert len(judged) == 3
