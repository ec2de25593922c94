# SPDX-License-Identifier: Apache-2.0
"""`toolnotary history`: the versions of a server in a registry, how large each is, and what it changed."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from conftest import ROOT
from servers.publisher import SERVER, Publisher, manifest
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_cli.main import main
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Profile, UnnamedManifest
from toolnotary_verifier.surface import assemble

__all__ = ["sqlite_registry"]

Captured = pytest.CaptureFixture[str]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "history.json").read_text(encoding="utf-8"))


def publish(
    registry: RunningRegistry, publisher: Publisher, *tools: Any, version: str, sequence: int
) -> None:
    """A version with these tools, published."""
    surface = assemble({Kind.TOOL: tools}, inspected=Kind)
    built = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
    release = publisher.sign(built.named(server=SERVER, version=version), sequence=sequence)
    Registry(registry.url).publish(release.manifest, release.bundle)


def tool(name: str, description: str = "Does it.") -> dict[str, Any]:
    return {"name": name, "description": description}


@pytest.fixture
def published(sqlite_registry: RunningRegistry) -> RunningRegistry:
    """Three versions, the last one by another identity."""
    one, other = Publisher(), Publisher()
    sqlite_registry.claim(one)
    sqlite_registry.claim(other)
    publish(sqlite_registry, one, tool("a"), version="1.0.0", sequence=1)
    publish(sqlite_registry, one, tool("a", "Does more."), tool("b"), version="1.1.0", sequence=2)
    publish(sqlite_registry, other, tool("a", "Does more."), version="2.0.0", sequence=5)
    return sqlite_registry


def as_json(capsys: Captured, *arguments: str) -> list[dict[str, Any]]:
    assert main(["history", SERVER, *arguments, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    found: list[dict[str, Any]] = document["versions"]
    return found


def test_versions_come_newest_first_with_what_each_changed(
    published: RunningRegistry, capsys: Captured
) -> None:
    found = as_json(capsys, "--registry", published.url)
    assert [(one["version"], one["sequence"], one["tools"]) for one in found] == [
        ("2.0.0", 5, 1),
        ("1.1.0", 2, 2),
        ("1.0.0", 1, 1),
    ]
    assert [one["changes"] for one in found] == [{"removed": 1}, {"added": 1, "changed": 1}, None]
    assert [one["signedByAnother"] for one in found] == [True, False, False]


def test_the_size_is_that_of_the_canonical_form_and_tokens_a_quarter_of_it(
    published: RunningRegistry, capsys: Captured
) -> None:
    first = as_json(capsys, "--registry", published.url)[-1]
    told = len('{"description":"Does it.","name":"a"}')
    assert (first["bytes"], first["tokens"]) == (told, -(-told // 4))


def test_the_table_tells_the_same_in_lines(published: RunningRegistry, capsys: Captured) -> None:
    assert main(["history", SERVER, "--registry", published.url]) == 0
    shown = capsys.readouterr().out
    assert "1 added, 1 changed" in shown
    assert "signed by another identity than the version before it" in shown
    assert "estimated" in shown


def test_the_last_of_a_shorter_list_is_still_compared(published: RunningRegistry, capsys: Captured) -> None:
    found = as_json(capsys, "--registry", published.url, "--last", "2")
    assert [(one["version"], one["changes"]) for one in found] == [
        ("2.0.0", {"removed": 1}),
        ("1.1.0", {"added": 1, "changed": 1}),
    ]


def test_a_server_that_is_not_there_is_an_answer_and_a_registry_that_is_not_is_none(
    published: RunningRegistry, capsys: Captured
) -> None:
    assert main(["history", "acme.example/other", "--registry", published.url]) == 1
    assert capsys.readouterr().err.startswith("error: not-in-registry: ")
    assert main(["history", SERVER, "--registry", published.url, "--offline"]) == 3
    assert main(["history", SERVER]) == 2


def test_the_policy_may_name_the_registry(
    published: RunningRegistry, tmp_path: Path, capsys: Captured
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[registry]\nurl = "{published.url}"\n', encoding="utf-8")
    assert len(as_json(capsys, "--policy", str(policy))) == 3


def test_a_manifest_of_another_version_is_refused(
    published: RunningRegistry, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Registry, "blob", lambda *_: manifest(version="9").canonical)
    assert main(["history", SERVER, "--registry", published.url]) == 1
    assert capsys.readouterr().err.startswith("error: other-version: ")
