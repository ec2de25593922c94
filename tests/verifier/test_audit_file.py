# SPDX-License-Identifier: Apache-2.0
"""The file of the audit trail: several processes add to it, it is put aside, a full disk tears nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolnotary_verifier.audit.file import AuditFile
from toolnotary_verifier.audit.line import Line

WRITER = """
import sys
from pathlib import Path
from toolnotary_verifier.audit import file as room
room._WAIT = 60.0  # however busy the machine is: what is asked here is what is written
file = room.AuditFile(Path(sys.argv[1]), max_bytes=int(sys.argv[4]), keep=1000)
for number in range(int(sys.argv[3])):
    file.append(b'{"who":%d,"number":%d,"filler":"%s"}\\n' % (int(sys.argv[2]), number, b"x" * 200))
"""


def lines(path: Path) -> list[object]:
    """What all files of a trail hold; every line must be JSON."""
    return [
        json.loads(line)
        for file in path.parent.glob(f"{path.name}*")
        if file.suffix != ".lock"
        for line in file.read_bytes().splitlines()
    ]


def test_of_what_several_processes_write_while_the_file_is_put_aside_nothing_is_lost_or_torn(
    tmp_path: Path,
) -> None:
    path, each = tmp_path / "audit.jsonl", 400
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(who), str(each), "8192"])
        for who in range(4)
    ]
    assert [process.wait(120) for process in started] == [0, 0, 0, 0]
    found = lines(path)
    assert len(found) == 4 * each
    assert {(one["who"], one["number"]) for one in found} == {  # type: ignore[index]
        (who, number) for who in range(4) for number in range(each)
    }
    assert max(file.stat().st_size for file in tmp_path.iterdir()) <= 8192
    assert len(list(tmp_path.iterdir())) > 20


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_so_many_old_files_are_kept_and_no_more(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "audit.jsonl"
    file = AuditFile(path, max_bytes=100, keep=keep)
    for number in range(10):
        file.append(b'{"number":%d,"filler":"%s"}\n' % (number, b"x" * 60))
    names = {one.name for one in tmp_path.iterdir()}
    assert names == {"audit.jsonl", "audit.jsonl.lock", *(f"audit.jsonl.{n + 1}" for n in range(keep))}
    numbers = sorted(one["number"] for one in lines(path))  # type: ignore[index]
    assert numbers == list(range(9 - keep, 10))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_is_full_leaves_whole_lines_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    script = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));" + WRITER + "\n"
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path), "1", "10", "1000000"], capture_output=True, check=False
    )
    assert b"No space left on device" in ended.stderr
    assert len(lines(path)) == 4
    assert path.read_bytes().endswith(b"\n")


def test_what_a_killed_process_left_of_a_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    AuditFile(path, max_bytes=1000, keep=1).append(b'{"c":1}\n')
    assert path.read_bytes() == b'{"a":1}\n{"c":1}\n'


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_a_process_that_holds_the_file_for_ever_holds_up_nobody_for_ever(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / "audit.jsonl"
    with (tmp_path / "audit.jsonl.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another process holds it"):
            AuditFile(path, max_bytes=1000, keep=1).append(b"{}\n")
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "audit.jsonl"
    before = os.umask(0)
    try:
        AuditFile(path, max_bytes=1000, keep=1).append(b"{}\n")
    finally:
        os.umask(before)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_line_is_ascii_and_bounded_whatever_a_name_holds() -> None:
    wide = "\u202e\U0010ffff\x1b[2J" * 100_000
    line = Line(
        "refused", server="acme/\u00e9", name=wide, request=wide, comment=wide, by=f"signer {wide}"
    ).encode()
    assert line.isascii()
    assert len(line) < 16 << 10
    told = json.loads(line)
    assert told["name"].startswith("\\u{202e}\\u{10ffff}\\u{1b}[2J")
    assert told["server"] == "acme/\u00e9"


@pytest.mark.parametrize(
    ("given", "told"), [(7, 7), (-1, -1), (1 << 60, str(1 << 60)), ("7", "7"), (1.5, "1.5")]
)
def test_an_id_is_told_so_that_every_reader_keeps_it(given: float | str, told: object) -> None:
    assert json.loads(Line("refused", server="a", request=given).encode())["request"] == told
