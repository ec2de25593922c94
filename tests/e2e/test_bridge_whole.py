# SPDX-License-Identifier: Apache-2.0
"""Behind the bridge a host reads what the server says to hosts that speak HTTP, and no injection."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import everything
import injections
import pytest
import shells
from bridged import META, bridge
from effort import EFFORT
from links import HttpLink, Link, StdioLink, Transcript
from proxybench import Wire
from servers import hostile_http
from servers.hostile_http import GUESSED, HANDSHAKE, STATELESS, Attack, Served
from transcripts import SESSIONS, told

Json = Any
_ATTACKS = injections.every() if EFFORT == "full" else injections.few()
_ERAS = (HANDSHAKE, STATELESS) if EFFORT == "full" else (HANDSHAKE,)


def held(link: Link, era: str) -> tuple[Transcript, list[str]]:
    """What was read in a whole session over this link."""
    SESSIONS[era](link)
    return told(link.transcript)


def is_within(part: list[Json], whole: list[Json]) -> bool:
    """Whether these messages stand in the others, in this order."""
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a host's bridge."""
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    return tmp_path


@pytest.mark.parametrize("era", SESSIONS)
def test_a_whole_session_is_read_message_by_message_in_the_order_of_each_stream(home: Path, era: str) -> None:
    with everything.serving() as url:
        shells.pin(home, url)
        with HttpLink(url, era) as direct:
            expected, changes = held(direct, era)
        with Wire(bridge(url)) as wire:
            link = StdioLink(wire)
            read, bridged_changes = held(link, era)
            assert wire.end() == 0
            assert wire.said == ""
    assert bridged_changes == changes
    for stream, messages in expected.items():
        assert is_within(messages, read["stdout"]), stream
    assert len(read["stdout"]) == sum(map(len, expected.values()))


# A host that lists through one bridge again and again


class PipeHost:
    """Lists the tools of a hostile server over pipes; starts the bridge again where it has ended."""

    def __init__(self, url: str, home: Path) -> None:
        self._argv = bridge(url, "--lockfile", str(home / "toolnotary.lock"))
        self._environment = {**os.environ, "TOOLNOTARY_HOME": str(home)}
        self._wire: Wire | None = None

    def close(self) -> None:
        """End the bridge."""
        if self._wire is not None:
            self._wire.__exit__()
            self._wire = None

    def list_tools(self, served: Served, era: str) -> tuple[bytes, Json]:
        """All that is read, and the answer to the listing."""
        if self._wire is None:
            self._wire = Wire(self._argv, environment=self._environment)
        wire, before = self._wire, len(self._wire.frames)
        self._open(era)
        self._send(era, GUESSED, "tools/list")
        served.listed.wait(shells.DEADLINE)
        ref = {"type": "ref/prompt", "name": "p"}
        other = {"ref": ref, "argument": {"name": "a", "value": ""}}
        self._send(era, 8, "completion/complete" if era == STATELESS else "ping", other)
        answers: dict[Json, Json] = {}
        while answers.keys() != {GUESSED, 8}:
            line = wire.line()
            assert line is not None, wire.said
            message = json.loads(line)
            if isinstance(message, dict) and "method" not in message and message.get("id") in (GUESSED, 8):
                assert message["id"] not in answers, "answered twice"
                answers[message["id"]] = message
            if GUESSED in answers:  # what else may come for the other request has come, or never will
                served.end_streams()
        read = b"".join(wire.frames[before:])
        if b"has forgotten this session" in read:
            assert wire.ended() == 3
            self.close()
        return read, answers[GUESSED]

    def _open(self, era: str) -> None:
        assert self._wire is not None
        if era == STATELESS:
            self._send(era, 2, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            return
        about = {"clientInfo": {"name": "host", "version": "1"}, "capabilities": {}}
        self._wire.ask(1, "initialize", {"protocolVersion": HANDSHAKE, **about})
        self._wire.send("notifications/initialized")

    def _send(self, era: str, request_id: Json, method: str, params: Json = None) -> None:
        assert self._wire is not None
        meta = {"_meta": META} if era == STATELESS else {}
        self._wire.send(method, {**(params or {}), **meta}, id=request_id)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server that is hostile once it is told to be."""
    with hostile_http.serve() as server:
        yield server


@pytest.fixture(scope="module")
def host(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipeHost]:
    """A host that has pinned the server while it was honest."""
    home = tmp_path_factory.mktemp("home")
    served.arm(None)
    shells.pin(home, served.url)
    one = PipeHost(served.url, home)
    yield one
    one.close()


@pytest.mark.parametrize("era", _ERAS)
@pytest.mark.parametrize("attack", _ATTACKS, ids=str)
def test_nothing_that_a_server_injects_reaches_the_pipe(
    served: Served, host: PipeHost, attack: Attack, era: str
) -> None:
    served.arm(attack)
    read, _ = host.list_tools(served, era)
    assert served.fired
    assert not injections.is_fooled(read)
    assert all(isinstance(json.loads(line), dict | list) for line in read.splitlines())


@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_a_server_that_injects_nothing_is_listed(served: Served, host: PipeHost, era: str) -> None:
    served.arm(None)
    _, listed = host.list_tools(served, era)
    assert listed["result"]["tools"] == hostile_http.HONEST
