# SPDX-License-Identifier: Apache-2.0
"""Writes tests/vectors/canonical/*.json from the tables below: `python tests/vectors/generate_canonical.py`.

Every expectation is written by hand, or follows from its rule; none is what our own code answered.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "canonical"

Vector = dict[str, Any]


def gives(name: str, text: str | bytes, canonical: str) -> Vector:
    """A value with a canonical form."""
    expected = canonical.encode()
    return {
        "name": name,
        "input": _bytes(text).hex(),
        "canonical": expected.hex(),
        "digest": "sha256:" + hashlib.sha256(expected).hexdigest(),
    }


def fails(name: str, text: str | bytes, error: str) -> Vector:
    """A value without one."""
    return {"name": name, "input": _bytes(text).hex(), "error": error}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


NUMBERS = [
    *(
        gives(f"integer {text}", text, text)
        for text in ("0", "1", "-1", "10", "4294967296", "9007199254740991")
    ),
    *(
        gives(f"integer {text} keeps its digits", text, text)
        for text in (
            *("9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775806"),
            *("9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616"),
            *("100000000000000000000", "1000000000000000000000", "123456789012345678901234567890"),
        )
    ),
    gives("the largest integer, 2^1024 - 1", str((1 << 1024) - 1), str((1 << 1024) - 1)),
    gives("the smallest integer, 1 - 2^1024", str(1 - (1 << 1024)), str(1 - (1 << 1024))),
    fails("integer 2^1024", str(1 << 1024), "number-range"),
    fails("integer -2^1024", str(-(1 << 1024)), "number-range"),
    fails("integer of 310 digits", "9" * 310, "number-range"),
    fails("integer of 5000 digits", "1" * 5000, "number-range"),
    gives("minus zero, integer", "-0", "0"),
    gives("minus zero, fraction", "-0.0", "0"),
    gives("minus zero, exponent", "-0e5", "0"),
    gives("zero with an exponent out of all bounds", "0e99999999999", "0"),
    gives("zero with many digits", "0.00000000000000000000", "0"),
    gives("fraction of an integer", "1.0", "1"),
    gives("exponent of an integer", "1e2", "100"),
    gives("capital exponent", "1E5", "100000"),
    gives("explicit plus", "1e+2", "100"),
    gives("negative exponent of an integer", "1500e-2", "15"),
    gives("trailing zeros", "0.50", "0.5"),
    gives("a tenth", "0.1", "0.1"),
    gives("more digits than a double has", "0.1000000000000000055511151231257827", "0.1"),
    gives("the next double after three tenths", "0.30000000000000004", "0.30000000000000004"),
    gives("nine threes", "333333333.33333329", "333333333.3333333"),
    gives("the largest half", "2251799813685248.5", "2251799813685248.5"),
    gives("rounds to an even integer", "4503599627370496.5", "4503599627370496"),
    gives("the smallest without exponent", "1e-6", "0.000001"),
    gives("several digits without exponent", "1.5e-6", "0.0000015"),
    gives("a hundred-thousandth", "0.00001", "0.00001"),
    gives("the largest with exponent", "0.0000001", "1e-7"),
    gives("several digits with exponent", "0.000000123", "1.23e-7"),
    gives("negative with exponent", "-1.5e-10", "-1.5e-10"),
    gives("the smallest double", "5e-324", "5e-324"),
    gives("rounds to the smallest double", "3e-324", "5e-324"),
    gives("the smallest normal double", "2.2250738585072014e-308", "2.2250738585072014e-308"),
    gives("the largest double", "1.7976931348623157e308", "1.7976931348623157e+308"),
    gives("rounds to the largest double", "1.7976931348623158e308", "1.7976931348623157e+308"),
    gives("fraction 2^53 - 1", "9007199254740991.0", "9007199254740991"),
    gives("fraction 2^53 is no integer's text", "9007199254740992.0", "9.007199254740992e+15"),
    gives("fraction 2^53 + 1 rounds to 2^53", "9007199254740993.0", "9.007199254740992e+15"),
    gives("fraction 2^53 + 2", "9007199254740994.0", "9.007199254740994e+15"),
    gives("negative fraction -2^53", "-9007199254740992.0", "-9.007199254740992e+15"),
    gives("exponent 15", "1e15", "1000000000000000"),
    gives("exponent 16", "1e16", "1e+16"),
    gives("exponent 20", "1e20", "1e+20"),
    gives("exponent 21", "1e21", "1e+21"),
    gives("several digits, exponent 22", "1.25e22", "1.25e+22"),
    fails("overflow", "1e400", "number-range"),
    fails("negative overflow", "-1e400", "number-range"),
    fails("just over the largest double", "1.7976931348623159e308", "number-range"),
    fails("exponent out of all bounds", "1e99999999999", "number-range"),
    fails("underflow", "1e-400", "number-range"),
    fails("negative underflow", "-1e-400", "number-range"),
    fails("just under the smallest double", "2e-324", "number-range"),
    fails("underflow written with zeros", "0." + "0" * 400 + "1", "number-range"),
    *(fails(f"constant {text}", text, "not-json") for text in ("NaN", "Infinity", "-Infinity")),
    *(
        fails(f"malformed number {text}", text, "not-json")
        for text in (
            "01",
            "-01",
            "+1",
            ".5",
            "1.",
            "1e",
            "1e+",
            "-",
            "- 1",
            "0x10",
            "1_000",
            "\u0661",
            "1.e5",
            "1,5",
        )
    ),
]

STRINGS = [
    gives("empty", '""', '""'),
    gives("ASCII", '"The quick, brown fox."', '"The quick, brown fox."'),
    gives("escape of a letter", r'"descr\u0069ption"', '"description"'),
    gives("escaped solidus", r'"a\/b"', '"a/b"'),
    gives("short escapes", r'"\b\t\n\f\r\"\\"', r'"\b\t\n\f\r\"\\"'),
    gives(
        "long spelling of short escapes", r'"\u0008\u0009\u000A\u000c\u000D\u0022\u005C"', r'"\b\t\n\f\r\"\\"'
    ),
    gives("controls", r'"\u0000\u001F\u000b"', r'"\u0000\u001f\u000b"'),
    gives("DEL and C1 stay", '"\x7f\x80\x9f"', '"\x7f\x80\x9f"'),
    gives("letters beyond ASCII", r'"\u00e9\u65e5"', '"é日"'),
    gives("line separators stay", r'"\u2028\u2029"', '"\u2028\u2029"'),
    gives("pair of surrogates", r'"\ud83d\ude00"', '"😀"'),
    gives("pair of surrogates in capitals", r'"\uD83D\uDE00"', '"😀"'),
    gives("composed", '"\u00e9"', '"\u00e9"'),
    gives("decomposed is another text", '"e\u0301"', '"e\u0301"'),
    gives("tag characters stay", '"\U000e0041"', '"\U000e0041"'),
    gives("noncharacters stay", '"\uffff\ufdd0\U0010ffff"', '"\uffff\ufdd0\U0010ffff"'),
    gives("byte order mark within a string", '"\ufeff"', '"\ufeff"'),
    gives("replacement character", '"desc \ufffd"', '"desc \ufffd"'),
    gives("an escaped backslash before u", r'"\\ud800"', r'"\\ud800"'),
    fails("high surrogate alone", r'"desc \ud800"', "lone-surrogate"),
    fails("low surrogate alone", r'"\udc00"', "lone-surrogate"),
    fails("reversed pair", r'"\uDE00\uD83D"', "lone-surrogate"),
    fails("two high surrogates", r'"\ud83d\ud83d\ude00"', "lone-surrogate"),
    fails("high surrogate before another escape", r'"\ud83d\u0041"', "lone-surrogate"),
    fails("high surrogate before a letter", r'"\ud83dA"', "lone-surrogate"),
    fails("surrogate in a key", r'{"\ud800":1}', "lone-surrogate"),
    fails("surrogate in an array", r'["a","\udfff"]', "lone-surrogate"),
    fails("byte FF", b'"\xff"', "not-utf8"),
    fails("byte FF in a key", b'{"\xff":1}', "not-utf8"),
    fails("surrogate as bytes", b'"\xed\xa0\x80"', "not-utf8"),
    fails("pair of surrogates as bytes", b'"\xed\xa0\xbd\xed\xb8\x80"', "not-utf8"),
    fails("overlong quote", b'"\xc0\xa2"', "not-utf8"),
    fails("overlong NUL", b'"\xc0\x80"', "not-utf8"),
    fails("beyond U+10FFFF", b'"\xf4\x90\x80\x80"', "not-utf8"),
    fails("truncated sequence", b'"\xe2\x82"', "not-utf8"),
    fails("Latin-1", b'"caf\xe9"', "not-utf8"),
    *(
        fails(f"malformed string {name}", text, "not-json")
        for name, text in {
            "unterminated": '"a',
            "raw line feed": '"a\nb"',
            "raw NUL": '"\x00"',
            "raw tab": '"\t"',
            "unknown escape": r'"\x41"',
            "short hex": r'"\u12"',
            "no hex": r'"\u00g0"',
            "sign in hex": r'"\u+123"',
            "lone backslash": '"\\',
            "single quotes": "'a'",
        }.items()
    ),
]

OBJECTS = [
    gives("empty object", "{}", "{}"),
    gives("empty array", "[]", "[]"),
    gives("members are sorted", '{"b":2,"a":1}', '{"a":1,"b":2}'),
    gives("at every depth", '{"z":{"b":[{"d":1,"c":2}],"a":0}}', '{"z":{"a":0,"b":[{"c":2,"d":1}]}}'),
    gives("capitals before small letters", '{"a":1,"B":2,"_":3}', '{"B":2,"_":3,"a":1}'),
    gives("a prefix before what it begins", '{"ab":1,"a":2,"":3}', '{"":3,"a":2,"ab":1}'),
    gives("keys are compared unescaped", r'{"b":1,"\u0061":2}', '{"a":2,"b":1}'),
    gives("control characters in keys", r'{"\u000a":1,"\r":2,"1":3}', r'{"\n":1,"\r":2,"1":3}'),
    gives(
        "beyond U+FFFF before U+E000 to U+FFFF",
        r'{"\ue000":1,"\ud800\udc00":2}',
        '{"\U00010000":2,"\ue000":1}',
    ),
    gives("the same, one character later", '{"x\ufb33":1,"x😀":2}', '{"x😀":2,"x\ufb33":1}'),
    gives("beyond U+FFFF behind U+D7FF", '{"😀":1,"\ud7ff":2}', '{"\ud7ff":2,"😀":1}'),
    gives("emoji in text, not in keys", '{"\ue000":"😀","a":"🔍\\":"}', '{"a":"🔍\\":","\ue000":"😀"}'),
    gives(
        "the keys of RFC 8785 section 3.2.3",
        r'{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",'
        r'"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",'
        r'"\u00f6":"Latin Small Letter O With Diaeresis"}',
        '{"\\r":"Carriage Return","1":"One","\x80":"Control","ö":"Latin Small Letter O With Diaeresis",'
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
    gives("composed and decomposed keys are two", '{"e\u0301":1,"\u00e9":2}', '{"e\u0301":1,"\u00e9":2}'),
    gives(
        "keys that differ in case are two",
        '{"inputschema":1,"inputSchema":2}',
        '{"inputSchema":2,"inputschema":1}',
    ),
    gives("__proto__ is a key", '{"__proto__":{"a":1},"a":2}', '{"__proto__":{"a":1},"a":2}'),
    gives("arrays keep their order", '["b","a",2,1,null,true,false]', '["b","a",2,1,null,true,false]'),
    gives("white space goes", ' {\t"a" :\r\n [ 1 , 2 ] } \n', '{"a":[1,2]}'),
    fails("repeated key", '{"a":1,"a":2}', "duplicate-key"),
    fails("repeated key with equal values", '{"a":1,"a":1}', "duplicate-key"),
    fails("repeated key, once escaped", r'{"a":1,"\u0061":2}', "duplicate-key"),
    fails("repeated empty key", '{"":1,"":2}', "duplicate-key"),
    fails("repeated key far down", '[[{"x":{"b":1,"c":2,"b":3}}]]', "duplicate-key"),
    fails("repeated key beyond U+FFFF", r'{"😀":1,"\ud83d\ude00":2}', "duplicate-key"),
]

DEPTH = 64
STRUCTURE = [
    *(
        fails(f"no JSON: {name}", text, "not-json")
        for name, text in {
            "empty": "",
            "white space": " \n",
            "truncated": '{"tools":[{"name":"a"',
            "two values": "1 2",
            "trailing comma in an array": "[1,]",
            "trailing comma in an object": '{"a":1,}',
            "leading comma": "[,1]",
            "missing comma": "[1 2]",
            "missing colon": '{"a" 1}',
            "unquoted key": "{a:1}",
            "comment": "[1]//",
            "mismatched brackets": "[1}",
            "closing alone": "]",
            "literal in capitals": "True",
            "undefined": "undefined",
            "vertical tab": "\x0b1",
            "no-break space": "\xa01",
            "NUL behind": "1\x00",
        }.items()
    ),
    fails("byte order mark", b"\xef\xbb\xbf{}", "not-utf8"),
    fails("UTF-16", '{"a":1}'.encode("utf-16-le"), "not-json"),
    fails("UTF-16 with byte order mark", '{"a":1}'.encode("utf-16"), "not-json"),
    fails("byte FF between values", b"[1,\xff2]", "not-json"),
    gives("64 arrays", "[" * DEPTH + "]" * DEPTH, "[" * DEPTH + "]" * DEPTH),
    gives("64 arrays around a number", "[" * DEPTH + "1" + "]" * DEPTH, "[" * DEPTH + "1" + "]" * DEPTH),
    gives("64 objects", '{"a":' * DEPTH + "1" + "}" * DEPTH, '{"a":' * DEPTH + "1" + "}" * DEPTH),
    fails("65 arrays", "[" * (DEPTH + 1) + "]" * (DEPTH + 1), "too-deep"),
    fails("65 objects", '{"a":' * DEPTH + "{}" + "}" * DEPTH, "too-deep"),
    fails("65 arrays and objects", '[{"a":' * 32 + "[]" + "}]" * 32, "too-deep"),
    fails("a text of 128", "[" * 128 + "]" * 128, "too-deep"),
    fails("a text of 129", "[" * 129 + "]" * 129, "too-deep"),
    fails("10,000 arrays", "[" * 10_000 + "]" * 10_000, "too-deep"),
    fails("10,000 arrays never closed", "[" * 10_000, "too-deep"),
    gives("brackets in strings are text", '["' + "[{" * 100 + '"]', '["' + "[{" * 100 + '"]'),
    gives(
        "brackets behind an escaped quote", r'["\"[[' + "[" * 100 + r'\\"]', r'["\"[[' + "[" * 100 + r'\\"]'
    ),
]


def same(name: str, one: str, other: str) -> Vector:
    """Two texts of one value: one canonical form."""
    return {"name": name, "one": one.encode().hex(), "other": other.encode().hex(), "equal": True}


def differ(name: str, one: str, other: str) -> Vector:
    """Two values: two canonical forms."""
    return {**same(name, one, other), "equal": False}


def _tool(**members: str) -> str:
    base = {
        "name": '"pay"',
        "description": '"Pay somebody"',
        "inputSchema": '{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]}',
    }
    return "{" + ",".join(f'"{key}":{value}' for key, value in (base | members).items()) + "}"


def _schema(amount: str) -> str:
    return _tool(inputSchema='{"type":"object","properties":{"amount":' + amount + "}}")


PAIRS = [
    same("order of members", '{"name":"a","description":"b"}', '{"description":"b","name":"a"}'),
    same("white space", '{"a":[1,2]}', '{ "a" : [\n1,\t2 ] }'),
    same("spelling of characters", r'{"a":"\u00e9\/"}', '{"\\u0061":"é/"}'),
    same("spelling of a number", "[1,100,0]", "[1.0,1e2,-0]"),
    same(
        "int64 bound unchanged",
        _schema('{"maximum":9223372036854775807}'),
        _schema('{ "maximum": 9223372036854775807 }'),
    ),
    differ(
        "int64 bounds", _schema('{"maximum":9223372036854775807}'), _schema('{"maximum":9223372036854775806}')
    ),
    differ("2^53 and 2^53 + 1", "9007199254740992", "9007199254740993"),
    differ("2^53 as an integer and as a fraction", "9007199254740992", "9007199254740992.0"),
    differ("an integer and the double next to it", "100000000000000000001", "1e20"),
    differ("an integer and a double of one value", "100000000000000000000", "1e20"),
    differ("number and text", '{"a":1}', '{"a":"1"}'),
    differ("true and 1", "[true]", "[1]"),
    differ("null and absence", '{"a":null}', "{}"),
    differ("empty array and empty object", '{"a":[]}', '{"a":{}}'),
    differ("composed and decomposed", '"\u00e9"', '"e\u0301"'),
    differ("order of required", '{"required":["a","b"]}', '{"required":["b","a"]}'),
    differ("order of enum", '{"enum":["a","b"]}', '{"enum":["b","a"]}'),
    differ("an invisible character", '"read"', '"read\u200b"'),
    *(
        differ(f"a change in {name}", _tool(), changed)
        for name, changed in {
            "name": _tool(name='"pay2"'),
            "description": _tool(description='"Pay somebody else"'),
            "title": _tool(title='"Pay"'),
            "annotations": _tool(annotations='{"destructiveHint":false}'),
            "outputSchema": _tool(outputSchema='{"type":"object"}'),
            "icons": _tool(icons='[{"src":"https://acme.example/icon.png"}]'),
            "execution": _tool(execution='{"taskSupport":"optional"}'),
            "_meta": _tool(_meta='{"acme.example/tags":["x"]}'),
            "an unknown member": _tool(**{"x-note": '"hello"'}),
            "an unknown annotation": _tool(annotations='{"futureKey":1}'),
            "the name of a property": _schema('{"type":"integer"},"ammount":{}'),
            "a default": _schema('{"type":"integer","default":1}'),
            "examples": _schema('{"type":"integer","examples":[1]}'),
            "a pattern": _schema('{"type":"integer","pattern":"^a"}'),
            "a comment": _schema('{"type":"integer","$comment":"ignore all else"}'),
            "the case of a member": _tool(inputschema="{}"),
        }.items()
    ),
]

GOOD = '{"name":"ping","inputSchema":{"type":"object"}}'
GOOD_FORM = '{"inputSchema":{"type":"object"},"name":"ping"}'


def message(name: str, bad: str | bytes, *expected: Vector) -> Vector:
    """A listing of one entry that is wrong and one that is not."""
    body = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[' + _bytes(bad) + b"," + GOOD.encode() + b"]}}"
    good = {"canonical": GOOD_FORM.encode().hex()}
    return {"name": name, "input": body.hex(), "entries": [*expected, good]}


def entry(error: str, *names: str) -> Vector:
    """An entry without a canonical form, and the names that a reader could take it to have."""
    return {"error": error, "names": list(names)}


MESSAGES = [
    message(
        "repeated description",
        '{"name":"a","description":"x","description":"y"}',
        entry("duplicate-key", "a"),
    ),
    message("repeated name", '{"name":"a","name":"b"}', entry("duplicate-key", "a", "b")),
    message(
        "repeated name, once escaped", r'{"name":"a","n\u0061me":"ping"}', entry("duplicate-key", "a", "ping")
    ),
    message("repeated name, once no text", '{"name":"a","name":1}', entry("duplicate-key", "a")),
    message(
        "repeated key in the schema",
        '{"name":"a","inputSchema":{"type":"object","type":"string"}}',
        entry("duplicate-key", "a"),
    ),
    message("NaN", '{"name":"a","inputSchema":{"maximum":NaN}}', entry("not-json", "a")),
    message("overflow", '{"name":"a","inputSchema":{"maximum":1e400}}', entry("number-range", "a")),
    message(
        "integer of 5000 digits",
        '{"name":"a","inputSchema":{"maximum":' + "1" * 5000 + "}}",
        entry("number-range", "a"),
    ),
    message("surrogate", r'{"name":"a","description":"\ud800"}', entry("lone-surrogate", "a")),
    message("byte FF", b'{"name":"a","description":"\xff"}', entry("not-utf8", "a")),
    message("byte FF in a key", b'{"name":"a","\xff":1}', entry("not-utf8", "a")),
    message("byte FF in the name", b'{"name":"a\xff"}', entry("not-utf8")),
    message("100 levels", '{"name":"a","x":' + "[" * 100 + "]" * 100 + "}", entry("too-deep", "a")),
    {"name": "truncated", "input": b'{"result":{"tools":['.hex(), "error": "not-json"},
    {
        "name": "129 levels",
        "input": (b'{"result":' + b"[" * 128 + b"]" * 128 + b"}").hex(),
        "error": "too-deep",
    },
    {"name": "byte order mark", "input": b'\xef\xbb\xbf{"result":{"tools":[]}}'.hex(), "error": "not-utf8"},
]

FILES = {
    "numbers": NUMBERS,
    "strings": STRINGS,
    "objects": OBJECTS,
    "structure": STRUCTURE,
    "pairs": PAIRS,
    "messages": MESSAGES,
}


def rendered(name: str) -> str:
    """The text of one vector file, pure ASCII."""
    return json.dumps({"recipe": "jcs-exact/1", "vectors": FILES[name]}, indent=1) + "\n"


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / f"{file}.json").write_text(rendered(file), encoding="ascii")
