# SPDX-License-Identifier: Apache-2.0
"""The registry's client against a real registry, and against everything that is not one."""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from interpreter import printed_by
from servers.impostor import answering, json_response, problem, response
from servers.publisher import NOW, SERVER, Publisher, Release
from servers.registry import RunningRegistry, serving, sqlite_registry

from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.verify import verify_publish

__all__ = ["sqlite_registry"]

ABSENT = Digest.of(b"never published")


def version(release: Release, **changes: Any) -> dict[str, Any]:
    """What a registry says of a release."""
    said = {
        "server": SERVER,
        "version": "1.0.0",
        "sequence": 1,
        "manifest": release.digest,
        "bundle": Digest.of(release.bundle),
        "signer": "key:x",
    }
    return {**said, **changes}


@pytest.fixture
def publisher(sqlite_registry: RunningRegistry) -> Publisher:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    return publisher


@pytest.fixture
def registry(sqlite_registry: RunningRegistry) -> Registry:
    return Registry(sqlite_registry.url)


def test_what_was_published_is_fetched_and_verifies(registry: Registry, publisher: Publisher) -> None:
    release = publisher.release()
    publication = registry.publish(release.manifest, release.bundle)
    assert publication.created
    assert publication.url == f"{registry.url}/v1/servers/{SERVER}/versions/1.0.0"
    fetched = registry.manifest(SERVER, "1.0.0")
    assert (fetched.manifest, fetched.bundle) == (release.manifest, release.bundle)
    trusted = {publisher.public_key.key_id: publisher.public_key}
    verified = verify_publish(
        fetched.manifest, fetched.bundle, trusted=trusted, at=NOW, server=SERVER, version="1.0.0"
    )
    assert verified.signer.identity == fetched.published.signer
    assert registry.blob(release.digest) == release.manifest


def test_publishing_twice_succeeds_and_says_which_time_it_was(
    registry: Registry, publisher: Publisher
) -> None:
    release, resigned = publisher.release(), publisher.release(sequence=3)
    made = [registry.publish(one.manifest, one.bundle) for one in (release, release, resigned)]
    assert [publication.created for publication in made] == [True, False, False]
    assert {publication.published.bundle for publication in made} == {Digest.of(release.bundle)}


def test_another_manifest_as_the_same_version_is_refused(registry: Registry, publisher: Publisher) -> None:
    release, other = publisher.release(), publisher.release(sequence=2, description="Other.")
    registry.publish(release.manifest, release.bundle)
    with pytest.raises(Refused) as refused:
        registry.publish(other.manifest, other.bundle)
    assert refused.value.code == "version-exists"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda publisher: publisher.release("1.0.1"), "sequence-not-higher"),
        (lambda publisher: publisher.release(server="io.github.other/x"), "namespace-unclaimed"),
        (lambda _: Publisher().release("1.0.1", sequence=2), "registry-refused"),
    ],
)
def test_a_refusal_of_the_registry_is_a_refusal_here(
    registry: Registry, publisher: Publisher, make: Callable[[Publisher], Release], code: str
) -> None:
    first, second = publisher.release(), make(publisher)
    registry.publish(first.manifest, first.bundle)
    with pytest.raises(Refused) as refused:
        registry.publish(second.manifest, second.bundle)
    assert refused.value.code == code


def test_what_is_not_published_is_not_there(registry: Registry, publisher: Publisher) -> None:
    release = publisher.release()
    registry.publish(release.manifest, release.bundle)
    asked: list[Callable[[], object]] = [
        lambda: registry.version(SERVER, "9.9.9"),
        lambda: registry.manifest(SERVER, "9.9.9"),
        lambda: registry.latest("io.github.acme/other"),
        lambda: registry.versions("io.github.acme/other"),
        lambda: registry.blob(ABSENT),
    ]
    for ask in asked:
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.code == "not-in-registry"


