# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run` asks a host that declares elicitation about what is withheld: once, and nothing waits."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audit_lines import audit_lines
from pinned_servers import YES
from proxybench import DEADLINE, Wire
from servers import scripted
from servers.publisher import SERVER
from servers.registry import RunningRegistry, sqlite_registry
from signed_servers import ADD, ECHO, Bench, surface
from terminal import at_terminal

from toolnotary_verifier.moves import pin_surface

__all__ = ["sqlite_registry"]  # a fixture

Json = Any
MORE = scripted.tool("more", "More.", text="string")
OTHER = scripted.tool("more", "Something else.", text="string")
ACCEPT = {"action": "accept", "content": {"decision": "accept"}}
DECLINE = {"action": "accept", "content": {"decision": "decline"}}


@pytest.fixture
def weather(tmp_path: Path) -> Bench:
    """A server that shows a tool more than is pinned."""
    bench = Bench(tmp_path)
    bench.shows([ADD, MORE])
    bench.pin_unsigned([ADD])
    return bench


def says(bench: Bench, elicitation: str) -> None:
    """What the policy says of questions in the host."""
    bench.home.joinpath("toolnotary.toml").write_text(f"[elicitation]\n{elicitation}\n", encoding="utf-8")


def opened(bench: Bench, **capabilities: Json) -> Wire:
    host = bench.hosts()
    host.shake_hands(**(capabilities or {"elicitation": {}}))
    assert host.tools("first") == ["add"]
    return host


def question(host: Wire) -> Json:
    """What the host is asked; waits for it."""
    while True:
        message = host.message()
        if message.get("method") == "elicitation/create":
            return message


def say(host: Wire, asked: Json, result: Json) -> None:
    host.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode() + b"\n")


