# SPDX-License-Identifier: Apache-2.0
"""A very long line is the same line, however its bytes came and wherever they were kept meanwhile."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from piped import read_all

from toolnotary_verifier.shells import lines, long_line
from toolnotary_verifier.shells.lines import Lines, LineTooLongError, Outlet
from toolnotary_verifier.shells.long_line import LongLine
from toolnotary_verifier.stowage import CAN_STOW

HEAD, TAIL = b'{"jsonrpc":"2.0","id":1,"result":{"x":"', b'"}}\n'


@pytest.fixture(autouse=True, params=[True, False], ids=["stowed", "in memory"])
def _kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are very long sooner than usual; with and without what Linux has for them."""
    monkeypatch.setattr(lines, "_LONG", 1000)
    monkeypatch.setattr(long_line, "CAN_STOW", request.param and CAN_STOW)


def completed(chunks: list[bytes]) -> tuple[Lines, LongLine | None]:
    """What the last of these chunks completes."""
    kept = Lines(1 << 20, at_length=LongLine)
    for chunk in chunks[:-1]:
        assert kept.feed(chunk) == []
    return kept, kept.completed_by(chunks[-1])


@given(
    st.lists(st.sampled_from([b"x" * 3, b"y" * 700, b"z" * 5000, b'"tools":[', b"\\"]), min_size=3),
    st.booleans(),
)
def test_it_is_the_same_line_written_or_put_together(texts: list[bytes], is_written: bool) -> None:
    chunks = [HEAD, *texts, TAIL]
    kept, long = completed(chunks)
    if long is None:
        assert kept.feed(chunks[-1]) == [b"".join(chunks)]
    else:
        assert (read_all(long.pour) if is_written else long.whole()) == b"".join(chunks)
        assert long.in_parts.is_plain == (not {b'"tools":[', b"\\"} & {*texts})
        assert (kept.feed(b"next\n"), kept.rest()) == ([b"next\n"], b"")


def test_what_is_behind_its_end_or_never_ends_is_not_lost() -> None:
    begun = [HEAD, b"x" * 2000, b"y" * 3000]
    kept, long = completed([*begun, TAIL + b"next"])
    assert long is None
    assert kept.feed(TAIL + b"next") == [b"".join(begun) + TAIL]
    assert kept.rest() == b"next"
    kept, _ = completed([*begun, b"z"])
    kept.feed(b"z")
    assert kept.rest() == b"".join(begun) + b"z"


def test_it_may_not_be_longer_than_any_line() -> None:
    kept = Lines(3000, at_length=LongLine)
    kept.feed(b"x" * 1500)
    with pytest.raises(LineTooLongError):
        kept.completed_by(b"y" * 1500 + b"\n")


def test_it_is_written_by_whom_may_write_and_to_nobody_who_left() -> None:
    reader, writer = os.pipe()
    outlet = Outlet(writer)
    for is_read in (True, False):
        if not is_read:
            os.close(reader)
        _, long = completed([HEAD, b"x" * 2000, b"y" * 3000, TAIL])
        assert long is not None
        assert outlet.writing.acquire(blocking=False)
        assert outlet.pour_acquired(long) == is_read
        assert not outlet.writing.locked()
        if is_read:
            assert os.read(reader, 1 << 16) == HEAD + b"x" * 2000 + b"y" * 3000 + TAIL
    os.close(writer)
