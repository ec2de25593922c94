# SPDX-License-Identifier: Apache-2.0
"""docs/spec/lockfile.md: what the file holds, what it refuses, and how version control gets on with it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier import local_name
from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import is_invisible
from toolnotary_verifier.files import replace_file
from toolnotary_verifier.lockfile import Entry, Lockfile, Pin, SignedEntry, UnsignedEntry

A, B = Digest.of(b"a"), Digest.of(b"b")
NPX = {"type": "stdio", "argv": ["npx", "acme"]}


def pin(name: str, kind: Kind = Kind.TOOL, exact: Digest = A) -> Pin:
    return Pin(kind, name, exact, exact)


def unsigned(server: str, *pins: Pin, launch: dict[str, Any] = NPX) -> UnsignedEntry:
    return UnsignedEntry(server=server, launch=launch, recorded=launch, pins=pins or (pin("find"),))


def signed(
    server: str, version: str = "1.0.0", sequence: int = 1, launch: dict[str, Any] = NPX
) -> SignedEntry:
    return SignedEntry(
        server=server,
        launch=launch,
        recorded={"argv": ["npx", "-y", f"acme@{version}"]},
        version=version,
        sequence=sequence,
        signer="key:" + A,
        manifest=Digest.of(version.encode()),
        bundle=B,
        profiles=("default", "legacy"),
    )


def lockfile(*entries: Entry) -> Lockfile:
    found = Lockfile()
    for entry in entries:
        found = found.with_entry(entry)
    return found


def code_of(raw: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        Lockfile.parse(raw, where="x.lock")
    assert "x.lock" in caught.value.message
    return caught.value.code


BOTH = lockfile(signed("io.github.acme/weather"), unsigned("files", pin("read"), pin("write", exact=B)))


def test_what_was_written_is_read_again() -> None:
    assert Lockfile.parse(BOTH.dump()) == BOTH
    assert Lockfile.parse(BOTH.dump()).dump() == BOTH.dump()


def test_each_line_is_one_canonical_object_and_none_has_a_time() -> None:
    lines = BOTH.dump().removesuffix(b"\n").split(b"\n")
    for line in lines:
        assert canonical_bytes(json.loads(line)) == line
    assert lines[0] == (
        b'{"canonicalization":"jcs-exact/1","normalForm":"equiv/1","schema":"https://toolnotary.dev/lockfile/v1"}'
    )
    assert b"2026" not in BOTH.dump()


def test_a_signed_entry_is_one_line_and_an_unsigned_one_has_a_line_for_each_definition() -> None:
    lines = BOTH.dump().split(b"\n")
    assert len([line for line in lines if b"io.github.acme/weather" in line]) == 1
    assert len([line for line in lines if b'"server":"files"' in line]) == 3


def test_name_and_launch_are_looked_up_together() -> None:
    other = {"type": "stdio", "argv": ["npx", "evil"]}
    found = lockfile(unsigned("files"), unsigned("other", launch=other))
    assert found.entry("files", NPX) is not None
    assert found.entry("files", other) is None
    assert found.entry("other", NPX) is None
    assert [entry.server for entry in found.launched(NPX)] == ["files"]
    assert len(found.named("files")) == 1


def test_one_server_can_be_pinned_under_several_launches() -> None:
    other = {"type": "http", "url": "https://mcp.acme.example/mcp"}
    found = Lockfile.parse(lockfile(unsigned("files"), unsigned("files", pin("x"), launch=other)).dump())
    assert len(found.named("files")) == 2
    held = [entry.pins for entry in found.named("files") if isinstance(entry, UnsignedEntry)]
    assert sorted(one.name for pins in held for one in pins) == ["find", "x"]


def test_an_entry_takes_the_place_of_the_one_for_its_server_and_launch() -> None:
    found = BOTH.with_entry(signed("io.github.acme/weather", "2.0.0", 2))
    assert len(found.entries) == 2
    assert b"2.0.0" in found.dump()
    assert b'"1.0.0"' not in found.dump()
    assert found.without_entry(signed("io.github.acme/weather")).entries == (
        unsigned("files", pin("read"), pin("write", exact=B)),
    )


def test_a_checkout_with_windows_line_ends_is_valid() -> None:
    assert Lockfile.parse(BOTH.dump().replace(b"\n", b"\r\n")) == BOTH


def test_the_order_of_lines_means_nothing() -> None:
    header, *rest = BOTH.dump().removesuffix(b"\n").split(b"\n")
    assert Lockfile.parse(b"\n".join([header, *reversed(rest)])) == BOTH


def test_a_file_that_does_not_exist_pins_nothing(tmp_path: Path) -> None:
    assert Lockfile.load(tmp_path / "toolnotary.lock") == Lockfile()


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Lockfile.load(tmp_path)
    assert caught.value.code == "lockfile-unreadable"


LINE = canonical_bytes({"section": "00"})
HEADER = Lockfile().dump().split(b"\n")[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"{}",
        b"x",
        HEADER + b"\n\n" + LINE,
        HEADER + b"\n" + b"x",
        HEADER + b"\n[]",
        HEADER + b"\n{}",
        HEADER + b'\n{"section":"40"}',
        HEADER + b'\n{"section": "00"}',
        HEADER + b'\n{"section":"0\\u0030"}',
        HEADER + b'\n{"section":"00","section":"00"}',
        HEADER + b'\n{"entry":"signed"}',
        HEADER + b'\n{"entry":"other","server":"x"}',
        HEADER + b"\n" + LINE + b"\x00",
        HEADER + b"\n" + b"\xff",
        HEADER + b"\n" + b"[" * 100000,
        BOTH.dump()[:-30],
        BOTH.dump().replace(b'"sequence":1', b'"sequence":-1'),
        BOTH.dump().replace(b'"sequence":1', b'"sequence":1.5'),
        BOTH.dump().replace(b'"sequence":1', b'"sequence":true'),
        BOTH.dump().replace(b'"profiles":["default","legacy"]', b'"profiles":[]'),
        BOTH.dump().replace(b'"pin":"tool"', b'"pin":"tools"'),
        BOTH.dump().replace(b'"entry":"unsigned"', b'"entry":"unsigned","extra":1'),
        BOTH.dump().replace(A.encode(), A[:-1].encode()),
        b"\n".join(line for line in BOTH.dump().split(b"\n") if b'"entry":"unsigned"' not in line),
    ],
)
def test_what_is_no_lockfile_is_refused_with_its_place(raw: bytes) -> None:
    assert code_of(raw) in ("lockfile-corrupt", "lockfile-version")


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"lockfile/v1", b"lockfile/v2"), (b"jcs-exact/1", b"jcs-exact/2"), (b"equiv/1", b"equiv/2")],
)
def test_a_file_of_a_later_release_is_refused_as_such(old: bytes, new: bytes) -> None:
    assert code_of(BOTH.dump().replace(old, new)) == "lockfile-version"


def test_a_server_pinned_twice_is_refused() -> None:
    line = next(line for line in BOTH.dump().split(b"\n") if b'"signed"' in line)
    other = line.replace(b"1.0.0", b"2.0.0")
    assert code_of(BOTH.dump() + other + b"\n") == "lockfile-duplicate"
    assert code_of(BOTH.dump() + line + b"\n") == "lockfile-duplicate"


def test_a_definition_pinned_twice_is_refused() -> None:
    line = next(line for line in BOTH.dump().split(b"\n") if b'"read"' in line)
    assert code_of(BOTH.dump() + line.replace(A.encode(), B.encode()) + b"\n") == "lockfile-duplicate"


@pytest.mark.parametrize("marker", [b"<<<<<<< HEAD", b"=======", b">>>>>>> other", b"||||||| base"])
def test_the_marker_of_a_merge_conflict_is_named(marker: bytes) -> None:
    assert code_of(BOTH.dump() + marker + b"\n") == "lockfile-conflict"


@pytest.mark.parametrize("name", [" files", "files\t", "fi\u200bles", "\u202eselif", "f" * 201])
def test_a_name_that_nobody_could_type_again_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(InvalidInput, match="a server cannot be called") as caught:
        Lockfile.parse(lockfile(unsigned(name)).dump(), where="x.lock")
    assert caught.value.code == "lockfile-corrupt"
    assert not any(is_invisible(character) for character in caught.value.message)


@settings(max_examples=scaled(100, 2000))
@given(st.binary(max_size=200), st.integers(0, len(BOTH.dump())))
def test_any_bytes_end_in_a_lockfile_or_in_a_typed_error(junk: bytes, at: int) -> None:
    raw = BOTH.dump()
    code = "lockfile-"
    try:
        Lockfile.parse(raw[:at] + junk + raw[at:])
    except InvalidInput as error:
        code = error.code
    assert code.startswith("lockfile-")


names = st.text(min_size=1, max_size=12).filter(lambda name: not local_name.fault(name))
pins = st.dictionaries(
    st.tuples(st.sampled_from(list(Kind)), st.text(max_size=8)), st.binary(max_size=2), max_size=5
)


@settings(max_examples=scaled(60, 600))
@given(st.dictionaries(names, pins, max_size=6))
def test_any_lockfile_survives_its_file(servers: dict[str, dict[tuple[Kind, str], bytes]]) -> None:
    entries = [
        UnsignedEntry(
            server=server,
            launch=NPX,
            recorded={},
            pins=tuple(Pin(*key, Digest.of(found[key]), A) for key in sorted(found)),
        )
        for server, found in servers.items()
    ]
    made = lockfile(*entries)
    assert Lockfile.parse(made.dump()) == made
    assert lockfile(*reversed(entries)).dump() == made.dump()


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    def commit(self, content: Lockfile) -> None:
        content.save(self.folder / "toolnotary.lock")
        self.git("add", ".")
        assert self.git("commit", "-qm", "x").returncode == 0

    def merge(self, base: Lockfile, ours: Lockfile, theirs: Lockfile) -> subprocess.CompletedProcess[str]:
        self.commit(base)
        self.git("checkout", "-qb", "theirs")
        self.commit(theirs)
        self.git("checkout", "-q", "main")
        self.commit(ours)
        return self.git("merge", "-q", "theirs")

    @property
    def raw(self) -> bytes:
        return (self.folder / "toolnotary.lock").read_bytes()


@pytest.mark.parametrize("base", [Lockfile(), lockfile(signed("io.github.acme/base"))], ids=["empty", "one"])
def test_branches_that_pin_different_servers_merge_by_themselves(tmp_path: Path, base: Lockfile) -> None:
    one, other = signed("io.github.acme/weather"), unsigned("files", pin("read"), pin("write"))
    repository = Repository(tmp_path / "repository")
    merged = repository.merge(base, base.with_entry(one), base.with_entry(other))
    assert merged.returncode == 0
    assert repository.raw == base.with_entry(one).with_entry(other).dump()


def test_branches_that_both_moved_a_signed_entry_conflict(tmp_path: Path) -> None:
    base = lockfile(signed("io.github.acme/weather"))
    ours, theirs = (
        base.with_entry(signed("io.github.acme/weather", v, n)) for v, n in (("1.1", 2), ("1.2", 3))
    )
    repository = Repository(tmp_path / "repository")
    assert repository.merge(base, ours, theirs).returncode != 0
    assert code_of(repository.raw) == "lockfile-conflict"


def test_branches_that_both_changed_one_tool_conflict(tmp_path: Path) -> None:
    base = lockfile(unsigned("files", pin("read"), pin("write")))
    ours = base.with_entry(unsigned("files", pin("read", exact=B), pin("write")))
    theirs = base.with_entry(unsigned("files", pin("read", exact=Digest.of(b"c")), pin("write")))
    repository = Repository(tmp_path / "repository")
    assert repository.merge(base, ours, theirs).returncode != 0


def test_branches_in_one_section_conflict_and_keeping_both_sides_is_valid(tmp_path: Path) -> None:
    """Of sixty-four sections, two names rarely share one; then both sides' lines may stay."""
    names = [f"server-{number}" for number in range(100)]
    by_section: dict[str, list[str]] = {}
    for name in names:
        by_section.setdefault(str(int(Digest.of(name.encode()).hex[:2], 16) % 64), []).append(name)
    one, other = next(found for found in by_section.values() if len(found) > 1)[:2]
    repository = Repository(tmp_path / "repository")
    merged = repository.merge(Lockfile(), lockfile(unsigned(one)), lockfile(unsigned(other)))
    assert merged.returncode != 0
    kept = b"\n".join(
        line
        for line in repository.raw.split(b"\n")
        if not line.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))
    )
    assert {entry.server for entry in Lockfile.parse(kept).entries} == {one, other}


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "toolnotary.lock"
    BOTH.save(path)
    path.chmod(0o640)
    Lockfile().save(path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert Lockfile.load(path) == Lockfile()
    assert [one.name for one in tmp_path.iterdir()] == ["toolnotary.lock"]


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "toolnotary.lock"
    link.symlink_to(tmp_path / "real" / "toolnotary.lock")
    BOTH.save(link)
    assert link.is_symlink()
    assert Lockfile.load(tmp_path / "real" / "toolnotary.lock") == BOTH


def test_a_folder_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        path = Path("/proc/toolnotary.lock")  # a folder in which not even root can create a file
    else:
        path = tmp_path / "toolnotary.lock"
        BOTH.save(path)
        tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError) as caught:
        Lockfile().save(path)
    tmp_path.chmod(0o700)
    assert caught.value.code == "file-not-writable"
    assert str(path) in caught.value.message
    assert Lockfile.load(path) == (BOTH if path.exists() else Lockfile())


FULL_DISK = """
import resource, sys
from pathlib import Path
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.files import replace_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_file(Path(sys.argv[1]), b"x" * 5000)
except ConfigurationError as error:
    print(error.code)
"""


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "toolnotary.lock"
    replace_file(path, b"old")
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "file-not-writable"
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["toolnotary.lock"]
