# SPDX-License-Identifier: Apache-2.0
"""What a registry offers explains a change only where its signature counts; whatever keeps it out is told."""

import os
from pathlib import Path

import forge
import pytest
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from servers.publisher import SERVER, Publisher
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.manifest import Artifact, Profile, UnnamedManifest

__all__ = ["bench", "sqlite_registry"]

LAUNCH = ["npx", "-y", "@acme/weather"]


class Market:
    """A registry in which two publishers may publish one name, and a policy that names the first of them."""

    def __init__(self, bench: Bench, registry: RunningRegistry) -> None:
        self._bench = bench
        self._registry = registry
        self.known, self.stranger = Publisher(), Publisher()
        for publisher in (self.known, self.stranger):
            registry.claim(publisher)
        self.trust(registry.url)

    def trust(self, url: str) -> None:
        """A personal policy that names the registry at this URL."""
        key = self.known.pem.decode()
        text = f'[registry]\nurl = "{url}"\n[[signers]]\nservers = "io.github.acme/*"\nkey = """\n{key}"""\n'
        (Path(os.environ["TOOLNOTARY_HOME"]) / "toolnotary.toml").write_text(text, encoding="utf-8")

    def publish(self, publisher: Publisher, number: int, *tools: dict[str, object]) -> None:
        """A version with these tools, `N.0.0` with the sequence N."""
        surface = forge.surface(*tools)
        built = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
        package = [Artifact("pkg:npm/%40acme/weather@1.0.0")]
        made = built.named(server=SERVER, version=f"{number}.0.0", artifacts=package)
        release = publisher.sign(made, sequence=number)
        Registry(self._registry.url).publish(release.manifest, release.bundle)

    def check(self, *tools: dict[str, object]) -> tuple[dict[str, str], str]:
        """The verdict of each tool that is shown, and what was told beside."""
        listing = self._bench.listing(*tools)
        _, result = self._bench.json("check", listing, "--server", SERVER)
        told = self._bench.run("check", listing, "--server", SERVER)[2]
        return {one["name"]: one["reason"] for one in result["servers"][0]["verdicts"]}, told


@pytest.fixture
def market(bench: Bench, sqlite_registry: RunningRegistry) -> Market:
    """A server that is pinned to a signed version with the tool `find`."""
    made = Market(bench, sqlite_registry)
    made.publish(made.known, 1, FIND)
    assert bench.run("lock", f"{SERVER}@1.0.0", "--yes", "--", *LAUNCH)[0] == 0
    return made


def test_a_newer_version_that_the_publisher_signed_is_an_upgrade(market: Market) -> None:
    market.publish(market.known, 2, FIND, LOSE)
    assert market.check(FIND, LOSE) == ({"find": "verified", "lose": "upgrade"}, "")


def test_a_version_that_somebody_else_signed_explains_nothing_and_is_told(market: Market) -> None:
    market.publish(market.stranger, 2, POISONED)
    found, told = market.check(POISONED)
    assert found == {"find": "changed"}
    assert f"{SERVER}@2.0.0 does not count: unknown-key: " in told


def test_beside_a_version_that_does_not_count_those_that_do_are_seen(market: Market) -> None:
    market.publish(market.known, 2, FIND, LOSE)
    market.publish(market.stranger, 3, POISONED)
    found, told = market.check(FIND, LOSE)
    assert found == {"find": "verified", "lose": "upgrade"}
    assert f"{SERVER}@3.0.0 does not count: unknown-key: " in told


def test_a_registry_that_cannot_be_reached_leaves_what_is_pinned_working_and_the_rest_blocked(
    market: Market,
) -> None:
    market.trust("http://127.0.0.1:9")
    assert market.check(FIND) == ({"find": "verified"}, ""), "nothing was to be asked"
    found, told = market.check(FIND, LOSE)
    assert found == {"find": "verified", "lose": "added"}
    assert "no newer version is known: registry-unreachable: " in told


@pytest.mark.usefixtures("market")
def test_a_registry_that_knows_nothing_of_the_server_is_told(bench: Bench) -> None:
    code, _, err = bench.run("check", bench.listing(FIND), "--server", "io.github.acme/unheard")
    assert code == 1
    assert "no newer version is known: not-in-registry: " in err


def test_a_name_that_nobody_may_sign_for_is_not_looked_up(market: Market, bench: Bench) -> None:
    market.trust("http://127.0.0.1:9")
    for name in ("files", "io.github.somebody/else"):
        code, _, err = bench.run("check", bench.listing(FIND), "--server", name)
        assert (code, err) == (1, "")
