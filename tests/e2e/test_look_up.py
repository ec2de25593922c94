# SPDX-License-Identifier: Apache-2.0
"""`toolnotary run` and a registry: what nobody pinned is looked up, and pinned by a signature or blocked."""

import http.server
import re
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pinned_servers import YES
from proxybench import Wire
from servers import scripted
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry
from signed_servers import Bench, surface
from terminal import run_at_terminal

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import UnnamedManifest
from toolnotary_verifier.moves import pin_surface

__all__ = ["sqlite_registry"]

Json = Any
ADD, ECHO, READ = scripted.TOOLS
BETTER = scripted.tool("echo", "Gives back the text that it is given, and says so.", text="string")
OLD, NEW = [ADD, ECHO, READ], [ADD, BETTER, READ]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.shows(OLD)
    return made


def names(tools: Json) -> list[str]:
    return [tool["name"] for tool in tools]


def listed_after_the_look_up(host: Wire) -> list[str]:
    """What a host lists once it was told that the list changed; it listed before."""
    host.shake_hands()
    host.tools("before")
    host.told()
    return host.tools("after")


# At first sight


def test_a_server_that_a_known_signer_signed_is_pinned_at_first_sight_and_is_quiet_from_then_on(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    bench.publish(sqlite_registry, bench.signed("1.0.0", OLD))
    with bench.hosts() as host:
        assert listed_after_the_look_up(host) == names(OLD)
        assert not host.call("echo")[0]
        assert host.end() == 0
    assert "pinned to version 1.0.0, sequence 1" in host.said
    assert bench.entries == [(SERVER, "1.0.0")]
    assert bench.project().state.signer_of(SERVER) == f"key:{bench.publisher.public_key.key_id}"
    bench.trust("http://127.0.0.1:9")  # nobody answers there, and nobody needs to
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == names(OLD)
        assert not host.call("echo")[0]
        assert host.end() == 0
    assert host.said == ""


def test_a_known_server_that_this_lockfile_does_not_pin_is_pinned_by_its_version(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    """Its first sight is over, so that a person says it; told is the command that pins what was signed."""
    bench.publish(sqlite_registry, bench.signed("1.0.0", OLD))
    with bench.hosts() as host:
        listed_after_the_look_up(host)
        assert host.end() == 0
    (bench.home / "toolnotary.lock").unlink()
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == []
        while "to pin it" not in host.said:
            assert host.call("echo")[0]
        assert host.end() == 0
    assert f"to pin it: toolnotary lock {SERVER}@VERSION " in host.said


def test_everything_is_withheld_until_the_registry_answered(bench: Bench) -> None:
    with silent_registry() as url:
        bench.trust(url)
        with bench.hosts() as host:
            host.shake_hands()
            assert host.tools() == []
            is_refused, text = host.call("echo")
            assert host.end() == 0
    assert is_refused
    assert "(pending)" in text
    assert "the registry is being asked" in host.said
    assert bench.entries == []


def test_a_version_of_another_artifact_is_not_pinned(bench: Bench, sqlite_registry: RunningRegistry) -> None:
    bench.publish(sqlite_registry, bench.signed("1.0.0", OLD, digest=f"sha256:{'0' * 64}"))
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == []
        said = host.wait_said("(first-signed)")
        assert host.tools() == []
        assert host.call("echo")[0]
        assert host.end() == 0
    assert "not pinned: " in said
    assert "(identity) [look-up]" in said
    assert bench.entries == []


def test_of_what_the_registry_serves_no_more_is_read_than_the_policy_allows(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    bench.publish(sqlite_registry, bench.signed("1.0.0", [{**OLD[0], "description": "x" * 2000}, *OLD[1:]]))
    bench.trust(sqlite_registry.url, more="[limits]\nmanifest-bytes = 1024\n")
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == []
        said = host.wait_said("more than 1024 bytes")
        assert host.end() == 0
    assert "no newer version is known" in said
    assert bench.entries == []


@pytest.mark.parametrize("how", ["nobody", "another", "prompt"])
def test_what_no_signer_of_the_policy_signed_or_policy_leaves_to_a_person_stays_blocked(
    bench: Bench, sqlite_registry: RunningRegistry, how: str
) -> None:
    if how == "nobody":
        bench.publish(sqlite_registry)
    else:
        bench.publish(sqlite_registry, bench.signed("1.0.0", OLD))
    if how == "another":
        bench.publisher = Publisher()
        bench.trust(sqlite_registry.url)
    if how == "prompt":
        bench.trust(sqlite_registry.url, more="[verdicts]\nfirst-signed = 'prompt'\n")
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == []
        said = host.wait_said("(first-signed)" if how == "prompt" else "(first-unsigned)")
        assert host.call("echo")[0]
        assert host.end() == 0
    command = f"lock {SERVER}@VERSION" if how == "prompt" else f"lock --server {SERVER}"
    assert f"toolnotary {command} -- COMMAND" in said
    assert bench.entries == []


def test_servers_that_are_seen_at_the_same_time_are_all_pinned(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    others = [f"io.github.acme/weather-{number}" for number in range(4)]
    versions = []
    for name in others:
        version = bench.signed("1.0.0", OLD)
        manifest = version.verified.manifest
        made = UnnamedManifest.build(
            profiles={"default": (manifest.profiles["default"], surface(OLD))}
        ).named(server=name, version="1.0.0", artifacts=manifest.artifacts)
        release = bench.publisher.sign(made, sequence=1)
        versions.append(release)
    bench.publish(sqlite_registry)
    for release in versions:
        Registry(sqlite_registry.url).publish(release.manifest, release.bundle)
    hosts = [bench.hosts(server=name) for name in others]
    try:
        for host in hosts:
            assert listed_after_the_look_up(host) == names(OLD)
    finally:
        for host in hosts:
            host.__exit__()
    assert bench.entries == [(name, "1.0.0") for name in others]


# A newer version


def test_an_upgrade_is_blocked_and_the_command_that_people_are_told_moves_the_pin(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    old = bench.signed("1.0.0", OLD)
    bench.publish(sqlite_registry, old, bench.signed("2.0.0", NEW))
    bench.pin(old)
    bench.shows(NEW)
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        said = host.wait_said("(upgrade)")
        assert host.tools() == ["add", "read_file"]
        is_refused, text = host.call("echo")
        assert not host.call("add")[0]
        assert host.end() == 0
    assert is_refused
    assert set(re.findall(r"toolnotary (\w+)", text)) == {"explain"}
    assert bench.entries == [(SERVER, "1.0.0")]
    (told,) = re.findall(r"\(upgrade\); to review: toolnotary (approve .*) \[withheld\]", said)
    command = [sys.executable, "-m", "toolnotary_cli", *shlex.split(told)]
    session = run_at_terminal(command, *YES, *YES)
    assert session.code == 0, session.shown
    assert bench.entries == [(SERVER, "2.0.0")]
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == names(NEW)
        assert not host.call("echo")[0]
        assert host.end() == 0
    assert host.said == ""


def test_the_command_that_people_are_told_names_what_the_host_named(
    bench: Bench, sqlite_registry: RunningRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = bench.signed("1.0.0", OLD)
    bench.publish(sqlite_registry, old, bench.signed("2.0.0", NEW))
    bench.pin(old)
    bench.trust(None)
    lockfile = tmp_path / "else where" / "toolnotary.lock"
    lockfile.parent.mkdir()
    (bench.home / "toolnotary.lock").rename(lockfile)
    (bench.home / ".toolnotary").rename(lockfile.parent / ".toolnotary")
    bench.shows(NEW)
    monkeypatch.setenv("TOOLNOTARY_REGISTRY", sqlite_registry.url)
    with bench.hosts("--lockfile", str(lockfile)) as host:
        host.shake_hands()
        host.tools()
        said = host.wait_said("(upgrade)")
        assert host.end() == 0
    (told,) = re.findall(r"\(upgrade\); to review: toolnotary (approve .*) \[withheld\]", said)
    given = ["--lockfile", str(lockfile), "--registry", sqlite_registry.url]
    assert shlex.split(told) == ["approve", SERVER, *given]


def test_where_policy_lets_upgrades_pass_the_pin_moves_and_people_are_told(
    bench: Bench, sqlite_registry: RunningRegistry
) -> None:
    old = bench.signed("1.0.0", OLD)
    bench.publish(sqlite_registry, old, bench.signed("2.0.0", NEW))
    bench.pin(old)
    bench.trust(sqlite_registry.url, more="[verdicts]\nupgrade = 'note'\n")
    bench.shows(NEW)
    with bench.hosts() as host:
        assert listed_after_the_look_up(host) == names(NEW)
        assert host.end() == 0
    assert "pinned to version 2.0.0, sequence 2" in host.said
    assert bench.entries == [(SERVER, "2.0.0")]
    bench.shows(OLD)
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        host.wait_said("(rollback)")
        assert host.end() == 0


def test_an_older_signed_version_is_a_rollback(bench: Bench, sqlite_registry: RunningRegistry) -> None:
    new = bench.signed("2.0.0", NEW)
    bench.publish(sqlite_registry, bench.signed("1.0.0", OLD), new)
    bench.pin(new)
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        host.wait_said("tool echo (rollback)")
        assert host.call("echo")[0]
        assert host.end() == 0
    assert bench.entries == [(SERVER, "2.0.0")]


# A registry that does not answer


@contextmanager
def web(answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[tuple[str, list[str]]]:
    """An HTTP server: its URL, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def login_page(request: http.server.BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    request.wfile.write(b"<html>Log in first</html>")


@contextmanager
def silent_registry() -> Iterator[str]:
    """The URL of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def down_registry() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def html_registry() -> Iterator[str]:
    with web(login_page) as (url, _):
        yield url


@pytest.mark.parametrize(
    ("registry", "why"),
    [
        (down_registry, "registry-unreachable"),
        (html_registry, "registry-answer"),
        (silent_registry, "registry-unreachable"),
    ],
    ids=["down", "html", "slow"],
)
def test_while_a_registry_does_not_answer_what_is_pinned_works_and_what_is_new_is_blocked(
    bench: Bench, registry: Any, why: str
) -> None:
    bench.trust(None)
    bench.pin(bench.signed("1.0.0", OLD))
    bench.shows([*NEW, scripted.tool("more", "More.", text="string")])
    with registry() as url, bench.hosts("--registry", url) as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        assert not host.call("add")[0]
        assert host.call("echo")[0]
        said = host.wait_said("(changed)")
        assert host.tools() == ["add", "read_file"]
        assert not host.call("add")[0]
        assert host.call("echo")[0]
        assert host.call("more")[0]
        assert host.end() == 0
    assert f"no newer version is known: {url}" in said
    assert f"({why}) [look-up]" in said


@pytest.mark.parametrize("options", [(), ("--offline",)])
def test_a_registry_is_asked_only_where_something_unknown_shows_and_never_offline(
    bench: Bench, options: tuple[str, ...]
) -> None:
    with web(login_page) as (url, asked):
        bench.trust(url)
        bench.pin(bench.signed("1.0.0", OLD))
        with bench.hosts(*options) as host:
            host.shake_hands()
            assert host.tools() == names(OLD)
            assert not host.call("echo")[0]
            assert host.end() == 0
        assert host.said == ""
        assert asked == []
        bench.shows(NEW)
        with bench.hosts(*options) as host:
            host.shake_hands()
            assert host.tools() == ["add", "read_file"]
            said = host.wait_said("tool echo (changed)")
            assert host.end() == 0
        assert ("[look-up]" in said) is not bool(options)
        assert bool(asked) is not bool(options)


def test_for_a_server_that_was_pinned_without_a_signature_nobody_is_asked(bench: Bench) -> None:
    with web(login_page) as (url, asked):
        bench.trust(url)
        project = bench.project()
        pin_surface(surface(OLD), server=SERVER, launch=bench.launch).apply(project)
        bench.shows(NEW)
        with bench.hosts() as host:
            host.shake_hands()
            assert host.tools() == ["add", "read_file"]
            host.wait_said("tool echo (changed)")
            assert host.end() == 0
        assert asked == []


@pytest.mark.parametrize("url", ["ftp://r.example", "https://user:hunter2@r.example"])
def test_a_registry_that_is_none_is_told_and_nothing_else_suffers(bench: Bench, url: str) -> None:
    bench.trust(None)
    bench.pin(bench.signed("1.0.0", OLD))
    bench.shows(NEW)
    with bench.hosts("--registry", url) as host:
        host.shake_hands()
        assert host.tools() == ["add", "read_file"]
        host.wait_said("(registry-url) [look-up]")
        assert not host.call("add")[0]
        assert host.end() == 0
    assert "hunter2" not in host.said
