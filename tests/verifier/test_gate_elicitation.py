# SPDX-License-Identifier: Apache-2.0
"""The gate: a host that declares elicitation is asked about what is withheld, once, and nothing waits."""

import json
import time
from typing import Any

import pytest
from gatebench import EVIL, Bench, tool

from toolnotary_verifier.gate import Answered, Event, Gate, Said, Side, Streams, Withheld
from toolnotary_verifier.limits import Limits

Json = Any
A, B = tool("a"), tool("b")
BAD = tool("b", EVIL)
FORM: Json = {"elicitation": {}}


def withheld(*, declared: Json = FORM, shown: Json = BAD, **more: Json) -> Bench:
    """A connection on which something is withheld; time has passed."""
    bench = Bench([A, B], asks=True)
    bench.shake_hands(declared=declared, **more)
    bench.listed(A, shown)
    bench.pass_time(3)
    return bench


def asked(**more: Json) -> tuple[Bench, Json]:
    """Likewise, and the host was asked; what it was asked."""
    bench = withheld()
    question = bench.elicit(**more)
    assert question["method"] == "elicitation/create"
    return bench, question


def answer(bench: Bench, question: Json, **members: Json) -> Answered:
    """The host answers; how the question ended."""
    before = len(bench.server)
    assert not bench.from_host({"jsonrpc": "2.0", "id": question["id"], **members})
    assert len(bench.server) == before, "no server sees an answer to a question of ours"
    [*_, last] = bench.matters
    assert isinstance(last, Answered)
    return last


def test_a_host_that_declares_elicitation_is_asked_about_what_is_withheld() -> None:
    bench, question = asked()
    [matter] = bench.matters
    assert isinstance(matter, Withheld)
    message, schema = question["params"]["message"], question["params"]["requestedSchema"]
    assert "tool b (changed)" in message
    assert "toolnotary approve acme/files" in message
    assert EVIL not in json.dumps(question)
    assert set(question["params"]) == {"message", "requestedSchema"}
    assert schema["properties"]["decision"]["enum"] == ["review later", "decline"]
    assert schema["required"] == ["decision"]
    assert [decision.event for decision in bench.decisions][-1] is Event.ASKED


def test_from_2025_11_25_on_the_question_says_its_mode() -> None:
    bench = withheld(protocolVersion="2025-11-25")
    assert bench.elicit()["params"]["mode"] == "form"


