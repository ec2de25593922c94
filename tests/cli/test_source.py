# SPDX-License-Identifier: Apache-2.0
"""What a SOURCE is, and what is read from it."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from toolnotary_cli.loading import load
from toolnotary_cli.source import Command, Published, Saved, Url, one, parse
from toolnotary_cli.subject import ALONE
from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput
from toolnotary_verifier.lockfile import Lockfile, Pin, SignedEntry, UnsignedEntry
from toolnotary_verifier.manifest import Manifest, Profile, UnnamedManifest
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.surface import Surface, assemble

TOOL = {"name": "read", "inputSchema": {"type": "object"}}


def surface(*tools: Any) -> Surface:
    return assemble({Kind.TOOL: tools or [TOOL]})


def saved(folder: Path, document: Any, name: str = "saved.json") -> Path:
    path = folder / name
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return path


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("stdio:npx -y 'a b'", Command(("npx", "-y", "a b"))),
        ("http://127.0.0.1:1/mcp", Url("http://127.0.0.1:1/mcp")),
        ("HTTPS://example.org/mcp#a+b@c", Url("HTTPS://example.org/mcp#a+b@c")),
        ("io.github.acme/weather@1.4.0", Published("io.github.acme/weather", "1.4.0")),
        ("acme/weather@1.0+build#5", Published("acme/weather", "1.0+build#5")),
        ("-", Saved((Path("-"),))),
    ],
)
def test_a_source_is_known_by_its_form(
    text: str, source: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse(text) == source


@pytest.mark.parametrize("name", ["acme@1.0", "a#b", "a+b", "stdio:x", "-x"])
def test_an_existing_file_wins(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, {"tools": []}, name)
    assert parse(name) == Saved((Path(name),))


def test_a_published_version_gives_way_to_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme").mkdir()
    saved(tmp_path / "acme", {"tools": []}, "weather@1.0")
    assert parse("acme/weather@1.0") == Saved((Path("acme/weather@1.0"),))


def test_files_are_joined_and_parts_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c#d"):
        saved(tmp_path, {"tools": []}, name)
    assert parse("a+b") == Saved((Path("a"), Path("b")))
    assert parse("a#legacy") == Saved((Path("a"),), "legacy")
    assert parse("c#d#io.github.acme/x") == Saved((Path("c#d"),), "io.github.acme/x")


@pytest.mark.parametrize(
    "text", ["", "no-such-file", "a+no-such-file", "#x", "stdio:", "stdio:'", ".", "x" * 5000, "a\0b"]
)
def test_what_is_no_source_is_a_usage_error(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as raised:
        parse(text)
    assert raised.value.code == "source"


def test_one_source_is_given_as_text_or_as_a_command_but_not_both() -> None:
    assert one(None, ["npx", "-y", "x"]) == Command(("npx", "-y", "x"))
    for text, command in ((None, []), ("-", ["npx"]), (None, [""])):
        with pytest.raises(ConfigurationError) as raised:
            one(text, command)
        assert raised.value.code == "source"


def test_a_command_and_a_url_do_not_show_what_may_be_secret() -> None:
    assert "s3cret" not in repr(parse("stdio:serve --token s3cret"))
    assert "s3cret" not in repr(parse("https://example.org/?key=s3cret"))


def names(path: Path) -> list[str]:
    found = load(parse(str(path))).surfaces[ALONE]
    return [name for _, name in found.definitions]


@pytest.mark.parametrize(
    "document",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
        {"tools": [TOOL]},
        [TOOL],
        [{"tools": [TOOL]}],
        [{"tools": [], "nextCursor": "x"}, {"jsonrpc": "2.0", "id": 2, "result": {"tools": [TOOL]}}],
        [{"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}, {"tools": [TOOL]}],
    ],
)
def test_a_saved_listing_is_read_in_every_form(document: Any, tmp_path: Path) -> None:
    assert names(saved(tmp_path, document)) == ["read"]


def test_standard_input_holds_what_a_file_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps([TOOL]).encode())))
    assert names(Path("-")) == ["read"]


def test_one_bad_tool_is_a_fault_and_the_others_are_read(tmp_path: Path) -> None:
    listing = b'{"tools": [{"name": "a", "x": 1, "x": 2}, {"name": "b"}, {"name": "c", "x": NaN}]}'
    found = load(parse(str(saved(tmp_path, listing)))).surfaces[ALONE]
    assert [name for _, name in found.definitions] == ["b"]
    assert len(found.faults) == 2


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (b"", "not-json"),
        (b'{"tools": [', "not-json"),
        (b"<html>", "not-json"),
        (b'{"tools": [], "tools": []}', "duplicate-key"),
        (b"[" * 10_000, "too-deep"),
        (b"NaN", "not-json"),
        (b'"text"', "no-surface"),
        (b"{}", "no-surface"),
        (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}', "no-surface"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}', "no-surface"),
        (b'{"tools": [], "nextCursor": "x"}', "listing-incomplete"),
        (b'[{"tools": [], "nextCursor": "x"}, {"tools": [], "nextCursor": "x"}]', "cursor-loop"),
        (b'[{"tools": []}, {"tools": []}]', "listing-shape"),
        (b'{"tools": [], "nextCursor": 1}', "listing-shape"),
        (b'[{"serverInfo": {"name": "a"}}, {"serverInfo": {"name": "b"}}]', "surface-conflict"),
    ],
)
def test_a_document_that_is_no_surface_is_refused_with_its_code(
    document: bytes, code: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as raised:
        load(parse(str(saved(tmp_path, document))))
    assert raised.value.code == code


def test_a_file_larger_than_any_frame_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as raised:
        load(parse(str(saved(tmp_path, b" " * (17 << 20)))))
    assert raised.value.code == "too-large"


def test_answers_to_other_requests_join_the_tools(tmp_path: Path) -> None:
    parts = [
        saved(tmp_path, {"tools": [TOOL]}, "tools.json"),
        saved(tmp_path, {"prompts": [{"name": "p"}]}, "prompts.json"),
        saved(tmp_path, {"resources": [{"uri": "file:///x", "name": "x"}]}, "resources.json"),
        saved(
            tmp_path, {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "x"}]}, "templates.json"
        ),
        saved(tmp_path, {"serverInfo": {"name": "s"}, "instructions": "Use it."}, "init.json"),
    ]
    found = load(parse("+".join(map(str, parts)))).surfaces[ALONE]
    assert [kind for kind, _ in found.definitions] == sorted(Kind)
    assert found.server_info == {"name": "s"}


def test_a_server_that_declares_no_prompts_is_known_to_have_none(tmp_path: Path) -> None:
    opening = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
    found = load(parse(str(saved(tmp_path, [opening, {"tools": []}])))).surfaces[ALONE]
    assert found.inspected == frozenset(Kind)


def test_the_answer_of_a_stateless_server_tells_its_revision_and_its_name(tmp_path: Path) -> None:
    discovered = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s"}},
    }
    found = load(parse(str(saved(tmp_path, [discovered, {"tools": []}])))).surfaces[ALONE]
    assert (found.protocol_version, found.server_info) == ("2026-07-28", {"name": "s"})


def manifest() -> UnnamedManifest:
    legacy = {**TOOL, "execution": {"taskSupport": "optional"}}
    return UnnamedManifest.build(
        profiles={"default": (Profile(), surface()), "legacy": (Profile(), surface(legacy))}
    )


@pytest.mark.parametrize("is_named", [False, True])
def test_a_manifest_holds_one_surface_a_profile(is_named: bool, tmp_path: Path) -> None:
    written = manifest().named(server="acme/x", version="1").canonical if is_named else manifest().canonical
    path = saved(tmp_path, written)
    assert sorted(load(parse(str(path))).surfaces) == ["default", "legacy"]
    assert sorted(load(parse(f"{path}#legacy")).surfaces) == ["legacy"]
    with pytest.raises(ConfigurationError) as raised:
        load(parse(f"{path}#other"))
    assert raised.value.code == "source-part"


def test_a_listing_that_only_mentions_the_manifest_schema_is_a_listing(tmp_path: Path) -> None:
    tool = {**TOOL, "description": "https://toolnotary.dev/manifest/v1"}
    assert names(saved(tmp_path, [tool])) == ["read"]


def test_a_listing_has_no_parts(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(parse(f"{saved(tmp_path, [TOOL])}#x"))
    assert raised.value.code == "source-part"


def lockfile(folder: Path, *, keep_texts: bool = True) -> Path:
    objects = Objects(folder / ".toolnotary" / "objects")
    signed = Manifest.parse(manifest().named(server="acme/x", version="1").canonical)
    content = canonical_bytes(TOOL)
    exact = surface().definitions[Kind.TOOL, "read"].digest
    if keep_texts:
        objects.put(signed.canonical)
        objects.put(content)
    entries = Lockfile().with_entry(
        SignedEntry(
            server="acme/x",
            launch={"kind": "command", "argv": ["x"]},
            recorded={},
            version="1",
            sequence=1,
            signer="key:" + exact,
            manifest=signed.digest,
            bundle=exact,
            profiles=("legacy",),
        )
    )
    entries = entries.with_entry(
        UnsignedEntry(
            server="mine",
            launch={"kind": "command", "argv": ["y"]},
            recorded={},
            pins=(Pin(Kind.TOOL, "read", exact, exact),),
        )
    )
    entries.save(folder / "toolnotary.lock")
    return folder / "toolnotary.lock"


def test_a_lockfile_holds_what_one_server_is_pinned_to(tmp_path: Path) -> None:
    path = lockfile(tmp_path)
    assert list(load(parse(f"{path}#acme/x")).surfaces) == ["legacy"]
    assert list(load(parse(f"{path}#mine")).surfaces[ALONE].definitions) == [(Kind.TOOL, "read")]


def test_a_profile_of_a_pinned_server_is_named_behind_the_server(tmp_path: Path) -> None:
    path = lockfile(tmp_path)
    found = load(parse(f"{path}#acme/x#legacy"))
    assert (list(found.surfaces), found.label) == (["legacy"], f"{path}#acme/x#legacy")
    for part in ("acme/x#default", "mine#legacy"):  # a profile that is not pinned; a pin without profiles
        with pytest.raises(ConfigurationError) as raised:
            load(parse(f"{path}#{part}"))
        assert raised.value.code == "source-part"


def test_the_name_of_a_server_wins_over_a_profile_of_another(tmp_path: Path) -> None:
    path = lockfile(tmp_path)
    odd = path.read_bytes().replace(b'"mine"', b'"acme/x#legacy"')
    path.write_bytes(odd)
    assert list(load(parse(f"{path}#acme/x#legacy")).surfaces) == [ALONE]


def test_many_servers_of_a_lockfile_are_named_within_bounds(tmp_path: Path) -> None:
    entries = Lockfile()
    for number in range(500):
        launch = {"kind": "command", "argv": [str(number)]}
        pins = (Pin(Kind.TOOL, "t", Digest.of(b"x"), Digest.of(b"x")),)
        entries = entries.with_entry(
            UnsignedEntry(server=f"s{number:03}", launch=launch, recorded={}, pins=pins)
        )
    entries.save(tmp_path / "toolnotary.lock")
    with pytest.raises(ConfigurationError) as raised:
        load(parse(str(tmp_path / "toolnotary.lock")))
    assert raised.value.remedy.endswith("s011 and 488 more")


@pytest.mark.parametrize("part", ["", "#other"])
def test_a_lockfile_alone_is_not_one_surface(part: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(parse(f"{lockfile(tmp_path)}{part}"))
    assert raised.value.code == "source-part"


@pytest.mark.parametrize("server", ["acme/x", "mine"])
def test_a_pinned_text_that_is_not_at_hand_is_not_guessed(server: str, tmp_path: Path) -> None:
    with pytest.raises(CannotTell) as raised:
        load(parse(f"{lockfile(tmp_path, keep_texts=False)}#{server}"))
    assert raised.value.code == "text-missing"


def test_a_corrupt_lockfile_is_refused(tmp_path: Path) -> None:
    path = lockfile(tmp_path)
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(InvalidInput) as raised:
        load(parse(f"{path}#mine"))
    assert raised.value.code.startswith("lockfile-")


def test_a_published_version_needs_a_registry_and_a_connection() -> None:
    with pytest.raises(ConfigurationError) as raised:
        load(parse("acme/x@1"))
    assert raised.value.code == "no-registry"
    with pytest.raises(CannotTell) as unreached:
        load(parse("acme/x@1"), registry="http://127.0.0.1:9", offline=True)
    assert unreached.value.code == "offline"


def test_a_url_is_not_asked_offline() -> None:
    with pytest.raises(CannotTell) as raised:
        load(parse("http://127.0.0.1:9/mcp"), offline=True)
    assert raised.value.code == "offline"


def test_a_command_that_does_not_exist_cannot_be_inspected() -> None:
    with pytest.raises(CannotTell) as raised:
        load(parse("stdio:no-such-command-anywhere"))
    assert raised.value.code == "server-start"
