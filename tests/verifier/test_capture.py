# SPDX-License-Identifier: Apache-2.0
"""A whole capture: profiles, what is not the same at every start, where it comes from, and no secrets."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from servers import scripted, unstable
from servers.http_server import serve

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.capture import Capture, CommandSource, UrlSource, capture
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.limits import Limits

PATIENT = Limits(first_start_seconds=60, listing_seconds=60)
UNSTABLE = Path(unstable.__file__)
CANARY = "s3cr3t-canary-value"
_NAMELESS = f'{{"name":"{CANARY}","inputSchema":NaN}}'


def of(
    *words: str, handed: tuple[str, ...] = (), directory: Path | None = None, **environment: str
) -> CommandSource:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "GITHUB"))}
    return CommandSource(
        argv=(sys.executable, str(UNSTABLE), *words),
        environment={**clean, **environment},
        handed=frozenset(handed),
        directory=directory or Path.cwd(),
    )


def captured(source: Any, **options: Any) -> Capture:
    return capture(source, limits=PATIENT, **options)


def scripted_source(script: dict[str, Any]) -> CommandSource:
    return CommandSource(argv=tuple(scripted.command(script)))


def names(found: Capture) -> list[str]:
    return [one.name for one in found.unstable]


@pytest.mark.parametrize(
    ("era", "profiles"),
    [
        (
            "both",
            {
                "default": "2026-07-28",
                "capable": "2026-07-28",
                "2025-11-25": "2025-11-25",
                "2025-11-25-capable": "2025-11-25",
                "2025-06-18": "2025-06-18",
                "2025-06-18-capable": "2025-06-18",
            },
        ),
        (
            "handshake",
            {
                "default": "2025-11-25",
                "capable": "2025-11-25",
                "2025-06-18": "2025-06-18",
                "2025-06-18-capable": "2025-06-18",
            },
        ),
        ("stateless", {"default": "2026-07-28", "capable": "2026-07-28"}),
    ],
)
def test_each_revision_is_captured_without_and_with_client_capabilities(
    era: str, profiles: dict[str, str]
) -> None:
    found = captured(scripted_source({"era": era}))
    assert {name: about.protocol_version for name, (about, _) in found.profiles.items()} == profiles
    for name, (about, _) in found.profiles.items():
        able = ("elicitation", "roots", "sampling") if name.endswith("capable") else ()
        assert about.client_capabilities == able
        assert about.transport == "stdio"
    assert not found.unstable
    manifest = found.manifest()
    # Equal definitions are stored once.
    assert all(len(variants) == 1 for variants in manifest.variants.values())
    assert set(manifest.profiles) == set(profiles)


def test_every_definition_was_seen_in_two_processes_and_the_default_twice() -> None:
    found = captured(of("steady"))
    assert len(found.profiles["default"][1]) == 2
    assert sum(len(looks) for _, looks in found.profiles.values()) >= 5


def test_profiles_that_differ_are_looked_at_twice_each_and_are_no_instability() -> None:
    found = captured(of("by-revision"))
    assert not found.unstable
    assert all(len(looks) == 2 for _, looks in found.profiles.values())
    manifest = found.manifest()
    assert [d.value["description"] for d in manifest.profile("2025-06-18-capable")[Kind.TOOL, "era"]] == [
        "2025-06-18"
    ]
    assert [d.value["description"] for d in manifest.profile("capable")[Kind.TOOL, "client"]] == ["able"]
    assert len(manifest.variants[Kind.TOOL, "era"]) == 2


def test_a_text_made_from_a_set_is_named_with_the_words_that_moved() -> None:
    found = captured(of("set"))
    assert names(found) == ["run"]
    (only,) = found.unstable
    assert len(only.variants) == 2
    (move,) = only.moves
    assert move.place == "/description"
    assert move.is_reordered
    assert move.before != move.after


def test_a_seed_that_is_handed_over_is_the_servers_own_business() -> None:
    assert not captured(of("set", handed=("PYTHONHASHSEED",), PYTHONHASHSEED="0")).unstable


def test_a_text_with_the_working_directory_is_named(tmp_path: Path) -> None:
    found = captured(of("cwd", directory=tmp_path))
    assert names(found) == ["save"]
    assert not found.unstable[0].moves[0].is_reordered
    assert tmp_path.name in found.unstable[0].moves[0].before


def test_a_text_that_is_never_the_same_is_named_and_all_variants_are_kept() -> None:
    found = captured(of("pid"), looks=3)
    assert names(found) == ["self"]
    manifest = found.manifest()
    assert len(manifest.profile("default")[Kind.TOOL, "self"]) == 3
    assert len(manifest.profile("default")[Kind.TOOL, "steady"]) == 1


def test_a_tool_that_comes_and_goes_is_named(tmp_path: Path) -> None:
    found = captured(of("flicker", str(tmp_path / "count")))
    assert names(found) == ["extra"]
    assert found.unstable[0].comes_and_goes


def test_an_empty_list_is_not_taken_for_all_there_is(tmp_path: Path) -> None:
    found = captured(of("empty-first", str(tmp_path / "count")))
    assert names(found) == ["steady"]
    assert (Kind.TOOL, "steady") in found.manifest().profile("default")


def test_a_server_that_advertises_nothing_is_captured_so_and_it_is_told() -> None:
    found = captured(scripted_source({"tools": [], "instructions": None}))
    assert not found.unstable
    assert not found.manifest().variants
    assert any("nothing at all" in note for note in found.notes)


def test_a_server_that_starts_only_at_home_is_looked_at_there(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    found = captured(of("fixed-cwd", directory=tmp_path))
    assert not found.unstable
    assert any("directory" in note for note in found.notes)


def test_relative_paths_mean_the_same_in_every_directory(tmp_path: Path) -> None:
    server = tmp_path / "bin" / "server.py"
    server.parent.mkdir()
    server.write_bytes(UNSTABLE.read_bytes())
    source = CommandSource(argv=(sys.executable, "bin/server.py", "steady"), directory=tmp_path)
    found = captured(source)
    assert not found.unstable
    assert not found.notes


@pytest.mark.parametrize("move", ["nameless-tool", "duplicate-tool-name", "lone-surrogate"])
def test_a_surface_with_a_bad_tool_makes_no_manifest(move: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        captured(CommandSource(argv=tuple(scripted.command(move=move)))).manifest()
    assert caught.value.code == "surface-faults"


def test_a_surface_that_could_not_be_read_in_full_is_not_captured() -> None:
    script = {
        "prompts": [{"name": "p"}],
        "rules": [{"on": "prompts/list", "do": [{"error": {"code": -32603, "message": "down"}}]}],
    }
    with pytest.raises(CannotTell) as caught:
        captured(scripted_source(script))
    assert caught.value.code == "listing-refused"


# Where it comes from


@pytest.mark.parametrize(
    ("argv", "purl"),
    [
        ("npx -y @acme/weather@1.4.0 --units metric", "pkg:npm/%40acme/weather@1.4.0"),
        ("npx.cmd -y weather", "pkg:npm/weather"),
        ("npx -y weather@latest", "pkg:npm/weather"),
        ("cmd /c npx -y weather@2.0.0", "pkg:npm/weather@2.0.0"),
        ("uvx mcp-server-time", "pkg:pypi/mcp-server-time"),
        ("uvx --from mcp_server.time==1.2.3 time", "pkg:pypi/mcp-server-time@1.2.3"),
        ("uvx mcp-server-time@2026.1", "pkg:pypi/mcp-server-time@2026.1"),
        ("python -m mcp_server_time --local-timezone UTC", "pkg:pypi/mcp-server-time"),
        ("docker run -i --rm ghcr.io/acme/weather:1.2", "pkg:docker/acme/weather@1.2?repository_url=ghcr.io"),
        ("docker run -i mcp/time", "pkg:docker/mcp/time"),
    ],
)
def test_the_launch_line_says_which_package_it_is(argv: str, purl: str) -> None:
    from toolnotary_verifier.capture.origin import origin

    source = CommandSource(argv=tuple(argv.split()))
    artifacts, remotes = origin(source)
    assert [artifact.purl for artifact in artifacts] == [purl]
    assert remotes == ()


def test_a_script_is_told_by_its_digest_and_its_launch_belongs_to_the_capture() -> None:
    source = of("steady")
    manifest = captured(source).manifest()
    (artifact,) = manifest.artifacts
    assert artifact.digest == Digest.of(UNSTABLE.read_bytes())
    launch = Launch.from_command(source.argv, base=Path.cwd(), environment={})
    assert launch.belongs_to(manifest)
    other = Launch.from_command([sys.executable, scripted.__file__], base=Path.cwd(), environment={})
    assert not other.belongs_to(manifest)


def test_a_url_is_a_remote_without_its_secrets() -> None:
    with serve(era="both") as served:
        url = f"{served.url}?key={CANARY}".replace("http://", f"http://user:{CANARY}@")
        found = captured(UrlSource(url=url, headers={"X-Key": CANARY}, environment={}))
    manifest = found.manifest()
    assert manifest.remotes == (served.url,)
    assert {about.transport for about, _ in found.profiles.values()} == {"streamable-http"}
    assert b"canary" not in manifest.canonical
    assert Launch.from_url(served.url).belongs_to(manifest)


# Secrets


def test_secrets_of_the_command_line_are_not_in_the_manifest() -> None:
    found = captured(of("steady", "--api-key", CANARY, f"--token={CANARY}", ACME_SECRET=CANARY))
    assert b"canary" not in found.manifest().canonical


@pytest.mark.parametrize("where", ["argument", "variable"])
def test_a_definition_that_repeats_a_secret_is_not_captured(where: str) -> None:
    source = (
        of("secret", CANARY, "--api-key", CANARY)
        if where == "argument"
        else of("secret", CANARY, ACME_TOKEN=CANARY)
    )
    with pytest.raises(Refused) as caught:
        captured(source)
    assert caught.value.code == "secret-in-surface"
    assert "canary" not in str(caught.value)


def test_a_definition_that_cannot_be_read_and_repeats_a_secret_is_not_told() -> None:
    bad = {
        "on": "tools/list",
        "do": [{"raw": f'{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{_NAMELESS}]}}}}'}],
    }
    source = CommandSource(
        argv=tuple(scripted.command({"era": "handshake", "rules": [bad]})),
        environment={**os.environ, "ACME_TOKEN": CANARY},
    )
    with pytest.raises(Refused) as caught:
        captured(source)
    assert caught.value.code == "secret-in-surface"
    assert "canary" not in str(caught.value)


def test_a_secret_whose_bytes_are_not_text_keeps_nothing_from_being_captured() -> None:
    found = captured(of("steady", ACME_TOKEN=os.fsdecode(b"\xff12345678")))
    assert found.manifest().variants


HELD_BACK = {
    "GITHUB_TOKEN": "x",
    "GH_TOKEN": "x",
    "CI_JOB_TOKEN": "x",
    "ACTIONS_RUNTIME_TOKEN": "x",
    "NODE_AUTH_TOKEN": "x",
    "GITHUB_ENV": "/x",
    "TOOLNOTARY_KEY_PASSPHRASE_FILE": "/x",
    "TOOLNOTARY_REGISTRY": "x",
    "SYSTEM_ACCESSTOKEN": "x",
}


def test_ci_tokens_and_our_own_variables_do_not_reach_the_server(tmp_path: Path) -> None:
    show = tmp_path / "show.py"
    out = tmp_path / "environment"
    show.write_text(
        f"import os, runpy, sys\nopen({str(out)!r}, 'a').write('\\n'.join(os.environ) + '\\n')\n"
        f"sys.argv = ['x', 'steady']\nrunpy.run_path({str(UNSTABLE)!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    environment = {**os.environ, **HELD_BACK, "ACME_SETTING": "x"}
    source = CommandSource(
        argv=(sys.executable, str(show)), environment=environment, handed=frozenset({"GH_TOKEN"})
    )
    captured(source)
    seen = set(out.read_text(encoding="utf-8").split("\n"))
    assert {"ACME_SETTING", "GH_TOKEN"} <= seen
    assert not seen & (set(HELD_BACK) - {"GH_TOKEN"})


SIGSTORE_TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiAic2lnc3RvcmUifQ.c2ln"
OTHER_TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiAiYWNtZSJ9.c2ln"


@pytest.mark.parametrize(
    "environment",
    [
        {"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x"},
        {"ACTIONS_ID_TOKEN_REQUEST_URL": "x"},
        {"SIGSTORE_ID_TOKEN": "x"},
        {"CIRCLE_OIDC_TOKEN_V2": "x"},
        {"SYSTEM_OIDCREQUESTURI": "x"},
        {"GITLAB_CI": "true", "ANY_NAME": SIGSTORE_TOKEN},
    ],
)
def test_nothing_is_started_where_an_identity_to_sign_with_is_at_hand(
    environment: dict[str, str], tmp_path: Path
) -> None:
    started = tmp_path / "started"
    source = CommandSource(
        argv=(sys.executable, "-c", f"open({str(started)!r}, 'w')"), environment=environment
    )
    with pytest.raises(ConfigurationError) as caught:
        capture(source)
    assert caught.value.code == "identity-at-hand"
    assert not started.exists()


def test_a_token_for_something_else_is_no_identity_to_sign_with() -> None:
    assert not captured(of("steady", GITLAB_CI="true", ACME_JWT=OTHER_TOKEN)).unstable


def test_progress_is_told_look_by_look() -> None:
    lines: list[str] = []
    captured(of("steady"), progress=lines.append)
    assert len(lines) == len(set(lines)) >= 5
