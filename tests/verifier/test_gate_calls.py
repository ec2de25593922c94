# SPDX-License-Identifier: Apache-2.0
"""The gate: a host's lists and calls, answered or passed by what is verified, in both eras."""

import json

import pytest
from gatebench import EVIL, META, Bench, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

A, B = tool("a"), tool("b")
ERAS = pytest.mark.parametrize("stateless", [False, True], ids=["handshake", "stateless"])


def opened(*pinned: object, stateless: bool = False, **more: object) -> Bench:
    """A connection over which nothing was listed yet."""
    bench = Bench(list(pinned) or [A, B], **more)  # type: ignore[arg-type]  # keyword arguments of Bench
    if not stateless:
        bench.shake_hands()
    return bench


def names(answer: dict[str, object]) -> list[str]:
    """The names in the answer to a list request."""
    result = answer["result"]
    assert isinstance(result, dict)
    return [entry["name"] for entry in result["tools"]]


@ERAS
def test_a_tool_whose_description_changed_is_withheld_and_the_others_stay(stateless: bool) -> None:
    bench = opened(stateless=stateless)
    answer = bench.listed(A, tool("b", EVIL), stateless=stateless)
    assert names(answer) == ["a"]
    assert EVIL.encode() not in b"".join(bench.host)


@ERAS
def test_a_call_before_any_listing_waits_until_the_gate_listed_by_itself(stateless: bool) -> None:
    bench = opened(stateless=stateless)
    assert not bench.call("a", stateless=stateless)
    asked = bench.asked()
    assert asked["method"] == "tools/list"
    assert asked.get("params", {}).get("_meta") == (META if stateless else None)
    assert not any(b"tools/call" in line for line in bench.server)
    bench.answer_listing(A, tool("b", EVIL))
    assert bench.asked()["method"] == "tools/call"
    assert bench.call("a", stateless=stateless), "the next one passes untouched"


@ERAS
def test_a_call_of_a_changed_tool_is_refused_with_a_result_that_names_only_explain(stateless: bool) -> None:
    bench = opened(stateless=stateless)
    bench.listed(A, tool("b", EVIL), stateless=stateless)
    before = list(bench.server)
    assert not bench.call("b", request_id=7, stateless=stateless)
    assert bench.server == before
    told = bench.told()
    assert told["id"] == 7
    assert told["result"]["isError"] is True
    assert told["result"].get("resultType") == ("complete" if stateless else None)
    text = told["result"]["content"][0]["text"]
    assert "toolnotary explain acme/files" in text
    assert "approve" not in text
    assert EVIL not in text


@pytest.mark.parametrize("name", ["never-listed", "A", "a ", ""])
def test_a_call_of_a_name_without_a_definition_is_refused(name: str) -> None:
    bench = opened()
    bench.listed(A)
    assert not bench.call(name)
    assert bench.told()["result"]["isError"] is True


def test_a_call_that_waits_for_a_listing_and_is_not_verified_then_is_refused() -> None:
    bench = opened()
    bench.call("b")
    bench.answer_listing(A, tool("b", EVIL))
    assert bench.told()["result"]["isError"] is True
    assert not any(b"tools/call" in line for line in bench.server)


def test_a_call_without_an_id_is_gated_too_and_gets_no_answer() -> None:
    bench = opened()
    bench.listed(A)
    before = list(bench.host)
    notice = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "evil"}}
    assert not bench.from_host(notice)
    assert bench.host == before
    assert not any(b"tools/call" in line for line in bench.server)


def test_the_host_gets_one_page_however_many_the_server_sent() -> None:
    bench = opened()
    bench.request(1, "tools/list")
    bench.answer_listing(A, nextCursor="")
    assert bench.asked()["params"] == {"cursor": ""}
    assert len([line for line in bench.host if b'"tools":[' in line]) == 0, "nothing before the last page"
    bench.answer_listing(B)
    assert names(bench.told()) == ["a", "b"]
    assert "nextCursor" not in bench.told()["result"]