def eventually(what: Callable[[], object]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + DEADLINE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def events(bench: Bench) -> list[str]:
    """What the state holds but looks and acceptances, in order."""
    found = [json.loads(line) for line in bench.project().state.recorded.splitlines()[1:]]
    return [one["event"] for one in found if one["event"] not in ("inspected", "accepted")]


def refusals() -> list[str]:
    """Why answers in a host accepted nothing."""
    found = [line for line in audit_lines() if line["event"] == "refused"]
    return [line["reason"] for line in found if "changeSet" in line]


def is_asked(host: Wire) -> bool:
    """Whether the host was asked anything by the time that more than the time to settle is over."""
    time.sleep(3)
    host.ask("ping", "ping")
    return any(b"elicitation/create" in frame for frame in host.frames)


def test_a_no_in_the_host_is_remembered_as_one_at_approve_is(weather: Bench) -> None:
    with opened(weather) as host:
        asked = question(host)
        assert "tool more (added)" in asked["params"]["message"]
        assert "More." not in asked["params"]["message"]
        say(host, asked, DECLINE)
        eventually(lambda: events(weather) == ["announced", "declined"])
        assert host.call("more")[0]
        assert not host.call("add", "pinned")[0]
        assert host.end() == 0
    [said] = [line for line in audit_lines() if line["event"] == "declined"]
    [told] = [line for line in audit_lines() if line["event"] == "asked"]
    [ended] = [line for line in audit_lines() if line["event"] == "answered"]
    assert said["changeSet"] == told["changeSet"] == ended["changeSet"]
    assert (said["by"], told["by"], ended["by"], ended["reason"]) == ("user", "policy", "user", "declined")
    shown = at_terminal(["approve", SERVER], YES[0], ("[yes/no]", "no\n")).shown
    assert "you declined exactly this before" in shown


def test_the_command_that_the_question_names_reviews_the_change(weather: Bench) -> None:
    with opened(weather) as host:
        asked = question(host)
        told = asked["params"]["message"].rpartition("To review: ")[2]
        assert told.startswith("toolnotary approve ")
        session = at_terminal(told.split()[1:], *YES, *YES)
        assert session.code == 0, session.shown
        while not any(b"list_changed" in frame for frame in host.frames):
            host.message()
        assert host.tools() == ["add", "more"]
        while not any(b"notifications/cancelled" in frame for frame in host.frames):
            host.message()  # the question is taken back: there is nothing to decide any more


def test_a_yes_grants_nothing_unless_the_policy_says_so(weather: Bench) -> None:
    with opened(weather) as host:
        asked = question(host)
        assert "accept" not in asked["params"]["requestedSchema"]["properties"]["decision"]["enum"]
        say(host, asked, ACCEPT)
        time.sleep(3)
        assert host.call("more")[0]
        assert host.tools() == ["add"]
    assert events(weather) == ["announced"]


def test_a_yes_pins_exactly_what_was_named_where_the_policy_says_so(weather: Bench) -> None:
    says(weather, "grant = true")
    with opened(weather) as host:
        asked = question(host)
        assert "accept" in asked["params"]["requestedSchema"]["properties"]["decision"]["enum"]
        say(host, asked, ACCEPT)
        while not any(b"list_changed" in frame for frame in host.frames):
            host.message()
        assert host.tools() == ["add", "more"]
        assert not host.call("more")[0]
        assert host.end() == 0
    assert [line["by"] for line in audit_lines() if line["event"] == "approved"] == ["user"]
    weather.shows([ADD, OTHER])
    with weather.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add"]


def test_a_yes_counts_only_for_what_is_pinned_and_decided_as_it_was(weather: Bench) -> None:
    says(weather, "grant = true")
    with opened(weather) as host:
        asked = question(host)
        pin_surface(surface([ECHO]), server="another", launch=weather.launch).apply(weather.project())
        pin_surface(surface([ADD, OTHER]), server=SERVER, launch=weather.launch).apply(weather.project())
        say(host, asked, ACCEPT)
        eventually(lambda: refusals() or "stray" in host.said)
        assert host.call("more")[0]
    assert "approved" not in [line["event"] for line in audit_lines()]


def test_a_policy_that_took_the_leave_back_by_then_accepts_nothing(weather: Bench) -> None:
    says(weather, "grant = true")
    with opened(weather) as host:
        asked = question(host)
        says(weather, "grant = false")
        say(host, asked, ACCEPT)
        eventually(lambda: refusals() != [])
        assert host.call("more")[0]
        assert host.end() == 0
    assert "your policy lets no answer in a host accept anything" in host.said


@pytest.mark.parametrize(
    "shown",
    [
        [ECHO, {**ECHO, "description": "Another one of this name."}],  # ambiguous
        ["no definition"],
    ],
)
def test_nothing_is_accepted_unseen_where_something_is_not_what_it_claims_to_be(
    weather: Bench, shown: Json
) -> None:
    says(weather, "grant = true")
    weather.shows([ADD, MORE, *shown])
    with opened(weather) as host:
        asked = question(host)
        assert asked["params"]["requestedSchema"]["properties"]["decision"]["enum"] == [
            "review later",
            "decline",
        ]
        say(host, asked, ACCEPT)
        eventually(lambda: any(line["event"] == "answered" for line in audit_lines()))
        assert host.call("more")[0]
    assert events(weather) == ["announced"]


@pytest.mark.parametrize("is_granted", [True, False])
def test_an_upgrade_by_the_pinned_signer_moves_to_its_version_or_is_declined_as_that_version(
    tmp_path: Path, sqlite_registry: RunningRegistry, is_granted: bool
) -> None:
    bench = Bench(tmp_path)
    old, new = bench.signed("1.0.0", [ADD]), bench.signed("2.0.0", [ADD, MORE])
    bench.publish(sqlite_registry, old, new)
    bench.trust(sqlite_registry.url, more="[elicitation]\ngrant = true\n")
    bench.pin(old)
    bench.shows([ADD, MORE])
    with opened(bench) as host:
        asked = question(host)
        assert "(upgrade)" in asked["params"]["message"]
        say(host, asked, ACCEPT if is_granted else DECLINE)
        if is_granted:
            eventually(lambda: bench.entries == [(SERVER, "2.0.0")])
            while not any(b"list_changed" in frame for frame in host.frames):
                host.message()
            assert host.tools() == ["add", "more"]
        else:
            eventually(lambda: events(bench).count("declined") == 2)
            manifest = new.verified.manifest.digest
            assert bench.project().state.declined(SERVER, manifest)
            assert host.tools() == ["add"]
            assert bench.entries == [(SERVER, "1.0.0")]


@pytest.mark.parametrize("before", ["revoke", "decline"])
def test_no_answer_in_a_host_takes_back_a_no(weather: Bench, before: str) -> None:
    says(weather, "grant = true")
    pin_surface(surface([ADD, MORE]), server=SERVER, launch=weather.launch).apply(weather.project())
    arguments = ["revoke", SERVER, "more"]
    subprocess.run([sys.executable, "-m", "toolnotary_cli", *arguments], check=True, capture_output=True)
    with opened(weather) as host:
        assert not is_asked(host), "who withdrew something is not asked about it"
    if before == "decline":
        weather.shows([ADD, MORE, ECHO])
        with opened(weather) as host:
            asked = question(host)
            decision = asked["params"]["requestedSchema"]["properties"]["decision"]
            assert "accept" not in decision["enum"], "one of both was withdrawn"


def test_a_host_that_does_not_declare_it_is_sent_nothing(weather: Bench) -> None:
    with opened(weather, sampling={}) as host:
        assert not is_asked(host)
    assert events(weather) == []


def test_nobody_is_asked_where_the_policy_says_so(weather: Bench) -> None:
    says(weather, "enabled = false")
    with opened(weather) as host:
        assert not is_asked(host)
    assert events(weather) == []


def test_a_silent_host_is_waited_for_as_long_as_the_policy_says_and_blocks_nothing(weather: Bench) -> None:
    says(weather, "seconds = 1")
    with opened(weather) as host:
        asked = question(host)
        assert not host.call("add", "meanwhile")[0]
        assert host.call("more", "refused")[0]
        while not any(b"notifications/cancelled" in frame for frame in host.frames):
            host.message()
        say(host, asked, DECLINE)
        host.ask("ping", "ping")
        assert host.end() == 0
    assert events(weather) == ["announced"]
    assert "stray-answer" in host.said
    [ended] = [line for line in audit_lines() if line["event"] == "answered"]
    assert (ended["by"], ended["reason"]) == ("policy", "silent")


def test_two_hosts_are_not_both_asked_about_the_same(weather: Bench) -> None:
    with opened(weather) as first, opened(weather) as second:
        deadline = time.monotonic() + 10
        hosts = [first, second]
        while time.monotonic() < deadline and events(weather).count("announced") < 1:
            time.sleep(0.1)
        asked = [is_asked(host) for host in hosts]
        assert asked.count(True) == 1
    with opened(weather) as third:
        shown_again = is_asked(third)
    assert shown_again, "neither of them answered before it was gone"


def test_a_host_that_answers_with_an_error_leaves_the_question_to_another(weather: Bench) -> None:
    with opened(weather) as host:
        asked = question(host)
        refused = {"code": -32601, "message": "method not found"}
        host.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": refused}).encode() + b"\n")
        eventually(lambda: events(weather) == ["announced", "unannounced"])
        assert not host.call("add")[0]
        with opened(weather) as other:
            say(other, question(other), {"action": "cancel"})
            other.ask("ping", "ping")
            assert other.end() == 0
    with opened(weather) as third:
        assert not is_asked(third), "a person saw it, and put it away"


def test_a_host_that_is_gone_leaves_the_question_to_the_next(weather: Bench) -> None:
    with opened(weather) as host:
        question(host)
        host.process.stdin.close()  # type: ignore[union-attr]  # a pipe
        host.process.wait(DEADLINE)
    assert events(weather) == ["announced", "unannounced"]
    with opened(weather) as host:
        question(host)


def test_what_repeats_a_secret_of_the_launch_is_not_pinned_by_an_answer(
    weather: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "s3cr3t-value-of-a-token-1234567890")
    says(weather, "grant = true")
    weather.shows([ADD, scripted.tool("more", "s3cr3t-value-of-a-token-1234567890", text="string")])
    with opened(weather) as host:
        say(host, question(host), ACCEPT)
        eventually(lambda: refusals() != [])
        assert host.call("more")[0]
    assert refusals() == ["secret-in-surface"]
