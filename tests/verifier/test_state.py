# SPDX-License-Identifier: Apache-2.0
"""docs/spec/state.md: the user's state forgets nothing, closes when it is corrupt, knows what was cut off."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from effort import scaled
from hypothesis import given, settings
from hypothesis import strategies as st

from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.looks import Look, Objection
from toolnotary_verifier.state import State
from toolnotary_verifier.verdict import Aspect, Outcome, Reason

A, B, LAUNCH, OTHER = (Digest.of(text) for text in (b"a", b"b", b"launch", b"other"))
SERVER = "io.github.acme/weather"
AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DRIFT = Look(
    outcome=Outcome.DRIFT,
    change_set=A,
    counts={"changed": 1, "invalid": 1, "server-info-changed": 1},
    pinned=B,
    objections=(
        Objection(Kind.TOOL, "find", Reason.CHANGED, B),
        Objection(Kind.PROMPT, "", Reason.INVALID, None),
        Objection(Aspect.SERVER_INFO, "serverInfo", Reason.SERVER_INFO_CHANGED, A),
    ),
    unnamed=2,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state.jsonl"


def accepted(*pins: history.Pinned, server: str = SERVER, launch: Digest = LAUNCH) -> dict[str, Any]:
    return history.accepted(server, launch, pins or [(Kind.TOOL, "find", A)])


def manifest(sequence: int, *, signer: str = "key:a", digest: Digest = A) -> dict[str, Any]:
    return history.accepted_manifest(SERVER, LAUNCH, manifest=digest, sequence=sequence, signer=signer)


def test_nobody_has_decided_anything_before_the_file_exists(path: Path) -> None:
    state = State.load(path)
    assert not state.knows(SERVER)
    assert not state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
    assert state.highest_sequence(SERVER) is None
    assert state.signer_of(SERVER) is None
    assert not path.exists()


def test_an_acceptance_is_of_one_digest_of_one_name_of_one_server_under_one_launch(path: Path) -> None:
    State.load(path).append(accepted())
    state = State.load(path)
    assert state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
    assert not state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", B)
    assert not state.accepts(SERVER, LAUNCH, Kind.TOOL, "lose", A)
    assert not state.accepts(SERVER, LAUNCH, Kind.PROMPT, "find", A)
    assert not state.accepts(SERVER, OTHER, Kind.TOOL, "find", A)
    assert not state.accepts("other", LAUNCH, Kind.TOOL, "find", A)
    assert state.knows(SERVER)
    assert not state.knows("other")


def test_what_was_appended_is_known_at_once_and_again_after_a_restart(path: Path) -> None:
    state = State.load(path)
    assert state.append(accepted(), history.declined(SERVER, B), at=AT)
    for known in (state, State.load(path)):
        assert known.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
        assert known.declined(SERVER, B)
        assert not known.declined(SERVER, A)


def test_the_file_is_lines_of_canonical_json_that_only_its_owner_reads(path: Path) -> None:
    State.load(path).append(accepted(), at=AT)
    header, line, end = path.read_bytes().split(b"\n")
    assert header == canonical_bytes({"schema": "https://toolnotary.dev/state/v1"})
    assert line == canonical_bytes({**accepted(), "at": "2026-11-30T12:00:00Z"})
    assert end == b""
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


anything = st.text(st.characters(codec=None), max_size=6)  # lone surrogates too
digests = st.binary(max_size=2).map(Digest.of)
looks = st.builds(
    Look,
    outcome=st.sampled_from(Outcome),
    change_set=digests,
    counts=st.dictionaries(anything, st.integers(-1, 9), max_size=2),
    pinned=st.none() | digests,
    objections=st.lists(
        st.builds(
            Objection,
            st.sampled_from([*Kind, *Aspect]),
            anything,
            st.sampled_from(Reason),
            st.none() | digests,
        ),
        max_size=2,
    ).map(tuple),
    unnamed=st.integers(-1, 9),
    why=anything,
)
events = st.one_of(
    st.builds(
        history.accepted,
        anything,
        digests,
        st.lists(st.tuples(st.sampled_from(Kind), anything, digests), max_size=3),
    ),
    st.builds(
        history.accepted_manifest,
        anything,
        digests,
        manifest=digests,
        sequence=st.integers(-1, 2**54),
        signer=anything,
    ),
    st.builds(history.trusted_key, anything, key_id=digests, pem=anything),
    st.builds(history.declined, anything, digests),
    st.builds(history.revoked, anything, st.lists(digests, max_size=3)),
    st.builds(history.accepted_value, anything, anything),
    st.builds(history.inspected, anything, digests, looks),
)


@settings(max_examples=scaled(200, 2000))
@given(st.lists(events, min_size=1, max_size=3))
def test_whatever_is_recorded_reads_back_equal_and_what_would_not_is_never_written(
    found: list[dict[str, Any]],
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.jsonl"
        State.load(path).append(accepted())
        before = path.read_bytes()
        code = ""
        try:
            State.load(path).append(*found, at=AT)
        except InvalidInput as error:
            code = error.code
        State.load(path)
        if code:
            assert (code, path.read_bytes()) == ("not-recordable", before)
            return
        lines = path.read_bytes().removeprefix(before).splitlines()
        assert [json.loads(line) for line in lines] == [
            {**event, "at": "2026-11-30T12:00:00Z"} for event in found
        ]


@pytest.mark.parametrize(
    "event",
    [
        history.declined("", A),
        history.accepted_value("verdicts.upgrade", ""),
        manifest(1, signer=""),
        manifest(-1),
        accepted((Kind.TOOL, "\ud800", A)),
        {"event": "forgotten", "server": SERVER},
    ],
)
def test_an_event_that_no_reader_would_take_leaves_the_file_as_it_was(
    event: dict[str, Any], path: Path
) -> None:
    state = State.load(path)
    state.append(accepted())
    before = path.read_bytes()
    with pytest.raises(InvalidInput) as caught:
        state.append(history.declined(SERVER, B), event)
    assert (caught.value.code, path.read_bytes()) == ("not-recordable", before)
    assert not State.load(path).declined(SERVER, B)


def test_nothing_that_was_written_is_ever_changed(path: Path) -> None:
    state = State.load(path)
    before = b""
    for event in (accepted(), history.revoked(SERVER, [A]), accepted(), manifest(3), manifest(2)):
        state.append(event)
        after = path.read_bytes()
        assert after.startswith(before)
        before = after


def test_the_last_acceptance_sets_the_mark_so_that_an_approved_downgrade_resets_it(path: Path) -> None:
    state = State.load(path)
    state.append(manifest(5))
    assert state.highest_sequence(SERVER) == 5
    state.append(manifest(3, signer="key:b", digest=B))
    assert state.highest_sequence(SERVER) == 3
    assert state.signer_of(SERVER) == "key:b"
    assert state.accepts_manifest(SERVER, LAUNCH, A)
    assert state.accepts_manifest(SERVER, LAUNCH, B)
    assert not state.accepts_manifest(SERVER, OTHER, A)


def test_a_revocation_withdraws_and_a_later_acceptance_takes_it_back(path: Path) -> None:
    state = State.load(path)
    state.append(accepted())
    state.append(history.revoked(SERVER, [A, B]))
    assert state.revoked(SERVER) == {A, B}
    assert not state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
    assert not state.revoked("other")
    state.append(accepted())
    assert state.revoked(SERVER) == {B}
    assert state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)


def test_keys_values_and_outcomes_are_remembered(path: Path) -> None:
    state = State.load(path)
    state.append(
        history.trusted_key(SERVER, key_id=A, pem="PEM"),
        history.accepted_value("verdicts.upgrade", "note"),
        history.inspected(SERVER, LAUNCH, DRIFT),
        at=AT,
    )
    state = State.load(path)
    assert state.keys(SERVER) == {A: "PEM"}
    assert ("verdicts.upgrade", "note") in state.history.values
    assert state.history.looks[SERVER, LAUNCH] == DRIFT._replace(at="2026-11-30T12:00:00Z")


def test_having_looked_at_a_server_decides_nothing_about_it(path: Path) -> None:
    state = State.load(path)
    state.append(history.inspected(SERVER, LAUNCH, DRIFT))
    assert not state.knows(SERVER)


def whole(path: Path) -> bytes:
    state = State.load(path)
    state.append(accepted(), at=AT)
    state.append(manifest(7), at=AT)
    return path.read_bytes()


def code_of(path: Path) -> str:
    """The code of loading it, which must be that of appending to it without having loaded it."""
    with pytest.raises((InvalidInput, ConfigurationError)) as loading:
        State.load(path)
    with pytest.raises((InvalidInput, ConfigurationError)) as appending:
        State(path, history.History()).append(accepted())
    assert str(path) in loading.value.message
    assert loading.value.code == appending.value.code
    code: str = loading.value.code
    return code


@pytest.mark.parametrize(
    "damage",
    [
        lambda _raw: b"garbage",
        lambda raw: b"garbage\n" + raw,
        lambda raw: raw.replace(b"\n", b"\n\n", 1),
        lambda raw: raw.split(b"\n", 1)[1],
        lambda raw: raw.replace(b"state/v1", b"state/v2"),
        lambda raw: raw + b"garbage",
        lambda raw: raw + b"garbage\n",
        lambda raw: raw + b'{"at":"x","event":\n',
        lambda raw: raw + b'{"event":"accepted"}\n',
        lambda raw: raw + b'{"event":"unknown"}\n',
        lambda raw: raw + b"[]\n",
        lambda raw: raw.replace(b'"sequence":7', b'"sequence":-7'),
        lambda raw: raw.replace(b'"sequence":7', b'"sequence":"7"'),
        lambda raw: raw.replace(b'"sequence":7', b'"sequence": 7'),
        lambda raw: raw.replace(b'"tool"', b'"tools"'),
        lambda raw: raw.replace(A.encode(), A[:-1].encode()),
        lambda raw: raw.replace(b'"server"', b'"servant"'),
        lambda raw: raw[:40] + b"\x00" + raw[41:],
        lambda raw: b"\x00" * len(raw),
        lambda raw: raw.replace(b"\n", b"\r\n"),
    ],
)
def test_a_corrupt_file_closes_and_is_named_and_left_alone(path: Path, damage: Any) -> None:
    raw = damage(whole(path))
    path.write_bytes(raw)
    assert code_of(path) == "state-corrupt"
    assert path.read_bytes() == raw


def test_an_append_that_was_cut_off_counts_as_never_written_and_the_next_one_mends_it(path: Path) -> None:
    raw = whole(path)
    first = raw[: raw.index(b"\n", raw.index(b"\n") + 1) + 1]
    header = raw[: raw.index(b"\n") + 1]
    for cut in range(len(header), len(raw)):
        path.write_bytes(raw[:cut])
        state = State.load(path)
        complete = raw[:cut].endswith(b"}") or raw[:cut].endswith(b"\n")
        assert (state.torn is None) is complete
        if cut < len(first) - 1:
            assert not state.knows(SERVER)
        elif complete and cut >= len(raw) - 1:
            assert state.highest_sequence(SERVER) == 7
        else:
            assert state.highest_sequence(SERVER) is None
            assert state.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
        state.append(history.declined(SERVER, B))
        again = State.load(path)
        assert again.declined(SERVER, B)
        assert again.highest_sequence(SERVER) == state.highest_sequence(SERVER)


def test_a_file_that_was_cut_off_before_its_first_line_ended_is_a_new_file(path: Path) -> None:
    header = whole(path).split(b"\n")[0]
    for cut in range(len(header)):
        path.write_bytes(header[:cut])
        assert State.load(path).torn == (1 if cut else None)
        assert State.load(path).append(accepted())
        assert State.load(path).knows(SERVER)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_their_word_and_closes(path: Path, mode: int) -> None:
    whole(path)
    path.chmod(mode)
    assert code_of(path) == "state-permissions"


def test_a_folder_in_the_files_place_closes(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(ConfigurationError) as caught:
        State.load(path)
    assert caught.value.code == "state-unreadable"


def test_a_home_that_cannot_be_written_records_nothing_and_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    state = State(blocked / "state.jsonl", history.History())
    with pytest.raises(ConfigurationError) as caught:
        state.append(accepted())
    assert caught.value.code == "file-not-writable"
    assert not state.knows(SERVER)


FULL_DISK = """
import resource, sys
from pathlib import Path
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.state import State
state = State.load(Path(sys.argv[1]))
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, size + 50))
try:
    state.append(history.declined("x", Digest.of(b"")))
