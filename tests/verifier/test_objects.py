# SPDX-License-Identifier: Apache-2.0
"""docs/spec/lockfile.md: what lies beside the lockfile is found by its digest and hashed at every load."""

from pathlib import Path

import pytest

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.objects import Objects

CONTENT = b'{"name":"find"}'
DIGEST = Digest.of(CONTENT)


def path_of(folder: Path, digest: Digest = DIGEST) -> Path:
    return folder / digest.hex[:2] / digest.hex[2:]


def test_what_was_put_is_found_by_its_digest(tmp_path: Path) -> None:
    objects = Objects(tmp_path / "objects")
    assert objects.get(DIGEST) is None
    assert objects.put(CONTENT) == DIGEST
    assert objects.put(CONTENT) == DIGEST
    assert objects.get(DIGEST) == CONTENT
    assert path_of(tmp_path / "objects").read_bytes() == CONTENT


def test_what_was_changed_is_refused_by_name(tmp_path: Path) -> None:
    objects = Objects(tmp_path)
    objects.put(CONTENT)
    path_of(tmp_path).write_bytes(CONTENT + b" ")
    with pytest.raises(InvalidInput) as caught:
        objects.get(DIGEST)
    assert caught.value.code == "object-corrupt"
    assert str(path_of(tmp_path)) in caught.value.message


def test_putting_again_mends_what_was_changed(tmp_path: Path) -> None:
    objects = Objects(tmp_path)
    objects.put(CONTENT)
    path_of(tmp_path).write_bytes(b"")
    objects.put(CONTENT)
    assert objects.get(DIGEST) == CONTENT


def test_a_corrupt_object_is_not_replaced_by_one_from_elsewhere(tmp_path: Path) -> None:
    """Nothing falls back to another file: a lie must be seen."""
    Objects(tmp_path / "own").put(CONTENT)
    objects = Objects(tmp_path / "project", fallbacks=[tmp_path / "own"])
    assert objects.get(DIGEST) == CONTENT
    objects.put(CONTENT)
    path_of(tmp_path / "project").write_bytes(b"x")
    with pytest.raises(InvalidInput):
        objects.get(DIGEST)


def test_new_objects_go_to_the_first_folder_alone(tmp_path: Path) -> None:
    Objects(tmp_path / "project", fallbacks=[tmp_path / "own"]).put(CONTENT)
    assert path_of(tmp_path / "project").exists()
    assert not (tmp_path / "own").exists()


def test_version_control_is_told_to_leave_the_bytes_alone(tmp_path: Path) -> None:
    Objects(tmp_path).put(CONTENT)
    assert (tmp_path / ".gitattributes").read_text(encoding="utf-8") == "* -text\n"


def test_a_folder_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        Objects(blocked / "objects").put(CONTENT)
    assert caught.value.code == "file-not-writable"
    assert str(blocked) in caught.value.message
