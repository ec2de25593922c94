# SPDX-License-Identifier: Apache-2.0
"""docs/spec/manifest.md: one content has one form, and that form is what is enforced."""

import json
from collections.abc import Callable
from typing import Any

import forge
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import Digest, canonical_bytes, parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.limits import DEFAULT_LIMITS
from toolnotary_verifier.manifest import Artifact, Manifest, Profile, UnnamedManifest
from toolnotary_verifier.surface import Surface, assemble

ALERTS = (Kind.TOOL, "get_alerts")
FORECAST = (Kind.TOOL, "get_forecast")


@pytest.fixture
def manifest() -> Manifest:
    return forge.weather()


def edited(manifest: Manifest, edit: Callable[[dict[str, Any]], Any]) -> bytes:
    """The manifest's bytes after an edit, in canonical form again."""
    document = json.loads(manifest.canonical)
    edit(document)
    return canonical_bytes(document)


def code_of(raw: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        Manifest.parse(raw)
    return caught.value.code


def test_a_manifest_reads_back_as_it_was_built(manifest: Manifest) -> None:
    again = Manifest.parse(manifest.canonical)
    assert again == manifest
    assert again.digest == Digest.of(manifest.canonical)
    assert (again.server, again.version) == (forge.SERVER, forge.VERSION)


def test_equal_definitions_of_two_profiles_are_stored_once(manifest: Manifest) -> None:
    stored = json.loads(manifest.canonical)["tools"]
    assert [variant["profiles"] for variant in stored["get_alerts"]] == [["default", "legacy"]]
    assert sorted(variant["profiles"] for variant in stored["get_forecast"]) == [["default"], ["legacy"]]


def test_a_profile_shows_its_own_definitions_and_no_others(manifest: Manifest) -> None:
    default, legacy = manifest.profile("default"), manifest.profile("legacy")
    assert default[ALERTS] == legacy[ALERTS]
    assert [tool.value.get("execution") for tool in default[FORECAST]] == [None]
    assert [tool.value.get("execution") for tool in legacy[FORECAST]] == [{"taskSupport": "optional"}]
    with pytest.raises(KeyError):
        manifest.profile("other")


def test_digests_cover_all_profiles(manifest: Manifest) -> None:
    assert {key: len(digests) for key, digests in manifest.digests().items()} == {
        ALERTS: 1,
        FORECAST: 2,
        (Kind.INSTRUCTIONS, "instructions"): 1,
    }


def test_no_digest_of_a_part_is_stored(manifest: Manifest) -> None:
    assert b"sha256:" not in manifest.canonical
    for digests in manifest.digests().values():
        assert not any(digest.hex.encode() in manifest.canonical for digest in digests)


def test_a_surface_with_faults_cannot_be_built_and_the_error_names_them() -> None:
    broken = forge.surface(forge.tool("fine"), forge.tool("twice", title="a"), forge.tool("twice", title="b"))
    with pytest.raises(InvalidInput) as caught:
        UnnamedManifest.build(profiles={"default": (Profile.of(broken), broken)})
    assert caught.value.code == "surface-faults"
    assert "twice" in caught.value.message
    assert "default" in caught.value.message


def test_bytes_in_another_form_than_the_canonical_one_are_refused(manifest: Manifest) -> None:
    document = json.loads(manifest.canonical)
    assert code_of(json.dumps(document, indent=1).encode()) == "manifest-inconsistent"
    assert code_of(manifest.canonical + b"\n") == "manifest-inconsistent"
    assert (
        code_of(json.dumps(dict(reversed(document.items())), separators=(",", ":")).encode())
        == "manifest-inconsistent"
    )


def test_a_key_that_is_not_its_definitions_name_is_refused(manifest: Manifest) -> None:
    def swap(document: dict[str, Any]) -> None:
        tools = document["tools"]
        tools["get_alerts"], tools["get_forecast"] = tools["get_forecast"], tools["get_alerts"]

    assert code_of(edited(manifest, swap)) == "manifest-inconsistent"


def append(member: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document[member].append(value)


def put(*path: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    def edit(document: dict[str, Any]) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = value

    return edit


def variants(count: int) -> list[dict[str, Any]]:
    """Variants of one tool in order of their digests."""
    made = [{"profiles": ["default"], "definition": forge.tool("many", title=str(i))} for i in range(count)]
    return sorted(made, key=lambda variant: Digest.of(canonical_bytes(variant["definition"])))


SHA = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (put("extra", value=1), "manifest-shape"),
        (put("server", "extra", value=1), "manifest-shape"),
        (put("profiles", "default", "extra", value=1), "manifest-shape"),
        (put("profiles", "default", "transport", value="pigeon"), "manifest-shape"),
        (put("profiles", "default", "capabilities", value=[]), "manifest-shape"),
        (
            put("profiles", "default", "clientCapabilities", value=["roots", "elicitation"]),
            "manifest-inconsistent",
        ),
        (put("profiles", "default", "clientCapabilities", value=[1]), "manifest-shape"),
        (put("profiles", "not a name", value={}), "manifest-shape"),
        (put("profiles", value={}), "manifest-limit"),
        (put("profiles", value={f"p{i}": {} for i in range(65)}), "manifest-limit"),
        (lambda document: document.pop("prompts"), "manifest-shape"),
        (lambda document: document.pop("server"), "manifest-shape"),
        (put("schema", value="https://toolnotary.dev/manifest/v2"), "manifest-schema"),
        (put("canonicalization", value="jcs"), "manifest-canonicalization"),
        (put("tools", value=[]), "manifest-shape"),
        (put("tools", "get_alerts", value=[]), "manifest-limit"),
        (put("tools", "get_alerts", value={}), "manifest-shape"),
        (put("tools", "get_alerts", value=[{"definition": forge.tool("get_alerts")}]), "manifest-shape"),
        (
            put("tools", "get_alerts", value=[{"definition": forge.tool("get_alerts"), "profiles": []}]),
            "manifest-inconsistent",
        ),
        (
            put(
                "tools",
                "get_alerts",
                value=[{"definition": forge.tool("get_alerts"), "profiles": ["absent"]}],
            ),
            "manifest-inconsistent",
        ),
        (
            put(
                "tools",
                "get_alerts",
                value=[{"definition": forge.tool("get_alerts"), "profiles": ["legacy", "default"]}],
            ),
            "manifest-inconsistent",
        ),
        (
            put("tools", "get_alerts", value=[{"definition": {"title": "none"}, "profiles": ["default"]}]),
            "definition-shape",
        ),
        (put("tools", "many", value=variants(17)), "manifest-limit"),
        (put("tools", "many", value=variants(3)[::-1]), "manifest-inconsistent"),
        (put("tools", "many", value=variants(1) * 2), "manifest-inconsistent"),
        (append("instructions", {"profiles": ["default"], "text": 1}), "definition-shape"),
        (append("instructions", {"profiles": ["default"], "definition": "x"}), "manifest-shape"),
        (append("remotes", "https://mcp.acme.example/mcp"), "manifest-inconsistent"),
        (append("remotes", "https://a.example/"), "manifest-inconsistent"),
        (append("remotes", "https://user:secret@x.example/"), "remote-url"),
        (append("remotes", "https://x.example/?token=secret"), "remote-url"),
        (append("remotes", "https://x.example/#part"), "remote-url"),
        (append("remotes", "https://X.example/"), "remote-url"),
        (append("remotes", "file:///etc/passwd"), "remote-url"),
        (append("remotes", 1), "remote-url"),
        (append("artifacts", {"purl": "weather@1.4.0"}), "artifact"),
        (append("artifacts", {"purl": "pkg:pypi/weather", "digest": "md5:0"}), "artifact"),
        (append("artifacts", {"purl": "pkg:pypi/weather", "digest": None}), "manifest-shape"),
        (append("artifacts", {"purl": "pkg:pypi/weather", "digest": SHA, "more": 1}), "manifest-shape"),
        (append("artifacts", {"purl": "pkg:a/b"}), "manifest-inconsistent"),
        (put("server", "name", value="weather"), "server-name"),
        (put("server", "version", value="latest"), "server-version"),
    ],
)
def test_a_manifest_that_breaks_a_rule_is_refused_with_the_rules_code(
    manifest: Manifest, edit: Callable[[dict[str, Any]], Any], code: str
) -> None:
    assert code_of(edited(manifest, edit)) == code


def test_sixteen_definitions_of_one_name_are_accepted(manifest: Manifest) -> None:
    raw = edited(manifest, put("tools", "many", value=variants(16)))
    assert len(Manifest.parse(raw).profile("default")[Kind.TOOL, "many"]) == 16


def test_a_repeated_key_anywhere_in_a_manifest_is_refused(manifest: Manifest) -> None:
    twice = manifest.canonical.replace(b'"name":"get_alerts"', b'"name":"get_alerts","name":"get_alerts"')
    assert twice != manifest.canonical
    assert code_of(twice) == "duplicate-key"


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{}", b'{"tools":[]}', b"\xff", b'{"schema":'])
def test_what_is_no_manifest_at_all_is_refused(raw: bytes) -> None:
    assert code_of(raw) in ("manifest-schema", "not-json", "not-utf8")


def test_a_manifest_that_is_too_large_is_refused_before_it_is_parsed(manifest: Manifest) -> None:
    limits = DEFAULT_LIMITS._replace(manifest_bytes=100)
    with pytest.raises(InvalidInput) as caught:
        Manifest.parse(manifest.canonical, limits=limits)
    assert caught.value.code == "too-large"


def test_a_manifest_with_too_many_tools_is_refused(manifest: Manifest) -> None:
    with pytest.raises(InvalidInput) as caught:
        Manifest.parse(manifest.canonical, limits=DEFAULT_LIMITS._replace(tools=1))
    assert caught.value.code == "manifest-limit"


@pytest.mark.parametrize(
    "name",
    ["a/b", "io.github.acme/weather", "x/a_b", "0-9.z/A", "a/" + "b" * 198],
)
def test_names_of_the_official_registry_are_accepted(name: str) -> None:
    assert forge.weather(server=name).server == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "ab",
        "a/",
        "/b",
        "a/b/c",
        "a_b/c",
        "a/b c",
        "a/b\n",
        "a/" + "b" * 199,
        "../x",
        "x/..",
        "a/é",
        "a@1/b",
        None,
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        forge.weather(server=name)
    assert caught.value.code == "server-name"


@pytest.mark.parametrize(
    "version", ["^1.2", "~1", ">=1.0.0", "<2", "=1", "*", "1.x", "1.2.X", "v1.*", "1||2"]
)
def test_a_range_is_no_version(version: str) -> None:
    """The official registry refuses them too: what was published could be any of many."""
    with pytest.raises(InvalidInput) as caught:
        forge.weather(version=version)
    assert caught.value.code == "server-version"


@pytest.mark.parametrize(
    "version", ["1", "1.0.0-rc.1+x", "v" * 255, "2026/11/30", "é@1", "1.0-x", "xx", "1.0.0~rc1"]
)
def test_a_version_is_any_visible_text(version: str) -> None:
    assert forge.weather(version=version).version == version


@pytest.mark.parametrize("version", ["", "v" * 256, "latest", "1 ", "1\u200b", "1\n", "\u202e1", None])
def test_versions_that_cannot_be_told_apart_are_refused(version: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        forge.weather(version=version)
    assert caught.value.code == "server-version"


def test_every_kind_of_definition_is_kept() -> None:
    everything = assemble(
        {
            Kind.TOOL: parse_message(b'[{"name":"t","unknown":{"kept":[1.0,100000000000000000000]}}]'),
            Kind.PROMPT: [{"name": "p"}],
            Kind.RESOURCE: [{"uri": "file:///r", "name": "r"}],
            Kind.TEMPLATE: [{"uriTemplate": "file:///{x}", "name": "x"}],
        },
        instructions="i",
        server_info={"name": "n", "version": "0"},
        capabilities={"tools": {}},
    )
    about = Profile.of(
        everything, transport="streamable-http", client_capabilities=["roots", "elicitation", "roots"]
    )
    unnamed = UnnamedManifest.build(profiles={"default": (about, everything)})
    shown = unnamed.profile("default")
    assert {key: found for key, (found,) in shown.items()} == everything.definitions
    assert unnamed.profiles["default"] == about
    assert about.client_capabilities == ("elicitation", "roots")
    assert b"100000000000000000000" in unnamed.canonical


def test_a_capture_may_be_laid_out_by_anyone_but_has_no_server(manifest: Manifest) -> None:
    document = json.loads(manifest.canonical)
    del document["server"]
    unnamed = UnnamedManifest.parse(json.dumps(document, indent=2).encode())
    assert unnamed.canonical == canonical_bytes(document)
    assert unnamed.named(server=forge.SERVER, version=forge.VERSION) == manifest
    with pytest.raises(InvalidInput) as caught:
        UnnamedManifest.parse(manifest.canonical)
    assert caught.value.code == "manifest-shape"


def test_naming_a_capture_adds_to_its_artifacts_and_remotes(manifest: Manifest) -> None:
    document = json.loads(manifest.canonical)
    del document["server"]
    named = UnnamedManifest.parse(canonical_bytes(document)).named(
        server=forge.SERVER,
        version=forge.VERSION,
        artifacts=[Artifact("pkg:docker/acme/weather", SHA), *manifest.artifacts],
        remotes=["https://eu.acme.example:8443/mcp", *manifest.remotes],
    )
    assert named.artifacts == (Artifact("pkg:docker/acme/weather", SHA), *manifest.artifacts)
    assert named.remotes == ("https://eu.acme.example:8443/mcp", *manifest.remotes)


def test_a_digest_as_npm_writes_it_is_accepted() -> None:
    digest = "sha512-" + "A" * 86 + "=="
    assert Artifact.parse({"purl": "pkg:npm/x@1", "digest": digest}).to_json() == {
        "purl": "pkg:npm/x@1",
        "digest": digest,
    }


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
tools = st.lists(
    st.builds(
        lambda name, members: {**members, "name": name},
        st.text(max_size=6),
        st.dictionaries(st.text(max_size=4), values, max_size=3),
    ),
    max_size=4,
    unique_by=lambda tool: tool["name"],
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), tools, min_size=1), st.none() | st.text(max_size=5))
def test_whatever_is_built_reads_back_and_every_profile_shows_its_surface(
    listed: dict[str, list[Any]], instructions: str | None
) -> None:
    surfaces: dict[str, Surface] = {}
    for name, entries in listed.items():
        live = forge.surface(*entries, instructions=instructions)
        if not live.faults:
            surfaces[name] = live
    if not surfaces:
        return
    unnamed = UnnamedManifest.build(
        profiles={name: (Profile.of(live), live) for name, live in surfaces.items()}
    )
    assert UnnamedManifest.parse(unnamed.canonical) == unnamed
    manifest = unnamed.named(server=forge.SERVER, version=forge.VERSION)
    assert Manifest.parse(manifest.canonical) == manifest
    for name, live in surfaces.items():
        assert {key: found for key, (found,) in manifest.profile(name).items()} == live.definitions
