# SPDX-License-Identifier: Apache-2.0
"""The gate: no server gets a call that was not judged, however a host writes it and whoever reads it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from effort import scaled
from gatebench import META, Bench, tool
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolnotary_verifier.limits import Limits

A = tool("a")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":"s1","result":{"action":"accept","content":{"tools":"x"}}}\n',
        b'{"jsonrpc":"2.0","id":"s1","result":{"roots":[{"uri":"file:///method"}]}}\r\n',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,"reason":"a\\/b"}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}\n',
        b'{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"debug"}}\n',
        b'{"jsonrpc":"2.0","id":8,"method":"completion/complete","params":{"ref":{"name":"a"},"n":1.0}}\n',
        b'{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"1"}}\n',
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"a","arguments":{"x":1e2,"y":"\\/"}}}\n',
        b"\n",
    ],
)
def test_what_a_host_says_beside_lists_passes_byte_for_byte(line: bytes) -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    assert bench.from_host(line)
    assert bench.server[-1] == line


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","Name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/call","params":{"name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":9,"Method":"tools/call","params":{"name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":9,"m\\u0065thod":"tools/call","params":{"name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":["evil"]}\n',
        b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"evil"}}\n',
        b'{"jsonrpc":"2.0","id":[9],"method":"tools/call","params":{"name":"evil"}}\n',
        b'[{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a"}}]\n',
        b'[[{"jsonrpc":"2.0","id":9,"method":"tools/list"}]]\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"evil"}\n',
        b"\xff\n",
        b"tools/call evil\n",
        b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"1","Cursor":"2"}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}\n',
    ],
)
def test_what_two_servers_could_read_differently_is_not_forwarded(line: bytes) -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    before = list(bench.server)
    bench.from_host(line)
    assert b"evil" not in b"".join(bench.server[len(before) :])
    assert bench.server == before
    assert b"rror" in bench.host[-1]


CALL = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"evil"}}'
# One text for readers of UTF-16, in which a reader of bytes finds the call of a verified tool.
HIDDEN = (
    '{"x":"'.encode("utf-16-le")
    + b'"method":"tools/call","params":{"name":"a"}}'
    + ('",' + CALL[1:]).encode("utf-16-le")
)


def method_of(spelling: str) -> bytes:
    """A call whose method is this JSON text."""
    return CALL.replace('"tools/call"', spelling).encode() + b"\n"


UNJUDGED = [
    *(CALL.encode(encoding) + b"\n" for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-16")),
    HIDDEN + b"\n",
    HIDDEN + "\n".encode("utf-16-le"),
    CALL.encode("utf-8-sig") + b"\n",
    b"{+ACI-method+ACI-:+ACI-tools/call+ACI-,+ACI-id+ACI-:9}\n",
    CALL[:-1].encode() + b',"x":"\xff"}\n',
    CALL.replace('"method"', "'method'").encode() + b"\n",
    CALL.replace('"method"', "method").encode() + b"\n",
    CALL.replace('"method"', '/* */"method"').encode() + b"\n",
    CALL.replace('"method"', '"METHOD"').encode() + b"\n",
    CALL.replace('"params"', '"Params"').encode() + b"\n",
    CALL.replace('"params"', '"params":{"name":"a"},"PARAMS"').encode() + b"\n",
    CALL.replace('"method"', '"method":"ping","Method"').encode() + b"\n",
    CALL.replace('"method"', '"method":"ping","m\\u0065thod"').encode() + b"\n",
    CALL.replace('"name"', '"name":"a","n\\u0041me"').encode() + b"\n",
    *map(
        method_of,
        (
            '"tools/call "',
            '" tools/call"',
            '"tools/call\\n"',
            '"tools/call\\u0000"',
            '"tools/call\\u00a0"',
            '"\\ufefftools/call"',
            '"tools/\\u200bcall"',
            '"Tools/call"',
            '"TOOLS/CALL"',
            '"tool\u017f/call"',
            '"\uff54\uff4f\uff4f\uff4c\uff53/call"',
            '"tools\\\\/call"',
            '"/tools/call/"',
            '"tools.call"',
            '"toolsCall"',
            '"Tools/\\u0063all"',
            '"tools/call\\ud800"',
            f'"tools/call{" " * 300}"',
            '"Prompts/Get"',
            '"tools/List"',
            '"Initialize"',
            '"server/discover "',
            "5",
            "null",
            "true",
            '["tools/call"]',
            '{"tools/call":1}',
            "1e999",
        ),
    ),
]


@pytest.mark.parametrize("line", UNJUDGED)
def test_what_some_server_could_take_for_a_call_and_we_do_not_is_answered_with_an_error(line: bytes) -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    before = len(bench.host)
    sent = list(bench.server)
    bench.from_host(line)
    assert bench.server == sent
    answers = [json.loads(one) for one in bench.host[before:]]
    assert len(answers) == 1
    assert answers[0]["id"] in (9, None)
    assert "error" in answers[0]
    assert bench.call("a"), "the connection goes on"


@pytest.mark.parametrize("line", UNJUDGED[:4])
def test_a_reader_that_guessed_the_encoding_gets_the_error_under_its_id(line: bytes) -> None:
    bench = Bench([A])
    bench.from_host(line)
    assert bench.told()["id"] == 9


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","method":"Tools/call"}\n', b'{"method":["x"]}\n'])
def test_a_notification_that_cannot_be_judged_is_dropped_and_told_to_people_alone(line: bytes) -> None:
    bench = Bench([A])
    bench.from_host(line)
    assert (bench.server, bench.host) == ([], [])
    assert bench.codes() == ["request-refused"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call/later","params":{}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"x-acme/tools/call","params":{}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tasks/list"}\n',
        '{"jsonrpc":"2.0","id":9,"method":"gr\u00f6\u00dfe/messen","params":[1.0]}\n'.encode(),
        b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"a","uri":"b"}}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"content":{"method":"Tools/call","a":1,"a":2}}}\n',
        b'{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"tools/call "}}\n',
    ],
)
def test_what_is_honestly_another_message_passes_byte_for_byte(line: bytes) -> None:
    bench = Bench([A])
    bench.shake_hands()
    assert bench.from_host(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":"s1","result":{"text":"\xff"}}\n',
        b'{"jsonrpc":"2.0","id":"s1","result":{},"Result":{}}\n',
        b'{"jsonrpc":"2.0","id":"s1","result":{},"result":{}}\n',
        b'{"jsonrpc":"2.0","id":"s1","result":' + b"[" * 200 + b"]" * 200 + b"}\n",
        b'{"jsonrpc":"2.0","id":"s1",\r"result":{"a":1,"a":2}}\n',
    ],
)
def test_a_server_whose_answer_cannot_be_judged_gets_an_error_and_does_not_wait(line: bytes) -> None:
    bench = Bench([A])
    bench.from_host(line)
    assert bench.host == []
    assert [(one["id"], "error" in one) for one in map(json.loads, bench.server)] == [("s1", True)]


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize(
    "more",
    [
        ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":1,"x":2}',
        ',"_meta":{"io.modelcontextprotocol/protocolversion":"2026-07-28"}',
        ',"_META":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}',
        ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":{"a":1,"a":2}}',
    ],
)
def test_a_request_whose_era_can_be_read_in_two_ways_is_refused_and_breaks_nothing(
    name: str, more: str
) -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    sent = list(bench.server)
    for method in ("tools/call", "tools/list", "subscriptions/listen", "server/discover"):
        params = f'{{"name":"{name}","notifications":{{}}{more}}}'
        bench.from_host(f'{{"jsonrpc":"2.0","id":9,"method":"{method}","params":{params}}}\n'.encode())
        assert (bench.told()["id"], "error" in bench.told()) == (9, True)
    assert bench.server == sent
    assert bench.closed is None


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "initialize", "ping"])
def test_a_request_of_several_lines_that_cannot_be_written_in_one_is_answered(method: str) -> None:
    bench = Bench([A])
    head = f'{{"jsonrpc":"2.0",\r"id":9,"method":"{method}",'
    bench.from_host(head.encode() + b'"params":{"name":"a","x":{"a":1,"a":2}}}\n')
    assert bench.server == []
    assert (bench.told()["id"], "error" in bench.told()) == (9, True)


@pytest.mark.parametrize("request_id", ["null", "true", "[1]", "{}", '"\\ud800"'])
@pytest.mark.parametrize("method", ["initialize", "server/discover", "tools/list", "tools/call"])
def test_a_request_under_an_id_that_nobody_can_answer_is_refused_and_not_forwarded(
    method: str, request_id: str
) -> None:
    bench = Bench([A])
    params = json.dumps({"name": "a", "_meta": META if method == "server/discover" else {}})
    bench.from_host(f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}","params":{params}}}\n'.encode())
    assert bench.server == []
    assert (bench.told()["id"], bench.told()["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list"])
def test_a_list_that_nobody_waits_for_is_not_asked_for(method: str) -> None:
    bench = Bench([A])
    assert not bench.from_host({"jsonrpc": "2.0", "method": method, "params": {}})
    assert (bench.host, bench.server) == ([], [])


@pytest.mark.parametrize("params", [{}, {"requestId": None}, {"requestId": {}}, {"requestId": 77}, None])
def test_a_cancellation_of_nothing_that_waits_here_passes(params: object) -> None:
    bench = Bench([A])
    bench.call("a", request_id=5)
    assert bench.from_host({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    assert bench.gate.is_waiting, "the call waits as it did"


def test_a_batch_that_cannot_be_written_in_one_way_is_answered_part_by_part() -> None:
    bench = Bench([A])
    pings = [f'{{"jsonrpc":"2.0","id":{number},"method":"ping"' for number in (1, 2)]
    bench.from_host(f'[{pings[0]}}},{pings[1]},"params":{{"x":1,"x":2}}}}]\n'.encode())
    assert bench.server == []
    assert [(one["id"], "error" in one) for one in bench.told()] == [(1, True), (2, True)]
    assert bench.codes() == ["batch-refused"]


def test_a_host_that_introduces_itself_in_too_many_ways_at_once_is_refused() -> None:
    bench = Bench([A], limits=Limits(views=2))
    answers = []
    for number in range(4):
        meta = META | {"io.modelcontextprotocol/protocolVersion": f"v{number}"}
        for method in ("server/discover", "tools/list"):
            before = len(bench.host)
            message = {"jsonrpc": "2.0", "id": f"{method} {number}", "method": method}
            bench.from_host({**message, "params": {"_meta": meta}})
            answers += [json.loads(line)["id"] for line in bench.host[before:]]
    assert answers == ["server/discover 2", "tools/list 2", "server/discover 3", "tools/list 3"]
    assert not bench.closed


def test_a_carriage_return_inside_a_call_is_written_out_of_it() -> None:
    bench = Bench([A])
    bench.listed(A)
    bench.from_host(b'{"jsonrpc":"2.0",\r"id":9,"method":"tools/call",\r"params":{"name":"a"}}\n')
    assert bench.server[-1] == b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a"}}\n'


def test_a_request_that_is_too_long_to_parse_is_refused() -> None:
    bench = Bench([A], limits=Limits(frame_bytes=2000))
    bench.from_host(
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"%b"}}\n' % (b"x" * 3000)
    )
    assert bench.told()["id"] == 9
    assert bench.told()["error"]["code"] == -32600
    assert bench.from_host(b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b"}}\n' % (b"x" * 3000))


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b"},"method":"tools/call"}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b"},\'method\':\'tools/call\'}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b"}, Method : "tools/call"}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b"},"m\\u0065thod":"tools/call"}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b\xff"}}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":"%b\0"}}\n',
    ],
)
def test_an_answer_that_is_too_long_to_parse_and_could_hold_a_request_is_refused(line: bytes) -> None:
    bench = Bench([A], limits=Limits(frame_bytes=2000))
    bench.from_host(line % (b"x" * 3000))
    assert bench.host == []
    assert (bench.asked()["id"], "error" in bench.asked()) == (9, True)


# Whatever bytes


def first_wins(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object for a reader that keeps the first of two equal keys."""
    return dict(reversed(members))


