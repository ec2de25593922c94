# SPDX-License-Identifier: Apache-2.0
"""What a registry serves: versions, pages, objects, and one shape of error for everything else."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from servers.publisher import SERVER, Publisher, Release
from servers.registry import RunningRegistry, database, postgresql, serving
from sqlalchemy import make_url

from toolnotary_registry_api.app import create_app
from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.canonical import Digest

ABSENT = Digest.of(b"never published")


@pytest.fixture
def releases(registry: RunningRegistry, publisher: Publisher) -> list[Release]:
    """Five published versions."""
    made = [publisher.release(f"1.0.{number}", sequence=number + 1) for number in range(5)]
    for release in made:
        httpx2.post(f"{registry.url}/v1/manifests", json=release.submission).raise_for_status()
    return made


@pytest.fixture
def client(registry: RunningRegistry) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=registry.url) as client:
        yield client


def test_the_latest_version_is_the_one_with_the_highest_sequence(
    client: httpx2.Client, releases: list[Release]
) -> None:
    latest = client.get(f"/v1/servers/{SERVER}").json()["latest"]
    assert (latest["version"], latest["sequence"], latest["manifest"]) == ("1.0.4", 5, releases[4].digest)


def test_the_official_spelling_of_a_name_reaches_the_same_version(
    client: httpx2.Client, releases: list[Release]
) -> None:
    encoded = SERVER.replace("/", "%2F")
    for path in ("", "/versions", "/versions/1.0.1"):
        assert (
            client.get(f"/v1/servers/{encoded}{path}").json()
            == client.get(f"/v1/servers/{SERVER}{path}").json()
        )


def test_a_version_that_is_no_path_segment_is_looked_up_by_query(
    registry: RunningRegistry, client: httpx2.Client, publisher: Publisher
) -> None:
    for sequence, version in enumerate(("2026/11", "..", "1+ü&x=y"), start=1):
        release = publisher.release(version, sequence=sequence)
        assert client.post("/v1/manifests", json=release.submission).status_code == 201
        found = client.get(f"/v1/servers/{SERVER}/version", params={"version": version})
        assert found.json()["version"] == version


def test_versions_come_in_pages_from_the_highest_sequence_down(
    registry: RunningRegistry, releases: list[Release]
) -> None:
    with serving(replace(registry.settings, page=2)) as paged:
        sequences = []
        query: str | None = ""
        while query is not None:
            page = httpx2.get(f"{paged.url}/v1/servers/{SERVER}/versions{query}").json()
            sequences.append([version["sequence"] for version in page["versions"]])
            query = f"?cursor={page['nextCursor']}" if page["nextCursor"] else None
    assert sequences == [[5, 4], [3, 2], [1]]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "9" * 40, "1;drop table versions"])
def test_a_cursor_that_was_not_given_out_is_refused(client: httpx2.Client, cursor: str) -> None:
    refused = client.get(f"/v1/servers/{SERVER}/versions", params={"cursor": cursor})
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-cursor")


def test_an_object_may_be_kept_for_ever_under_its_digest(
    client: httpx2.Client, releases: list[Release]
) -> None:
    path = f"/v1/blobs/sha256/{releases[0].digest.hex}"
    blob = client.get(path)
    assert blob.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert blob.headers["etag"] == f'"{releases[0].digest}"'
    assert blob.headers["content-type"] == "application/vnd.toolnotary.manifest.v1+json"
    head = client.head(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", blob.headers["etag"])


@pytest.mark.parametrize("form", ["{}", 'W/{}, "other"', "*"])
def test_whoever_holds_an_answer_is_told_that_it_is_still_right(
    client: httpx2.Client, releases: list[Release], form: str
) -> None:
    for path in (
        f"/v1/blobs/sha256/{releases[0].digest.hex}",
        f"/v1/servers/{SERVER}",
        f"/v1/servers/{SERVER}/versions",
        f"/v1/servers/{SERVER}/versions/1.0.0",
    ):
        etag = client.get(path).headers["etag"]
        again = client.get(path, headers={"if-none-match": form.format(etag)})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)


def test_an_absent_object_is_absent_even_for_one_who_holds_anything(client: httpx2.Client) -> None:
    for held in ("*", f'"{ABSENT}"'):
        answer = client.get(f"/v1/blobs/sha256/{ABSENT.hex}", headers={"if-none-match": held})
        assert answer.status_code == 404


def test_a_new_version_changes_what_must_be_revalidated(
    client: httpx2.Client, publisher: Publisher, releases: list[Release]
) -> None:
    held = {path: client.get(path).headers["etag"] for path in (f"/v1/servers/{SERVER}/versions",)}
    client.post("/v1/manifests", json=publisher.release("1.1.0", sequence=6).submission).raise_for_status()
    for path, etag in held.items():
        answer = client.get(path, headers={"if-none-match": etag})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "public, no-cache")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "no-such-route"),
        ("GET", "/docs", 404, "no-such-route"),
        ("GET", "/v1/servers/", 404, "no-such-route"),
        ("GET", "/v1/manifests", 405, "method-not-allowed"),
        ("DELETE", f"/v1/servers/{SERVER}", 405, "method-not-allowed"),
        ("GET", f"/v1/servers/{SERVER}", 404, "not-in-registry"),
        ("GET", f"/v1/servers/{SERVER}/versions", 404, "not-in-registry"),
        ("GET", f"/v1/servers/{SERVER}/versions/1.0.0", 404, "not-in-registry"),
        ("GET", f"/v1/servers/{SERVER}/version", 400, "bad-request"),
        ("GET", f"/v1/servers/{SERVER}/versions/latest", 400, "server-version"),
        ("GET", f"/v1/servers/{SERVER}/versions/%00", 400, "server-version"),
        ("GET", f"/v1/servers/{SERVER}/versions/%ED%A0%80", 404, "not-in-registry"),
        ("GET", f"/v1/servers/{SERVER}/versions/" + "9" * 256, 400, "server-version"),
        ("GET", "/v1/servers/io.github.acme/%00", 400, "server-name"),
        ("GET", "/v1/servers/io.github.acme/<script>", 400, "server-name"),
        ("GET", f"/v1/blobs/sha256/{ABSENT.hex}", 404, "not-in-registry"),
        ("GET", f"/v1/blobs/sha256/{ABSENT.hex.upper()}", 400, "bad-digest"),
        ("GET", "/v1/blobs/sha256/%2E%2E%2Fetc", 404, "no-such-route"),
        ("POST", "/v1/manifests", 415, "unsupported-media-type"),
    ],
)
def test_every_error_has_one_shape(
    client: httpx2.Client, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "code", "detail", "remedy"}
    assert (problem["code"], problem["status"]) == (code, status)
    assert problem["type"] == f"https://toolnotary.dev/problems/{code}"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content.isascii()


def test_every_answer_keeps_a_browser_from_reading_more_into_it(
    client: httpx2.Client, releases: list[Release]
) -> None:
    blob = f"/v1/blobs/sha256/{releases[0].digest.hex}"
    for path in ("/livez", "/readyz", "/openapi.json", "/nothing", blob, f"/v1/servers/{SERVER}"):
        answer = client.get(path)
        headers = answer.headers
        assert answer.status_code == (404 if path == "/nothing" else 200)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in headers


def test_a_defect_is_told_without_its_text(tmp_path: Path) -> None:
    def clock() -> None:
        raise RuntimeError("secret")

    app = create_app(Settings(database=f"sqlite:///{tmp_path / 'r.sqlite'}"), clock=clock)  # type: ignore[arg-type]  # a clock that fails
    from starlette.testclient import TestClient

    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.post("/v1/manifests", json={})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_service_whose_database_is_gone_is_alive_and_not_ready(tmp_path: Path) -> None:
    with (
        database("postgresql", tmp_path) as url,
        serving(Settings(database=url)) as registry,
        closing(postgresql()) as operator,
    ):
        assert httpx2.get(f"{registry.url}/readyz").status_code == 200
        operator.execute(f'DROP DATABASE "{make_url(url).database}" WITH (FORCE)')
        answers = [
            httpx2.get(f"{registry.url}{path}") for path in ("/livez", "/readyz", f"/v1/servers/{SERVER}")
        ]
    assert [answer.status_code for answer in answers] == [200, 503, 503]
    assert answers[2].json()["code"] == "database-unreachable"
    assert answers[2].headers["retry-after"] == "1"