def test_all_pages_of_versions_come_back_in_order(
    sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    settings = Settings(database=sqlite_registry.settings.database, page=2)
    with serving(settings) as paged:
        registry = Registry(paged.url)
        for number in range(1, 6):
            release = publisher.release(f"1.{number}", sequence=number)
            registry.publish(release.manifest, release.bundle)
        assert [found.sequence for found in registry.versions(SERVER)] == [5, 4, 3, 2, 1]
        assert registry.latest(SERVER, at_least=5).version == "1.5"


@pytest.mark.parametrize("name", ["2026/11", "..", ".", "1+2 ~_".replace(" ", ""), "ü", "a?b#c%2F"])
def test_any_version_can_be_published_and_fetched(
    registry: Registry, publisher: Publisher, name: str
) -> None:
    release = publisher.release(name)
    registry.publish(release.manifest, release.bundle)
    assert registry.manifest(SERVER, name).manifest == release.manifest


def test_a_registry_below_a_path_is_found_there() -> None:
    release = Publisher().release()
    with answering(json_response(version(release))) as impostor:
        Registry(impostor.url + "/registry/").version(SERVER, "1.0.0")
    assert impostor.asked == [f"GET /registry/v1/servers/{SERVER}/versions/1.0.0 HTTP/1.1"]


def test_a_registry_that_was_rolled_back_is_noticed() -> None:
    release = Publisher().release()
    with (
        answering(json_response({"server": SERVER, "latest": version(release)})) as impostor,
        pytest.raises(Refused) as refused,
    ):
        Registry(impostor.url).latest(SERVER, at_least=2)
    assert refused.value.code == "registry-rollback"


def test_bytes_that_do_not_have_the_digest_they_were_asked_by_are_refused() -> None:
    release, other = Publisher().release(), Publisher().release(description="Lies.")

    def lie(target: str, connection: socket.socket) -> None:
        is_blob = target.startswith("/v1/blobs/")
        connection.sendall(response(other.manifest) if is_blob else json_response(version(release)))

    with answering(lie) as impostor, pytest.raises(Refused) as refused:
        Registry(impostor.url).manifest(SERVER, "1.0.0")
    assert refused.value.code == "registry-digest"


def test_an_old_release_in_the_place_of_the_one_asked_for_does_not_verify() -> None:
    publisher = Publisher()
    old = publisher.release()

    def replay(target: str, connection: socket.socket) -> None:
        if target.startswith("/v1/blobs/"):
            content = old.manifest if target.endswith(old.digest.hex) else old.bundle
            connection.sendall(response(content))
        else:
            connection.sendall(json_response(version(old, version="2.0.0", sequence=2)))

    with answering(replay) as impostor:
        fetched = Registry(impostor.url).manifest(SERVER, "2.0.0")
    trusted = {publisher.public_key.key_id: publisher.public_key}
    with pytest.raises(Refused) as refused:
        verify_publish(
            fetched.manifest, fetched.bundle, trusted=trusted, at=NOW, server=SERVER, version="2.0.0"
        )
    assert refused.value.code == "other-version"


@pytest.mark.parametrize("status", [200, 201])
def test_a_registry_that_takes_a_publication_and_serves_another_is_noticed(status: int) -> None:
    release, other = Publisher().release(), Publisher().release(description="Lies.")

    def lie(target: str, connection: socket.socket) -> None:
        taken = target == "/v1/manifests"
        said = version(release if taken else other)
        connection.sendall(json_response(said, status=status if taken else 200))

    with answering(lie) as impostor, pytest.raises(Refused) as refused:
        Registry(impostor.url).publish(release.manifest, release.bundle)
    assert refused.value.code == "registry-digest"


PAGE = response(b"<html>Log in to the network</html>", media_type="text/html")


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        response(b"<html>", status=404, media_type="text/html"),
        response(b"<html>", status=403, media_type="text/html"),
        response(b"<html>", media_type="application/json"),
        response(b""),
        response(b"[]"),
        response(b'{"server": 1}'),
        response(b'{"a": 1, "a": 2}'),
        response(b"[" * 100_000),
        response(b" " * (2 << 20)),
        response(b"{}", content_encoding="gzip"),
        response(b"{}", status=302, location="http://192.0.2.1/"),
        response(b"{}", status=302, location="https://127.0.0.1/"),
        response(b"{}", status=302, location="ftp://[/"),
        response(b"{}", status=302, location="/again"),
        response(b"{}", status=302),
        response(b"no", status=404, media_type="application/problem+json"),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nabc",
        b"HTTP/1.1 302 Found\r\nlocation: /\xff\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: /a\r\n b\r\ncontent-length: 0\r\n\r\n",
    ],
)
def test_what_is_no_registry_is_no_answer(answer: bytes) -> None:
    def once(_target: str, connection: socket.socket) -> None:
        connection.sendall(answer)
        if answer.startswith((b"SSH", b"HTTP/1.1 200 OK")):
            connection.shutdown(socket.SHUT_RDWR)

    with answering(once) as impostor:
        registry = Registry(impostor.url)
        asked: list[Callable[[], object]] = [
            lambda: registry.version(SERVER, "1.0.0"),
            lambda: registry.latest(SERVER),
            lambda: registry.versions(SERVER),
        ]
        for ask in asked:
            with pytest.raises(CannotTell) as failed:
                ask()
            assert failed.value.code == "registry-answer"
            assert "127.0.0.1" in failed.value.message
            assert failed.value.remedy


