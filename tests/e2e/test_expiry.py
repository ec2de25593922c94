# SPDX-License-Identifier: Apache-2.0
"""What can expire, while a connection is open or before it: what is pinned goes on, and nothing else begins.

| what | after its end | where |
|---|---|---|
| a statement (`expiresAt`) | its pin stays; it is accepted nowhere else | here |
| the certificate of a registry | as without a registry | here |
| the certificate of a server behind HTTP | nothing passes: it may be another server | here |
| a break-glass | withheld again | test_break_glass.py, test_gateway.py |
| a verified list (`timeouts.reverify`) | listed again before it is used | tests/verifier/test_gate_time.py |
| a question in the host | no answer to it counts | tests/verifier/test_gate_elicitation.py |
| a token of a host | the host signs in; a list is verified anew | test_oauth.py |
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import bridged
import pytest
import shells
from guards import MORE, NAMES, TOOLS, home
from links import HttpLink
from proxybench import Wire
from servers import http_server
from servers.certificate import self_signed
from servers.hostile_http import HANDSHAKE
from servers.registry import serving
from signed_servers import Bench
from transcripts import Session

from toolnotary_registry_api.settings import Settings

_THEN = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def expired(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that was good until yesterday, and its key."""
    return self_signed(tmp_path, until=datetime.now(UTC) - timedelta(days=1))


def test_a_statement_that_expires_while_a_connection_is_open_stays_pinned_there_and_in_the_next_one(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.trust(None)
    bench.shows(TOOLS)
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    bench.pin(bench.signed("1.0.0", TOOLS, at=end - timedelta(hours=1), expires_at=end))
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools("before") == NAMES
        while datetime.now(UTC) <= end:
            assert not host.call("echo")[0]
        assert host.tools("after") == NAMES
        assert not host.call("echo")[0]
        assert host.end() == 0
    with bench.hosts() as host:
        host.shake_hands()
        assert host.tools() == NAMES
        assert host.end() == 0


def test_a_statement_that_has_expired_in_the_registry_pins_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.shows(TOOLS)
    with serving(Settings(database=f"sqlite:///{tmp_path / 'registry.sqlite'}"), now=_THEN) as running:
        bench.publish(running, bench.signed("1.0.0", TOOLS, at=_THEN, expires_at=_THEN + timedelta(days=1)))
        with bench.hosts() as host:
            host.shake_hands()
            assert host.tools("before") == []
            host.wait_said("expired")
            assert host.tools("after") == []
            assert host.call("echo")[0]
            assert host.end() == 0
    assert bench.entries == []


def test_where_the_certificate_of_the_registry_has_expired_what_is_pinned_works_and_nothing_else(
    expired: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(expired[0]))
    bench = Bench(tmp_path)
    bench.trust(None)
    bench.shows(TOOLS)
    bench.pin(bench.signed("1.0.0", TOOLS))
    bench.shows([*TOOLS, MORE])
    with http_server.serve(tls=expired) as registry, bench.hosts("--registry", registry.url) as host:
        host.shake_hands()
        assert host.tools("before") == NAMES
        assert "certificate has expired" in host.wait_said("[look-up]")
        assert host.tools("after") == NAMES
        assert not host.call("echo")[0]
        assert host.call("more")[0]
        assert registry.requests == []


def test_where_the_certificate_of_a_server_has_expired_nothing_passes(expired: tuple[Path, Path]) -> None:
    with http_server.serve(tls=expired) as server:
        bridged.pin(server.url, http_server.TOOLS)
        trusted = ("--ca-file", str(expired[0]))
        with Wire(bridged.bridge(server.url, *trusted)) as wire:
            told = bridged.ask(wire, 1, "server/discover")["error"]["message"]
            assert wire.end() == 3
        with (
            shells.gateway(server.url, home(), *trusted) as front,
            HttpLink(front.url, HANDSHAKE) as link,
        ):
            answer = Session(link, HANDSHAKE).ask("initialize", {})
        assert server.requests == []
    for said in (told, answer["error"]["message"]):
        assert "a certificate that is not trusted: certificate has expired" in said
