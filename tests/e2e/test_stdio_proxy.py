# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run` between a host and a server, each a process: what passes, and what is said instead."""

import ast
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import proxybench
import pytest
from conftest import ROOT
from gatebench import META
from proxybench import SERVER, Wire
from servers import scripted

from toolnotary_cli.main import COMMANDS

Json = Any
NAMES = [tool["name"] for tool in scripted.TOOLS]
PROGRESS = {
    "notify": "notifications/progress",
    "params": {"progressToken": "p", "progress": 0.5, "message": "h\u00e4lf\u2028way"},
}
CALLED = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": {"progressToken": "p"}}


def started(script: Json) -> Wire:
    """A pinned server behind the proxy, from the first byte."""
    argv = scripted.command(script)
    proxybench.pin_scripted(argv)
    return Wire(proxybench.run(argv))


# Transparency

HANDSHAKE = {
    "rules": [
        {
            "on": "tools/call",
            "nth": 1,
            "do": [
                PROGRESS,
                {"request": "sampling/createMessage", "id": "s", "params": {"maxTokens": 5}, "wait": True},
                {"request": "elicitation/create", "id": 7, "params": {"message": "who?"}, "wait": True},
                {"request": "roots/list", "id": "r", "wait": True},
                {"notify": "notifications/message", "params": {"level": "info", "data": "x"}, "times": 3},
                "default",
            ],
        },
        {
            "on": "tools/call",
            "nth": 2,
            "do": [
                {"await": "notifications/cancelled"},
                {"notify": "notifications/message", "params": {"level": "info", "data": "cancelled"}},
            ],
        },
    ]
}
ASKED = {"type": "elicitation", "method": "elicitation/create", "params": {"message": "who?"}}
STATELESS = {
    "era": "stateless",
    "rules": [
        {
            "on": "tools/call",
            "nth": 1,
            "do": [
                {
                    "result": {
                        "resultType": "input_required",
                        "inputRequests": {"who": ASKED},
                        "requestState": "kept",
                    }
                }
            ],
        },
        {"on": "tools/call", "nth": 2, "do": [PROGRESS, "default"]},
        {"on": "tools/call", "nth": 3, "do": [{"await": "notifications/cancelled"}, PROGRESS]},
    ],
}


def handshake_session(host: Wire) -> None:
    """Everything that a handshake-era session has, one thing after the other."""
    host.shake_hands(sampling={}, elicitation={}, roots={})
    assert host.tools() == NAMES
    host.send("tools/call", CALLED, id=1)
    assert host.message()["method"] == "notifications/progress"
    for method, answer in (
        ("sampling/createMessage", {"role": "assistant", "content": {"type": "text", "text": "s"}}),
        ("elicitation/create", {"action": "accept", "content": {"name": "n"}}),
        ("roots/list", {"roots": [{"uri": "file:///r"}]}),
    ):
        asked = host.message()
        assert asked["method"] == method
        host.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).encode() + b"\n")
    assert "result" in host.answer(1)
    host.send("tools/call", CALLED, id=2)
    host.send("notifications/cancelled", {"requestId": 2, "reason": "enough"})
    assert host.message()["params"]["data"] == "cancelled"
    host.send("notifications/roots/list_changed")
    host.write(b'{ "jsonrpc" : "2.0", "id":"\\u0031", "method":"ping" }\n')
    assert host.message()["id"] == "1"


