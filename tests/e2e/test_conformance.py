# SPDX-License-Identifier: Apache-2.0
"""The public conformance suite finds in a server behind the proxy what it finds in the server itself."""

from collections.abc import Iterator
from pathlib import Path

import conformance
import everything
import pytest
from conformance import RELEASED, SESSIONS, STATELESS, SUITES, Suite
from effort import EFFORT

# One of each kind: session, stream, request of the server, result of the stateless era, headers, refusal.
_FEW = {
    RELEASED: ("tools-call-with-progress", "tools-call-elicitation"),
    SESSIONS: ("server-sse-polling", "server-session-lifecycle"),
    STATELESS: ("server-stateless", "http-custom-header-server-validation"),
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


@pytest.mark.parametrize(("suite", "scenario"), _SCENARIOS, ids=str)
def test_the_everything_server_passes_every_check(
    suite: Suite, scenario: str | None, server: str, tmp_path: Path
) -> None:
    found = suite.server(server, tmp_path / "direct", scenario)
    counted = conformance.count(found)
    assert counted.keys() <= {"SUCCESS"}, found
    assert counted["SUCCESS"] >= (1 if scenario else _ALL[suite])
