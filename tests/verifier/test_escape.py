# SPDX-License-Identifier: Apache-2.0
"""Text from a server is shown so that nothing in it can hide, and so that it says what was there."""

import itertools
import re
import unicodedata

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.escape import INVISIBLE, escape, is_invisible

# The visible signs among what Unicode calls format characters: they enclose the digits that follow.
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}

SPELLED = re.compile(r"\\u\{([0-9a-f]+)\}")
TEXT = st.text(
    st.one_of(
        st.characters(), st.sampled_from("\\u{}5c \U000e0041\u200b\u202e\ud800\x1b\n"), st.sampled_from("abc")
    )
)


def read_back(shown: str) -> str:
    return SPELLED.sub(lambda met: chr(int(met[1], 16)), shown)


@given(TEXT)
@settings(max_examples=scaled(300, 20_000))
def test_shown_text_reads_back_as_the_text_it_shows(text: str) -> None:
    assert read_back(escape(text)) == text


@given(TEXT)
def test_shown_text_holds_nothing_that_cannot_be_seen(text: str) -> None:
    shown = escape(text)
    assert not any(map(is_invisible, shown))
    shown.encode("utf-8")


def test_every_control_format_blank_surrogate_and_private_character_is_spelled_out() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp"}
    for point in range(0x110000):
        character = chr(point)
        if unicodedata.category(character) in hidden and character != " " and point not in VISIBLE_FORMAT:
            assert is_invisible(character), hex(point)


def test_letters_marks_and_symbols_of_every_script_stay_as_they_are() -> None:
    blank = {
        0x34F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x180B,
        0x180C,
        0x180D,
        0x180F,
        0x2800,
        0x3164,
        0xFFA0,
        0xFFFC,
    }
    blank |= {0x16FE4, 0x1D159, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
    for point in range(0x110000):
        character = chr(point)
        if unicodedata.category(character)[0] in "LMNPS" and point not in blank:
            assert not is_invisible(character), hex(point)


def test_the_table_is_in_order_and_nothing_in_it_overlaps() -> None:
    ends = [end for span in INVISIBLE for end in span]
    assert ends == sorted(ends)
    assert all(low <= high for low, high in INVISIBLE)
    assert all(earlier[1] < later[0] for earlier, later in itertools.pairwise(INVISIBLE))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('plain text, with "quotes" and C:\\path', None),
        ("größe 日本語 поиск עברית العربية हिन्दी 🔍 \ufffd", None),
        ("\U000e0041\U000e0042", r"\u{e0041}\u{e0042}"),
        ("\U000e0100", r"\u{e0100}"),
        ("a\u202eb\u2066", r"a\u{202e}b\u{2066}"),
        ("zero\u200bwidth", r"zero\u{200b}width"),
        ("no\xa0break", r"no\u{a0}break"),
        ("\u3164", r"\u{3164}"),
        ("\x1b[31m\x07\x9b", r"\u{1b}[31m\u{7}\u{9b}"),
        ("two\nlines\r", r"two\u{a}lines\u{d}"),
        ("half \ud83d", r"half \u{d83d}"),
        ("\ue000\ufdd0\uffff\U0001fffe", r"\u{e000}\u{fdd0}\u{ffff}\u{1fffe}"),
        ("👩\u200d💻 ❤\ufe0f", r"👩\u{200d}💻 ❤\u{fe0f}"),
    ],
)
def test_known_hiding_places_are_spelled_out_and_honest_text_is_not(text: str, shown: str | None) -> None:
    assert escape(text) == (text if shown is None else shown)


def test_text_that_imitates_our_spelling_cannot_be_taken_for_it() -> None:
    assert escape(r"\u{e0041}") == r"\u{5c}u{e0041}"
    assert escape("\U000e0041") == r"\u{e0041}"
    assert escape(r"\u0041 \n \\") == r"\u0041 \n \\"


def test_a_line_feed_is_kept_where_lines_are_shown() -> None:
    assert escape("one\ntwo\rthree", keep="\n") == "one\ntwo\\u{d}three"


def test_a_long_text_is_cut_and_the_rest_counted() -> None:
    assert escape("abcdef", limit=6) == "abcdef"
    assert escape("abcdefg", limit=6) == "abcdef... (1 more characters)"
    assert escape("\u200b" * 8, limit=2) == r"\u{200b}\u{200b}... (6 more characters)"
