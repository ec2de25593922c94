# SPDX-License-Identifier: Apache-2.0
"""A response seen before is recognized by its bytes alone, whatever request it answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import parse_message
from toolnotary_verifier.canonical.repeat import Repeat

RESULT = '{"tools":[{"name":"a","id":3,"description":"x\\",\\"id\\":7}"}]}'
FORMS = (
    '{"jsonrpc":"2.0","id":%s,"result":' + RESULT + "}\n",
    '{"id":%s,"result":' + RESULT + ',"jsonrpc":"2.0"}\n',
    '{"result":' + RESULT + ',"jsonrpc":"2.0","id":%s}',
    '{"jsonrpc": "2.0", "result": ' + RESULT + ', "id": %s} \r\n',
    ' { "jsonrpc" : "2.0" , "id" : %s , "result" : ' + RESULT + "}",
)


def line(form: str, spelled: str) -> bytes:
    return form.replace("%s", spelled).encode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("spelled", "value"), [("0", 0), ("-12", -12), ("123456789", 123456789), ('"a-7"', "a-7")]
)
def test_the_same_response_to_another_request_is_recognized(
    form: str, spelled: str, value: int | str
) -> None:
    repeat = Repeat.of(line(form, "1"))
    assert repeat is not None
    assert repeat.answers(line(form, "1"), b"1")
    assert repeat.answers(line(form, spelled), spelled.encode())
    assert not repeat.answers(line(form, spelled), b"1")
    assert parse_message(line(form, spelled))["id"] == value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spelled", ["", "01", "1.0", "1e0", "11", "1 ", '"1"', '1,"result":{}', "[1]"])
def test_an_id_in_another_spelling_is_read_in_full(form: str, spelled: str) -> None:
    repeat = Repeat.of(line(form, "1"))
    assert repeat is not None
    assert not repeat.answers(line(form, spelled), b"1")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spelled", ["01", "1.0", "null", '"a\\u0062"', '"a"b"', "1" * 19, "[1]"])
def test_what_is_no_plain_id_is_not_cut_out(form: str, spelled: str) -> None:
    assert Repeat.of(line(form, spelled)) is None


@pytest.mark.parametrize("form", FORMS)
def test_any_other_byte_makes_another_line(form: str) -> None:
    original = line(form, "12")
    repeat = Repeat.of(original)
    assert repeat is not None
    for place in range(len(original)):
        for changed in (
            original[:place] + bytes([original[place] ^ 1]) + original[place + 1 :],
            original[:place] + original[place + 1 :],
            original[:place] + b" " + original[place:],
        ):
            assert not repeat.answers(changed, b"12")
    assert not repeat.answers(b"", b"12")
    assert not repeat.answers(original + original, b"12")


@pytest.mark.parametrize(
    "text",
    [
        '{"result":{},"id":1,"jsonrpc":"2.0"}',  # neither first nor last
        '{"jsonrpc":"2.0","result":{"id":1}}',
        '{"jsonrpc":"2.0","method":"x"}',
        '{"jsonrpc":"2.0","result":{},"id":null}',
        '{"jsonrpc":"2.0","result":{},"id":1.5}',
        '{"jsonrpc":"2.0","result":{},"i\\u0064":1}',
        '[{"jsonrpc":"2.0","result":{},"id":1}]',
        "",
        "x",
    ],
)
def test_nothing_is_skipped_where_the_id_is_not_found_without_parsing(text: str) -> None:
    assert Repeat.of(text.encode()) is None


TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\,:{}id1 ')), max_size=20
)


@given(
    st.dictionaries(
        st.one_of(TEXTS, st.sampled_from(["id", "jsonrpc", "result"])), st.one_of(st.integers(), TEXTS)
    )
)
def test_what_is_cut_out_is_the_id_of_the_message(message: dict[str, int | str]) -> None:
    raw = json.dumps(message, separators=(",", ":")).encode()
    repeat = Repeat.of(raw)
    if repeat is not None:
        assert repeat.answers(raw, json.dumps(message["id"]).encode())
        changed = repeat.before + b"424242" + repeat.behind
        assert parse_message(changed) == message | {"id": 424242}
