# SPDX-License-Identifier: Apache-2.0
"""What is stowed comes out as it went in, wherever it goes; where there is no room, nothing is lost."""

import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from piped import descriptors, read_all

from toolnotary_verifier.stowage import CAN_STOW, Stowage

pytestmark = pytest.mark.skipif(not CAN_STOW, reason="the system moves nothing between pipes")
BLOCK = bytes(range(256)) * 256  # 64 KiB


def stowed(*parts: bytes) -> Stowage:
    stowage = Stowage()
    assert [stowage.add(part) for part in parts] == [b""] * len(parts)
    return stowage


@given(st.lists(st.integers(0, 3 * len(BLOCK)).map(lambda size: (BLOCK * 3)[:size]), max_size=40))
def test_it_comes_out_in_order_by_either_way(parts: list[bytes]) -> None:
    assert stowed(*parts).content() == b"".join(parts)
    assert read_all(stowed(*parts).pour) == b"".join(parts)


def test_into_a_file_that_is_only_appended_to_it_is_written(tmp_path: Path) -> None:
    parts = [BLOCK] * 40
    with (tmp_path / "log").open("ab") as file:
        file.write(b"before")
        file.flush()
        stowed(*parts).pour(file.fileno())
    assert (tmp_path / "log").read_bytes() == b"before" + b"".join(parts)


def test_where_the_system_grants_no_more_pipes_the_rest_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stowage = stowed(*[BLOCK] * 15)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    before = descriptors()
    rest = b"".join(stowage.add(BLOCK) for _ in range(10))
    assert len(rest) > 8 * len(BLOCK)
    assert descriptors() == before
    assert stowage.content() + rest == BLOCK * 25


def test_nobody_who_reads_ends_it_and_leaves_no_descriptor_open() -> None:
    before = descriptors()
    reader, writer = os.pipe()
    stowage = stowed(*[BLOCK] * 40)
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        stowage.pour(writer)
    os.close(writer)
    assert descriptors() == before