def lenient_calls(frame: bytes) -> Iterator[Any]:
    """Every name that a careless server finds called in a frame: it guesses, folds, trims, splits."""
    for line in {frame, frame.strip(), *frame.split(b"\r")}:
        for reads in (dict, first_wins):
            try:
                waiting = [json.loads(line, strict=False, object_pairs_hook=reads)]
            except (ValueError, RecursionError):
                continue
            while waiting:
                value = waiting.pop()
                if isinstance(value, list):
                    waiting += value
                elif isinstance(value, dict):
                    yield from _calls({key.casefold(): member for key, member in value.items()})


def _calls(message: dict[str, Any]) -> Iterator[Any]:
    method, params = message.get("method"), message.get("params")
    method = method[0] if isinstance(method, list) and method else method
    if isinstance(method, str) and method.split("\0")[0].strip("\ufeff \r\n\t").casefold() == "tools/call":
        members = params if isinstance(params, dict) else {}
        yield {key.casefold(): member for key, member in members.items()}.get("name")


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in members) + "}"


METHODS = st.sampled_from(
    [
        '"tools/call"',
        '"Tools/call"',
        '" tools/call"',
        '"tools\\/call\\u0000"',
        '["tools/call"]',
        '"ping"',
        "1",
    ]
)
NAMES = st.sampled_from(['"a"', '"evil"', '"\\u0065vil"', '" a"', '"A"', "5", '["a"]'])
NAMED = st.tuples(st.sampled_from(["name", "Name", "n\\u0061me"]), NAMES)
PARAMS = st.lists(NAMED, max_size=3).map(_object)
MEMBERS = st.one_of(
    st.tuples(st.sampled_from(["method", "METHOD", "m\\u0065thod"]), METHODS),
    st.tuples(st.sampled_from(["params", "Params"]), PARAMS),
    st.tuples(st.just("id"), st.sampled_from(["9", "null", '"9"', "1e0"])),
    st.tuples(st.just("x"), st.just('{"method":"tools/call","params":{"name":"evil"}}')),
)
MESSAGES = st.lists(MEMBERS, max_size=6).map(_object)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-16", "utf-32-le"])


@example(['{"method":"tools/call","params":{},"params":{"name":"a"}}'], False, "utf-8", "\n")
@settings(max_examples=scaled(500, 10000))
@given(
    st.lists(MESSAGES, min_size=1, max_size=2),
    st.booleans(),
    ENCODINGS,
    st.sampled_from(["\n", "\r\n", "\r", ""]),
)
def test_whatever_a_host_sends_no_server_finds_a_call_of_what_was_not_verified(
    found: list[str], batched: bool, encoding: str, end: str
) -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    text = f"[{','.join(found)}]" if batched else "\r".join(found)
    bench.from_host((text + end).encode(encoding))
    assert bench.closed is None
    assert {name for frame in bench.server for name in lenient_calls(frame)} <= {"a"}
