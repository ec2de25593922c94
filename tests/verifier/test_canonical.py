# SPDX-License-Identifier: Apache-2.0
"""Strict JSON in, canonical bytes out: what the canonical room promises, with either implementation."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.canonical import (
    CanonicalError,
    Digest,
    Flaw,
    canonical_bytes,
    parse,
    parse_message,
    plain,
    prefer,
    serialize,
)
from toolnotary_verifier.errors import InvalidInput


@pytest.fixture(params=["reference", "accelerated"], autouse=True)
def _implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    assert prefer(request.param) is (request.param == "accelerated")
    yield
    prefer("auto")


def error_of(raw: bytes, **bounds: int) -> CanonicalError:
    with pytest.raises(CanonicalError) as caught:
        parse(raw, **bounds)
    return caught.value


# What properties hold

TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\/\n\ud7ff\ue000😀')))
NUMBERS = st.one_of(
    st.integers(),
    st.sampled_from([2**53, 2**53 + 1, -(2**53), 2**63 - 1, 2**64, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=20,
)


@given(VALUES)
def test_the_canonical_form_of_a_canonical_form_is_itself(value: Any) -> None:
    canonical = canonical_bytes(value)
    assert canonical_bytes(parse(canonical), parsed=True) == canonical


@given(VALUES, st.randoms(use_true_random=False))
def test_order_of_keys_white_space_and_spelling_do_not_count(value: Any, chance: Any) -> None:
    def shuffled(part: Any) -> Any:
        if isinstance(part, dict):
            keys = list(part)
            chance.shuffle(keys)
            return {key: shuffled(part[key]) for key in keys}
        return [shuffled(item) for item in part] if isinstance(part, list) else part

    spelled = json.dumps(
        shuffled(value), ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1, "\t"])
    )
    assert canonical_bytes(parse(spelled.encode()), parsed=True) == canonical_bytes(value)


LOOK_ALIKE: st.SearchStrategy[Any] = st.sampled_from(
    [
        0,
        -0.0,
        False,
        None,
        "",
        "0",
        [],
        {},
        1,
        1.0,
        True,
        "1",
        [1],
        2**53,
        float(2**53),
        2**53 + 1,
        1e20,
        10**20,
    ]
)
SMALL = st.one_of(
    LOOK_ALIKE, st.lists(LOOK_ALIKE, max_size=2), st.dictionaries(st.sampled_from("ab"), LOOK_ALIKE)
)


def strict(value: Any) -> Any:
    """The value in a form whose equality is that of JSON: Python takes 1, 1.0 and True for one."""
    if isinstance(value, dict):
        return "object", {key: strict(member) for key, member in value.items()}
    if isinstance(value, list):
        return "array", [strict(item) for item in value]
    if isinstance(value, float):
        return ("integer", int(value)) if abs(value) < 2**53 and value.is_integer() else ("double", value)
    return ("integer", value) if type(value) is int else (type(value).__name__, value)


@given(SMALL, SMALL)
@settings(max_examples=scaled(500, 20_000))
def test_two_values_have_one_form_exactly_if_they_are_one_value(one: Any, other: Any) -> None:
    assert (canonical_bytes(one) == canonical_bytes(other)) is (strict(one) == strict(other))


@given(st.integers(-(2**1024) + 1, 2**1024 - 1), st.integers(-(2**70), 2**70))
@settings(max_examples=scaled(200, 5_000))
def test_different_integers_have_different_forms_and_keep_their_digits(one: int, step: int) -> None:
    raw = str(one).encode()
    assert canonical_bytes(parse(raw), parsed=True) == raw
    if step and abs(one + step) < 2**1024:
        assert canonical_bytes(one + step) != raw


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=scaled(300, 20_000))
def test_a_fraction_reads_back_as_itself_and_never_has_the_text_of_a_large_integer(number: float) -> None:
    text = canonical_bytes(parse(repr(number).encode()), parsed=True).decode()
    assert float(text) == number
    if abs(number) >= 2**53:
        assert "e+" in text
    assert text == canonical_bytes(number).decode()


# Where errors say that something is wrong


@pytest.mark.parametrize(
    ("raw", "code", "where"),
    [
        (b'{"a":[1,{"b":"\\ud800"}]}', "lone-surrogate", "/a/1/b"),
        (b'{"a/b":{"c~d":1e400}}', "number-range", "/a~1b/c~0d"),
        (b'{"x":{"a":1,"a":2}}', "duplicate-key", "/x"),
        (b'{"\\u200b":NaN}', "not-json", r"/\u{200b}"),
        (b'{"\\ud800":1}', "lone-surrogate", r"/\u{d800}"),
        (b'{"' + b"k" * 500 + b'":NaN}', "not-json", "/" + "k" * 60 + "... (440 more characters)"),
        (b"NaN", "not-json", ""),
        (b'["\xc3\xa9\xf0\x9f\x98\x80",x]', "not-json", "byte 10"),
        (b'["\xff",x]', "not-json", "byte 5"),
        (b"\xef\xbb\xbf{}", "not-utf8", "byte 0"),
        (b'{"a":"\xff"}', "not-utf8", "/a"),
        (b'{"a":"]","b":' + b"[" * 200, "too-deep", "byte 140"),
        (b"[" * 65 + b"]" * 65, "too-deep", "/0" * 64),
    ],
)
def test_an_error_says_where(raw: bytes, code: str, where: str) -> None:
    error = error_of(raw, max_depth=64)
    assert error.code == code
    assert error.where == where
    assert error.message.isprintable()
    assert where in error.message


def test_what_is_longer_than_allowed_is_not_looked_at() -> None:
    assert error_of(b"[" * 11, max_bytes=10).code == "too-large"
    assert parse(b"[1,2,3,45]", max_bytes=10) == [1, 2, 3, 45]
    with pytest.raises(CanonicalError) as caught:
        parse_message(b"x" * 11, max_bytes=10)
    assert caught.value.code == "too-large"


@pytest.mark.parametrize("levels", [129, 300, 2_000, 10_000, 100_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"":', b'{"a":1,"b":[0,'])
def test_any_depth_is_refused_without_a_traceback(levels: int, opening: bytes) -> None:
    assert error_of(opening * levels).code == "too-deep"
    closing = b"".join(b"}" if mark == ord("{") else b"]" for mark in reversed(opening) if mark in b"[{")
    assert error_of(opening * levels + b"1" + closing * levels).code == "too-deep"


def test_a_message_may_be_deeper_than_a_definition() -> None:
    raw = b'{"result":{"tools":[' + b"[" * 65 + b"]" * 65 + b"," + b"[" * 64 + b"]" * 64 + b"]}}"
    too_deep, deep_enough = parse_message(raw)["result"]["tools"]
    assert canonical_bytes(deep_enough, parsed=True) == b"[" * 64 + b"]" * 64
    for parsed in (True, False):
        with pytest.raises(CanonicalError) as caught:
            canonical_bytes(too_deep, parsed=parsed)
        assert caught.value.code == "too-deep"
    assert parse(b"[" * 128 + b"]" * 128)
    assert error_of(b"[" * 129 + b"]" * 129).code == "too-deep"


@pytest.mark.parametrize(
    "raw",
    [
        b"1],[2",
        b"1]],[[2",
        b"],[",
        b"]" * 200 + b"[" * 200,
        b"]" * 73 + b",1," + b"[" * 73,
        b"",
        b" ",
        b",",
        b"1,2",
    ],
)
@pytest.mark.parametrize("padding", [0, 5000])
def test_text_that_only_makes_sense_inside_of_other_text_is_refused(raw: bytes, padding: int) -> None:
    assert error_of(raw + b" " * padding).code in ("not-json", "too-deep")


def test_little_stack_left_is_no_traceback() -> None:
    def down(levels: int) -> str:
        if levels:
            return down(levels - 1)
        try:
            canonical_bytes(parse_message(b"[" * 60 + b"]" * 60), parsed=True)
        except CanonicalError as error:
            return error.code
        return "ok"

    used = len(inspect.stack(0))
    assert {down(sys.getrecursionlimit() - used - left) for left in range(40, 140, 5)} <= {"ok", "too-deep"}


@pytest.mark.parametrize("digits", [640, 0])
def test_the_limit_of_the_interpreter_on_digits_does_not_matter(digits: int) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(digits)
    try:
        assert error_of(b"[" + b"9" * 310 + b"]").code == "number-range"
        assert error_of(b'{"a":-' + b"1" * 6000 + b"}").code == "number-range"
        assert canonical_bytes(parse(b"9" * 308), parsed=True) == b"9" * 308
    finally:
        sys.set_int_max_str_digits(before)


def test_digits_in_text_are_no_integer() -> None:
    value = parse(b'{"hash":"' + b"7" * 5000 + b'"}')
    assert value == {"hash": "7" * 5000}


# Flaws in place


def test_a_flaw_is_of_no_type_that_a_reader_expects() -> None:
    for raw in (b'{"id":1,"id":2}', b"NaN", b"1" * 310, b'"\xff"'):
        message = parse_message(raw)
        assert isinstance(message, Flaw)
        assert not issubclass(type(message), dict | list | str | int | float)
        assert message.code in repr(message)
    result = parse_message(b'{"result":{"tools":[],"tools":[1]}}')["result"]
    assert isinstance(result, Flaw)


def test_an_object_that_repeats_its_name_claims_each_of_them() -> None:
    flaw = parse_message(b'{"name":"a","name":"b","name":1,"na\\u006de":"a","x":{"name":"c"}}')
    assert isinstance(flaw, Flaw)
    assert flaw.claims("name") == ("a", "b")
    assert flaw.claims("title") == ()
    assert parse_message(b"NaN").claims("name") == ()


def test_a_flaw_names_the_key_that_is_repeated_first_and_shows_it_escaped() -> None:
    assert "\\u{202e}" in parse_message('{"a":1,"\u202e":1,"\u202e":2,"a":2}'.encode()).message


# Handing on


def test_what_is_handed_on_keeps_order_and_value_in_pure_ascii() -> None:
    raw = '{"b": [1, 100000000000000000001, 0.1, 1e2, -0.0, true, null], "a": "é😀\\u0000\\/"}'.encode()
    text = serialize(parse_message(raw))
    assert (
        text
        == b'{"b":[1,100000000000000000001,0.1,100.0,-0.0,true,null],"a":"\\u00e9\\ud83d\\ude00\\u0000/"}'
    )
    assert canonical_bytes(parse(text), parsed=True) == canonical_bytes(parse(raw), parsed=True)


@pytest.mark.parametrize(
    ("raw", "code", "where"),
    [
        (b'{"a":1,"a":1}', "duplicate-key", ""),
        (b"[NaN]", "not-json", "/0"),
        (b"[1,1e400]", "number-range", "/1"),
        (b"[1e-400]", "number-range", "/0"),
        (b'{"x":' + b"9" * 310 + b"}", "number-range", "/x"),
    ],
)
def test_what_holds_a_flaw_is_not_handed_on(raw: bytes, code: str, where: str) -> None:
    message = parse_message(raw)
    for hand_on in (serialize, plain):
        with pytest.raises(CanonicalError) as caught:
            hand_on(message)
        assert (caught.value.code, caught.value.where) == (code, where)


@pytest.mark.parametrize("raw", [b'["\\ud800"]', b'{"\\udc00":1}', b'["\\ud800","\xc3\xa9"]'])
def test_half_a_surrogate_pair_is_not_handed_on(raw: bytes) -> None:
    with pytest.raises(CanonicalError) as caught:
        serialize(parse_message(raw))
    assert caught.value.code == "lone-surrogate"


def test_plain_numbers_are_of_the_types_of_python() -> None:
    value = plain(parse_message(b'{"a":[1,1.0,1e2,true,"x",null],"b":{"c":-0.5}}'))
    assert value == {"a": [1, 1.0, 100.0, True, "x", None], "b": {"c": -0.5}}
    assert [type(item) for item in value["a"]] == [int, float, float, bool, str, type(None)]
    assert type(value["b"]["c"]) is float


# Values built by hand


class Colour(StrEnum):
    RED = "red"


def test_a_value_built_by_hand_may_hold_any_type_of_json() -> None:
    value: dict[Any, Any] = {
        "b": (1, 2.0, 1e-7),
        Colour.RED: Colour.RED,
        "a": Digest.of(b""),
        "c": [{}, [], ()],
    }
    digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    expected = f'{{"a":"{digest}","b":[1,2,1e-7],"c":[{{}},[],[]],"red":"red"}}'
    assert canonical_bytes(value).decode() == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 2**1024, -(2**1024)])
def test_a_number_without_a_form_is_refused(value: float) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes([{"a": value}])
    assert (caught.value.code, caught.value.where) == ("number-range", "/0/a")


def test_a_value_that_holds_itself_is_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    for write in (canonical_bytes, serialize, plain):
        with pytest.raises(CanonicalError) as caught:
            write(value)
        assert caught.value.code == "too-deep"


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"a": [b""]}])
def test_what_is_no_json_value_is_a_mistake_of_the_caller(value: Any) -> None:
    for write in (canonical_bytes, serialize, plain):
        with pytest.raises(TypeError):
            write(value)


# Digests


def test_a_digest_is_its_own_text() -> None:
    digest = Digest.of(b"abc")
    assert digest == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest.hex == digest[7:]
    assert digest.short == "ba7816bf8f01"
    assert Digest.from_text(str(digest)) == digest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256:",
        "sha256:" + "A" * 64,
        "sha256:" + "a" * 63,
        "sha256:" + "a" * 64 + "\n",
        "a" * 64,
        None,
        1,
    ],
)
def test_what_is_no_digest_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        Digest.from_text(text)
    assert caught.value.code == "bad-digest"


# Which implementation

SCRIPT = """
import sys
{before}
from toolnotary_verifier import canonical
assert "orjson" not in sys.modules or sys.modules["orjson"] is None, "imported at once"
small, large = b'[1.0]', b'[' + b'1.5,' * 60000 + b'1]'
assert canonical.canonical_bytes(canonical.parse(small), parsed=True) == b'[1]'
assert not sys.modules.get("orjson"), "imported for a small input"
{then}
assert canonical.canonical_bytes(canonical.parse(large), parsed=True) == large
print(bool(sys.modules.get("orjson")) and canonical.prefer("accelerated"))
"""


@pytest.mark.parametrize(
    ("before", "then", "expected"),
    [
        ("", "", "True"),
        ("sys.modules['orjson'] = None", "", "False"),
        ("sys.modules['jiter'] = None", "assert not canonical.prefer('accelerated')", "False"),
        (
            "import types; sys.modules['jiter'] = types.SimpleNamespace(from_json=lambda *a, **k: 0)",
            "assert not canonical.prefer('accelerated')",
            "False",
        ),
        ("", "assert canonical.prefer('accelerated')", "True"),
    ],
    ids=["installed", "no orjson", "no jiter", "a jiter without a limit", "preferred"],
)
def test_compiled_code_is_imported_when_it_pays_and_not_missed_where_it_is_absent(
    before: str, then: str, expected: str
) -> None:
    script = SCRIPT.format(before=before, then=then)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected


def test_the_reference_can_be_kept_for_any_size() -> None:
    script = (
        "import sys; from toolnotary_verifier import canonical; canonical.prefer('reference');"
        "canonical.parse(b'[' + b'1,' * 200000 + b'1]'); print('orjson' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
