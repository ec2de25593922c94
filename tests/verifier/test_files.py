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
