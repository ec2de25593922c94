# SPDX-License-Identifier: Apache-2.0
"""Files are replaced whole, and what is no file is never replaced."""

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.files import replace_file

if sys.platform == "win32":
    pytest.skip("named pipes in folders are a Unix thing", allow_module_level=True)


def test_a_named_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As root, `-o /dev/null` would otherwise put a file in the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    replace_file(pipe, b"content")
    reader.join()
    assert got == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_to_a_pipe_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    replace_file(link, b"content")
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)


def test_a_folder_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigurationError) as caught:
        replace_file(tmp_path / "folder", b"content")
    assert caught.value.code == "file-not-writable"
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_file_is_at_no_time_readable_for_more_people_than_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen: list[int] = []
    fsync = os.fsync

    def look(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    before = os.umask(0o022)
    try:
        replace_file(path, b"new")
        replace_file(tmp_path / "fresh", b"new")
        replace_file(tmp_path / "secret", b"new", is_private=True)
    finally:
        os.umask(before)
    assert (seen[0], stat.S_IMODE(path.stat().st_mode)) == (0o600, 0o600)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
