# SPDX-License-Identifier: Apache-2.0
"""One look at a server behind Streamable HTTP: both eras, and each hostile move under its own code."""

import socket
from pathlib import Path
from typing import Any

import pytest
from servers import http_server
from servers.certificate import certificate
from servers.http_server import Served, serve
from servers.tunnel import tunnel

from toolnotary_verifier.capture import UrlSource, inspect
from toolnotary_verifier.capture.endpoint import Endpoint, Proxy
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, ToolnotaryError
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.surface import Surface

__all__ = ["certificate"]

PATIENT = Limits(first_start_seconds=60, listing_seconds=60)
IMPATIENT = Limits(first_start_seconds=60, listing_seconds=0.3)
CANARY = "s3cr3t-canary-value"
HONEST = ["add", "echo"]


def look(
    served: Served, *, limits: Limits = PATIENT, revisions: Any = None, capabilities: Any = (), **options: Any
) -> Surface:
    asked = {"revisions": revisions} if revisions else {}
    source = UrlSource(url=options.pop("url", served.url), environment={}, **options)
    return inspect(source, limits=limits, capabilities=capabilities, **asked)


def failure(served: Served, **options: Any) -> ToolnotaryError:
    with pytest.raises(ToolnotaryError) as caught:
        look(served, **options)
    assert caught.value.message.isprintable()
    return caught.value


def names(surface: Surface) -> list[str]:
    return [definition.name for definition in surface.of_kind(Kind.TOOL)]


@pytest.mark.parametrize("answer", ["json", "sse"])
@pytest.mark.parametrize(("era", "revision"), [("both", "2026-07-28"), ("handshake", "2025-11-25")])
def test_json_and_event_streams_say_the_same(era: str, revision: str, answer: str) -> None:
    with serve(era=era, answer=answer) as served:
        surface = look(served)
    assert surface.protocol_version == revision
    assert names(surface) == HONEST
    assert surface.definitions[Kind.INSTRUCTIONS, "instructions"].value == "Be kind."


def test_stateless_requests_say_in_headers_what_their_bodies_say() -> None:
    with serve() as served:
        look(served)
    assert served.calls() == ["server/discover", "tools/list"]
    for request in served.requests:
        assert request.headers["mcp-protocol-version"] == "2026-07-28"
        assert request.headers["mcp-method"] == request.message["method"]
        assert request.headers["accept-encoding"] == "identity"
        assert "mcp-session-id" not in request.headers
        meta = request.message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {}


def test_a_session_is_carried_from_the_handshake_on_and_ended() -> None:
    with serve(era="handshake", sessions=True) as served:
        assert names(look(served, revisions=("2025-06-18",))) == HONEST
    hello, *later = served.requests
    assert "mcp-session-id" not in hello.headers
    assert "mcp-protocol-version" not in hello.headers
    assert [request.method for request in later] == ["POST", "POST", "DELETE"]
    for request in later:
        assert request.headers["mcp-session-id"] == http_server.SESSION
        assert request.headers["mcp-protocol-version"] == "2025-06-18"


def test_requests_within_a_stream_are_answered_in_requests_of_their_own() -> None:
    with serve(era="handshake", move="asks-back") as served:
        assert names(look(served, capabilities=("elicitation", "roots", "sampling"))) == HONEST
        answers = served.answers()
    assert answers["s-ping"]["result"] == {}
    assert answers["s-roots/list"]["result"] == {"roots": []}
    assert answers["s-elicitation/create"]["result"] == {"action": "decline"}
    assert "error" in answers["s-sampling/createMessage"]
    assert answers["s-unheard/of"]["error"]["code"] == -32601


def test_a_missing_method_under_status_404_is_an_answer() -> None:
    with serve(era="handshake", move="not-found-rpc") as served:
        assert look(served).protocol_version == "2025-11-25"


def test_a_listing_on_the_response_to_another_request_does_not_count() -> None:
    with serve(move="answer-elsewhere") as served:
        surface = look(served)
    assert names(surface) == HONEST
    assert "POISON" not in repr([definition.value for definition in surface.definitions.values()])


