# SPDX-License-Identifier: Apache-2.0
"""`toolnotary publish` and `toolnotary registry`, against a running registry."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from servers.impostor import answering, response
from servers.publisher import SERVER, Publisher, Release
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_cli.main import main
from toolnotary_verifier.keys import PublicKey

__all__ = ["sqlite_registry"]

Captured = pytest.CaptureFixture[str]


def schema(name: str) -> Any:
    return json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def saved(release: Release, folder: Path, name: str = "out") -> list[str]:
    """A release as `sign` writes it."""
    files = folder / f"{name}.manifest.json", folder / f"{name}.sigstore.json"
    for file, content in zip(files, (release.manifest, release.bundle), strict=True):
        file.write_bytes(content)
    return [str(file) for file in files]


@pytest.fixture
def publisher(sqlite_registry: RunningRegistry) -> Publisher:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    return publisher


def test_publishing_prints_where_the_version_is_and_can_be_repeated(
    sqlite_registry: RunningRegistry, publisher: Publisher, tmp_path: Path, capsys: Captured
) -> None:
    command = ["publish", *saved(publisher.release(), tmp_path), "--registry", sqlite_registry.url]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert f"{sqlite_registry.url}/v1/servers/{SERVER}/versions/1.0.0" in first
    assert first.startswith("published:")
    assert main(command) == 0
    assert capsys.readouterr().out == "already " + first


def test_the_json_of_a_publication_says_what_is_served(
    sqlite_registry: RunningRegistry, publisher: Publisher, tmp_path: Path, capsys: Captured
) -> None:
    release = publisher.release(sequence=4)
    command = ["publish", *saved(release, tmp_path), "--registry", sqlite_registry.url, "--format", "json"]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("publish"))
    assert (document["created"], document["sequence"]) == (True, 4)
    assert document["manifest"] == release.digest
    assert document["signer"] == f"key:{publisher.public_key.key_id}"


def test_a_bundle_that_came_too_late_is_told(
    sqlite_registry: RunningRegistry, publisher: Publisher, tmp_path: Path, capsys: Captured
) -> None:
    for sequence in (1, 2):
        files = saved(publisher.release(sequence=sequence), tmp_path)
        assert main(["publish", *files, "--registry", sqlite_registry.url]) == 0
    assert "another bundle" in capsys.readouterr().err


def test_another_manifest_as_a_published_version_is_exit_1(
    sqlite_registry: RunningRegistry, publisher: Publisher, tmp_path: Path, capsys: Captured
) -> None:
    for release, expected in ((publisher.release(), 0), (publisher.release(sequence=2, description="X"), 1)):
        assert main(["publish", *saved(release, tmp_path), "--registry", sqlite_registry.url]) == expected
    assert "version-exists" in capsys.readouterr().err


def test_the_registry_comes_from_the_variable_or_the_policy(
    sqlite_registry: RunningRegistry,
    publisher: Publisher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    files = saved(publisher.release(), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["publish", *files]) == 2
    assert "no-registry" in capsys.readouterr().err
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[registry]\nurl = "{sqlite_registry.url}"\n', encoding="utf-8")
    assert main(["publish", *files, "--policy", str(policy)]) == 0
    monkeypatch.setenv("TOOLNOTARY_REGISTRY", sqlite_registry.url)
    assert main(["publish", *files]) == 0


@pytest.mark.parametrize(
    ("options", "expected", "code"),
    [
        (["--registry", "http://127.0.0.1:1"], 3, "registry-unreachable"),
        (["--registry", "https://registry.example", "--offline"], 3, "offline"),
        (["--registry", "http://registry.example"], 2, "registry-url"),
        (["--registry", "https://a:geheim@registry.example"], 2, "registry-url"),
    ],
)
def test_a_registry_that_cannot_be_asked_is_told_by_code(
    options: list[str], expected: int, code: str, tmp_path: Path, capsys: Captured
) -> None:
    assert main(["publish", *saved(Publisher().release(), tmp_path), *options]) == expected
    shown = capsys.readouterr().err
    assert code in shown
    assert "geheim" not in shown


def test_a_login_page_in_place_of_the_registry_is_exit_3(tmp_path: Path, capsys: Captured) -> None:
    with answering(response(b"<html>", media_type="text/html")) as impostor:
        command = ["publish", *saved(Publisher().release(), tmp_path), "--registry", impostor.url]
        assert main(command) == 3
    assert "registry-answer" in capsys.readouterr().err


def test_a_file_that_is_no_manifest_is_exit_4_before_anything_is_sent(
    tmp_path: Path, capsys: Captured
) -> None:
    files = saved(Release(b"{}", b"{}"), tmp_path)
    assert main(["publish", *files, "--registry", "http://127.0.0.1:1"]) == 4
    files = saved(Release(b" " * (4 << 20) + b" ", b"{}"), tmp_path)
    assert main(["publish", *files, "--registry", "http://127.0.0.1:1"]) == 4
    assert "too-large" in capsys.readouterr().err


def test_of_the_two_files_the_wrong_one_is_named(tmp_path: Path, capsys: Captured) -> None:
    manifest, bundle = saved(Publisher().release(), tmp_path)
    nowhere = ["--registry", "http://127.0.0.1:1"]
    for wrong, files in ((bundle, [bundle, manifest]), (manifest, [manifest, manifest])):
        assert main(["publish", *files, *nowhere]) == 4
        assert f": {wrong}: " in capsys.readouterr().err


def test_a_capture_is_told_to_be_signed_first(tmp_path: Path, capsys: Captured) -> None:
    files = saved(Publisher().release(), tmp_path)
    named = json.loads(Path(files[0]).read_bytes())
    del named["server"]
    Path(files[0]).write_text(json.dumps(named, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")
    assert main(["publish", *files, "--registry", "http://127.0.0.1:1"]) == 4
    assert "toolnotary sign" in capsys.readouterr().err


@pytest.mark.usefixtures("in_folder_with_keys")
def test_what_an_operator_decides_is_told_to_programs_too(capsys: Captured) -> None:
    named = ["io.github.acme/*", "--format", "json"]
    key_id = PublicKey.from_pem(Path("key.pub").read_bytes()).key_id
    for arguments, retired in (
        (["add-key", named[0], "key.pub"], False),
        (["retire-key", named[0], key_id], True),
    ):
        assert main(["registry", *arguments, *named[1:]]) == 0
        told = json.loads(capsys.readouterr().out)
        jsonschema.validate(told, schema("registry-keys"))
        assert [(key["retiredAt"] is not None) for key in told["keys"]] == [retired]


def test_the_operator_decides_who_may_publish(
    sqlite_registry: RunningRegistry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLNOTARY_DATABASE", sqlite_registry.settings.database)
    publisher = Publisher()
    (tmp_path / "key.pub").write_bytes(publisher.pem)

    def publish(version: str, sequence: int) -> int:
        files = saved(publisher.release(version, sequence=sequence), tmp_path)
        return main(["publish", *files, "--registry", sqlite_registry.url])

    assert publish("1", 1) == 1
    assert "namespace-unclaimed" in capsys.readouterr().err
    assert main(["registry", "add-key", "io.github.acme/*", str(tmp_path / "key.pub")]) == 0
    assert publish("1", 1) == 0
    files = saved(Publisher().release("2", sequence=2), tmp_path, "stranger")
    assert main(["publish", *files, "--registry", sqlite_registry.url]) == 1
    told = capsys.readouterr().err
    assert "unknown-key" in told
    assert "registry add-key" in told  # and not the policy of whoever reads this
    assert main(["registry", "retire-key", "io.github.acme/*", publisher.public_key.key_id]) == 0
    assert publish("2", 2) == 1
    capsys.readouterr()
    assert main(["registry", "list-keys", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    jsonschema.validate(listed, schema("registry-keys"))
    (key,) = listed["keys"]
    assert (key["pattern"], key["keyId"]) == ("io.github.acme/*", publisher.public_key.key_id)
    assert key["retiredAt"] is not None
    assert main(["registry", "list-keys", "io.github.other/*"]) == 0
    assert capsys.readouterr().out == ""


@pytest.fixture
def in_folder_with_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key.pub").write_bytes(Publisher().pem)
    (tmp_path / "not.pub").write_bytes(b"no key")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_folder_with_keys")
@pytest.mark.parametrize(
    ("arguments", "expected", "code"),
    [
        (["add-key", "acme", "key.pub"], 4, "namespace-pattern"),
        (["add-key", "io.github.acme/*", "not.pub"], 4, "key-pem"),
        (["add-key", "io.github.acme/*", "absent.pub"], 2, "absent.pub"),
        (["retire-key", "io.github.acme/*", "sha256:x"], 1, "no-such-key"),
        (["list-keys", "--database", "mysql://u:geheim@h/d"], 2, "database-url"),
        (["list-keys", "--database", "sqlite:////nonexistent/r"], 2, "database-missing"),
        (
            ["retire-key", "a/*", "x", "--database", "sqlite:///absent"],
            2,
            "the database absent does not exist",
        ),
        (["add-key", "a/*", "key.pub", "--database", "sqlite:////nonexistent/r"], 3, "/nonexistent/r "),
        (["add-key", "io.github.acme/*", "not.pub"], 4, "not.pub: "),
    ],
)
def test_an_operators_mistake_is_told_by_code(
    arguments: list[str], expected: int, code: str, capsys: Captured
) -> None:
    assert main(["registry", "add-key", "io.github.other/*", "key.pub"]) == 0
    assert main(["registry", *arguments]) == expected
    assert not Path("absent").exists()
    shown = capsys.readouterr().err
    assert code in shown
    assert "geheim" not in shown