except ConfigurationError as error:
    print(error.code, state.knows("x"))
"""


def test_a_full_disk_records_nothing_and_leaves_no_part_of_a_line(path: Path) -> None:
    raw = whole(path)
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["file-not-writable", "False"]
    assert path.read_bytes() == raw


def test_an_event_can_be_left_out_because_of_what_others_wrote_meanwhile(path: Path) -> None:
    one, other = State.load(path), State.load(path)
    assert one.append(accepted(), unless=lambda known: SERVER in known.servers)
    assert not other.append(accepted((Kind.TOOL, "find", B)), unless=lambda known: SERVER in known.servers)
    assert other.accepts(SERVER, LAUNCH, Kind.TOOL, "find", A)
    assert not other.accepts(SERVER, LAUNCH, Kind.TOOL, "find", B)


FIRST_SIGHT = """
import sys
from pathlib import Path
from toolnotary_verifier import history
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.state import State
seen = Digest.of(sys.argv[2].encode())
state = State.load(Path(sys.argv[1]))
sys.stdin.readline()
event = history.accepted("x", Digest.of(b"launch"), [(Kind.TOOL, "find", seen)])
print(state.append(event, unless=lambda known: "x" in known.servers))
for number in range(5):
    state.append(history.declined(sys.argv[2], Digest.of(b"%d" % number)))
"""


def test_of_twenty_first_sights_at_once_exactly_one_becomes_the_baseline(path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", FIRST_SIGHT, str(path), f"process-{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ},
        )
        for number in range(20)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate()[0].strip() for process in started]
    assert sorted(answers) == ["False"] * 19 + ["True"]
    state = State.load(path)
    assert len(state.history.pins["x", Digest.of(b"launch")]) == 1
    for number in range(20):
        assert all(state.declined(f"process-{number}", Digest.of(b"%d" % count)) for count in range(5))
