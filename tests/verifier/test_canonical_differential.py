# SPDX-License-Identifier: Apache-2.0
"""The canonical form against other implementations, and our two against each other, over random texts."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from documents import FRACTIONS, INTEGERS, Writer
from effort import scaled

from toolnotary_verifier.canonical import (
    CanonicalError,
    canonical_bytes,
    parse_message,
    plain,
    prefer,
    serialize,
)
from toolnotary_verifier.canonical.nesting import USUAL_DEPTH, Deepest

NODE = Path(__file__).resolve().parent.parent / "node"
NOTHING_DEEP = USUAL_DEPTH + 4
DEEP = b"[" * 100 + b"]" * 100
# Where RFC 8785 and this form are one: numbers below 2^53 in magnitude.
SHARED = tuple(text for text in INTEGERS + FRACTIONS if abs(float(text)) < 2**53)


@pytest.fixture(autouse=True)
def _choice() -> Iterator[None]:
    yield
    prefer("auto")


def outcome(raw: bytes) -> list[object]:
    """All that can be seen of a message: its error, or what each door makes of it and of its parts."""
    try:
        value = parse_message(raw)
    except CanonicalError as error:
        return [error.code, error.where]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    doors: list[Callable[[Any], object]] = [
        lambda part: canonical_bytes(part, parsed=True),
        lambda part: canonical_bytes(part, max_depth=2, parsed=True),
        canonical_bytes,
        serialize,
        lambda part: repr(plain(part)),
    ]
    return [answer(door, part) for part in (value, *parts) for door in doors]


def answer(door: Callable[[Any], object], part: Any) -> object:
    try:
        return door(part)
    except CanonicalError as error:
        return error.code, error.where, error.message


def assert_same(raw: bytes) -> None:
    prefer("reference")
    expected = outcome(raw)
    prefer("accelerated")
    Deepest.met = NOTHING_DEEP  # as if this were the first message of the process
    assert outcome(raw) == expected, raw
    prefer("auto")
    parse_message(DEEP)
    prefer("accelerated")
    assert outcome(raw) == expected, raw


@pytest.mark.parametrize("faults", [0.0, 0.02, 0.2])
def test_both_implementations_agree_on_random_texts(faults: float) -> None:
    writer = Writer(int(faults * 100) + 1, faults=faults)
    for _ in range(scaled(800, 60_000)):
        assert_same(writer.text().encode())


def test_both_implementations_agree_on_texts_as_servers_write_them_with_and_without_a_repeated_key() -> None:
    writer = Writer(23)
    for _ in range(scaled(800, 30_000)):
        value = json.loads(writer.text())
        compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        objects = [place for place, mark in enumerate(compact) if mark == ord("{")]
        assert_same(compact)
        assert_same(compact + b"\r\n")
        if objects:
            at = writer.chance.choice(objects) + 1
            assert_same(compact[:at] + b'"k":0,"k":{},' + compact[at:])


def test_both_implementations_agree_on_damaged_texts_and_raise_nothing_else() -> None:
    writer = Writer(7, faults=0.01)
    for _ in range(scaled(1_500, 60_000)):
        assert_same(writer.damaged(writer.text().encode()))


def test_both_implementations_agree_on_random_bytes() -> None:
    chance = random.Random(11)  # noqa: S311 (bytes to test with)
    alphabet = b'{}[]",:\\u0d8e1.-+ \n\xc3\xa9\xf0\x9f\x98\x80\xff\x00tfn'
    for _ in range(scaled(2_000, 100_000)):
        assert_same(bytes(chance.choices(alphabet, k=chance.choice((1, 2, 4, 8, 30)))))


def test_both_implementations_agree_on_texts_of_any_depth_and_length() -> None:
    writer = Writer(13, faults=0.002)
    for _ in range(scaled(60, 3_000)):
        parts = [writer.text() for _ in range(40)]
        levels = writer.chance.choice(
            (0, 1, 57, 58, 59, 60, 61, 62, 63, 64, 65, 100, 120, 125, 126, 127, 128, 129, 200, 201, 202)
        )
        text = "[" * levels + ",".join(parts) + "]" * levels if levels else "[" + ",".join(parts) + "]"
        assert_same(text.encode())


def test_both_implementations_agree_on_real_listings(shared: Path) -> None:
    listings = sorted((shared / "corpus").rglob("*tools_list*.json"))
    for path in listings[:: max(1, len(listings) // scaled(40, 10_000))]:
        assert_same(path.read_bytes())


def test_the_form_is_rfc_8785_for_every_document_of_its_domain() -> None:
    writer = Writer(17, numbers=SHARED)
    for _ in range(scaled(1_500, 100_000)):
        text = writer.text()
        expected = rfc8785.dumps(json.loads(text))
        for implementation in ("reference", "accelerated"):
            prefer(implementation)
            assert canonical_bytes(parse_message(text.encode()), parsed=True) == expected, text


def test_the_form_is_what_javascript_makes_of_every_document_of_its_domain() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (NODE / "node_modules" / "canonicalize").is_dir():
        pytest.skip("tests/node has no node_modules: run tests/prepare.py")
    writer = Writer(19, numbers=SHARED)
    # A line a text: a raw line feed can only stand between tokens, where a space does as well.
    texts = [writer.text().replace("\n", " ").replace("\r", " ") for _ in range(scaled(2_000, 100_000))]
    done = subprocess.run(
        [node, NODE / "canonicalize.mjs"],
        input="".join(f"{text}\n" for text in texts).encode(),
        capture_output=True,
        check=True,
    )
    answers = done.stdout.split(b"\n")[:-1]
    assert len(answers) == len(texts)
    for text, expected in zip(texts, answers, strict=True):
        assert canonical_bytes(parse_message(text.encode()), parsed=True) == expected, text