def test_a_page_in_place_of_an_object_is_no_answer() -> None:
    with answering(PAGE) as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url).blob(ABSENT)
    assert failed.value.code == "registry-answer"


@pytest.mark.parametrize(
    "changes",
    [
        {"server": "io.github.acme/other"},
        {"version": "1.0.1"},
        {"sequence": 0},
        {"sequence": "1"},
        {"sequence": True},
        {"manifest": "sha256:x"},
        {"bundle": None},
        {"signer": ""},
    ],
)
def test_a_version_that_is_not_the_one_asked_for_or_no_version_is_no_answer(changes: dict[str, Any]) -> None:
    said = version(Publisher().release(), **changes)
    with answering(json_response(said)) as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url).version(SERVER, "1.0.0")
    assert failed.value.code == "registry-answer"


@pytest.mark.parametrize(
    "page",
    [
        {"versions": "x", "nextCursor": None},
        {"versions": [], "nextCursor": "always"},
        {"versions": [{"sequence": 1}, {"sequence": 2}], "nextCursor": None},
        {"versions": [{"sequence": 1}, {"sequence": 1}], "nextCursor": None},
        {"versions": [{"server": "io.github.acme/other"}], "nextCursor": None},
        {"versions": [], "nextCursor": 7},
    ],
)
def test_a_list_that_is_not_one_is_no_answer(page: dict[str, Any]) -> None:
    release = Publisher().release()
    if isinstance(page["versions"], list):
        page = {**page, "versions": [version(release, **changes) for changes in page["versions"]]}
    with answering(json_response(page)) as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url).versions(SERVER)
    assert failed.value.code == "registry-answer"


def endless(page_size: int) -> Callable[[str, socket.socket], None]:
    """A registry whose list of versions has no end, highest sequence first."""
    release, given = Publisher().release(), iter(range(10**9, 0, -1))

    def answer(_: str, connection: socket.socket) -> None:
        entries = [version(release, sequence=next(given)) for _ in range(page_size)]
        connection.sendall(json_response({"versions": entries, "nextCursor": "more"}))

    return answer


@pytest.mark.parametrize(("most", "page_size", "requests"), [(8, 100, 1), (8, 8, 1), (8, 3, 3), (1, 1, 1)])
def test_a_list_without_end_is_read_until_what_was_asked_for_is_at_hand(
    most: int, page_size: int, requests: int
) -> None:
    with answering(endless(page_size)) as impostor:
        found = Registry(impostor.url).versions(SERVER, most=most)
    assert [one.sequence for one in found] == [10**9 - nth for nth in range(most)]
    assert len(impostor.asked) == requests


def test_the_version_before_one_is_read_no_further_than_to_where_it_stands() -> None:
    with answering(endless(10)) as impostor:
        (found,) = Registry(impostor.url).versions(SERVER, most=1, below=10**9 - 15)
    assert found.sequence == 10**9 - 16
    assert len(impostor.asked) == 2


def test_pages_that_hold_nothing_of_what_is_asked_for_end() -> None:
    page = json_response({"versions": [], "nextCursor": "more"})
    with answering(page) as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url).versions(SERVER, most=8)
    assert failed.value.code == "registry-answer"
    assert len(impostor.asked) == 100


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_an_overloaded_registry_says_neither_yes_nor_no(status: int) -> None:
    for answer in (problem(status, "not-in-registry"), response(b"<html>", status=status)):
        with answering(answer) as impostor, pytest.raises(CannotTell) as failed:
            Registry(impostor.url).version(SERVER, "1.0.0")
        assert failed.value.code == "registry-unavailable"


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (404, "not-in-registry", "not-in-registry"),
        (403, "not-in-registry", "registry-refused"),  # a code counts only with its status
        (404, "no-such-route", "registry-refused"),
        (401, "unauthorized", "registry-refused"),
        (403, "changed", "registry-refused"),
        (409, None, "registry-refused"),
    ],
)
def test_a_registry_cannot_make_up_an_outcome_of_another_room(
    status: int, code: object, expected: str
) -> None:
    with answering(problem(status, code)) as impostor, pytest.raises(Refused) as refused:
        Registry(impostor.url).version(SERVER, "1.0.0")
    assert refused.value.code == expected