def test_an_answer_to_another_id_before_ours_does_not_count() -> None:
    with serve(move="other-id-first") as served:
        surface = look(served)
    assert "POISON" not in repr([definition.value for definition in surface.definitions.values()])
    assert surface.notes


def test_lists_that_change_while_they_are_read_are_read_again_and_not_for_ever() -> None:
    with serve(move="list-changed") as served:
        assert names(look(served)) == HONEST
    assert 1 < served.calls().count("tools/list") <= 4


@pytest.mark.parametrize(
    ("move", "error", "code"),
    [
        ("html", InvalidInput, "content-type"),
        ("not-http", InvalidInput, "not-http"),
        ("negative-chunk", InvalidInput, "not-http"),
        ("negative-chunk-events", InvalidInput, "not-http"),
        ("negative-chunk-error", CannotTell, "http-status"),
        ("huge", InvalidInput, "too-large"),
        ("huge-length", InvalidInput, "too-large"),
        ("huge-event", InvalidInput, "too-large"),
        ("truncated", InvalidInput, "not-json"),
        ("gzip", InvalidInput, "content-encoding"),
        ("error-500", CannotTell, "http-status"),
        ("error-404", CannotTell, "http-status"),
        ("close", CannotTell, "unreachable"),
        ("wrong-id", CannotTell, "no-answer"),
        ("accepted", CannotTell, "no-answer"),
        ("drip", CannotTell, "no-answer"),
        ("drip-headers", CannotTell, "no-answer"),
        ("endless-events", CannotTell, "no-answer"),
        ("redirect-get", CannotTell, "redirect"),
        ("redirect-loop", CannotTell, "redirect"),
    ],
)
def test_every_other_answer_ends_under_its_own_code(move: str, error: type, code: str) -> None:
    waits = move in ("drip", "drip-headers", "endless-events")
    with serve(move=move) as served:
        caught = failure(served, limits=IMPATIENT if waits else PATIENT)
    assert isinstance(caught, error)
    assert caught.code == code
    assert "127.0.0.1" in caught.message
    assert ("0.3 seconds" in caught.message) == waits
    assert "60 seconds" not in caught.message


def test_a_session_id_that_no_header_can_carry_is_refused() -> None:
    with serve(era="handshake", move="bad-session") as served:
        assert failure(served).code == "session-id"


def test_nothing_listens_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
        with pytest.raises(CannotTell) as caught:
            inspect(UrlSource(url=url, environment={}))
    assert caught.value.code == "unreachable"


def test_a_redirect_within_the_origin_is_followed() -> None:
    with serve(move="redirect-home") as served:
        assert names(look(served)) == HONEST


def test_a_redirect_to_another_origin_is_not_followed_and_takes_no_credentials_there() -> None:
    with serve() as other, serve(move="redirect-away", elsewhere=other.url) as served:
        caught = failure(served, headers={"Authorization": f"Bearer {CANARY}"})
        assert caught.code == "redirect"
        assert not other.requests


def test_credentials_are_sent_and_never_shown() -> None:
    with serve(token=CANARY) as served:
        assert names(look(served, headers={"Authorization": f"Bearer {CANARY}"})) == HONEST
        caught = failure(served, headers={"Authorization": "Bearer wrong-canary-value"})
    assert isinstance(caught, CannotTell)
    assert caught.code == "unauthorized"
    assert "canary" not in str(caught) + caught.remedy


def test_a_user_and_a_query_in_the_url_are_sent_and_never_shown() -> None:
    with serve(move="error-500") as served:
        url = served.url.replace("http://", f"http://someone:{CANARY}@") + f"?key={CANARY}"
        caught = failure(served, url=url)
    request = served.requests[0]
    assert request.headers["authorization"].startswith("Basic ")
    assert request.path.endswith(CANARY)
    assert "canary" not in str(caught) + caught.remedy


@pytest.mark.parametrize("name", ["Host", "Content-Length", "mcp-session-id", "Accept", "a b", "", "x\r\ny"])
def test_headers_that_are_not_a_persons_to_set_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url="http://127.0.0.1:9/", headers={name: "x"}, environment={}))
    assert caught.value.code == "header"