def stateless_session(host: Wire) -> None:
    """The same where every request stands alone (2026-07-28): input is asked for in results."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": scripted.STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
    }
    host.ask("d", "server/discover", {"_meta": meta})
    found = host.ask("l", "tools/list", {"_meta": meta})["result"]["tools"]
    assert [tool["name"] for tool in found] == NAMES
    call = {**CALLED, "_meta": {**meta, "progressToken": "p"}}
    first = host.ask(1, "tools/call", call)["result"]
    assert first["resultType"] == "input_required"
    given = {"who": {"action": "accept", "content": {"name": "n"}}}
    again = {**call, "inputResponses": given, "requestState": first["requestState"]}
    assert "content" in host.ask(2, "tools/call", again)["result"]
    host.send("tools/call", call, id=3)
    host.send("notifications/cancelled", {"requestId": 3})
    assert host.message()["method"] == "notifications/progress"


def is_listing(line: bytes) -> bool:
    """Whether a line is a listing or asks for one: those are the proxy's own on either side."""
    message = json.loads(line)
    return message.get("method") == "tools/list" or "tools" in message.get("result", {})


@pytest.mark.parametrize(
    ("script", "session"), [(HANDSHAKE, handshake_session), (STATELESS, stateless_session)]
)
def test_both_sides_read_through_the_proxy_what_they_read_without_it(
    tmp_path: Path, script: Json, session: Any
) -> None:
    seen, heard, listed = {}, {}, {}
    for way in ("direct", "through"):
        record = tmp_path / way
        argv = scripted.command({**script, "record": str(record)})
        if way == "through":
            proxybench.pin_scripted(argv)
        with Wire(argv if way == "direct" else proxybench.run(argv)) as host:
            session(host)
            assert host.end() == 0, host.said
        seen[way] = [line for line in host.frames if not is_listing(line)]
        listed[way] = [json.loads(line)["result"]["tools"] for line in host.frames if is_listing(line)]
        heard[way] = [one for one in record.read_bytes().splitlines(keepends=True) if not is_listing(one)]
    assert seen["through"] == seen["direct"]
    assert heard["through"] == heard["direct"]
    assert listed["through"] == listed["direct"]
    assert len(seen["direct"]) > 3


def test_a_result_of_20_megabytes_passes_byte_for_byte() -> None:
    head, size = '"result":{"content":[{"type":"text","text":"', 20 << 20
    steps = [
        {"text": '{"jsonrpc":"2.0","id":$id,' + head},
        {"text": {"$repeat": ["x", size]}},
        {"raw": '"}]}}'},
    ]
    with started({"rules": [{"on": "tools/call", "do": steps}]}) as host:
        host.shake_hands()
        assert host.tools() == NAMES
        host.send("tools/call", CALLED, id=5)
        line = host.line()
        assert host.end() == 0
    assert line == b'{"jsonrpc":"2.0","id":5,' + head.encode() + b"x" * size + b'"}]}}\n'


@pytest.mark.parametrize(
    ("move", "shown"), [("banner", "\u2728 ready \\u{1b}]0;owned\\u{7}"), ("garbage", "\\u{1b}[2J")]
)
def test_what_is_no_message_goes_to_standard_error_with_the_name_of_the_server(move: str, shown: str) -> None:
    argv = scripted.command(move=move)
    proxybench.pin_scripted(argv)
    with Wire(proxybench.run(argv)) as host:
        host.shake_hands()
        assert host.tools() == NAMES
        assert host.end() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in host.frames)
    noise = [line for line in host.said.splitlines() if "on its standard output, no message" in line]
    assert noise
    assert all(line.startswith(f"toolnotary: {SERVER}: ") and line.isprintable() for line in noise)
    assert shown in host.said


def test_what_a_server_says_on_standard_error_is_passed_on() -> None:
    with started({"rules": [{"on": "ping", "do": [{"stderr": "I am here\n"}, "default"]}]}) as host:
        host.ask(1, "ping")
        assert host.end() == 0
    assert "I am here\n" in host.said


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"exfiltrate"}}'.encode("utf-16-le"),
        b'{"jsonrpc":"2.0","id":5,"method":"Tools/call ","params":{"name":"exfiltrate"}}',
        b'{"jsonrpc":"2.0","id":5,"method":["tools/call"],"params":{"name":"exfiltrate"}}',
    ],
)
def test_what_a_lenient_server_could_take_for_a_call_never_reaches_it(line: bytes, tmp_path: Path) -> None:
    record = tmp_path / "record"
    with started({"record": str(record)}) as host:
        host.shake_hands()
        assert host.tools() == NAMES
        host.write(line + b"\n")
        assert "error" in host.answer(5)
        assert not host.call("echo")[0]
        assert host.end() == 0
    assert b"exfiltrate" not in record.read_bytes().replace(b"\0", b"")
    assert "[request-refused]" in host.said


