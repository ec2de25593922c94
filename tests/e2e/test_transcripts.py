# SPDX-License-Identifier: Apache-2.0
"""A host reads through each shell what it reads without it, message by message, on every stream."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import everything
import proxybench
import pytest
import shells
from links import HttpLink, Link, StdioLink, Transcript
from proxybench import Wire
from servers.hostile_http import HANDSHAKE
from shells import SHELLS, Front
from transcripts import CHANGED, NOTIFIED, SESSIONS, told

Json = Any
# A result that has one of these says what the server shows.
_SHOWN = {"serverInfo", "tools", "prompts", "resources", "resourceTemplates"}


def held(link: Link, era: str) -> tuple[Transcript, list[str]]:
    """What was read in a session over this link, and that all was there."""
    SESSIONS[era](link)
    kept, changes = told(link.transcript)
    read = [message for stream in kept.values() for message in stream]
    assert {message["method"] for message in read if "method" in message} == NOTIFIED[era]
    assert len(read) > 25
    assert changes == CHANGED
    return kept, changes


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The URL of an everything-server."""
    with everything.serving() as url:
        yield url


def over_pipes(argv: list[str], era: str, *, save: Path | None = None) -> tuple[Transcript, list[str]]:
    """What was read in a session with this command, which has nothing to say beside; save what it lists."""
    with Wire(argv) as wire:
        link = StdioLink(wire)
        read = held(link, era)
        wire.end()
        assert wire.said == ""
    if save is not None:
        results = [message["result"] for message in link.transcript["stdout"] if "result" in message]
        shown = [one for one in results if one.keys() & _SHOWN]
        save.write_text(json.dumps(shown), encoding="utf-8")
    return read


def over_http(url: str, era: str) -> tuple[Transcript, list[str]]:
    """What was read in a session at this URL."""
    with HttpLink(url, era) as link:
        return held(link, era)


def test_over_pipes_a_host_reads_through_the_proxy_what_it_reads_without_it(tmp_path: Path) -> None:
    argv = everything.command("--stdio")
    listing = tmp_path / "listing.json"
    direct = {era: over_pipes(argv, era, save=listing if era == HANDSHAKE else None) for era in SESSIONS}
    shells.pin(Path(os.environ["TOOLNOTARY_HOME"]), str(listing), "--", *argv)
    assert {era: over_pipes(proxybench.run(argv), era) for era in SESSIONS} == direct


@pytest.mark.parametrize("era", SESSIONS)
def test_a_session_over_http_reads_the_same_each_time(served: str, era: str) -> None:
    assert over_http(served, era) == over_http(served, era)


@pytest.fixture(scope="module", params=SHELLS)
def front(
    request: pytest.FixtureRequest, served: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    """A shell before the server, which is pinned."""
    home = tmp_path_factory.mktemp("home")
    shells.pin(home, served)
    with SHELLS[request.param](served, home) as running:
        yield running


@pytest.mark.parametrize("era", SESSIONS)
def test_over_http_a_host_reads_through_a_shell_what_it_reads_without_it(
    served: str, front: Front, era: str
) -> None:
    assert over_http(front.url, era) == over_http(served, era)
    assert front.said == ""