@pytest.mark.parametrize("value", ["", f"{CANARY}\r\nX: y", f"{CANARY}\u00e9"])
def test_a_header_value_that_cannot_be_sent_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url="http://127.0.0.1:9/", headers={"X-Key": value}, environment={}))
    assert caught.value.code == "header"
    assert "canary" not in str(caught.value)


def test_credentials_do_not_cross_a_network_in_the_clear() -> None:
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url="http://mcp.acme.example/", headers={"X-Key": CANARY}, environment={}))
    assert caught.value.code == "insecure-url"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mcp.acme.example",
        "ftp://x/y",
        "http://",
        "http://[::1",
        "http://x:99999/",
        "http://x/a b",
        "http://a..b/",
        f"http://{'a' * 64}/",
        "http://x/\x00",
        "file:///x",
    ],
)
def test_what_is_no_url_of_a_server_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url=url, environment={}))
    assert caught.value.code == "url"
    assert not url or url not in str(caught.value)


# TLS and proxies


def test_a_certificate_of_an_unknown_authority_is_not_accepted(certificate: tuple[Path, Path]) -> None:
    with serve(tls=certificate) as served:
        caught = failure(served)
    assert isinstance(caught, CannotTell)
    assert caught.code == "tls"


def test_an_authority_that_is_named_is_accepted_beside_those_of_the_system(
    certificate: tuple[Path, Path],
) -> None:
    with serve(tls=certificate, token=CANARY) as served:
        surface = look(served, ca_file=certificate[0], headers={"Authorization": f"Bearer {CANARY}"})
    assert names(surface) == HONEST


def test_a_file_without_certificates_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("not a certificate", encoding="ascii")
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url="https://127.0.0.1:9/", ca_file=nothing, environment={}))
    assert caught.value.code == "ca-file"


def test_plain_http_to_a_server_that_speaks_tls_is_not_http(certificate: tuple[Path, Path]) -> None:
    with serve(tls=certificate) as served:
        caught = failure(served, url=served.url.replace("https:", "http:"))
    assert caught.code in ("not-http", "unreachable")


@pytest.mark.parametrize(
    ("environment", "url", "host"),
    [
        ({}, "https://mcp.acme.example/", None),
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, "https://mcp.acme.example/", "proxy.example"),
        ({"https_proxy": "proxy.example:3128"}, "https://mcp.acme.example/", "proxy.example"),
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, "http://127.0.0.1/", None),
        ({"HTTPS_PROXY": "http://p.example", "NO_PROXY": "acme.example"}, "https://mcp.acme.example/", None),
        (
            {"HTTPS_PROXY": "http://p.example", "NO_PROXY": ".acme.example,x"},
            "https://mcp.acme.example/",
            None,
        ),
        ({"HTTPS_PROXY": "http://p.example", "no_proxy": "*"}, "https://mcp.acme.example/", None),
        (
            {"HTTPS_PROXY": "http://p.example", "no_proxy": "mcp.acme.example:8443"},
            "https://mcp.acme.example/",
            "p.example",
        ),
        ({"HTTPS_PROXY": "http://p.example", "no_proxy": "me.example"}, "https://acme.example/", "p.example"),
    ],
)
def test_only_https_goes_through_a_proxy_and_no_proxy_exempts(
    environment: dict[str, str], url: str, host: str | None
) -> None:
    proxy = Proxy.for_endpoint(Endpoint.parse(url), environment)
    assert (proxy.host if proxy else None) == host


@pytest.mark.parametrize("named", ["socks5://p.example", "http://", "http://p:x", "http://p..q"])
def test_a_proxy_that_cannot_be_used_is_an_error_and_not_passed_by(named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        inspect(UrlSource(url="https://mcp.acme.example/", environment={"HTTPS_PROXY": named}))
    assert caught.value.code == "proxy"


def test_a_tunnel_changes_nothing_about_whom_tls_talks_to(certificate: tuple[Path, Path]) -> None:
    with serve(tls=certificate) as served, tunnel() as proxy:
        source = UrlSource(url=served.url, ca_file=certificate[0], environment={"HTTPS_PROXY": proxy.url})
        assert names(inspect(source, limits=PATIENT)) == HONEST
    assert set(proxy.targets) == {served.url.removeprefix("https://").removesuffix("/mcp")}
