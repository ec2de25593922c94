# SPDX-License-Identifier: Apache-2.0
"""A stream cut into lines: at line feeds alone, and within the memory that a line may take."""

import tracemalloc

import pytest

from toolnotary_verifier.shells.lines import Lines, LineTooLongError


def test_a_line_that_comes_in_crumbs_takes_no_more_memory_than_one_that_comes_whole() -> None:
    lines = Lines(1 << 20)
    sent = b"0123456789abcdef" * 25_000
    tracemalloc.start()
    try:
        for at in range(0, len(sent), 2):
            assert lines.feed(sent[at : at + 2]) == []
        found = lines.feed(b"\n")
        assert tracemalloc.get_traced_memory()[1] < 4 * len(sent)
    finally:
        tracemalloc.stop()
    assert found == [sent + b"\n"]


def test_a_line_is_cut_at_line_feeds_and_nowhere_else() -> None:
    lines = Lines(8)
    assert lines.feed(b"a\rb") == []
    assert lines.feed(b"\x85\nc\n\nd") == [b"a\rb\x85\n", b"c\n", b"\n"]
    assert lines.rest() == b"d"
    assert lines.rest() == b""


def test_a_line_that_is_too_long_is_refused_while_it_comes() -> None:
    lines = Lines(8)
    assert lines.feed(b"1234") == []
    assert lines.feed(b"5678") == []
    with pytest.raises(LineTooLongError):
        lines.feed(b"9")