def test_a_poisoned_last_page_is_caught_before_the_first_is_shown() -> None:
    bench = opened()
    bench.request(1, "tools/list")
    bench.answer_listing(A, nextCursor="2")
    bench.answer_listing(tool("b", EVIL))
    assert names(bench.told()) == ["a"]


def test_a_snapshot_that_does_not_fit_one_page_is_handed_out_under_cursors_of_the_gate() -> None:
    many = [tool(f"t{number}", "x" * 300) for number in range(10)]
    bench = opened(*many, limits=Limits(page_bytes=1000))
    bench.request(1, "tools/list")
    for start in range(0, 10, 2):
        bench.answer_listing(*many[start : start + 2], **({"nextCursor": str(start)} if start < 8 else {}))
    seen, cursor = [], None
    before = len(bench.server)
    while True:
        result = bench.told()["result"]
        seen += [entry["name"] for entry in result["tools"]]
        cursor = result.get("nextCursor")
        if cursor is None:
            break
        bench.request(2, "tools/list", {"cursor": cursor})
    assert seen == [f"t{number}" for number in range(10)]
    assert len(bench.server) == before, "the server is not asked again"


def test_a_cursor_that_is_not_ours_or_is_stale_is_invalid() -> None:
    many = [tool(f"t{number}", "x" * 300) for number in range(4)]
    bench = opened(*many, limits=Limits(page_bytes=1000))
    bench.request(1, "tools/list")
    bench.answer_listing(*many[:2], nextCursor="2")
    bench.answer_listing(*many[2:])
    ours = bench.told()["result"]["nextCursor"]
    for cursor in ("2", "", ours + "0", ours[:-1], ours.replace(".", ".-"), 1, None):
        if cursor is not None:
            bench.request(2, "tools/list", {"cursor": cursor})
            assert bench.told()["error"]["code"] == -32602
    bench.request(3, "tools/list")
    bench.answer_listing(*many[:1])
    bench.request(4, "tools/list", {"cursor": ours})
    assert bench.told()["error"]["code"] == -32602


def test_what_equals_a_pin_only_in_normal_form_is_replaced_by_the_pinned_definition() -> None:
    bench = opened(A, replace={"b": tool("b", "as pinned")})
    answer = bench.listed(A, tool("b", "  as pinned  "))
    assert answer["result"]["tools"][1]["description"] == "as pinned"


