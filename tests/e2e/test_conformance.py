# SPDX-License-Identifier: Apache-2.0
"""The public conformance suite finds in a server behind the proxy what it finds in the server itself."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import conformance
import everything
import pytest
import sdk
import shells
from conformance import RELEASED, SESSIONS, STATELESS, SUITES, Found, Suite
from effort import EFFORT
from shells import SHELLS, Front

# One of each kind: session, stream, request of the server, result of the stateless era, headers, refusal.
_FEW = {
    RELEASED: ("tools-call-elicitation",),
    SESSIONS: ("server-sse-polling",),
    STATELESS: ("server-stateless",),
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

_CLIENTS: list[tuple[str, Suite, str | None]] = [
    ("mcp1", SESSIONS, "tools_call"),
    ("mcp2", STATELESS, "auth/basic-cimd"),
]
if EFFORT == "full":
    _CLIENTS = [("mcp1", SESSIONS, None), ("mcp2", SESSIONS, None), ("mcp2", STATELESS, None)]
# As above; of each scenario there are several.
_ALL_OF_CLIENTS = {SESSIONS: 240, STATELESS: 400}
# What 1.x itself gets wrong: it names the resource by the URL that it dialled.
_NOT_PASSED = {"mcp1": {"resource-parameter-matches-prm"}, "mcp2": set()}
# After a step-up there is another authorization, and what it is shown is listed for itself: one more token.
_MORE = {"http": {("auth/scope-step-up", "valid-bearer-token"): 1}}
Tested = Callable[[str, str, Suite, str | None], Found]


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tested]:
    """What the suite finds in a client on this major of the SDK behind this guard; once for each."""
    with contextlib.ExitStack() as stack:
        folder = tmp_path_factory.mktemp("clients")

        @cache
        def started(major: str) -> str:
            return stack.enter_context(sdk.forking(major, "conformance_host.py", folder / major))

        @cache
        def find(major: str, guard: str, suite: Suite, scenario: str | None) -> Found:
            own = folder / f"{major} {suite} {scenario or 'all'}".replace("/", " ")
            own.mkdir(exist_ok=True)
            variables = {"CONFORMANCE_GUARD": guard, "CONFORMANCE_FOLDER": str(own)}
            return suite.client(started(major), own / f"found {guard}", scenario, variables)

        yield find


@pytest.mark.parametrize(("major", "suite", "scenario"), _CLIENTS, ids=str)
def test_the_client_of_the_suite_passes_every_check_that_its_sdk_passes(
    major: str, suite: Suite, scenario: str | None, tested: Tested
) -> None:
    direct = tested(major, "direct", suite, scenario)
    failed = {name for checks in direct.values() for name, status in checks if status == "FAILURE"}
    assert failed <= _NOT_PASSED[major]
    assert conformance.count(direct)["SUCCESS"] >= (1 if scenario else _ALL_OF_CLIENTS[suite])


@pytest.mark.parametrize("guard", ["http", "sdk"])
@pytest.mark.parametrize(("major", "suite", "scenario"), _CLIENTS, ids=str)
def test_behind_a_transport_in_its_process_a_client_passes_as_it_does_without_it(
    major: str, suite: Suite, scenario: str | None, guard: str, tested: Tested
) -> None:
    direct = tested(major, "direct", suite, scenario)
    through = tested(major, guard, suite, scenario)
    assert through.keys() == direct.keys()
    more = {
        (name, check[0]): number
        for name, checks in through.items()
        for check, number in (Counter(checks) - Counter(direct[name])).items()
    }
    assert not any(Counter(checks) - Counter(through[name]) for name, checks in direct.items())
    allowed = _MORE.get(guard, {})
    assert more == {key: number for key, number in allowed.items() if key[0] in direct}