def test_what_a_registry_says_is_escaped_and_bounded() -> None:
    with (
        answering(problem(403, "x", "\x1b[2J\u202e" + "y" * 10_000)) as impostor,
        pytest.raises(Refused) as refused,
    ):
        Registry(impostor.url).version(SERVER, "1.0.0")
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 1000


def test_a_redirect_within_the_registry_is_followed() -> None:
    release = Publisher().release()

    def move(target: str, connection: socket.socket) -> None:
        moved = response(status=307, location="/moved?to=here")
        connection.sendall(json_response(version(release)) if target == "/moved?to=here" else moved)

    with answering(move) as impostor:
        assert Registry(impostor.url).version(SERVER, "1.0.0").sequence == 1


def test_a_publication_is_not_redirected() -> None:
    release = Publisher().release()
    with (
        answering(response(status=307, location="/elsewhere")) as impostor,
        pytest.raises(CannotTell) as failed,
    ):
        Registry(impostor.url).publish(release.manifest, release.bundle)
    assert failed.value.code == "registry-answer"
    assert impostor.asked == ["POST /v1/manifests HTTP/1.1"]


def test_a_registry_that_is_down_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        with pytest.raises(CannotTell) as failed:
            Registry(f"http://{host}").version(SERVER, "1.0.0")
        assert failed.value.code == "registry-unreachable"
        assert host in failed.value.message


@pytest.mark.parametrize("host", ["registry.invalid", "x" * 64 + ".invalid", "a..b"])
def test_a_name_that_cannot_be_looked_up_is_unreachable(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def no_network(name: str, *arguments: Any, **options: Any) -> Any:
        name.encode("idna")  # as the system's resolver call does first
        if name.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(name, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    with pytest.raises(CannotTell) as failed:
        Registry(f"https://{host}").version(SERVER, "1.0.0")
    assert failed.value.code == "registry-unreachable"


def test_a_registry_that_does_not_speak_tls_is_unreachable() -> None:
    with answering(b"") as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url.replace("http:", "https:"), timeout=0.2).version(SERVER, "1.0.0")
    assert failed.value.code == "registry-unreachable"


def test_a_registry_that_never_answers_is_given_up() -> None:
    gone = threading.Event()

    def say_nothing(_target: str, _connection: socket.socket) -> None:
        gone.wait()

    with answering(say_nothing) as impostor:
        with pytest.raises(CannotTell) as failed:
            Registry(impostor.url, timeout=0.05).version(SERVER, "1.0.0")
        gone.set()
    assert failed.value.code == "registry-unreachable"


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nx: ", response(b"x" * 1000)[:-1000]])
def test_a_registry_that_drips_byte_after_byte_is_given_up_in_all(start: bytes) -> None:
    gone = threading.Event()

    def drip(_target: str, connection: socket.socket) -> None:
        connection.sendall(start)
        while not gone.wait(0.01):  # far below the longest single wait
            connection.sendall(b"H")

    with answering(drip) as impostor:
        with pytest.raises(CannotTell) as failed:
            Registry(impostor.url, timeout=5, deadline=0.3).version(SERVER, "1.0.0")
        gone.set()
    assert failed.value.code == "registry-unreachable"


def test_all_calls_of_a_session_share_one_deadline() -> None:
    """Else a registry that is slow each time could be waited for as often as it lists versions."""
    gone = threading.Event()

    def slowly(_target: str, connection: socket.socket) -> None:
        gone.wait(0.1)
        connection.sendall(problem(404, "not-in-registry"))

    def ask_twenty_times(session: Registry) -> None:
        for _ in range(20):
            with contextlib.suppress(Refused):
                session.version(SERVER, "1.0.0")

    with answering(slowly) as impostor:
        with Registry(impostor.url, timeout=5, deadline=0.45).session() as session:
            with pytest.raises(CannotTell) as failed:
                ask_twenty_times(session)
            gone.set()
        assert len(impostor.asked) <= 5
    assert failed.value.code == "registry-unreachable"


def test_the_calls_of_a_session_use_one_connection_and_an_answer_that_fails_spoils_no_other(
    sqlite_registry: RunningRegistry, publisher: Publisher
) -> None:
    release = publisher.release("1.0.0")
    registry = Registry(sqlite_registry.url)
    registry.publish(release.manifest, release.bundle)
    with registry.session() as session:
        assert session.versions(SERVER)[0].manifest == release.digest
        connections = set(sqlite_registry.connections)
        with pytest.raises(CannotTell):
            session.blob(release.digest, max_bytes=10)
        assert session.manifest(SERVER, "1.0.0").manifest == release.manifest
        with pytest.raises(Refused):
            session.version(SERVER, "2.0.0")
        assert session.manifest(SERVER, "1.0.0").bundle == release.bundle
    assert len(connections) == 1


def test_an_answer_that_breaks_off_is_no_answer() -> None:
    def break_off(_target: str, connection: socket.socket) -> None:
        connection.sendall(response(b"x" * 1000)[:-500])
        connection.shutdown(socket.SHUT_RDWR)

    with answering(break_off) as impostor, pytest.raises(CannotTell) as failed:
        Registry(impostor.url).blob(ABSENT)
    assert failed.value.code == "registry-answer"


def test_a_refusal_in_the_middle_of_an_upload_is_heard() -> None:
    release = Publisher().release()

    def refuse_early() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(100)
            connection.sendall(problem(413, "too-large"))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuse_early)
        thread.start()
        with pytest.raises(Refused) as refused:
            Registry(f"http://127.0.0.1:{listener.getsockname()[1]}").publish(
                release.manifest, release.bundle
            )
        thread.join()
    assert refused.value.code == "registry-refused"
    assert "too-large" in refused.value.message


