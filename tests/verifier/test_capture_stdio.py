# SPDX-License-Identifier: Apache-2.0
"""One look at a process over stdio: both eras, every page, and each hostile move under its own code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from servers import scripted

from toolnotary_verifier.capture import CommandSource, inspect
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, InvalidInput, ToolnotaryError
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface

# Silence is waited for: short where a test provokes it, long where a busy machine must not be taken for it.
PATIENT = Limits(first_start_seconds=60, listing_seconds=60)
IMPATIENT = Limits(first_start_seconds=0.5, listing_seconds=0.3)
IMPATIENT_LATER = Limits(first_start_seconds=60, listing_seconds=0.3)
HASTY = Limits(first_start_seconds=60, listing_seconds=60, probe_seconds=0.1)


def source(
    script: dict[str, Any] | None = None, *, move: str | None = None, **environment: str
) -> CommandSource:
    return CommandSource(
        argv=tuple(scripted.command(script, move=move)), environment={**os.environ, **environment}
    )


def look(script: dict[str, Any] | None = None, *, move: str | None = None, **options: Any) -> Surface:
    return inspect(source(script, move=move), **{"limits": PATIENT, **options})


def failure(
    script: dict[str, Any] | None = None, *, move: str | None = None, **options: Any
) -> ToolnotaryError:
    with pytest.raises(ToolnotaryError) as caught:
        look(script, move=move, **options)
    return caught.value


def names(surface: Surface, kind: Kind = Kind.TOOL) -> list[str]:
    return [definition.name for definition in surface.of_kind(kind)]


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie that nobody collected."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False).stdout
    return bool(shown.strip()) and not shown.strip().startswith(b"Z")


HONEST = ["add", "echo", "read_file"]


@pytest.mark.parametrize(
    ("era", "asked", "revision"),
    [
        ("both", None, "2026-07-28"),
        ("stateless", None, "2026-07-28"),
        ("handshake", None, "2025-11-25"),
        ("both", ("2025-11-25",), "2025-11-25"),
        ("both", ("2025-06-18",), "2025-06-18"),
        ("both", ("2026-07-28",), "2026-07-28"),
    ],
)
def test_the_newest_revision_that_both_sides_know_is_spoken(era: str, asked: Any, revision: str) -> None:
    surface = look({"era": era}, **({"revisions": asked} if asked else {}))
    assert surface.protocol_version == revision
    assert names(surface) == HONEST
    assert surface.server_info == {"name": "scripted", "version": "1.0.0"}
    assert surface.definitions[Kind.INSTRUCTIONS, "instructions"].value == "Ask before reading a file."


@pytest.mark.parametrize(
    ("era", "asked", "code"),
    [("handshake", ("2026-07-28",), "protocol-version"), ("stateless", ("2025-06-18",), "handshake-refused")],
)
def test_a_revision_that_the_server_does_not_speak_is_not_replaced_by_another(
    era: str, asked: tuple[str, ...], code: str
) -> None:
    error = failure({"era": era}, revisions=asked)
    assert isinstance(error, CannotTell)
    assert error.code == code


@pytest.mark.parametrize("version", ["2099-01-01", 7, None, "\x1b[2J"])
def test_a_revision_that_nobody_knows_is_refused(version: Any) -> None:
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}
    error = failure({"era": "handshake", "rules": [{"on": "initialize", "do": [{"result": result}]}]})
    assert error.code == "protocol-version"
    assert error.message.isprintable()


def test_an_old_revision_that_a_server_insists_on_is_spoken() -> None:
    result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {}}
    script = {"era": "handshake", "rules": [{"on": "initialize", "do": [{"result": result}]}]}
    assert look(script).protocol_version == "2024-11-05"


def test_a_server_that_answers_nothing_to_the_probe_is_asked_by_handshake() -> None:
    script = {"era": "handshake", "rules": [{"on": "server/discover", "do": []}]}
    assert look(script, limits=HASTY).protocol_version == "2025-11-25"


def test_a_server_that_answers_the_probe_late_is_not_taken_for_an_old_one() -> None:
    """The answer to the probe comes after `initialize` was sent, and still decides."""
    steps = [{"await": "initialize"}, "default"]
    script = {"rules": [{"on": "server/discover", "do": steps}]}
    assert look(script, limits=HASTY).protocol_version == "2026-07-28"


def test_a_server_that_ends_at_the_probe_is_started_again_and_asked_by_handshake() -> None:
    script = {"era": "handshake", "rules": [{"on": "server/discover", "do": [{"exit": 1}]}]}
    assert look(script).protocol_version == "2025-11-25"


def test_a_server_that_refuses_the_newest_handshake_is_asked_for_the_older_one() -> None:
    refusal = {"error": {"code": -32602, "message": "unsupported protocol version"}}
    script = {"era": "handshake", "rules": [{"on": "initialize", "nth": 1, "do": [refusal]}]}
    assert look(script).protocol_version == "2025-06-18"


def test_every_list_that_is_advertised_is_read_to_its_last_page() -> None:
    surface = look(
        {
            "page_size": 1,
            "prompts": [{"name": "p1"}, {"name": "p2"}],
            "resources": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b", "name": "b"}],
            "resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "t"}],
        }
    )
    assert names(surface) == HONEST
    assert names(surface, Kind.PROMPT) == ["p1", "p2"]
    assert names(surface, Kind.RESOURCE) == ["file:///a", "file:///b"]
    assert names(surface, Kind.TEMPLATE) == ["file:///{x}"]
    assert surface.inspected == set(Kind)


def test_tools_that_are_not_advertised_are_looked_at_all_the_same() -> None:
    script = {"capabilities": {"tools": None}, "tools": scripted.TOOLS, "rules": []}
    assert names(look(script)) == HONEST


@pytest.mark.parametrize("move", ["no-tools", "empty-list"])
def test_a_server_without_tools_has_none_and_was_inspected(move: str) -> None:
    surface = look(move=move)
    assert names(surface) == []
    assert Kind.TOOL in surface.inspected


def test_an_empty_list_is_believed_only_when_it_is_empty_twice() -> None:
    surface = look({"listings": [{"tools": []}, {"tools": scripted.TOOLS}]})
    assert names(surface) == HONEST


def test_a_list_that_is_announced_to_have_changed_is_read_again() -> None:
    late = {**scripted.TOOLS[0], "name": "late"}
    script = {
        "era": "handshake",
        "rules": [
            {
                "on": "tools/list",
                "nth": 1,
                "do": [
                    "default",
                    {"set": {"tools": [*scripted.TOOLS, late]}},
                    {"notify": "notifications/tools/list_changed"},
                ],
            }
        ],
    }
    assert names(look(script)) == ["add", "echo", "late", "read_file"]


def test_a_storm_of_announcements_does_not_keep_a_look_from_ending() -> None:
    surface = look({"era": "handshake", **scripted.MOVES["storm-while-listing"]})
    assert names(surface) == HONEST
    assert any("kept changing" in note for note in surface.notes)


def test_requests_of_the_server_are_answered_as_by_a_client_with_nobody_in_front(tmp_path: Path) -> None:
    record = tmp_path / "lines"
    asked = ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "unheard/of"]
    steps = [{"request": method, "params": {}, "id": method, "wait": True} for method in asked]
    script = {
        "era": "handshake",
        "record": str(record),
        "rules": [{"on": "tools/list", "do": [*steps, "default"]}],
    }
    assert names(look(script, capabilities=("elicitation", "roots", "sampling"))) == HONEST
    lines = [json.loads(line) for line in record.read_bytes().split(b"\n") if line]
    answers = {line["id"]: line for line in lines if "method" not in line}
    assert answers["ping"]["result"] == {}
    assert answers["roots/list"]["result"] == {"roots": []}
    assert answers["elicitation/create"]["result"] == {"action": "decline"}
    assert answers["sampling/createMessage"]["error"]["code"] == -1
    assert answers["unheard/of"]["error"]["code"] == -32601
    (hello,) = [line for line in lines if line.get("method") == "initialize"]
    assert hello["params"]["capabilities"] == {"elicitation": {}, "roots": {}, "sampling": {}}


def test_what_was_not_declared_is_not_offered(tmp_path: Path) -> None:
    record = tmp_path / "lines"
    asked = ["roots/list", "sampling/createMessage", "elicitation/create"]
    steps = [{"request": method, "params": {}, "id": method, "wait": True} for method in asked]
    look(
        {
            "era": "handshake",
            "record": str(record),
            "rules": [{"on": "tools/list", "do": [*steps, "default"]}],
        }
    )
    lines = [json.loads(line) for line in record.read_bytes().split(b"\n") if line]
    assert {line["error"]["code"] for line in lines if "method" not in line} == {-32601}


def test_noise_on_standard_output_is_passed_over_and_told_in_safe_characters() -> None:
    surface = look(move="banner")
    assert names(surface) == HONEST
    assert any("ready" in note for note in surface.notes)
    assert all(note.isprintable() for note in surface.notes)


def test_an_answer_to_a_request_that_nobody_made_does_not_count() -> None:
    surface = look(move="listing-unasked")
    assert surface.protocol_version == "2026-07-28"
    assert names(surface) == HONEST


@pytest.mark.parametrize(
    ("move", "code"),
    [
        ("silent", "no-answer"),
        ("silent-listing", "no-answer"),
        ("id-as-text", "no-answer"),
        ("exits-at-once", "server-ended"),
        ("exits-while-listing", "server-ended"),
        ("listing-error", "listing-refused"),
    ],
)
def test_a_server_that_was_not_inspected_is_neither_right_nor_wrong(move: str, code: str) -> None:
    limits = {"silent": IMPATIENT, "silent-listing": IMPATIENT_LATER, "id-as-text": IMPATIENT_LATER}
    error = failure(move=move, limits=limits.get(move, PATIENT))
    assert isinstance(error, CannotTell)
    assert error.code == code
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("move", "told"),
    [
        ("silent", "no answer to initialize within 0.5 seconds"),
        ("silent-listing", "no answer to tools/list within 0.3 seconds"),
    ],
)
def test_silence_is_told_with_what_was_asked_and_how_long_it_was_waited_for(move: str, told: str) -> None:
    limits = Limits(first_start_seconds=60, probe_seconds=0.1, listing_seconds=0.3)
    if move == "silent":
        limits = limits._replace(first_start_seconds=0.5)
    assert told in failure(move=move, limits=limits).message


@pytest.mark.parametrize(
    ("move", "code"),
    [
        ("cursor-loop", "cursor-loop"),
        ("endless-pages", "listing-limit"),
        ("not-an-array", "listing-shape"),
        ("upper-case-keys", "answer-shape"),
        ("folded-key", "listing-shape"),
        ("both-cases", "listing-shape"),
        ("duplicate-result", "duplicate-key"),
        ("truncated", "not-json"),
        ("nan", "not-json"),
        ("not-utf8", "not-utf8"),
        ("byte-order-mark", "not-utf8"),
        ("cr-as-line-end", "not-json"),
        ("deep", "too-deep"),
        ("huge-frame", "too-large"),
        ("batch", "batch"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused_at_once_and_by_name(move: str, code: str) -> None:
    error = failure(move=move)
    assert isinstance(error, InvalidInput)
    assert error.code == code
    assert "scripted.py" in error.message
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("move", "code", "left"),
    [
        ("nameless-tool", "definition-shape", HONEST),
        ("lone-surrogate", "lone-surrogate", ["add", "echo"]),
        ("duplicate-key-in-tool", "duplicate-key", ["add"]),
        ("duplicate-tool-name", "ambiguous-name", ["add", "read_file"]),
        ("huge-description", "too-large", HONEST),
    ],
)
def test_one_bad_tool_is_a_fault_and_the_others_are_read(move: str, code: str, left: list[str]) -> None:
    surface = look(move=move)
    assert [fault.code for fault in surface.faults] == [code]
    assert names(surface) == left


def test_what_the_server_said_on_standard_error_is_told_bounded_and_without_secrets() -> None:
    words = "x\x1b[31m" * 9000 + "token s3cr3t-canary-value refused\n"
    script = {"rules": [{"on": "start", "do": [{"stderr": words}, {"exit": 3}]}]}
    with pytest.raises(CannotTell) as caught:
        inspect(source(script, ACME_API_TOKEN="s3cr3t-canary-value"), limits=PATIENT)
    assert "exit code 3" in caught.value.message
    assert "refused" in caught.value.message
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 1000


def test_an_error_text_of_the_server_is_told_without_secrets() -> None:
    script = {
        "rules": [{"on": "tools/list", "do": [{"error": {"code": -1, "message": "bad s3cr3t-canary-value"}}]}]
    }
    with pytest.raises(CannotTell) as caught:
        inspect(source(script, ACME_API_TOKEN="s3cr3t-canary-value"), limits=PATIENT)
    assert caught.value.code == "listing-refused"
    assert "s3cr3t" not in str(caught.value)


def test_whatever_an_error_quotes_of_an_answer_is_told_without_secrets() -> None:
    answer = {"protocolVersion": "s3cr3t-canary-value", "capabilities": {}, "serverInfo": {}}
    script = {"era": "handshake", "rules": [{"on": "initialize", "do": [{"result": answer}]}]}
    with pytest.raises(CannotTell) as caught:
        inspect(source(script, ACME_API_TOKEN="s3cr3t-canary-value"), limits=PATIENT)
    assert caught.value.code == "protocol-version"
    assert "s3cr3t" not in str(caught.value)
    assert "s3cr3t" not in caught.value.message


def test_the_command_line_in_a_message_has_no_secrets(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-such-server")
    secret = CommandSource(argv=(missing, "--api-key", "s3cr3t-canary-value", "--token=s3cr3t-canary-value"))
    with pytest.raises(CannotTell) as caught:
        inspect(secret)
    assert caught.value.code == "server-start"
    assert "s3cr3t" not in str(caught.value)
    with pytest.raises(CannotTell) as caught:
        inspect(CommandSource(argv=(sys.executable, "-c", "pass", "--api-key", "s3cr3t-canary-value")))
    assert caught.value.code == "server-ended"
    assert "s3cr3t" not in str(caught.value)


def test_a_server_that_reads_nothing_and_asks_for_ever_does_not_outlast_its_time() -> None:
    asks = {"request": "ping", "params": {"x": {"$repeat": ["x", 60000]}}, "id": {"$repeat": ["i", 60000]}}
    script = {"rules": [{"on": "start", "do": [asks] * 200 + ["hang"]}]}
    error = failure(script, limits=IMPATIENT)
    assert error.code in ("no-answer", "server-ended")


@pytest.mark.parametrize("script", [{"ignore_sigterm": True, "ignore_eof": True}, {}])
def test_nothing_that_a_server_started_outlives_the_look(script: dict[str, Any], tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    spawn = {"spawn": {"pid_file": str(pid_file), "ignore_sigterm": True}}
    look({**script, "rules": [{"on": "start", "do": [spawn]}]})
    assert not is_running(int(pid_file.read_text(encoding="ascii")))


def test_a_prompt_list_that_the_server_will_not_give_is_told_and_not_taken_for_none() -> None:
    script = {
        "prompts": [{"name": "p"}],
        "rules": [{"on": "prompts/list", "do": [{"error": {"code": -32603, "message": "database is down"}}]}],
    }
    surface = look(script)
    assert names(surface) == HONEST
    assert Kind.PROMPT not in surface.inspected
    assert any("database is down" in note for note in surface.notes)


def test_a_list_that_is_advertised_and_does_not_exist_is_empty() -> None:
    script = {
        "prompts": [{"name": "p"}],
        "rules": [{"on": "prompts/list", "do": [{"error": {"code": -32601, "message": "method not found"}}]}],
    }
    assert Kind.PROMPT in look(script).inspected


@pytest.mark.parametrize("member", ["serverInfo", "capabilities"])
def test_what_is_recorded_of_a_server_must_be_strict_json(member: str) -> None:
    members = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
    members[member] = {"x": "\ud800"}
    error = failure({"era": "handshake", "rules": [{"on": "initialize", "do": [{"result": members}]}]})
    assert error.code == "lone-surrogate"