# Judgement


@pytest.mark.parametrize("stateless", [False, True])
def test_a_server_that_is_as_pinned_is_told_to_nobody(stateless: bool) -> None:
    with started(
        {"rules": [{"on": "ping", "do": ["default", {"notify": "notifications/tools/list_changed"}]}]}
    ) as host:
        meta = META if stateless else {}
        if stateless:
            host.ask("d", "server/discover", {"_meta": meta})
        else:
            host.shake_hands()
        for number in range(3):
            host.ask(f"list {number}", "tools/list", {"_meta": meta})
            called = {"name": "echo", "arguments": {"text": "x"}, "_meta": meta}
            assert "isError" not in host.ask(f"call {number}", "tools/call", called)["result"]
            host.ask(f"ping {number}", "ping")
        assert host.end() == 0
    assert host.said == ""


def test_drift_is_told_once_for_each_change_set_and_only_people_learn_how_to_accept_it() -> None:
    rules = [{"on": "ping", "do": [{"set": {"tools": scripted.TOOLS[:2]}}, "default"]}]
    with started({"tools": scripted.PULLED, "rules": rules}) as host:
        host.shake_hands()
        assert [host.tools(number) for number in range(3)] == [["add", "read_file"]] * 3
        refused = [host.call("echo", f"call {number}") for number in range(3)]
        assert not host.call("add")[0]
        assert host.end() == 0
    assert all(is_refused for is_refused, _ in refused)
    told = [line for line in host.said.splitlines() if "[withheld]" in line]
    assert len(told) == 1
    assert "tool echo (changed)" in told[0]
    assert f"toolnotary approve {SERVER}" in told[0]
    assert host.said.count("[refused]") == 1
    for _, text in refused:
        assert set(re.findall(r"toolnotary (\w+)", text)) == {"explain"}
        assert scripted.POISON not in text


def test_a_second_change_is_told_too() -> None:
    more = scripted.tool("more", "More.", text="string")
    script = {"listings": [{"tools": scripted.PULLED}, {"tools": [*scripted.PULLED, more]}]}
    with started(script) as host:
        host.shake_hands()
        assert host.tools(1) == host.tools(2) == host.tools(3) == ["add", "read_file"]
        assert host.end() == 0
    told = [line for line in host.said.splitlines() if "[withheld]" in line]
    assert len(told) == 2
    assert "tool more (added)" in told[1]


def test_of_a_server_that_nobody_pinned_everything_is_withheld() -> None:
    told = {"name": scripted.POISON, "version": "1.0.0", "title": scripted.POISON}
    with Wire(proxybench.run(scripted.command({"serverInfo": told}))) as host:
        opened = host.shake_hands()
        assert "instructions" not in opened
        assert opened["serverInfo"] == {"name": SERVER, "version": "1.0.0"}
        assert host.tools() == []
        is_refused, text = host.call("echo")
        assert host.end() == 0
    assert is_refused
    assert "first-unsigned" in text
    assert set(re.findall(r"toolnotary (\w+)", text)) == {"explain"}
    assert f"toolnotary lock --server {SERVER}" in host.said
    assert scripted.POISON.encode() not in b"".join(host.frames)


def test_without_a_name_the_launch_finds_its_pins() -> None:
    argv = scripted.command({"tools": scripted.PULLED})
    proxybench.pin_scripted(argv)
    with Wire(proxybench.run(argv, server=None)) as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        assert host.end() == 0
    assert f"toolnotary: {SERVER}: drift" in host.said


