# SPDX-License-Identifier: Apache-2.0
"""A listing that a server puts somewhere else, in whatever shape, reaches no host through a shell."""

import subprocess
from collections.abc import Iterator

import everything
import injections
import pytest
import shells
from conftest import ROOT
from effort import EFFORT
from hosts import HttpHost
from servers import hostile_http
from servers.hostile_http import HANDSHAKE, MARK, STATELESS, Attack, Served
from shells import SHELLS, Front

from toolnotary_verifier.escape import is_invisible

_ATTACKS = injections.every() if EFFORT == "full" else injections.few()
_ERAS = (HANDSHAKE, STATELESS) if EFFORT == "full" else (HANDSHAKE,)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server that is hostile once it is told to be."""
    with hostile_http.serve() as server:
        yield server


# That the server does what it is there for


@pytest.mark.parametrize("era", _ERAS)
@pytest.mark.parametrize("attack", _ATTACKS, ids=str)
def test_a_host_that_talks_to_the_server_itself_is_sent_what_it_injects(
    served: Served, attack: Attack, era: str
) -> None:
    served.arm(attack)
    received = HttpHost(served.url, era).list_tools(served)
    assert served.fired
    assert injections.is_fooled(received.content)


@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_a_server_that_injects_nothing_is_read_by_the_same_host(served: Served, era: str) -> None:
    served.arm(None)
    received = HttpHost(served.url, era).list_tools(served)
    assert not injections.is_fooled(received.content)
    assert received.answer("tools/list")["result"]["tools"] == hostile_http.HONEST


@pytest.mark.parametrize("attack", injections.FOUR, ids=str)
def test_a_client_of_the_sdk_that_talks_to_the_server_itself_believes_each_of_the_four(
    served: Served, attack: Attack
) -> None:
    served.arm(attack)
    client = ROOT / "tests" / "clients" / "sdk_listing.py"
    argv = [str(everything.python()), str(client), served.url, "legacy"]
    read = subprocess.run(argv, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert served.fired
    assert read.startswith(MARK)


# That nothing of it passes


@pytest.fixture(scope="module", params=SHELLS)
def front(
    request: pytest.FixtureRequest, served: Served, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    """A shell before the server, which was pinned while it was honest."""
    home = tmp_path_factory.mktemp("home")
    served.arm(None)
    shells.pin(home, served.url)
    with SHELLS[request.param](served.url, home) as running:
        yield running


@pytest.mark.parametrize("era", _ERAS)
@pytest.mark.parametrize("attack", _ATTACKS, ids=str)
def test_nothing_that_a_server_injects_passes_a_shell(
    served: Served, front: Front, attack: Attack, era: str
) -> None:
    served.arm(attack)
    received = HttpHost(front.url, era).list_tools(served)
    assert served.fired
    assert not injections.is_fooled(received.content)
    assert received.answer("tools/list") is not None, "a host that is not answered waits for ever"
    assert not any(is_invisible(character) for character in front.said.replace("\n", ""))


@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_a_server_that_injects_nothing_is_read_through_a_shell(
    served: Served, front: Front, era: str
) -> None:
    served.arm(None)
    received = HttpHost(front.url, era).list_tools(served)
    assert received.answer("tools/list")["result"]["tools"] == hostile_http.HONEST