def test_offline_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    release = Publisher().release()
    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "getaddrinfo", no_socket)
    registry = Registry("https://registry.example", offline=True)
    asked: list[Callable[[], object]] = [
        lambda: registry.latest(SERVER),
        lambda: registry.version(SERVER, "1.0.0"),
        lambda: registry.versions(SERVER),
        lambda: registry.manifest(SERVER, "1.0.0"),
        lambda: registry.blob(ABSENT),
        lambda: registry.publish(release.manifest, release.bundle),
    ]
    for ask in asked:
        with pytest.raises(CannotTell) as failed:
            ask()
        assert failed.value.code == "offline"


def test_what_cannot_be_asked_for_is_not_asked() -> None:
    registry = Registry("http://127.0.0.1:9")
    asked: list[tuple[Callable[[], object], str]] = [
        (lambda: registry.latest("../../etc"), "server-name"),
        (lambda: registry.version(SERVER, "latest"), "server-version"),
        (lambda: registry.version(SERVER, "1\r\nHost: x"), "server-version"),
        (lambda: registry.publish(b"{}", b"{}"), "manifest-schema"),
    ]
    for ask, code in asked:
        with pytest.raises(InvalidInput) as failed:
            ask()
        assert failed.value.code == code


@pytest.mark.parametrize(
    "url",
    [
        "",
        "registry.example",
        "ftp://registry.example",
        "file:///etc/passwd",
        "https://",
        "https://someone:geheim@registry.example",
        "https://geheim@registry.example",
        "https://registry.example/?token=geheim",
        "https://registry.example/#geheim",
        "https://registry.example\r\nx: geheim",
        "https://registry.example:port",
        "https://[::1",
        "https://registry.exämple",
        "http://registry.example",
        "http://127.0.0.1.registry.example",
        "http://192.0.2.1",
    ],
)
def test_a_url_that_is_not_one_of_a_registry_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Registry(url)
    assert refused.value.code == "registry-url"
    assert "geheim" not in str(refused.value) + refused.value.remedy


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "[::1]", "localhost", "LOCALHOST"])
def test_plain_http_is_for_this_machine_alone(host: str) -> None:
    assert Registry(f"http://{host}:8377/").url == f"http://{host.lower()}:8377"


def test_plain_http_elsewhere_must_be_asked_for() -> None:
    assert Registry("http://registry.example:80", insecure_http=True).url == "http://registry.example"


def test_naming_a_registry_and_being_offline_imports_no_network() -> None:
    code = (
        "import sys; from toolnotary_verifier.fetch import Registry;"
        "print([name for name in ('http.client', 'ssl', 'socket', 'asyncio') if name in sys.modules])"
    )
    assert printed_by(code).strip() == "[]"
