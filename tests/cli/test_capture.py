# SPDX-License-Identifier: Apache-2.0
"""`toolnotary capture`, as people type it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from servers import scripted, unstable
from servers.http_server import serve

from toolnotary_cli.main import main
from toolnotary_verifier.manifest import UnnamedManifest

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "capture.json").read_text(encoding="utf-8"))
CANARY = "s3cr3t-canary-value"
PATIENT = ("--start-timeout", "120", "--timeout", "120")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may run in a pipeline that can ask for an identity."""
    for name in list(os.environ):
        if name.startswith(("ACTIONS_", "GITLAB_CI", "CIRCLE_OIDC", "BUILDKITE_")):
            monkeypatch.delenv(name)


def unstable_server(*words: str) -> list[str]:
    return [sys.executable, unstable.__file__, *words]


def manifest(path: Path) -> UnnamedManifest:
    return UnnamedManifest.parse(path.read_bytes())


def result(capsys: Captured) -> dict[str, Any]:
    printed = capsys.readouterr().out
    assert printed.isascii()
    document: dict[str, Any] = json.loads(printed)
    jsonschema.validate(document, SCHEMA)
    return document


def test_a_capture_is_a_manifest_without_a_name(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "captured.json"
    assert main(["capture", "-o", str(out), *PATIENT, "--", *scripted.command()]) == 0
    printed = capsys.readouterr()
    found = manifest(out)
    assert str(found.digest) in printed.out
    assert "look 1" in printed.err
    assert set(found.profiles) >= {"default", "capable", "2025-06-18"}


def test_a_capture_is_written_to_a_file_and_to_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["capture", "-o", "-", "--", *scripted.command()]) == 2
    assert "standard output" in capsys.readouterr().err
    assert not Path("-").exists()


