# SPDX-License-Identifier: Apache-2.0
"""What enters a registry, and what does not; over both databases, through HTTP."""

import contextlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from effort import scaled
from servers.publisher import NOW, SERVER, Publisher, Release
from servers.registry import RunningRegistry, serving

MIB = 1 << 20


def publish(registry: RunningRegistry, release: Release) -> httpx2.Response:
    return httpx2.post(f"{registry.url}/v1/manifests", json=release.submission)


def code_of(response: httpx2.Response) -> Any:
    assert response.headers["content-type"] == "application/problem+json"
    return response.json()["code"]


def test_what_was_signed_comes_back_byte_for_byte(registry: RunningRegistry, publisher: Publisher) -> None:
    release = publisher.release()
    published = publish(registry, release)
    assert published.status_code == 201
    version = httpx2.get(f"{registry.url}/v1/servers/{SERVER}/versions/1.0.0").json()
    assert version == published.json()
    for name, content in (("manifest", release.manifest), ("bundle", release.bundle)):
        blob = httpx2.get(f"{registry.url}/v1/blobs/{version[name].replace(':', '/')}")
        assert blob.content == content


def test_publishing_the_same_bytes_again_is_a_success_that_says_so(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    first = publish(registry, publisher.release())
    again = publish(registry, publisher.release())
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()


def test_the_same_bytes_are_still_there_for_a_publisher_whose_key_was_retired(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    release = publisher.release()
    publish(registry, release)
    registry.retire(publisher)
    assert publish(registry, release).status_code == 200
    refused = publish(registry, publisher.release("1.0.1", sequence=2))
    assert (refused.status_code, code_of(refused)) == (403, "namespace-unclaimed")


def test_a_manifest_that_was_signed_anew_is_the_same_publication(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    first = publish(registry, publisher.release())
    again = publish(registry, publisher.release(issued_at=NOW + timedelta(hours=1), sequence=7))
    assert again.status_code == 200
    assert again.json() == first.json()


def test_a_published_version_never_changes(registry: RunningRegistry, publisher: Publisher) -> None:
    first = publish(registry, publisher.release())
    other = publish(registry, publisher.release(sequence=2, description="Also reads your mail."))
    assert (other.status_code, code_of(other)) == (409, "version-exists")
    assert httpx2.get(f"{registry.url}/v1/servers/{SERVER}/versions/1.0.0").json() == first.json()


@pytest.mark.parametrize("sequence", [1, 4, 5])
def test_a_sequence_that_is_not_higher_than_the_last_is_refused(
    registry: RunningRegistry, publisher: Publisher, sequence: int
) -> None:
    assert publish(registry, publisher.release("1.0.0", sequence=5)).status_code == 201
    refused = publish(registry, publisher.release("1.0.1", sequence=sequence))
    assert (refused.status_code, code_of(refused)) == (409, "sequence-not-higher")
    assert publish(registry, publisher.release("1.0.1", sequence=6)).status_code == 201


def test_the_sequence_of_one_server_does_not_bound_another(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    assert publish(registry, publisher.release(sequence=5)).status_code == 201
    assert publish(registry, publisher.release(server="io.github.acme/maps")).status_code == 201


def test_nobody_publishes_under_a_name_without_a_registered_key(registry: RunningRegistry) -> None:
    refused = publish(registry, Publisher().release())
    assert (refused.status_code, code_of(refused)) == (403, "namespace-unclaimed")
    assert "toolnotary registry add-key" in refused.json()["remedy"]


def test_a_key_of_one_namespace_does_not_sign_for_another(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    registry.claim(Publisher(), "io.github.other/*")
    refused = publish(registry, publisher.release(server="io.github.other/weather"))
    assert (refused.status_code, code_of(refused)) == (403, "unknown-key")


def test_a_key_of_one_server_does_not_sign_for_its_neighbour(registry: RunningRegistry) -> None:
    publisher = Publisher()
    registry.claim(publisher, SERVER)
    assert publish(registry, publisher.release()).status_code == 201
    refused = publish(registry, publisher.release(server="io.github.acme/maps"))
    assert (refused.status_code, code_of(refused)) == (403, "namespace-unclaimed")


def test_a_retired_key_can_be_registered_again(registry: RunningRegistry, publisher: Publisher) -> None:
    registry.retire(publisher)
    registry.claim(publisher)
    assert publish(registry, publisher.release()).status_code == 201


def test_an_expired_statement_does_not_enter(registry: RunningRegistry, publisher: Publisher) -> None:
    release = publisher.release(issued_at=NOW - timedelta(days=2), expires_at=NOW - timedelta(days=1))
    refused = publish(registry, release)
    assert (refused.status_code, code_of(refused)) == (403, "expired")


def test_a_bundle_about_another_manifest_does_not_enter(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    swapped = replace(publisher.release(), bundle=publisher.release(description="Other.").bundle)
    refused = publish(registry, swapped)
    assert (refused.status_code, code_of(refused)) == (403, "subject-digest")


def test_a_tampered_signature_does_not_enter(registry: RunningRegistry, publisher: Publisher) -> None:
    release = publisher.release()
    document = json.loads(release.bundle)
    signature = document["dsseEnvelope"]["signatures"][0]
    signature["sig"] = ("A" if signature["sig"][0] != "A" else "B") + signature["sig"][1:]
    refused = publish(registry, replace(release, bundle=json.dumps(document).encode()))
    assert (refused.status_code, code_of(refused)) == (403, "signature-invalid")
    assert httpx2.get(f"{registry.url}/v1/servers/{SERVER}").status_code == 404


def test_a_manifest_that_is_not_in_its_canonical_form_does_not_enter(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    release = publisher.release()
    refused = publish(registry, replace(release, manifest=release.manifest + b"\n"))
    assert (refused.status_code, code_of(refused)) == (400, "manifest-inconsistent")


def test_of_many_that_publish_the_same_at_once_one_creates_and_all_succeed(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    release, many = publisher.release(), scaled(8, 40)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: publish(registry, release), range(many)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: many - 1}
    assert len({answer.text for answer in answers}) == 1


def test_of_many_that_publish_different_manifests_as_one_version_one_wins(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    many = scaled(8, 40)
    releases = [publisher.release(description=f"Number {number}.") for number in range(many)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda release: publish(registry, release), releases))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: many - 1}
    created = next(answer for answer in answers if answer.status_code == 201)
    assert httpx2.get(f"{registry.url}/v1/servers/{SERVER}/versions/1.0.0").json() == created.json()


def test_of_many_that_publish_versions_of_one_sequence_one_wins(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    many = scaled(8, 40)
    releases = [publisher.release(f"1.0.{number}") for number in range(many)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda release: publish(registry, release), releases))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: many - 1}


def test_two_services_over_one_database_do_not_both_create(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    many = scaled(8, 40)
    releases = [publisher.release(description=f"Number {number}.") for number in range(many)]
    with serving(registry.settings) as second, ThreadPoolExecutor(8) as pool:
        both = [registry, second] * many
        answers = list(pool.map(publish, both, releases))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: many - 1}


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda _: b"", "not-json"),
        (lambda _: b"[]", "bad-submission"),
        (lambda _: b'{"manifest": "", "manifest": "", "bundle": ""}', "duplicate-key"),
        (lambda good: json.dumps({**good, "more": 1}).encode(), "bad-submission"),
        (lambda good: json.dumps({"manifest": good["manifest"]}).encode(), "bad-submission"),
        (lambda good: json.dumps({**good, "bundle": 7}).encode(), "bad-submission"),
        (lambda good: json.dumps({**good, "bundle": "!!!!"}).encode(), "bad-submission"),
        (lambda good: json.dumps({**good, "manifest": "e30="}).encode(), "manifest-schema"),
        (lambda good: json.dumps({**good, "bundle": "e30="}).encode(), "bundle-media-type"),
    ],
)
def test_a_body_that_is_no_submission_is_refused_by_name(
    sqlite_registry: RunningRegistry, spoil: Callable[[dict[str, str]], bytes], code: str
) -> None:
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    body = spoil(publisher.release().submission)
    headers = {"content-type": "application/json"}
    refused = httpx2.post(f"{sqlite_registry.url}/v1/manifests", content=body, headers=headers)
    assert (refused.status_code, code_of(refused)) == (400, code)


def test_a_body_of_another_type_is_refused(sqlite_registry: RunningRegistry) -> None:
    refused = httpx2.post(f"{sqlite_registry.url}/v1/manifests", data={"manifest": "x"})
    assert (refused.status_code, code_of(refused)) == (415, "unsupported-media-type")


def test_a_part_over_its_limit_is_refused(sqlite_registry: RunningRegistry) -> None:
    release = Release(b" " * (4 * MIB + 1), b"{}")
    refused = publish(sqlite_registry, release)
    assert (refused.status_code, code_of(refused)) == (413, "too-large")


def test_an_announced_body_over_the_limit_is_refused_before_it_is_sent(
    sqlite_registry: RunningRegistry,
) -> None:
    assert b"413" in _status_line(sqlite_registry, b"Content-Length: 99999999", b"")


def test_a_body_without_a_length_is_refused_once_it_exceeds_the_limit(
    sqlite_registry: RunningRegistry,
) -> None:
    chunk = b"%x\r\n%b\r\n" % (MIB, b" " * MIB)
    assert b"413" in _status_line(sqlite_registry, b"Transfer-Encoding: chunked", chunk * 7)


def test_a_body_that_does_not_arrive_is_given_up(sqlite_registry: RunningRegistry) -> None:
    impatient = replace(sqlite_registry.settings, body_seconds=0.05)
    with serving(impatient) as registry:
        answer = _answer(registry, b"Content-Length: 100", b"{")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "request-timeout"
    assert b"within 0.05 seconds" in answer


def test_a_caller_who_hangs_up_in_the_middle_does_not_hurt_the_next(
    registry: RunningRegistry, publisher: Publisher
) -> None:
    with _connected(registry) as connection:
        connection.sendall(_head(b"Content-Length: 1000") + b'{"manifest"')
    assert publish(registry, publisher.release()).status_code == 201


def _connected(registry: RunningRegistry) -> socket.socket:
    host, _, port = registry.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)))


def _head(length: bytes) -> bytes:
    return (
        b"POST /v1/manifests HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\n%b\r\n\r\n" % length
    )


def _status_line(registry: RunningRegistry, length: bytes, body: bytes) -> bytes:
    """What comes back first, read while the body is still being sent: the service may stop reading it."""
    with _connected(registry) as connection, connection.makefile("rb") as answers:
        connection.sendall(_head(length))
        sending = threading.Thread(target=_send, args=(connection, body))
        sending.start()
        line = answers.readline()
        with contextlib.suppress(OSError):  # it may have hung up by itself
            connection.shutdown(socket.SHUT_RDWR)
        sending.join()
    return line


def _send(connection: socket.socket, body: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(body)  # the service may hang up; what it said before is still to be read


def _answer(registry: RunningRegistry, length: bytes, body: bytes) -> bytes:
    """All that comes back for a publication that is not finished."""
    answer = b""
    with _connected(registry) as connection:
        connection.sendall(_head(length))
        _send(connection, body)
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                answer += chunk
    return answer
