# SPDX-License-Identifier: Apache-2.0
"""Bytes into lines and lines into a descriptor: nothing is lost, torn or put in another order."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.shells.lines import Lines, LineTooLongError, Outlet

FRAMES = [b'{"id":%d,"x":"%b"}\n' % (number, b"x" * (number * 37 % 900)) for number in range(200)]


@given(st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"\r")), max_size=12), st.data())
def test_a_stream_is_cut_at_line_feeds_wherever_its_chunks_end(
    texts: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(text + b"\n" for text in texts) + b"rest"
    kept = Lines(1000)
    found: list[bytes] = []
    at = 0
    while at < len(stream):
        size = data.draw(st.integers(1, 50))
        found += kept.feed(stream[at : at + size])
        at += size
    assert found == [text + b"\n" for text in texts]
    assert kept.rest() == b"rest"
    assert kept.rest() == b""


@pytest.mark.parametrize("chunks", [[b"x" * 101], [b"x" * 60, b"x" * 41], [b"x" * 60, b"x" * 60 + b"\n"]])
def test_a_line_that_is_too_long_is_not_kept_until_it_ends(chunks: list[bytes]) -> None:
    kept = Lines(100)
    for chunk in chunks[:-1]:
        assert kept.feed(chunk) == []
    with pytest.raises(LineTooLongError):
        kept.feed(chunks[-1])


class Pipe:
    """A pipe whose every write takes a few bytes only, as one whose reader is slow does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, most: int) -> None:
        self._end, self._start = os.pipe()
        self.outlet = Outlet(self._start)
        self._chunks: list[bytes] = []
        write = os.write
        monkeypatch.setattr(os, "write", lambda where, content: write(where, bytes(content[:most])))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while chunk := os.read(self._end, 65536):
            self._chunks.append(chunk)

    def read_all(self) -> bytes:
        """What came out, once nothing more is written."""
        os.close(self._start)
        self._reader.join(60)
        os.close(self._end)
        return b"".join(self._chunks)


@pytest.fixture(params=[1, 7, 1000])
def pipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Pipe:
    return Pipe(monkeypatch, most=request.param)


def test_what_was_queued_goes_out_whole_however_little_a_write_takes(pipe: Pipe) -> None:
    for frame in FRAMES:
        pipe.outlet.put(frame)
    assert pipe.outlet.drain()
    assert pipe.read_all() == b"".join(FRAMES)


def test_what_is_written_at_once_goes_out_whole_however_little_a_write_takes(pipe: Pipe) -> None:
    for frame in FRAMES:
        assert pipe.outlet.writing.acquire(blocking=False)
        assert pipe.outlet.write_acquired(frame)
    assert pipe.read_all() == b"".join(FRAMES)


def test_frames_of_several_threads_are_not_torn(pipe: Pipe) -> None:
    def write(frames: list[bytes]) -> None:
        for frame in frames:
            pipe.outlet.put(frame)
            pipe.outlet.drain()

    threads = [threading.Thread(target=write, args=(FRAMES[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    pipe.outlet.drain()
    pipe.outlet.finish(60)
    assert sorted(pipe.read_all().splitlines(keepends=True)) == sorted(FRAMES)


@pytest.mark.parametrize("how", ["queued", "at once"])
def test_where_nobody_reads_any_more_that_is_told_and_nothing_waits(how: str) -> None:
    end, start = os.pipe()
    outlet = Outlet(start)
    os.close(end)
    if how == "queued":
        outlet.put(FRAMES[0])
        assert not outlet.drain()
    else:
        assert outlet.writing.acquire(blocking=False)
        assert not outlet.write_acquired(FRAMES[0])
    outlet.put(FRAMES[1])
    assert not outlet.drain()
    assert not outlet.frames
    outlet.finish(0)
    os.close(start)


def test_after_its_end_an_outlet_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Pipe(monkeypatch, most=1000)
    made.outlet.put(FRAMES[1])
    made.outlet.close()
    made.outlet.put(FRAMES[2])
    made.outlet.drain()
    assert made.read_all() == FRAMES[1]