def marking(tmp_path: Path) -> tuple[list[str], Path]:
    """A server that leaves a file behind as soon as it runs."""
    mark = tmp_path / "started"
    return [sys.executable, "-c", "import sys; open(sys.argv[1], 'w').close()", str(mark)], mark


def test_the_server_that_leaves_a_mark_leaves_it_where_it_is_started(tmp_path: Path) -> None:
    argv, mark = marking(tmp_path)
    with Wire(proxybench.run(argv)) as host:
        assert host.end() == 0
    assert mark.exists()


def test_another_launch_under_a_pinned_name_is_not_started(tmp_path: Path) -> None:
    proxybench.pin_scripted(scripted.command())
    argv, mark = marking(tmp_path)
    with Wire(proxybench.run(argv)) as host:
        assert host.end() == 1
    assert not mark.exists()
    assert host.frames == []
    assert host.said.startswith("error: identity: ")
    named = set(re.findall(r"toolnotary (\w+)", host.said))
    assert named
    assert named <= set(COMMANDS)


def test_with_a_corrupt_lockfile_nothing_is_started(tmp_path: Path) -> None:
    lockfile = Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.lock"
    lockfile.write_text('{"version": 1, "servers": {', encoding="utf-8")
    argv, mark = marking(tmp_path)
    with Wire(proxybench.run(argv)) as host:
        assert host.end() == 4
    assert not mark.exists()
    assert host.frames == []
    assert str(lockfile) in host.said


# What the code says


def sources() -> Iterator[Path]:
    """Every file of the proxies."""
    verifier, cli = ROOT / "verifier" / "toolnotary_verifier", ROOT / "cli" / "toolnotary_cli"
    yield from sorted(
        path for room in ("gate", "guard", "shells") for path in (verifier / room).rglob("*.py")
    )
    yield from (verifier / "process.py", verifier / "pinning.py")
    yield from (cli / f"{room}.py" for room in ("bridging", "gatekeeping", "guarding"))
    yield from (cli / "commands" / f"{name}.py" for name in ("gateway", "run"))


def test_every_command_that_the_proxy_names_exists() -> None:
    nodes = [node for path in sources() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named = {verb for text in texts for verb in re.findall(r"(?:: |`|with )toolnotary ([a-z]+)", text)}
    told = [
        node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "command"
    ]
    named |= {call.args[0].value for call in told if isinstance(call.args[0], ast.Constant)}
    assert {"approve", "explain", "lock"} <= named
    assert named <= set(COMMANDS)


def test_every_code_of_a_line_for_people_is_explained() -> None:
    used = {
        code
        for path in sources()
        for code in re.findall(
            r'\b(?:note|_?session\.tell|tell_once)\(\s*"([a-z-]+)"', path.read_text(encoding="utf-8")
        )
    }
    pages = (ROOT / "docs" / "reference" / name for name in ("bridge.md", "proxy.md"))
    told = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert len(used) > 8
    assert set(re.findall(r"^\| `([a-z-]+)` \|", told, re.MULTILINE)) == used


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on the size of files is POSIX")
def test_where_nothing_can_be_recorded_that_is_told_and_the_server_works(tmp_path: Path) -> None:
    """A full disk must not take a server away that is as it was pinned, nor let anything else through."""
    argv = scripted.command(
        {"tools": [*scripted.TOOLS, scripted.tool("exfiltrate", "sends all", to="string")]}
    )
    proxybench.pin_scripted(argv)
    state = Path(os.environ["TOOLNOTARY_HOME"]) / "state.jsonl"
    before = state.read_bytes()
    full = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    with Wire([*full, *proxybench.run(argv)]) as host:
        host.shake_hands()
        assert host.tools() == NAMES
        said = host.wait_said("could not be recorded")
        assert host.call("echo") == (False, "echo {}")
        assert host.call("exfiltrate")[0]
        assert host.end() == 0
    assert "the state of this server could not be recorded: " in said
    assert "[file-not-writable]" in said
    assert state.read_bytes() == before
