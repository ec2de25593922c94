# SPDX-License-Identifier: Apache-2.0
"""A very long answer is judged where it lies, in the parts in which it came, as it is when put together."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.gate import Gate, Side
from toolnotary_verifier.gate.recognise import InParts
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Judgement, Outcome

TEXT = b"x" * 3000
HEADS = (b'{"jsonrpc":"2.0","id":7,"result":{"a":"', b'{"result":{"a":"')
TAILS = (b'"}}\n', b'"},"jsonrpc":"2.0","id":7}\n', b'"}}\r\n', b'"}} \n')
# What some reader could take for a listing, instructions or an announced change; the last four are neither.
INSIDE = (
    *(b'","tools":[],"b":"', b'","TOOLS":[],"b":"', b'","resourceTemplates":[],"b":"', b'","instructions":"'),
    *(
        b'"},"method":"notifications/tools/list_changed","b":{"c":"',
        b"\\u0074ools",
        b"\xc5\xbf",
        b"\r",
        b"\\",
    ),
    *(b'","b":"', b'","tool":[],"b":"', b"tools", b""),
)


def new_gate() -> Gate:
    def judge(surface: Surface) -> Judgement:
        return Judgement("acme", Outcome.VERIFIED, (), surface.definitions)

    return Gate(judge, server="acme")


def passes_in_parts(gate: Gate, parts: Iterable[bytes | bytearray]) -> bool:
    """Whether a frame passes that came in these parts."""
    looked = InParts()
    for part in parts:
        looked.add(part)
    return gate.passes_in_parts(looked)


@given(st.sampled_from(HEADS), st.sampled_from(INSIDE), st.sampled_from(TAILS), st.data())
def test_what_passes_in_parts_passes_as_a_whole(
    head: bytes, inside: bytes, tail: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(TEXT)))
    frame = head + TEXT[:at] + inside + TEXT[at:] + tail
    cuts = sorted({0, len(frame), *data.draw(st.lists(st.integers(0, len(frame)), max_size=6))})
    parts = [frame[start:end] for start, end in pairwise(cuts)]
    if passes_in_parts(new_gate(), parts):
        assert new_gate().receive(Side.SERVER, frame, 0.0) is None
        assert inside in INSIDE[-4:]


@pytest.mark.parametrize("head", HEADS)
def test_a_long_answer_without_anything_to_look_at_passes_in_parts(head: bytes) -> None:
    tail = TAILS[0] if b"jsonrpc" in head else TAILS[1]
    assert passes_in_parts(new_gate(), [head + TEXT, bytearray(TEXT), TEXT + tail])


@pytest.mark.parametrize("inside", INSIDE[:-4])
def test_a_word_that_lies_across_two_parts_is_seen(inside: bytes) -> None:
    frame = HEADS[0] + TEXT + inside + TEXT + TAILS[0]
    for cut in range(len(HEADS[0] + TEXT) - 1, len(HEADS[0] + TEXT + inside) + 2):
        assert not passes_in_parts(new_gate(), [frame[:cut], frame[cut:]])


def test_nothing_passes_in_parts_while_a_request_waits_for_its_answer() -> None:
    gate = new_gate()
    gate.receive(Side.HOST, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n', 0.0)
    assert not passes_in_parts(gate, [HEADS[0] + TEXT, TEXT + TAILS[0]])


def test_a_gate_that_is_closed_lets_nothing_pass_in_parts() -> None:
    gate = new_gate()
    gate.close()
    assert not passes_in_parts(gate, [HEADS[0] + TEXT, TEXT + TAILS[0]])


def test_a_word_that_comes_byte_by_byte_is_seen() -> None:
    frame = HEADS[0] + b'","tools":[],"b":"' + TEXT + TAILS[0]
    assert not passes_in_parts(
        new_gate(), [frame[at : at + 1] for at in range(len(frame) - 4)] + [frame[-4:]]
    )
