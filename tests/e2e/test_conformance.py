# SPDX-License-Identifier: Apache-2.0
"""The public conformance suite finds in a server behind the proxy what it finds in the server itself."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import conformance
import everything
import pytest
import shells
from conformance import RELEASED, SESSIONS, STATELESS, SUITES, Found, Suite
from conftest import ROOT
from effort import EFFORT
from shells import SHELLS, Front

# One of each kind: session, stream, request of the server, result of the stateless era, headers, refusal.
_FEW = {
    RELEASED: ("tools-call-with-progress", "tools-call-elicitation"),
    SESSIONS: ("server-sse-polling", "server-sse-multiple-streams"),
    STATELESS: ("server-stateless", "http-header-validation"),
}
# How many checks each must at least have passed, so that a suite that looks at nothing is noticed.
_ALL = {RELEASED: 40, SESSIONS: 84, STATELESS: 152}
_SCENARIOS = [
    (suite, scenario) for suite in SUITES for scenario in ((None,) if EFFORT == "full" else _FEW[suite])
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of an everything-server."""
    with everything.serving() as url:
        yield url


@pytest.fixture(scope="module", params=SHELLS)
def front(
    request: pytest.FixtureRequest, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    """A shell before the server, which is pinned."""
    home = tmp_path_factory.mktemp("home")
    shells.pin(home, server)
    with SHELLS[request.param](server, home) as running:
        yield running


@pytest.fixture(scope="module")
def direct(server: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Suite, str | None], Found]:
    """What the suite finds in the server itself; it looks once."""

    @cache
    def find(suite: Suite, scenario: str | None) -> Found:
        return suite.server(server, tmp_path_factory.mktemp("direct") / "found", scenario)

    return find


@pytest.mark.parametrize(("suite", "scenario"), _SCENARIOS, ids=str)
def test_the_everything_server_passes_every_check(
    suite: Suite, scenario: str | None, direct: Callable[[Suite, str | None], Found]
) -> None:
    found = direct(suite, scenario)
    counted = conformance.count(found)
    assert counted.keys() <= {"SUCCESS"}, found
    assert counted["SUCCESS"] >= (1 if scenario else _ALL[suite])


@pytest.mark.parametrize(("suite", "scenario"), _SCENARIOS, ids=str)
def test_behind_a_shell_every_check_has_the_same_outcome(
    suite: Suite,
    scenario: str | None,
    direct: Callable[[Suite, str | None], Found],
    front: Front,
    tmp_path: Path,
) -> None:
    assert suite.server(front.url, tmp_path / "through", scenario) == direct(suite, scenario)


# Clients

_CLIENT_FEW = [(SESSIONS, "tools_call"), (SESSIONS, "auth/metadata-default"), (STATELESS, "auth/basic-cimd")]
_CLIENT_ALL = [
    *_CLIENT_FEW,
    *(
        (SESSIONS, scenario)
        for scenario in ("initialize", "sse-retry", "auth/metadata-var1", "auth/basic-cimd")
    ),
    *((STATELESS, scenario) for scenario in ("tools_call", "request-metadata", "auth/resource-mismatch")),
    *((SESSIONS, f"auth/metadata-var{number}") for number in (2, 3)),
    *(
        (SESSIONS, f"auth/scope-{scenario}")
        for scenario in ("from-www-authenticate", "omitted-when-undefined")
    ),
    *((STATELESS, f"auth/iss-{scenario}") for scenario in ("supported", "wrong-issuer")),
    (STATELESS, "auth/metadata-issuer-mismatch"),
    *((STATELESS, f"auth/offline-access-{scenario}") for scenario in ("scope", "not-supported")),
]


@pytest.mark.parametrize(("suite", "scenario"), _CLIENT_ALL if EFFORT == "full" else _CLIENT_FEW, ids=str)
def test_a_client_behind_the_transport_for_httpx2_passes_as_it_does_without_it(
    suite: Suite, scenario: str, tmp_path: Path
) -> None:
    program = ROOT / "tests" / "clients" / "conformance_host.py"
    command = f"{everything.python()} {program}"
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    variables = {"CONFORMANCE_LISTING": str(tmp_path / "listing.json"), "TOOLNOTARY_HOME": str(home)}
    direct = suite.client(command, tmp_path / "direct", scenario, variables)
    assert conformance.count(direct)["SUCCESS"] >= 1
    variables["CONFORMANCE_GUARDED"] = "yes"
    through = suite.client(command, tmp_path / "through", scenario, variables)
    # How often a check was made does not count: a listing of ours is one more request that bears a token.
    assert {name: set(checks) for name, checks in through.items()} == {
        name: set(checks) for name, checks in direct.items()
    }
