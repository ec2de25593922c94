# SPDX-License-Identifier: Apache-2.0
"""Word changes hold both texts whole, and set invisible characters apart."""

from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.words import Origin, word_changes

WORDS = st.lists(st.sampled_from(["read", "send", " ", "\n", ".", "\u200b", "é", "x-y"]), max_size=12).map(
    "".join
)


@settings(max_examples=scaled(300, 5000))
@given(st.one_of(WORDS, st.text(max_size=10)), st.one_of(WORDS, st.text(max_size=10)))
def test_the_pieces_hold_both_texts_whole(old: str, new: str) -> None:
    pieces = word_changes(old, new)
    assert "".join(piece.text for piece in pieces if piece.origin is not Origin.NEW) == old
    assert "".join(piece.text for piece in pieces if piece.origin is not Origin.OLD) == new


@given(WORDS)
def test_equal_texts_have_no_changed_piece(text: str) -> None:
    assert all(piece.origin is Origin.BOTH for piece in word_changes(text, text))


def test_only_the_words_that_differ_are_pieces_of_one_side() -> None:
    pieces = word_changes("Read the file and return it.", "Read the file and send it.")
    assert [(piece.origin, piece.text) for piece in pieces] == [
        (Origin.BOTH, "Read the file and "),
        (Origin.OLD, "return"),
        (Origin.NEW, "send"),
        (Origin.BOTH, " it."),
    ]


def test_an_invisible_character_is_a_change_of_its_own() -> None:
    pieces = word_changes("Read it.", "Read it.\U000e0041")
    assert [(piece.origin, piece.text) for piece in pieces] == [
        (Origin.BOTH, "Read it."),
        (Origin.NEW, "\U000e0041"),
    ]


def test_texts_with_nothing_in_common_are_replaced_whole_however_long() -> None:
    old, new = "a b " * 50_000, "c d " * 50_000
    changed = [piece for piece in word_changes(old, new) if piece.origin is not Origin.BOTH]
    assert [piece.origin for piece in changed] == [Origin.OLD, Origin.NEW]