@ERAS
def test_unknown_members_of_a_listing_are_removed_and_lifetimes_capped(stateless: bool) -> None:
    bench = opened(stateless=stateless, limits=Limits(reverify_seconds=60))
    bench.request(1, "tools/list", stateless=stateless)
    bench.answer_listing(A, x={"html": EVIL}, _meta={"ui": EVIL}, ttlMs=86_400_000, cacheScope="public")
    result = bench.told()["result"]
    expected: dict[str, object] = {"tools": [A]}
    if stateless:
        expected |= {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"}
    assert result == expected


@pytest.mark.parametrize("given", [-1, True, "9", None, 1.5, 10**30])
def test_a_lifetime_that_makes_no_sense_is_none_or_capped(given: object) -> None:
    bench = opened(stateless=True)
    bench.request(1, "tools/list", stateless=True)
    bench.answer_listing(A, ttlMs=given, cacheScope="everyone")
    result = bench.told()["result"]
    assert result["ttlMs"] in (0, 300_000)
    assert result["cacheScope"] == "private"


def test_prompts_are_listed_and_fetched_through_the_gate_too() -> None:
    fine, changed = {"name": "greet"}, {"name": "sum", "description": EVIL}
    bench = Bench({Kind.PROMPT: [fine, {"name": "sum"}]})
    bench.shake_hands()
    bench.request(1, "prompts/list")
    bench.answer_listing(fine, changed, member="prompts")
    assert bench.told()["result"] == {"prompts": [fine]}
    assert bench.request(2, "prompts/get", {"name": "greet"})
    assert not bench.request(3, "prompts/get", {"name": "sum"})
    assert bench.told()["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("method", "member", "entry"),
    [
        ("resources/list", "resources", {"uri": "file:///a", "name": "a"}),
        ("resources/templates/list", "resourceTemplates", {"uriTemplate": "file:///{p}", "name": "p"}),
    ],
)
def test_resources_and_templates_are_listed_through_the_gate(method: str, member: str, entry: object) -> None:
    kind = Kind.RESOURCE if member == "resources" else Kind.TEMPLATE
    bench = Bench({kind: [entry]})
    bench.shake_hands()
    bench.request(1, method)
    bench.answer_listing(entry, {**entry, "description": EVIL, "uri": "x", "uriTemplate": "x"}, member=member)  # type: ignore[dict-item]
    assert bench.told()["result"] == {member: [entry]}
    assert bench.request(2, "resources/read", {"uri": "file:///a"})


def test_instructions_that_are_pinned_pass_byte_for_byte_and_others_are_removed() -> None:
    bench = Bench({Kind.INSTRUCTIONS: ["be nice"]})
    bench.shake_hands(instructions="be nice")
    assert json.loads(bench.host[0])["result"]["instructions"] == "be nice"
    other = Bench({Kind.INSTRUCTIONS: ["be nice"]})
    other.shake_hands(instructions=EVIL)
    result = json.loads(other.host[0])["result"]
    assert "instructions" not in result
    assert result["serverInfo"] == {"name": "files", "version": "1"}


def test_instructions_equal_only_in_normal_form_are_replaced_by_the_pinned_ones() -> None:
    bench = Bench([], replace={"instructions": "be nice"})
    bench.shake_hands(instructions="be nice  ")
    assert json.loads(bench.host[0])["result"]["instructions"] == "be nice"


def test_instructions_of_the_stateless_era_are_judged_as_well() -> None:
    bench = Bench([A])
    assert bench.request("d", "server/discover", stateless=True)
    answer = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 9}
    bench.from_server({"jsonrpc": "2.0", "id": "d", "result": {**answer, "instructions": EVIL}})
    assert bench.told()["result"] == answer


def test_an_answer_to_discover_with_nothing_to_judge_passes_byte_for_byte() -> None:
    bench = Bench([A])
    bench.request("d", "server/discover", stateless=True)
    line = b'{"jsonrpc": "2.0", "id": "d", "error": {"code": -32022, "message": "no"}}\r\n'
    assert bench.from_server(line)


def test_a_listing_error_reaches_the_host_as_an_error_in_our_own_words() -> None:
    bench = opened()
    bench.request(1, "tools/list")
    bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "error": {"code": -1, "message": EVIL}})
    assert bench.told()["error"]["code"] == -32603
    assert EVIL.encode() not in b"".join(bench.host)
    bench.call("a")
    assert bench.asked()["method"] == "tools/list", "nothing is verified: the next call lists again"


def test_a_server_without_the_list_answers_as_it_would_have_by_itself() -> None:
    bench = opened()
    bench.request(1, "prompts/list")
    bench.from_server(
        {"jsonrpc": "2.0", "id": bench.asked()["id"], "error": {"code": -32601, "message": "no"}}
    )
    assert bench.told() == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32601, "message": "method not found: prompts/list"},
    }


@pytest.mark.parametrize(
    "result",
    [
        {"tools": {"a": A}},
        {},
        [],
        {"tools": [A], "nextCursor": 5},
        {"tools": [A], "nextCursor": "x" * 70_000},
        {"tools": [A] * 5001},
        {"tools": [A], "Tools": [tool("b", EVIL)]},
    ],
)
def test_a_listing_that_is_none_is_withheld_and_calls_are_refused(result: object) -> None:
    bench = opened()
    bench.request(1, "tools/list")
    bench.call("a", request_id=2)
    bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": result})
    answers = {json.loads(line)["id"]: json.loads(line) for line in bench.host[1:]}
    assert answers[1]["error"]["code"] == -32603
    assert answers[2]["result"]["isError"] is True
    assert "listing-failed" in bench.codes()