@pytest.mark.parametrize("out", ["a-file/x", "a-file/deep/x", "/proc/nonexistent/x", "a-link", "folder"])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system on which nothing can be made")
def test_nothing_is_started_where_the_result_could_not_be_written(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    Path("folder").mkdir()
    Path("a-link").symlink_to("/proc/nonexistent/x")
    before = set(tmp_path.rglob("*"))
    started = [sys.executable, "-c", "open('started', 'w')"]
    assert main(["capture", "-o", out, "--", *started]) == 2
    told = capsys.readouterr().err
    assert "file-not-writable" in told
    assert "look 1" not in told
    assert set(tmp_path.rglob("*")) == before


def test_missing_folders_of_a_result_are_made_with_it_and_not_where_there_is_none(
    tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "made" / "for" / "it.json"
    assert main(["capture", "-o", str(out), "--", sys.executable, "-c", ""]) == 3
    assert not (tmp_path / "made").exists()
    assert main(["capture", "-o", str(out), *PATIENT, "--", *scripted.command()]) == 0
    assert out.exists()


def test_a_variable_that_does_not_exist_is_not_handed_over_in_silence(capsys: Captured) -> None:
    assert main(["capture", "-o", "x.json", "--env", "NO_SUCH_VARIABLE", "--", *scripted.command()]) == 2
    assert "NO_SUCH_VARIABLE" in capsys.readouterr().err


def test_the_json_result_says_what_was_written(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "captured.json"
    command = ["capture", "-o", str(out), "--format", "json", *PATIENT, "--", *scripted.command()]
    assert main(command) == 0
    document = result(capsys)
    assert document["file"] == str(out)
    assert document["digest"] == manifest(out).digest
    assert document["profiles"]["default"] == {
        "protocolVersion": "2026-07-28",
        "clientCapabilities": [],
        "looks": 2,
        "definitions": 4,
    }
    assert document["artifacts"] == [artifact.to_json() for artifact in manifest(out).artifacts]


def test_an_unstable_server_is_named_and_nothing_is_written(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "captured.json"
    assert main(["capture", "-o", str(out), *PATIENT, "--", *unstable_server("set")]) == 1
    printed = capsys.readouterr().out
    assert "tool run" in printed
    assert "another order" in printed
    assert "--accept-unstable" in printed
    assert not out.exists()


def test_a_server_with_more_variants_than_a_manifest_holds_is_unstable_all_the_same(
    tmp_path: Path, capsys: Captured
) -> None:
    """DESIGN 5: at most 16 definitions a name."""
    command = ["capture", "-o", str(tmp_path / "out"), "--looks", "5", "--format", "json", *PATIENT]
    assert main([*command, "--", *unstable_server("pid")]) == 1
    document = result(capsys)
    assert document["file"] is None
    assert document["digest"] is None
    assert main([*command, "--accept-unstable", "--", *unstable_server("pid")]) == 4
    assert "manifest-limit" in capsys.readouterr().err


def test_what_is_unstable_can_be_accepted_with_every_variant(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "captured.json"
    command = ["capture", "-o", str(out), "--accept-unstable", "--looks", "3", "--format", "json", *PATIENT]
    assert main([*command, "--", *unstable_server("pid")]) == 0
    document = result(capsys)
    (only,) = document["unstable"]
    assert (only["name"], only["variants"]) == ("self", 3)
    assert sum(len(variants) for variants in manifest(out).variants.values()) > 4


def test_a_variable_that_is_held_back_can_be_handed_over(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    out = str(tmp_path / "captured.json")
    server = unstable_server("set")
    assert main(["capture", "-o", out, *PATIENT, "--", *server]) == 1
    assert main(["capture", "-o", out, "--env", "PYTHONHASHSEED", *PATIENT, "--", *server]) == 0


def test_a_url_is_captured_with_a_header_from_the_environment(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "captured.json"
    monkeypatch.setenv("ACME_AUTH", f"Bearer {CANARY}")
    with serve(token=CANARY) as served:
        command = ["capture", served.url, "-o", str(out), "--header", "Authorization=ACME_AUTH"]
        assert main(command) == 0
        assert main(["capture", served.url, "-o", str(out)]) == 3
    assert manifest(out).remotes == (served.url,)
    printed = capsys.readouterr()
    assert "canary" not in printed.out + printed.err + out.read_text(encoding="utf-8")
    assert "unauthorized" in printed.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--header", "X=ACME_NOT_THERE", "http://127.0.0.1:9/"], "ACME_NOT_THERE"),
        (["--header", "no-equals", "http://127.0.0.1:9/"], "NAME=VARIABLE"),
        (["--env", "X", "http://127.0.0.1:9/"], "--env"),
        (["--header", "X=PATH", "--", "true"], "--header"),
        (["acme/weather@1.0"], "live"),
        (["--looks", "1", "--", "true"], "looks"),
        ([], "source"),
        (["http://127.0.0.1:9/", "--", "true"], "source"),
    ],
)
def test_a_command_line_that_means_nothing_is_refused(
    options: list[str], word: str, tmp_path: Path, capsys: Captured
) -> None:
    assert main(["capture", "-o", str(tmp_path / "out"), *options]) == 2
    assert word in capsys.readouterr().err


@pytest.mark.parametrize(
    ("move", "code", "exit_code"),
    [
        ("exits-at-once", "server-ended", 3),
        ("listing-error", "listing-refused", 3),
        ("deep", "too-deep", 4),
        ("huge-description", "surface-faults", 4),
        ("truncated", "not-json", 4),
        ("nameless-tool", "surface-faults", 4),
        ("duplicate-tool-name", "surface-faults", 4),
    ],
)
def test_a_bad_server_ends_with_a_code_and_no_file(
    move: str, code: str, exit_code: int, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "captured.json"
    assert main(["capture", "-o", str(out), *PATIENT, "--", *scripted.command(move=move)]) == exit_code
    printed = capsys.readouterr().err
    assert f"error: {code}:" in printed
    assert "Traceback" not in printed
    assert not out.exists()


@pytest.mark.parametrize(
    ("move", "option", "policy"),
    [
        ("silent", "--start-timeout", "first-start"),
        ("silent-listing", "--timeout", "listing"),
    ],
)
def test_a_silent_server_is_given_the_time_that_is_asked_for(
    move: str, option: str, policy: str, tmp_path: Path, capsys: Captured
) -> None:
    """The option decides, then the policy; neither is the default, which would end here with another text."""
    capture = ["capture", "-o", str(tmp_path / "out"), "--policy", str(tmp_path / "policy.toml")]
    server = ["--", *scripted.command(move=move)]
    (tmp_path / "policy.toml").write_text(f"[timeouts]\n{policy} = 0.4\n", encoding="utf-8")
    for given, seconds in (([option, "0.3"], "0.3"), ([], "0.4")):
        assert main([*capture, *given, *server]) == 3
        told = capsys.readouterr().err
        assert "error: no-answer: " in told
        assert f" within {seconds} seconds" in told
    assert not (tmp_path / "out").exists()


def test_nothing_is_started_where_an_identity_is_at_hand(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", CANARY)
    started = tmp_path / "started"
    command = [sys.executable, "-c", f"open({str(started)!r}, 'w')"]
    assert main(["capture", "-o", str(tmp_path / "out"), "--", *command]) == 2
    assert "identity-at-hand" in (printed := capsys.readouterr().err)
    assert CANARY not in printed
    assert not started.exists()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "file"
    folder.touch()
    assert main(["capture", "-o", str(folder / "out"), *PATIENT, "--", *scripted.command()]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_told_before_anything_is_started(tmp_path: Path) -> None:
    locked, started = tmp_path / "locked", tmp_path / "started"
    locked.mkdir(mode=0o500)
    assert main(["capture", "-o", str(locked / "m.json"), "--", "touch", str(started)]) == 2
    assert not started.exists()


def test_a_folder_is_no_place_for_a_manifest_and_nothing_is_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    assert main(["capture", "-o", str(tmp_path), "--", "touch", str(started)]) == 2
    assert not started.exists()
