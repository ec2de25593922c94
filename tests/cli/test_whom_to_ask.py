# SPDX-License-Identifier: Apache-2.0
"""`--offline` opens no socket, and `--registry` goes before the registry that a policy names."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import forge
import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench
from servers.http_server import Served, serve
from servers.publisher import SERVER, Publisher

from toolnotary_verifier.manifest import Profile, UnnamedManifest

__all__ = ["bench"]


@pytest.fixture(autouse=True)
def signed(bench: Bench) -> Publisher:
    """A publisher whom the personal policy names, a release in two files, and what was captured for it."""
    publisher = Publisher()
    surface = forge.surface(FIND, LOSE)
    built = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
    release = publisher.sign(built.named(server=SERVER, version="1.0.0"), sequence=1)
    Path("captured.json").write_bytes(built.canonical)
    Path("w.json").write_bytes(release.manifest)
    Path("w.bundle").write_bytes(release.bundle)
    Path("w.pub").write_bytes(publisher.pem)
    bench.listing(FIND, LOSE, name="same.json")
    bench.listing(POISONED, LOSE, name="other.json")
    return publisher


def policy(publisher: Publisher, *, registry: str | None = None) -> None:
    """The personal policy."""
    rule = f'[[signers]]\nservers = "*"\nkey = """\n{publisher.pem.decode()}"""\n'
    named = "" if registry is None else f'[registry]\nurl = "{registry}"\n'
    (Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.toml").write_text(named + rule, encoding="utf-8")


# A server behind a URL.


@pytest.fixture
def web(bench: Bench) -> Iterator[Served]:
    """A server behind a URL, pinned as `web`."""
    with serve(tools=[FIND, LOSE]) as served:
        locked = bench.at_terminal("lock", "--server", "web", served.url, answers=YES)
        assert locked.code == 0, locked.shown
        served.requests.clear()
        yield served


@pytest.mark.parametrize(
    "words",
    [
        "check URL",
        "check --start --server web",
        "lock --server new --yes URL",
        "approve web URL",
        "verify w.json w.bundle --key w.pub URL",
        "diff same.json URL",
    ],
)
def test_offline_asks_no_server(bench: Bench, web: Served, words: str) -> None:
    arguments = words.replace("URL", web.url).split()
    code, out, err = bench.run(*arguments, "--offline")
    assert (code, "offline" in out + err) == (3, True)
    assert web.requests == []
    bench.run(*arguments)
    assert "tools/list" in web.calls()


def test_a_pinned_url_is_asked_where_start_says_so_and_judged(bench: Bench, web: Served) -> None:
    code, _, err = bench.run("check", "--start")
    assert code == 0
    assert f"asking web: {web.url}" in err
    web.script["tools"] = [POISONED, LOSE]
    code, result = bench.json("check", "--start")
    assert (code, result["servers"][0]["counts"]) == (1, {"changed": 1, "verified": 2}), (
        "the instructions are as pinned"
    )


def test_a_pinned_url_is_not_asked_unless_start_says_so(bench: Bench, web: Served) -> None:
    code, result = bench.json("check")
    assert (code, result["servers"][0]["error"]["code"]) == (3, "not-started")
    assert web.requests == []


def test_a_saved_listing_of_a_pinned_url_is_reviewed_and_accepted_without_asking_it(
    bench: Bench, web: Served
) -> None:
    accepted = bench.at_terminal("approve", "web", "other.json", answers=YES)
    assert accepted.code == 0, accepted.shown
    assert POISONED["description"].split(". ")[1] in accepted.shown
    assert bench.run("check", "other.json", "--server", "web")[0] == 0
    assert web.requests == []


def test_a_url_whose_record_leaves_out_a_secret_is_not_asked_without_it(bench: Bench) -> None:
    with serve(tools=[FIND]) as served:
        url = f"{served.url}/kAnary0Secret1Value2Xy3Long9Word"
        assert bench.at_terminal("lock", "--server", "web", url, answers=YES).code == 0
        served.requests.clear()
        code, result = bench.json("check", "--start")
        assert (code, result["servers"][0]["error"]["code"]) == (3, "launch-masked")
        assert served.requests == []
        assert bench.run("check", url)[0] == 0
        assert served.requests


# A registry.

ASKING = {
    "check": f"check other.json --server {SERVER}",
    "check a version": f"check {SERVER}@1.0.0 --server files",
    "approve": f"approve {SERVER} other.json",
    "lock": f"lock {SERVER}@1.0.0 -- npx -y @acme/weather",
    "verify": f"verify w.json w.bundle {SERVER}@1.0.0",
    "diff": f"diff {SERVER}@1.0.0 same.json",
    "publish": "publish w.json w.bundle",
    "sign": f"sign captured.json --key w.pub --server {SERVER} --version 1",
}
asking = pytest.mark.parametrize("words", ASKING.values(), ids=ASKING)


@pytest.fixture
def pinned(bench: Bench) -> None:
    """What nobody signed is pinned under a name that somebody may sign for."""
    bench.pin(SERVER)


def run(bench: Bench, words: str, *options: str) -> tuple[int, str, str]:
    """A command with these options more."""
    before, dashes, behind = words.partition(" -- ")
    return bench.run(*shlex.split(before), *options, *(["--", *shlex.split(behind)] if dashes else []))


@asking
@pytest.mark.usefixtures("pinned")
def test_offline_asks_no_registry(bench: Bench, signed: Publisher, words: str) -> None:
    with serve(move="error-500") as registry:
        base = registry.url.removesuffix("/mcp")
        policy(signed, registry=base)
        run(bench, words, "--registry", base, "--offline")
        run(bench, words, "--offline")
        assert registry.requests == []
        run(bench, words)
        assert registry.requests, "else the first half of this test says nothing"


@asking
@pytest.mark.usefixtures("pinned")
def test_the_registry_that_is_named_is_asked_and_not_that_of_the_policy(
    bench: Bench, signed: Publisher, words: str
) -> None:
    with serve(move="error-500") as named, serve(move="error-500") as usual:
        policy(signed, registry=usual.url.removesuffix("/mcp"))
        run(bench, words, "--registry", named.url.removesuffix("/mcp"))
        assert (bool(named.requests), bool(usual.requests)) == (True, False)
        run(bench, words)
        assert usual.requests