def test_a_cursor_that_comes_twice_ends_the_listing() -> None:
    bench = opened()
    bench.request(1, "tools/list")
    for _ in range(2):
        bench.answer_listing(A, nextCursor="again")
    assert bench.told()["error"]["code"] == -32603


def test_a_judge_that_cannot_tell_leaves_nothing_verified() -> None:
    def judge(_surface: Surface) -> Judgement:
        raise CannotTell("object-missing", "the manifest is not at hand")

    bench = Bench([A], judge=judge)
    bench.shake_hands(instructions=EVIL)
    bench.request(1, "tools/list")
    bench.answer_listing(A)
    assert bench.told()["error"]["code"] == -32603
    assert EVIL.encode() not in b"".join(bench.host)


def test_a_gate_that_breaks_closes_the_connection_and_lets_nothing_more_through() -> None:
    def judge(_surface: Surface) -> Judgement:
        raise ZeroDivisionError

    bench = Bench([A], judge=judge)
    bench.request(1, "tools/list")
    bench.answer_listing(A)
    assert bench.closed is not None
    assert not bench.from_server(b'{"jsonrpc":"2.0","id":9,"result":{}}\n')
    assert not bench.from_host(b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n')
    assert bench.gate.deadline is None


def test_a_host_that_asks_with_other_capabilities_sees_another_side_of_the_server() -> None:
    bench = Bench([A, B])
    bench.listed(A, stateless=True)
    meta = META | {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    params = {"name": "a", "_meta": meta | {"progressToken": 5, "traceparent": "t"}}
    assert not bench.from_host({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    assert bench.asked()["params"]["_meta"] == meta | {"traceparent": "t"}
    bench.answer_listing(B)
    assert bench.told()["result"]["isError"] is True, "under these capabilities the server lists no a"
    assert bench.call("a", stateless=True), "under the others it does"


def test_more_sides_than_allowed_are_refused() -> None:
    bench = Bench([A], limits=Limits(views=2))
    for number in range(4):
        meta = META | {"io.modelcontextprotocol/protocolVersion": f"v{number}"}
        bench.from_host({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {"_meta": meta}})
    assert bench.told()["error"]["code"] == -32603


def test_pinning_something_else_tells_the_host_and_opens_or_closes_calls() -> None:
    bench = opened(A)
    bench.listed(A, B)
    assert not bench.call("b")
    bench.repin([A, B])
    assert bench.told() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert bench.call("b")
    bench.repin([B])
    assert not bench.call("a")
    told = len(bench.host)
    bench.repin([B])
    assert len(bench.host) == told, "nothing changed, nothing is told"


def test_pinning_something_else_is_told_on_the_streams_that_a_stateless_host_opened() -> None:
    bench = Bench([A])
    bench.listed(A, B, stateless=True)
    wanted = {"notifications": {"toolsListChanged": True}}
    assert bench.request("listen-1", "subscriptions/listen", wanted, stateless=True)
    bench.request("listen-2", "subscriptions/listen", {"notifications": {}}, stateless=True)
    before = len(bench.host)
    bench.repin([A, B])
    assert len(bench.host) == before + 1
    assert bench.told()["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "listen-1"}


def test_the_same_drift_is_told_once_and_another_one_again() -> None:
    bench = opened()
    for description in (EVIL, EVIL, EVIL + "2", EVIL):
        bench.listed(A, tool("b", description))
    assert bench.codes().count("withheld") == 2
    entry = next(entry for entry in bench.log if entry.code == "withheld")
    assert "toolnotary approve acme/files" in entry.text


def test_names_are_escaped_in_what_people_read() -> None:
    bench = opened()
    bench.listed(A, tool("\u202eevil\x1b]0;x\x07"))
    text = "".join(entry.text for entry in bench.log)
    assert "\u202e" not in text
    assert "\x1b" not in text