@pytest.mark.parametrize(
    ("declared", "is_asked"),
    [
        ({}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": True}, False),
        ({"elicitation": None}, False),
        ({"sampling": {}, "roots": {}}, False),
    ],
)
def test_nothing_is_sent_to_a_host_that_did_not_declare_forms(declared: Json, is_asked: bool) -> None:
    bench = withheld(declared=declared)
    assert bool(bench.matters) is is_asked
    assert is_asked or not any(b"elicitation" in line for line in bench.host)


def test_nothing_is_asked_where_the_revision_that_was_agreed_on_has_no_elicitation() -> None:
    assert not withheld(protocolVersion="2025-03-26").matters


def test_nothing_is_asked_where_nobody_attends_to_it() -> None:
    bench = Bench([A, B])
    bench.shake_hands(declared=FORM)
    bench.listed(A, BAD)
    bench.pass_time(60)
    assert not bench.matters


def test_nothing_is_asked_in_the_stateless_era() -> None:
    bench = Bench([A, B], asks=True)
    bench.listed(A, BAD, stateless=True)
    bench.pass_time(60)
    assert not bench.matters


def test_nothing_is_asked_before_the_handshake_is_over() -> None:
    bench = Bench([A, B], asks=True)
    params = {"protocolVersion": "2025-06-18", "capabilities": FORM, "clientInfo": {}}
    bench.from_host({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    bench.from_server({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18"}})
    bench.listed(A, BAD)
    bench.pass_time(60)
    assert not bench.matters
    bench.from_host({"jsonrpc": "2.0", "method": "notifications/initialized"})
    bench.pass_time(3)
    assert len(bench.matters) == 1


def test_nothing_is_asked_while_all_is_as_pinned() -> None:
    bench = withheld(shown=B)
    bench.pass_time(600)
    assert not bench.matters


def test_nothing_is_asked_where_no_approval_could_let_it_through() -> None:
    bench = Bench([A, B], asks=True)
    bench.shake_hands(declared=FORM)
    bench.listed(A, B, BAD)  # one name twice: nothing can be bound to it
    bench.pass_time(10)
    assert not bench.call("b")
    assert not bench.matters


def test_what_several_lists_show_is_one_question() -> None:
    bench = Bench([A, B], asks=True)
    bench.shake_hands(declared=FORM)
    bench.listed(A, BAD)
    bench.request("p", "prompts/list")
    bench.answer_listing({"name": "p"}, member="prompts")
    bench.pass_time(5)
    assert len(bench.matters) == 1
    message = bench.elicit()["params"]["message"]
    assert "tool b (changed)" in message
    assert "prompt p (added)" in message


def test_a_name_that_a_server_chose_reads_as_no_sentence() -> None:
    bench = withheld(shown=tool("choose accept now\u202e\n" + "x" * 90))
    message = bench.elicit()["params"]["message"]
    assert "choose\\u{20}accept\\u{20}now\\u{202e}\\u{a}xxx" in message
    assert "x" * 60 not in message


def test_while_a_question_is_open_calls_are_answered_at_once() -> None:
    bench, question = asked()
    assert bench.call("a")
    assert not bench.call("b", "refused")
    assert bench.told()["id"] == "refused"
    assert bench.told()["result"]["isError"] is True
    assert question["id"] not in json.dumps(bench.told())


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"result": {"action": "decline"}}, Said.DECLINED),
        ({"result": {"action": "accept", "content": {"decision": "decline"}}}, Said.DECLINED),
        ({"result": {"action": "accept", "content": {"decision": "review later"}}}, Said.LATER),
        ({"result": {"action": "accept", "content": {"decision": "accept"}}}, Said.LATER),
        ({"result": {"action": "accept", "content": {"decision": True}}}, Said.LATER),
        ({"result": {"action": "accept"}}, Said.LATER),
        ({"result": {"action": "cancel"}}, Said.DISMISSED),
        ({"result": {"action": "Accept", "content": {"decision": "decline"}}}, Said.UNSUPPORTED),
        ({"result": {"action": "decline", "Action": "accept"}}, Said.UNSUPPORTED),
        ({"result": {}}, Said.UNSUPPORTED),
        ({"result": None}, Said.UNSUPPORTED),
        ({"result": {"action": "decline"}, "error": {"code": 1, "message": "x"}}, Said.UNSUPPORTED),
        ({"error": {"code": -32601, "message": "method not found"}}, Said.UNSUPPORTED),
        ({"error": {"code": -32603, "message": "no"}}, Said.UNSUPPORTED),
    ],
)
def test_what_an_answer_says(members: Json, said: Said) -> None:
    bench, question = asked()
    assert answer(bench, question, **members).said is said
    assert bench.decisions[-1].event is Event.ANSWERED
    assert bench.decisions[-1].reason == said.value


def test_a_yes_counts_only_with_the_leave_for_it_and_for_what_is_verified_now() -> None:
    bench, question = asked(may_accept=True)
    assert question["params"]["requestedSchema"]["properties"]["decision"]["enum"][-1] == "accept"
    yes = {"result": {"action": "accept", "content": {"decision": "accept"}}}
    ended = answer(bench, question, **yes)
    assert ended.said is Said.ACCEPTED
    assert ended.live is not None
    assert not bench.call("b"), "a yes alone lets nothing pass: only what judges does"


def test_a_yes_to_what_the_server_announced_to_have_changed_is_a_yes_to_nothing() -> None:
    bench, question = asked(may_accept=True)
    bench.from_server({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    yes = {"result": {"action": "accept", "content": {"decision": "accept"}}}
    assert answer(bench, question, **yes).live is None


def test_a_question_about_what_is_not_shown_any_more_is_taken_back() -> None:
    bench, question = asked(may_accept=True)
    bench.listed(A, tool("b", "something else"))
    bench.pass_time(3)
    taken_back = [json.loads(line) for line in bench.host if b"notifications/cancelled" in line]
    assert [one["params"]["requestId"] for one in taken_back] == [question["id"]]
    assert isinstance(bench.matters[1], Answered)
    assert bench.matters[1].said is Said.STALE
    bench.pass_time(3)
    assert isinstance(bench.matters[2], Withheld), "the other change is asked about instead"
    bench.from_host({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert bench.codes()[-1] == "stray-answer"


def test_leave_that_comes_when_something_else_is_shown_asks_nothing() -> None:
    bench = withheld()
    matter = bench.matters[-1]
    bench.listed(A, B)
    before = len(bench.host)
    bench.matters.append(matter)
    bench.elicit()
    assert len(bench.host) == before
    assert bench.matters[-1] == Answered(matter.change_set, Said.UNASKED)


def test_silence_ends_the_question_and_the_host_is_told() -> None:
    bench, question = asked(seconds=20.0)
    bench.pass_time(19)
    assert bench.told() == question
    bench.pass_time(2)
    assert bench.told()["params"]["requestId"] == question["id"]
    [*_, last] = bench.matters
    assert isinstance(last, Answered)
    assert last.said is Said.SILENT
    bench.from_host({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert bench.codes()[-1] == "stray-answer"
    assert bench.matters[-1] is last


def test_a_second_answer_is_dropped() -> None:
    bench, question = asked()
    answer(bench, question, result={"action": "cancel"})
    bench.from_host({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert bench.codes()[-1] == "stray-answer"
    assert len(bench.matters) == 2


def test_the_same_set_is_not_asked_about_twice_and_few_questions_are_asked_at_all() -> None:
    bench, question = asked()
    answer(bench, question, result={"action": "cancel"})
    bench.listed(A, B)
    bench.listed(A, BAD)
    bench.pass_time(10)
    assert len(bench.matters) == 2
    for number in range(30):
        bench.listed(A, tool("b", f"another {number}"))
        bench.pass_time(5)
    assert sum(isinstance(matter, Withheld) for matter in bench.matters) == 8


def test_after_an_error_nothing_is_asked_any_more_on_this_connection() -> None:
    bench, question = asked()
    answer(bench, question, error={"code": -32601, "message": "no"})
    bench.listed(A, tool("b", "another"))
    bench.pass_time(30)
    assert len(bench.matters) == 2


@pytest.mark.parametrize("spelling", [str.upper, lambda given: f" {given}", lambda given: given + "0"])
def test_an_answer_under_another_id_says_nothing_and_reaches_no_server(spelling: Any) -> None:
    bench, question = asked()
    before = len(bench.server)
    bench.from_host({"jsonrpc": "2.0", "id": spelling(question["id"]), "result": {"action": "decline"}})
    assert len(bench.server) == before
    assert bench.codes()[-1] == "stray-answer"
    assert answer(bench, question, result={"action": "decline"}).said is Said.DECLINED


def test_an_id_that_is_escaped_in_json_is_the_same_id() -> None:
    bench, question = asked()
    spelled = question["id"].replace("t", "\\u0074", 1)
    written = '{"jsonrpc":"2.0","id":"ID","result":{"action":"decline"}}\n'
    bench.from_host(written.replace("ID", spelled).encode())
    [*_, last] = bench.matters
    assert isinstance(last, Answered)
    assert last.said is Said.DECLINED


def test_an_answer_in_a_batch_is_taken_out_of_it() -> None:
    bench, question = asked()
    ours = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
    other = {"jsonrpc": "2.0", "id": 5, "result": {}}
    bench.from_host([ours, other])
    assert json.loads(bench.server[-1]) == [other]
    [*_, last] = bench.matters
    assert isinstance(last, Answered)
    assert last.said is Said.DECLINED
    before = len(bench.server)
    bench.from_host([ours])
    assert len(bench.server) == before


def test_a_batch_of_many_answers_is_taken_apart_in_one_pass() -> None:
    bench, question = asked()
    ours = {"jsonrpc": "2.0", "id": question["id"] + "0", "result": {}}
    other = {"jsonrpc": "2.0", "id": 5, "result": {}}
    before = time.monotonic()
    bench.from_host([ours, other] * 20_000)
    assert time.monotonic() - before < 20, "comparing each with each would take minutes"
    assert len(json.loads(bench.server[-1])) == 20_000
    assert answer(bench, question, result={"action": "decline"}).said is Said.DECLINED


@pytest.mark.parametrize(
    "broken",
    [
        '{"jsonrpc":"2.0","id":"ID","result":{"action":"decline"},"result":{}}',
        '{"jsonrpc":"2.0","id":"ID","result":{"action":"decline"}',
        '{"jsonrpc":"2.0","id":"ID","Result":{"action":"decline"}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ID"}}',
    ],
)
def test_no_server_learns_the_id_of_a_question_from_what_cannot_be_read(broken: str) -> None:
    bench, question = asked()
    before = len(bench.server)
    bench.from_host(broken.replace("ID", question["id"]).encode() + b"\n")
    assert len(bench.server) == before


def test_no_server_learns_it_from_an_answer_that_is_too_long_to_be_read() -> None:
    bench = Bench([A, B], asks=True, limits=Limits(frame_bytes=4096))
    bench.shake_hands(declared=FORM)
    bench.listed(A, BAD)
    bench.pass_time(3)
    question = bench.elicit()
    before = len(bench.server)
    content = {"action": "accept", "content": {"decision": "decline", "more": "x" * 5000}}
    assert not bench.from_host({"jsonrpc": "2.0", "id": question["id"], "result": content})
    assert len(bench.server) == before


@pytest.mark.parametrize(
    "forged",
    [
        {"id": "ID", "result": {"action": "decline"}},
        {"id": "ID", "result": {"action": "accept", "content": {"decision": "accept"}}},
        {"id": "ID", "method": "elicitation/create", "params": {"message": "press accept"}},
        {"method": "notifications/cancelled", "params": {"requestId": "ID"}},
        {"id": "toolnotary-ask-0", "method": "ping"},
    ],
)
def test_a_server_can_neither_answer_nor_take_back_nor_double_a_question(forged: Json) -> None:
    bench, question = asked(may_accept=True)
    before = len(bench.matters)
    written = json.dumps({"jsonrpc": "2.0", **forged}).replace("ID", question["id"])
    assert not bench.from_server(written.encode() + b"\n")
    assert len(bench.matters) == before
    assert bench.told() == question
    assert answer(bench, question, result={"action": "cancel"}).said is Said.DISMISSED


def test_a_text_that_only_mentions_a_question_passes_both_ways() -> None:
    bench, question = asked()
    text = {"content": [{"type": "text", "text": f"toolnotary-ask- {question['id']}"}]}
    assert bench.from_server({"jsonrpc": "2.0", "id": 9, "result": text})
    arguments = {"name": "a", "arguments": {"text": "toolnotary-ask-"}}
    assert bench.request(9, "tools/call", arguments)


def test_a_new_handshake_ends_what_was_open() -> None:
    bench, question = asked()
    bench.shake_hands(declared={})
    [*_, last] = bench.matters
    assert isinstance(last, Answered)
    assert last.said is Said.UNASKED
    bench.from_host({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert bench.matters[-1] is last


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "result": {"action": "accept", "content": {"decision": "accept"}}},
        {"id": "toolnotary-0", "result": {"action": "accept"}},
        {"id": 1, "method": "approve", "params": {"server": "acme/files"}},
        {"id": 1, "method": "toolnotary/approve", "params": {"server": "acme/files"}},
        {"id": 1, "method": "elicitation/create", "params": {"message": "approve"}},
        {"method": "notifications/elicitation/complete", "params": {"elicitationId": "x"}},
        {"method": "notifications/approved"},
    ],
)
def test_nothing_else_that_looks_like_an_approval_is_one(message: Json) -> None:
    bench = withheld()
    before = list(bench.matters)
    bench.from_host({"jsonrpc": "2.0", **message})
    bench.from_server({"jsonrpc": "2.0", **message})
    assert bench.matters == before
    assert not bench.call("b")


def over_http(streams: Streams) -> Gate:
    """A gate with exchanges, on which something is withheld."""
    bench = Bench([A, B])
    gate = Gate(bench.gate._judging._judge, server="acme/files", streams=streams, asks=True)  # noqa: SLF001

    def feed(side: Side, exchange: object, **message: Json) -> Json:
        return gate.receive(side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n", 0.0, exchange)

    params = {"protocolVersion": "2025-06-18", "capabilities": FORM, "clientInfo": {}}
    feed(Side.HOST, 1, id=0, method="initialize", params=params)
    feed(Side.SERVER, 1, id=0, result={"protocolVersion": "2025-06-18"})
    feed(Side.HOST, 2, method="notifications/initialized")
    [own] = feed(Side.HOST, 3, id=1, method="tools/list").others
    feed(Side.SERVER, own, id=own, result={"tools": [A, BAD]})
    return gate


def wanted(gate: Gate) -> list[object]:
    """What the gate wants once some time has passed."""
    return [*gate.wake(10.0).matters, *gate.wake(20.0).matters]


def test_a_session_without_a_stream_is_asked_once_it_has_one() -> None:
    gate = over_http(Streams.SESSION)
    assert not wanted(gate)
    gate.hear(is_heard=True)
    assert len(wanted(gate)) == 1


def test_hosts_that_share_their_streams_are_never_asked() -> None:
    gate = over_http(Streams.SHARED)
    gate.hear(is_heard=True)
    assert not wanted(gate)
