# SPDX-License-Identifier: Apache-2.0
"""`toolnotary sign`."""

import base64
import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import forge
import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from servers.impostor import answering, json_response
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_cli.main import main
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Profile, UnnamedManifest
from toolnotary_verifier.verify import VerifiedManifest, verify_publish

__all__ = ["sqlite_registry"]


SCHEMA = json.loads((ROOT / "docs" / "schemas" / "sign.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture and an unencrypted key in the working directory."""
    monkeypatch.chdir(tmp_path)
    surface = forge.surface(forge.tool("get_forecast"))
    captured = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
    Path("weather.json").write_bytes(captured.canonical)
    Path("release.key").write_bytes(forge.PUBLISHER.pem)


def sign(*options: str, sequence: str | None = "1", server: str = SERVER, version: str = "1.0.0") -> int:
    numbered = ["--sequence", sequence] if sequence else []
    named = ["--server", server, "--version", version]
    return main(["sign", "--key", "release.key", *named, *numbered, *options, "weather.json"])


def signed(out: str = "weather") -> VerifiedManifest:
    return verify_publish(
        Path(f"{out}.manifest.json").read_bytes(),
        Path(f"{out}.sigstore.json").read_bytes(),
        trusted=forge.KEYS,
        at=datetime.now(UTC),
    )


def test_a_capture_is_signed_under_a_name_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert sign("--format", "json") == 0
    verified = signed()
    assert (verified.manifest.server, verified.manifest.version, verified.sequence) == (SERVER, "1.0.0", 1)
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, SCHEMA)
    assert told == {
        "schema": "https://toolnotary.dev/output/sign/v1",
        "server": SERVER,
        "version": "1.0.0",
        "sequence": 1,
        "supersedes": None,
        "expiresAt": None,
        "digest": verified.manifest.digest,
        "signer": verified.signer.identity,
        "manifest": "weather.manifest.json",
        "bundle": "weather.sigstore.json",
    }


def test_everything_that_is_said_is_signed() -> None:
    Path("weather-1.0.0.tgz").write_bytes(b"package")
    before = Digest.of(b"before")
    assert (
        sign(
            *(
                "--artifact",
                "pkg:npm/%40acme/weather@1.0.0=weather-1.0.0.tgz",
                "--artifact",
                "pkg:docker/acme/w",
            ),
            *("--remote", "https://mcp.acme.example/mcp", "--supersedes", before, "--expires-in", "30"),
            *("--source", "repository=https://git.acme.example/w?a=b", "--source", "commit=abc", "-o", "out"),
            sequence="12",
        )
        == 0
    )
    verified = signed("out")
    predicate = verified.statement.predicate
    assert [artifact.to_json() for artifact in verified.manifest.artifacts] == [
        {"purl": "pkg:docker/acme/w"},
        {"purl": "pkg:npm/%40acme/weather@1.0.0", "digest": Digest.of(b"package")},
    ]
    assert verified.manifest.remotes == ("https://mcp.acme.example/mcp",)
    assert predicate.supersedes == before
    assert predicate.sequence == 12
    assert predicate.expires_at == predicate.issued_at + timedelta(days=30)
    assert predicate.source is not None
    assert predicate.source.to_json() == {"repository": "https://git.acme.example/w?a=b", "commit": "abc"}


@pytest.mark.parametrize("said", ["commit", "commit=", "=x", "author=me", ""])
def test_a_source_that_means_nothing_is_refused(said: str) -> None:
    assert sign("--source", said) == 2


def test_without_sequence_and_registry_nothing_is_signed(capsys: pytest.CaptureFixture[str]) -> None:
    """A guess of 1 would be refused by every registry and every client that has seen more."""
    assert sign(sequence=None) == 2
    assert "sequence-needed" in capsys.readouterr().err
    assert not Path("weather.manifest.json").exists()


def test_the_registry_says_which_number_and_manifest_come_next(sqlite_registry: RunningRegistry) -> None:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    assert sign("--registry", sqlite_registry.url, sequence=None) == 0
    assert signed().sequence == 1
    release = publisher.release("0.9.0", sequence=41)
    Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    assert sign("--registry", sqlite_registry.url, "--force", sequence=None) == 0
    assert signed().sequence == 42
    assert signed().statement.predicate.supersedes == release.digest


def test_a_release_that_runs_again_keeps_its_number(
    sqlite_registry: RunningRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second bundle with a higher number would take the number of the release after it."""
    Path("release.pub").write_bytes(forge.PUBLISHER.public.to_pem())
    database = sqlite_registry.settings.database
    assert main(["registry", "add-key", "io.github.acme/*", "release.pub", "--database", database]) == 0
    registry = ("--registry", sqlite_registry.url)
    for version, sequence in (("1.0.0", 1), ("1.1.0", 2), ("1.0.0", 1), ("1.1.0", 2)):
        assert sign(*registry, "-o", version, version=version, sequence=None) == 0
        assert signed(version).sequence == sequence
        assert main(["publish", f"{version}.manifest.json", f"{version}.sigstore.json", *registry]) == 0
    assert "another bundle" not in capsys.readouterr().err
    assert sign(*registry, "--remote", "https://x.example/", "-o", "other", sequence=None) == 1
    assert "version-exists" in capsys.readouterr().err
    assert not Path("other.manifest.json").exists()


@pytest.mark.parametrize("options", [(), ("--expires-in", "30")])
def test_a_second_run_leaves_the_files_of_the_first_as_they_are(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every ECDSA signature is another one, as every time of signing is."""
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", "")
    assert main(["keygen", "--algorithm", "p256", "--no-passphrase", "-o", "p256"]) == 0
    Path("release.key").write_bytes(Path("p256.key").read_bytes())
    assert sign(*options) == 0
    before = Path("weather.sigstore.json").read_bytes()
    capsys.readouterr()
    assert sign(*options) == 0
    assert "kept" in capsys.readouterr().out
    assert Path("weather.sigstore.json").read_bytes() == before
    for other in (("--expires-in", "31"), ("--source", "commit=abc"), ("--supersedes", Digest.of(b"before"))):
        assert sign(*options, *other) == 2
        assert Path("weather.sigstore.json").read_bytes() == before
    assert sign(*options, "--force") == 0
    assert Path("weather.sigstore.json").read_bytes() != before


def test_a_registry_cannot_use_up_the_numbers_of_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    """Sequence numbers only rise: under the highest one of all, nothing could be released any more."""
    last = Publisher().release("0.9.0")
    said = {"server": SERVER, "version": "0.9.0", "sequence": 2**53 - 2, "signer": "key:x"}
    latest = {**said, "manifest": str(last.digest), "bundle": str(last.digest)}

    def lie(_target: str, connection: socket.socket) -> None:
        connection.sendall(json_response({"latest": latest}))

    with answering(lie) as impostor:
        assert sign("--registry", impostor.url, sequence=None) == 1
    assert "registry-sequence" in capsys.readouterr().err
    assert not Path("weather.manifest.json").exists()


def test_a_registry_that_is_down_is_not_taken_for_an_empty_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert sign("--registry", "http://127.0.0.1:9", sequence=None) == 3
    assert sign("--registry", "http://127.0.0.1:9", "--offline", sequence=None) == 3
    assert not Path("weather.manifest.json").exists()
    assert "registry-unreachable" in capsys.readouterr().err


def test_other_content_is_replaced_only_when_forced(capsys: pytest.CaptureFixture[str]) -> None:
    assert sign() == 0
    before = Path("weather.manifest.json").read_bytes(), Path("weather.sigstore.json").read_bytes()
    assert sign(version="2.0.0") == 2
    assert "file-exists" in capsys.readouterr().err
    assert (Path("weather.manifest.json").read_bytes(), Path("weather.sigstore.json").read_bytes()) == before
    assert sign("--force", version="2.0.0") == 0
    assert signed().manifest.version == "2.0.0"


def test_an_existing_bundle_keeps_the_manifest_from_being_written() -> None:
    Path("weather.sigstore.json").write_bytes(b"something else")
    assert sign() == 2
    assert not Path("weather.manifest.json").exists()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "not-json"),
        (b'{"tools":[]}', "manifest-schema"),
        (forge.weather().canonical, "manifest-shape"),
        (b'{"schema":"https://toolnotary.dev/manifest/v1","schema":1}', "manifest-schema"),
    ],
)
def test_what_is_no_capture_is_refused(content: bytes, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("weather.json").write_bytes(content)
    assert sign() == 4
    told = capsys.readouterr().err
    assert code in told or "duplicate-key" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--remote", "https://user:hunter2@x.example/"], "remote-url"),
        (["--artifact", "weather"], "artifact"),
        (["--supersedes", "abc"], "bad-digest"),
    ],
)
def test_what_cannot_stand_in_a_manifest_is_refused(
    options: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(*options) == 4
    told = capsys.readouterr().err
    assert code in told
    assert "hunter2" not in told


@pytest.mark.parametrize("content", [b"", b"x", forge.weather().canonical])
def test_the_file_that_is_wrong_is_named(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("weather.json").write_bytes(content)
    assert sign() == 4
    assert ": weather.json: " in capsys.readouterr().err


def test_a_public_key_in_place_of_the_private_one_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("release.key").write_bytes(forge.PUBLISHER.public.to_pem())
    assert sign() == 4
    told = capsys.readouterr().err
    assert "key-file: release.key: " in told
    assert ".key file" in told


@pytest.mark.parametrize("server", ["weather", "a/b/c", "../x"])
def test_a_server_name_that_cannot_be_published_is_refused(server: str) -> None:
    assert sign(server=server) == 4


def test_a_surface_is_read_from_a_file_and_nothing_is_ever_started() -> None:
    """Whatever starts a server must not be able to sign."""
    named = ["sign", "--key", "release.key", "--server", SERVER, "--version", "1", "--sequence", "1"]
    for source in ("stdio:touch started", "-", "https://mcp.acme.example/mcp", "."):
        assert main([*named, source]) == 2
    assert main([*named, "--", "touch", "started"]) == 2
    assert not Path("started").exists()


def test_a_key_with_passphrase_is_opened_from_the_file_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "passphrase"
    secret.write_text("correct horse battery\n", encoding="utf-8")
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", str(secret))
    assert main(["keygen", "-o", "mine"]) == 0
    arguments = [
        "sign",
        "--key",
        "mine.key",
        "--server",
        SERVER,
        "--version",
        "1",
        "--sequence",
        "1",
        "weather.json",
    ]
    assert main(arguments) == 0
    secret.write_text("wrong horse\n", encoding="utf-8")
    assert main([*arguments, "--force"]) == 1
    told = capsys.readouterr()
    assert "wrong-passphrase" in told.err
    assert "horse" not in told.err + told.out


def test_the_bundle_holds_nothing_but_key_mode() -> None:
    assert sign() == 0
    document: dict[str, Any] = json.loads(Path("weather.sigstore.json").read_bytes())
    assert document["mediaType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    assert document["verificationMaterial"] == {
        "publicKey": {"hint": forge.PUBLISHER.public.key_id},
        "tlogEntries": [],
    }
    assert json.loads(base64.b64decode(document["dsseEnvelope"]["payload"]))["predicate"]["sequence"] == 1


@pytest.mark.parametrize("out", [".", "/", ".."])
def test_an_output_that_is_a_folder_is_refused(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sign("-o", out) == 2
    assert "file-not-writable" in capsys.readouterr().err


def test_a_capture_that_has_nothing_but_a_suffix_for_a_name_is_signed() -> None:
    Path("weather.json").rename(".json")
    assert (
        main(
            ["sign", "--key", "release.key", "--server", SERVER, "--version", "1", "--sequence", "1", ".json"]
        )
        == 0
    )
    assert Path(".json.manifest.json").exists()
