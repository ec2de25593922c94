# SPDX-License-Identifier: Apache-2.0
"""Hosts that sign in by OAuth go on doing so behind the transport for httpx, in both majors of the SDK."""

from typing import Any

import pytest
import sdk
from proxybench import SERVER
from servers import http_server, oauth
from servers.http_server import POISONED, TOOLS

Json = Any


@pytest.mark.parametrize("answer", ["json", "sse"])
@pytest.mark.parametrize("sessions", [True, False], ids=["sessions", "no-sessions"])
@pytest.mark.parametrize("major", sdk.majors())
def test_a_host_signs_in_and_signs_in_again_and_a_rug_pull_in_between_is_blocked(
    major: str, sessions: bool, answer: str
) -> None:
    changed = [TOOLS[0], *POISONED]
    with oauth.protected(calls=True, later=changed, sessions=sessions, answer=answer) as running:
        token = running.server.script.pop("token")
        sdk.pin(running.server.url)
        running.server.script["token"] = token
        read, said = sdk.told(major, "oauth_host.py", {"server": SERVER, "url": running.server.url})
    assert read["listed"] == [["add", "echo"], ["add"]]
    assert read["called"][0] == [False, "called"]
    assert read["called"][1][0]
    assert "toolnotary explain" in read["called"][1][1]
    assert read["left"] == []
    assert running.tokens == 2
    assert "withheld tool echo (changed)" in said
    # Our own requests had the token of the caller whose call they were for.
    listings = [r for r in running.server.requests if (r.message or {}).get("method") == "tools/list"]
    assert {"Bearer token-1", "Bearer token-2"} <= {r.headers.get("authorization") for r in listings}


@pytest.mark.parametrize("major", sdk.majors())
def test_without_the_guard_the_same_host_signs_in_as_often_and_is_fooled(major: str) -> None:
    with oauth.protected(calls=True, later=[TOOLS[0], *POISONED]) as running:
        plan = {"server": SERVER, "url": running.server.url, "direct": True}
        read, _ = sdk.told(major, "oauth_host.py", plan)
    assert read["listed"] == [["add", "echo"], ["add", "echo"]]
    assert read["called"] == [[False, "called"]] * 2
    assert running.tokens == 2


def test_metadata_of_another_resource_is_refused_by_the_host_as_it_is_without_us() -> None:
    """What a gateway cannot help: see the table in docs/reference/gateway.md."""
    with oauth.protected() as running, http_server.serve(token="x") as other:
        other.script["challenge"] = running.server.script["challenge"]
        with pytest.raises(AssertionError, match="does not match expected"):
            sdk.told("mcp2", "oauth_host.py", {"server": SERVER, "url": other.url})
