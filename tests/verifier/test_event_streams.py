# SPDX-License-Identifier: Apache-2.0
"""Event streams as they are cut: what a server makes of its lines costs no multiple of their bytes."""

import tracemalloc

import pytest
from effort import scaled

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
