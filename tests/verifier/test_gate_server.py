# SPDX-License-Identifier: Apache-2.0
"""The gate: no unverified listing reaches a host, whatever a server sends and whoever reads it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from effort import scaled
from gatebench import EVIL, META, Bench, tool
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolnotary_verifier.limits import Limits

A, B = tool("a"), tool("b")
BAD = tool("a", EVIL)
BAD_JSON = json.dumps(BAD)


def lenient_listings(line: bytes) -> Iterator[list[Any]]:
    """Every listing that a careless reader finds in a frame: last key wins, keys in any case, batches too."""
    for text in {line.decode("utf-8", "replace"), *line.decode("utf-8", "replace").split("\r")}:
        try:
            waiting = [json.loads(text, strict=False)]
        except (ValueError, RecursionError):
            continue
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += value
            elif isinstance(value, dict):
                for key, result in value.items():
                    if key.casefold() == "result" and isinstance(result, dict):
                        yield from (
                            found
                            for member, found in result.items()
                            if member.casefold() == "tools" and isinstance(found, list)
                        )


def unverified(bench: Bench, *pinned: Any) -> list[Any]:
    """What reached the host in a listing and is not pinned."""
    return [
        entry
        for line in bench.host
        for listing in lenient_listings(line)
        for entry in listing
        if entry not in pinned
    ]


def batched(value: Any) -> list[Any]:
    """The messages of a batch, or the one message."""
    return value if isinstance(value, list) else [value]


def waiting_bench(**more: Any) -> Bench:
    """A host that waits for a tools/list with id 5 and a tools/call with id 6 that the server has."""
    bench = Bench([A, B], **more)
    bench.shake_hands()
    bench.listed(A, B)
    bench.call("a", request_id=6)
    bench.request(5, "tools/list")
    return bench


SMUGGLED = [
    '{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"TOOLS":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"RESULT":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"t\\u006fols":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"tool\u017f":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"tool\\u017f":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"re\\u0073ult":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]},"result":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{},"r\\u0065sult":{"t\\u006fols":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"method":"x","result":{"tools":[BAD]}}',
    '[{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}]',
    '[[[{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}]]]',
    '[{"jsonrpc":"2.0","id":99,"result":{}},{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}]',
    '{"jsonrpc":"2.0","id":%s,\r"result":{"tools":[BAD]}}',
    '{"a":1}\r{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"x":NaN,"result":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"x":1e999,"result":{"tools":[BAD]}}',
    '{"jsonrpc":"2.0","id":%s,"x":"\\ud800","result":{"tools":[BAD]}}',
    '\ufeff{"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}',
    ' {"jsonrpc":"2.0","id":%s,"result":{"tools":[BAD]}}',
    '{"id":%s,"result":{"tools":[BAD]}}',
    '{"jsonrpc":"1.0","id":%s,"result":{"tools":[BAD]}}',
]


@pytest.mark.parametrize("text", SMUGGLED)
@pytest.mark.parametrize("request_id", ["5", '"5"', "5.0", '" 5"', "6", "0", "null", "777"])
def test_a_listing_on_any_other_id_never_reaches_the_host(text: str, request_id: str) -> None:
    bench = waiting_bench()
    line = (text.replace("BAD", BAD_JSON) % request_id).encode() + b"\n"
    bench.from_server(line)
    assert unverified(bench, A, B) == []
    assert EVIL.encode() not in b"".join(bench.host)
    answered = [one["id"] for answer in bench.host for one in batched(json.loads(answer)) if "id" in one]
    assert 5 not in answered, "the gate still owes that answer"
    bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": {"tools": [A, B]}})
    assert bench.told()["result"] == {"tools": [A, B]}


@pytest.mark.parametrize("text", SMUGGLED[:6])
def test_who_waits_for_a_withheld_answer_gets_an_error(text: str) -> None:
    bench = waiting_bench()
    bench.from_server((text.replace("BAD", BAD_JSON) % "6").encode() + b"\n")
    assert bench.told()["id"] == 6
    assert bench.told()["error"]["code"] == -32603
    assert "message-withheld" in bench.codes()


@pytest.mark.parametrize(
    "member",
    [
        "tools",
        "prompts",
        "resources",
        "resourceTemplates",
        "RESOURCETEMPLATES",
        "instructions",
        "\u0131nstruct\u0131ons",
    ],
)
def test_every_kind_of_definition_is_recognized(member: str) -> None:
    bench = waiting_bench()
    value = EVIL if "nstruct" in member else [{"name": EVIL}]
    line = {"jsonrpc": "2.0", "id": 6, "result": {"content": [], member: value}}
    bench.from_server(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    assert EVIL.encode() not in b"".join(bench.host)


def test_an_answer_to_the_handshake_that_holds_a_listing_is_withheld() -> None:
    bench = Bench([A])
    bench.shake_hands(tools=[BAD])
    assert bench.told()["error"]["code"] == -32603


@pytest.mark.parametrize("member", ["Instructions", "INSTRUCTIONS", "In\\u0073tructions"])
def test_instructions_in_another_case_are_withheld(member: str) -> None:
    bench = Bench([A])
    bench.request(0, "initialize", {"protocolVersion": "2025-06-18"})
    line = f'{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","{member}":"{EVIL}"}}}}\n'
    bench.from_server(line.encode())
    assert EVIL.encode() not in b"".join(bench.host)
    assert bench.told()["id"] == 0


def test_a_second_answer_to_the_handshake_cannot_bring_instructions() -> None:
    bench = Bench([A])
    bench.shake_hands()
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "instructions": EVIL}
    bench.from_server({"jsonrpc": "2.0", "id": 0, "result": result})
    assert EVIL.encode() not in b"".join(bench.host)


def test_an_answer_to_a_request_that_the_server_never_got_is_dropped() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.call("a", request_id=3)
    before = len(bench.host)
    bench.from_server({"jsonrpc": "2.0", "id": "3", "result": {"content": [{"type": "text", "text": EVIL}]}})
    assert len(bench.host) == before
    assert bench.codes()[-1] == "stray-answer"


def test_ids_of_the_gate_can_be_guessed_by_nobody_and_are_never_answered_to_the_host() -> None:
    bench, other = waiting_bench(), waiting_bench()
    ours, theirs = bench.asked()["id"], other.asked()["id"]
    assert ours.rpartition("-")[0] != theirs.rpartition("-")[0]
    before = len(bench.host)
    following = ours[:-1] + str(int(ours[-1]) + 1)
    bench.from_server({"jsonrpc": "2.0", "id": following, "result": {"tools": [BAD]}})
    assert len(bench.host) == before
    bench.from_server({"jsonrpc": "2.0", "id": ours, "result": {"tools": [A]}})
    bench.from_server({"jsonrpc": "2.0", "id": ours, "result": {"tools": [BAD]}})
    assert unverified(bench, A, B) == []
    assert not bench.call("b")


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":"OURS","result":{"tools":[AA]},"result":{"tools":[AA,BAD]}}',
        '{"jsonrpc":"2.0","id":"OURS","result":{"tools":[AA]},"Result":{"tools":[BAD]}}',
        '{"jsonrpc":"2.0","id":"OURS","result":{"tools":[AA]},"error":{"code":1,"message":""}}',
        '{"jsonrpc":"2.0","id":"OURS","result":{"tools":[AA],"tools":[BAD]}}',
        '{"jsonrpc":"2.0","id":"OURS"}',
        '{"jsonrpc":"2.0","id":"OURS","result":{"tools":[{"name":"a"',
        '\ufeff{"jsonrpc":"2.0","id":"OURS","result":{"tools":[AA]}}',
    ],
)
def test_an_ambiguous_answer_to_our_listing_verifies_nothing(text: str) -> None:
    bench = waiting_bench()
    ours = bench.asked()["id"]
    line = text.replace("OURS", ours).replace("BAD", BAD_JSON).replace("AA", json.dumps(A))
    bench.from_server(line.encode() + b"\n")
    assert bench.told()["id"] == 5
    assert bench.told()["error"]["code"] == -32603
    assert not bench.call("a", request_id=8)


def test_one_bad_tool_hides_only_itself() -> None:
    bench = waiting_bench()
    ours = bench.asked()["id"]
    twice = '{"name":"b","description":"fine","description":"POISON","inputSchema":{}}'
    deep = '{"name":"deep","inputSchema":' + '{"a":' * 100 + "1" + "}" * 101
    text = f'{{"jsonrpc":"2.0","id":"{ours}","result":{{"tools":[{json.dumps(A)},{twice},{deep},5]}}}}\n'
    bench.from_server(text.encode())
    assert bench.told()["result"] == {"tools": [A]}


def test_a_batch_of_the_server_is_taken_apart_and_what_is_harmless_goes_on() -> None:
    bench = waiting_bench()
    ours = bench.asked()["id"]
    fine = {"jsonrpc": "2.0", "id": 6, "result": {"content": []}}
    bench.from_server([fine, {"jsonrpc": "2.0", "id": ours, "result": {"tools": [A]}}, 5])
    assert [json.loads(line) for line in bench.host[-2:]] == [
        {"jsonrpc": "2.0", "id": 5, "result": {"tools": [A]}},
        [fine],
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":6,"result":{"content":[{"text":"{\\"tools\\":[]} caf\\u00e9"}]}}\n',
        b'{"jsonrpc": "2.0","method":"notifications/progress","params":{"progress":0.50}}\r\n',
        b'{"jsonrpc":"2.0","method":"sampling/createMessage","id":1,"params":{"tools":[{"a":1.0}]}}\n',
        b'{ "jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{"a":"\\/"}}\n',
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"größe \u017f"}}\n'.encode(),
        b'{"jsonrpc":"2.0","id":6,"result":{"structuredContent":{"tools":[1],"n":1E2}}}\n',
        b'{"jsonrpc":"2.0","id":6,"error":{"code":-1,"message":"no","data":{"tools":[]}}}\n',
        b'{"jsonrpc":"2.0","id":6,"result":{"resultType":"input_required","inputRequests":{"tools":[]}}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n',
        b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}\n',
        b'{"jsonrpc":"2.0","id":6,"result":{"tools":true}}\n',
    ],
)
@pytest.mark.parametrize("busy", [False, True])
def test_everything_else_passes_byte_for_byte(line: bytes, busy: bool) -> None:
    bench = waiting_bench()
    if not busy:
        bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": {"tools": [A, B]}})
    assert bench.from_server(line)


def test_a_carriage_return_inside_a_harmless_line_is_written_out_of_it() -> None:
    bench = Bench([A])
    bench.from_server(b'{"jsonrpc":"2.0",\r"id":6,\r"result":{"n":1.50}}\r\n')
    assert bench.host == [b'{"jsonrpc":"2.0","id":6,"result":{"n":1.5}}\n']
    bench.from_server(b'{"jsonrpc":"2.0","id":6,\r"result":{"a":1,"a":2}}\n')
    assert bench.told()["error"]["code"] == -32603


@pytest.mark.parametrize(
    "line",
    [
        b"ready\n",
        b'{"a":1}\n',
        b"\x1b]0;x\x07\xff\n",
        b"12\n",
        b'"jsonrpc"\n',
        b'[{"a":1}]\n',
        b'{"level":"info","msg":"tools\\"","tools":[]}\n',
    ],
)
def test_noise_never_reaches_the_host_and_is_told_escaped(line: bytes) -> None:
    bench = Bench([A])
    bench.from_server(line)
    assert bench.host == []
    assert bench.codes()[-1] in ("noise", "message-withheld")
    assert all(character.isprintable() for entry in bench.log for character in entry.text)


def test_blank_lines_of_a_server_are_dropped_in_silence() -> None:
    bench = Bench([A])
    for line in (b"\n", b"\r\n", b"  \n"):
        bench.from_server(line)
    assert bench.host == []
    assert bench.log == []


@pytest.mark.parametrize("busy", [False, True])
def test_a_frame_that_is_too_long_to_parse_passes_only_where_it_can_be_no_listing(busy: bool) -> None:
    bench = waiting_bench(limits=Limits(frame_bytes=2000))
    if not busy:
        bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": {"tools": [A, B]}})
    fill = b"x" * 3000
    assert bench.from_server(b'{"jsonrpc":"2.0","id":6,"result":{"text":"%b"}}\n' % fill)
    assert not bench.from_server(b'{"jsonrpc":"2.0","id":6,"result":{"tools":[],"text":"%b"}}\n' % fill)
    assert bench.told() == {
        "jsonrpc": "2.0",
        "id": 6,
        "error": {
            "code": -32603,
            "message": "toolnotary withheld the answer of this server: it cannot be verified",
        },
    }
    passes = bench.from_server(b'{"jsonrpc":"2.0","id":5,"result":{"text":"%b"}}\n' % fill)
    assert passes is not busy, "an answer to the listing that the gate owes"
    passes = bench.from_server(b'{"jsonrpc":"2.0","result":{"text":"%b"},"id":5}\n' % fill)
    assert passes is not busy, "its id cannot be told"


def test_a_listing_that_is_too_long_to_parse_fails() -> None:
    bench = waiting_bench(limits=Limits(frame_bytes=2000))
    result = {"tools": [tool("a", "x" * 3000)]}
    bench.from_server({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": result})
    assert bench.told()["error"]["code"] == -32603


# Whatever bytes


_HOLDING = ("tools", "Tools", "TOOLS", "tool\u017f", "t\\u006fols", "prompts", "instructions")
_FRAMING = ("result", "Result", "RESULT", "r\\u0065sult", "id", "ID", "jsonrpc", "method", "error", "x")
KEYS = st.sampled_from((*_HOLDING, "nextCursor", *_FRAMING))
TEXTS = st.sampled_from(
    ['"2.0"', '"5"', "5", "5.0", "0", "null", "1e0", '"tools/list"', '"OURS"', "NaN", "true", '""']
)


def _objects(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.lists(st.tuples(KEYS, parts).map(lambda pair: f'"{pair[0]}":{pair[1]}'), max_size=5)
    gap = st.sampled_from([",", ",\r", ", ", ",\t", ",,"])
    joined = st.tuples(members, gap).map(lambda both: both[1].join(both[0]))
    listed = st.lists(parts, max_size=3).map(lambda items: "[" + ",".join(items) + "]")
    return st.one_of(joined.map(lambda text: "{" + text + "}"), listed)


VALUES = st.recursive(st.one_of(TEXTS, st.just("BAD")), _objects, max_leaves=12)
FRAMES = st.one_of(
    VALUES,
    st.tuples(TEXTS, VALUES).map(lambda pair: f'{{"jsonrpc":"2.0","id":{pair[0]},"result":{pair[1]}}}'),
    st.tuples(TEXTS, KEYS, KEYS).map(
        lambda t: f'{{"jsonrpc":"2.0","id":{t[0]},"{t[1]}":{{"{t[2]}":[BAD]}}}}'
    ),
    st.text(max_size=20),
)


@settings(max_examples=scaled(400, 8000))
@example(
    [('{"jsonrpc":"2.0","id":"OURS","result":[]}', "\n"), ('{"jsonrpc":"2.0","id":1,"result":{,,}}', "\n")]
)
@given(st.lists(st.tuples(FRAMES, st.sampled_from(["\n", "\r\n", "\r", " \n", ""])), min_size=1, max_size=4))
def test_whatever_a_server_sends_no_unverified_listing_reaches_the_host(
    frames: list[tuple[str, str]],
) -> None:
    bench = waiting_bench()
    ours = bench.asked()["id"]
    passed = []
    for text, end in frames:
        line = (text.replace("BAD", BAD_JSON).replace("OURS", ours) + end).encode("utf-8", "surrogatepass")
        if bench.from_server(line):
            passed.append(line)
    assert bench.closed is None
    assert unverified(bench, A, B) == []
    # What can hold no listing passes byte for byte without being parsed, also where it is no JSON. All else
    # that a host reads is JSON.
    unreadable = [line for line in passed if not is_json(line)]
    assert all(line.startswith(b'{"jsonrpc":"2.0","id":') for line in unreadable)
    assert not any(
        key in line.lower() for line in unreadable for key in (b'tools"', b'prompts"', b'instructions"')
    )
    assert all(is_json(line) for line in bench.host if line not in unreadable)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@settings(max_examples=scaled(200, 4000))
@given(st.binary(max_size=60), st.sampled_from([0, 10, 40, 70, 110]))
def test_a_listing_with_bytes_changed_anywhere_never_verifies_something_else(noise: bytes, at: int) -> None:
    bench = waiting_bench()
    line = json.dumps({"jsonrpc": "2.0", "id": bench.asked()["id"], "result": {"tools": [A, BAD]}}).encode()
    bench.from_server(line[:at] + noise + line[at + len(noise) :] + b"\n")
    assert bench.closed is None
    assert unverified(bench, A, B) == []


def test_both_eras_are_gated_alike_on_one_connection() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    bench.request(4, "tools/list", stateless=True)
    assert bench.asked()["params"] == {"_meta": META}
    bench.answer_listing(BAD)
    assert bench.told()["result"]["tools"] == []
    assert bench.call("a"), "the handshake's side of the server was verified"
    assert not bench.call("a", stateless=True)


def test_an_id_that_nobody_can_write_back_is_answered_by_nobody_and_breaks_nothing() -> None:
    bench = Bench([A])
    bench.shake_hands()
    bench.listed(A)
    for own_id in (b'"\\ud800"', b"NaN", b"-Infinity", b"1e999"):
        for result in (b'{"tools":[]}', b"{}"):
            bench.from_server(b'{"jsonrpc":"2.0","id":' + own_id + b',"result":' + result + b"}\n")
    assert bench.closed is None
    assert bench.call("a")
