# SPDX-License-Identifier: Apache-2.0
"""The gate: what nobody pinned is looked up elsewhere, blocked meanwhile, and judged again afterwards."""

import json
import shlex
from typing import Any

import pytest
from gatebench import EVIL, META, Bench, judge_by, tool

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement

Json = Any
A, B = tool("a"), tool("b")
NEW = tool("a", "better")
LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
UNKNOWN = judge_by({Kind.TOOL: [A, B]}, pending=True)


def asking() -> Bench:
    """A host that listed a server of which one tool is unknown."""
    bench = Bench([], judge=UNKNOWN)
    bench.shake_hands()
    bench.listed(NEW, B)
    return bench


def names(answer: Json) -> list[str]:
    return [one["name"] for one in answer["result"]["tools"]]


def test_where_everything_is_pinned_nothing_is_looked_up() -> None:
    bench = Bench([], judge=UNKNOWN)
    bench.shake_hands()
    bench.listed(A, B)
    assert bench.call("a")
    assert bench.look_ups == 0


def test_what_is_unknown_is_looked_up_once_and_stays_blocked_while_the_rest_works() -> None:
    bench = asking()
    assert bench.look_ups == 1
    assert names(bench.told()) == ["b"]
    assert names(bench.listed(NEW, B, tool("c"))) == ["b"]
    assert bench.look_ups == 1, "one is under way"
    assert bench.call("b")
    assert not bench.call("a")
    assert bench.told()["result"]["isError"] is True
    assert "(pending)" in bench.told()["result"]["content"][0]["text"]
    assert EVIL not in json.dumps(bench.told())


def test_people_are_told_that_the_registry_is_asked_and_no_command_yet() -> None:
    bench = asking()
    told = [entry.text for entry in bench.log if entry.code == "withheld"]
    assert len(told) == 1
    assert "tool a (pending)" in told[0]
    assert "the registry is being asked" in told[0]
    assert "toolnotary approve" not in told[0]


def test_what_the_look_up_explains_is_announced_and_then_shown_without_another_listing() -> None:
    bench = asking()
    asked = len(bench.server)
    bench.repin([NEW, B])
    assert bench.told() == LIST_CHANGED
    assert len(bench.server) == asked
    assert bench.call("a")
    assert names(bench.listed(NEW, B)) == ["a", "b"]


def test_what_the_look_up_does_not_explain_stays_blocked_and_the_host_is_not_disturbed() -> None:
    bench = asking()
    before = list(bench.host)
    bench.repin([A, B])
    assert bench.host == before
    assert not bench.call("a")
    assert "(changed)" in bench.told()["result"]["content"][0]["text"]
    told = [entry.text for entry in bench.log if entry.code == "withheld"]
    assert "toolnotary approve acme/files" in told[-1]
    assert bench.look_ups == 1


def test_a_judge_that_is_still_not_sure_after_a_look_up_gets_another() -> None:
    bench = asking()
    bench.repin([], judge=UNKNOWN)
    assert bench.look_ups == 2


def test_something_new_after_a_look_up_is_looked_up_again() -> None:
    bench = asking()
    bench.repin([], judge=judge_by({Kind.TOOL: [NEW, B]}, pending=True))
    assert bench.look_ups == 1
    bench.listed(NEW, B, tool("c"))
    assert bench.look_ups == 2


def test_unknown_instructions_are_looked_up_before_anything_is_listed() -> None:
    bench = Bench([], judge=UNKNOWN)
    bench.shake_hands(instructions=EVIL)
    assert bench.look_ups == 1
    assert EVIL not in bench.host[0].decode()


def test_a_host_of_the_stateless_era_keeps_a_list_no_longer_than_the_look_up_takes() -> None:
    bench = Bench([], judge=UNKNOWN)
    listen = {"notifications": {"toolsListChanged": True}}
    bench.request("stream", "subscriptions/listen", listen, stateless=True)
    assert bench.listed(NEW, B, stateless=True)["result"]["ttlMs"] == 0
    bench.repin([NEW, B])
    assert bench.told()["method"] == LIST_CHANGED["method"]
    assert bench.told()["params"] == {"_meta": {"io.modelcontextprotocol/subscriptionId": "stream"}}
    assert bench.listed(NEW, B, stateless=True)["result"]["ttlMs"] > 0


def test_an_answer_that_cannot_be_judged_leaves_nothing_verified_and_the_connection_open() -> None:
    def broken(_surface: Surface) -> Judgement:
        raise CannotTell("text-missing", "no text")

    bench = asking()
    bench.repin([], judge=broken)
    assert bench.closed is None
    assert bench.codes()[-1] == "listing-failed"
    assert not bench.call("b")


def test_an_answer_for_a_host_that_said_nothing_yet_is_told_to_nobody() -> None:
    bench = Bench([], judge=UNKNOWN)
    bench.request("d", "server/discover", {"_meta": META})
    bench.repin([A])
    assert bench.host == []
    assert bench.log == []


@pytest.mark.parametrize("options", [[], ["--lockfile", "/a b/toolnotary.lock"]])
def test_the_command_that_people_are_told_leads_to_the_same_files(options: list[str]) -> None:
    bench = Bench([], judge=judge_by({Kind.TOOL: [A]}), options=options)
    bench.shake_hands()
    bench.listed(NEW)
    told = bench.log[-1].text.rpartition("to review: ")[2]
    assert shlex.split(told) == ["toolnotary", "approve", "acme/files", *options]


def test_however_much_is_withheld_the_command_is_told_whole() -> None:
    path = "/a/very/long/path" * 20
    bench = Bench([], judge=judge_by({Kind.TOOL: []}), options=["--lockfile", path])
    bench.shake_hands()
    bench.listed(*(tool(f"{number}-{'long' * 50}") for number in range(50)))
    assert bench.log[-1].text.endswith(f"to review: toolnotary approve acme/files --lockfile {path}")
