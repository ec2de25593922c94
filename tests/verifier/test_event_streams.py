# SPDX-License-Identifier: Apache-2.0
"""Event streams as they are cut: what a server makes of its lines costs no multiple of their bytes."""

import tracemalloc

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier.shells.http.events import EventCutter

_SIZE = scaled(512 << 10, 2 << 20)


@pytest.mark.parametrize("line", [b"a\n", b"id:\n", b"data\n"])
def test_an_event_of_short_lines_takes_a_few_times_its_size(line: bytes) -> None:
    cutter = EventCutter(max_bytes=2 * _SIZE)
    chunk = line * ((64 << 10) // len(line))
    tracemalloc.start()
    try:
        for _ in range(_SIZE // len(chunk)):
            assert cutter.feed(chunk) == []
        cutter.feed(b"\n")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * _SIZE


def test_nothing_that_came_between_the_halves_of_a_line_end_makes_two_of_it() -> None:
    cutter = EventCutter(max_bytes=1000)
    assert cutter.feed(b"data: a\r") == []
    assert cutter.feed(b"") == []
    assert cutter.feed(b"\ndata: b\n") == []
    [event] = cutter.feed(b"\n")
    assert event.data == b"a\nb"
    assert event.raw == b"data: a\rdata: b\n\n"


_PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b":", b": ping", b"data: {}", b"data:", b"id: 1", b"retry: 5", b"data", b"a"]
)


def cut(chunks: list[bytes]) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """What goes on of a stream, and its events that say something, with their other fields."""
    cutter = EventCutter(max_bytes=1 << 20)
    events = [event for chunk in chunks for event in cutter.feed(chunk)]
    return b"".join(event.raw for event in events), [
        (event.data or b"", event.fields) for event in events if event.data is not None or event.fields
    ]


@settings(max_examples=scaled(200, 4000))
@given(st.lists(_PIECES, max_size=40), st.data())
def test_wherever_a_stream_is_cut_into_chunks_it_has_the_same_events(
    pieces: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(pieces)
    at = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[start:end] for start, end in zip([0, *at], [*at, len(stream)], strict=True)]
    # One byte at a time nothing stands together, and every line is read alone.
    assert cut(chunks)[1] == cut([stream[n : n + 1] for n in range(len(stream))])[1]


def test_what_stands_between_events_goes_on_as_it_is() -> None:
    stream = b"data: 1\n\n: a\r\n\r\n\n:b\r:c\n\ndata: 2\n\n\n"
    assert cut([stream]) == (stream, [(b"1", b""), (b"2", b"")])


@pytest.mark.parametrize("line", [b"\n", b":\n", b": still here\r\n\r\n"])
def test_what_says_nothing_between_events_is_one_event_for_each_chunk(line: bytes) -> None:
    cutter = EventCutter(max_bytes=1 << 20)
    assert len(cutter.feed(b"data: {}\n\n")) == 1
    for _ in range(64):
        [event] = cutter.feed(line * 4096)
        assert event == (line * 4096, None, b"")
    assert [event.data for event in cutter.feed(b"data: {}\n\n")] == [b"{}"]
