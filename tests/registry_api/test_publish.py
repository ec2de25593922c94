# SPDX-License-Identifier: Apache-2.0
"""What enters a registry, and what does not; over both databases, through HTTP."""

import base64
from typing import Any

import httpx2
from servers.publisher import SERVER, Publisher, Release
from servers.registry import RunningRegistry


def submission(release: Release) -> dict[str, str]:
    return {
        "manifest": base64.b64encode(release.manifest).decode(),
        "bundle": base64.b64encode(release.bundle).decode(),
    }


def publish(registry: RunningRegistry, release: Release) -> httpx2.Response:
    return httpx2.post(f"{registry.url}/v1/manifests", json=submission(release))


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
