# SPDX-License-Identifier: Apache-2.0
"""The routes of the HTTP service: each reads its input, calls one function and answers.

A server's name stands in the path as two segments. The framework matches paths after decoding them, so that
the official registry's spelling, one segment with `%2F`, reaches the same routes. A version that cannot be a
path segment (it holds a slash, or is a dot segment) is looked up as a query parameter.
"""

import hashlib
import json
import re
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from toolnotary_registry_api.body import read_body
from toolnotary_registry_api.publication import BUNDLE_TYPE, MANIFEST_TYPE, publish
from toolnotary_registry_api.settings import Settings
from toolnotary_registry_api.storage import Storage
from toolnotary_registry_api.wire import (
    AliveOut,
    Document,
    ServerOut,
    SubmissionIn,
    VersionOut,
    VersionsOut,
    read_submission,
)
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import server_name, server_version

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "public, no-cache"  # caches may keep it and must ask: who has just published reads it at once
_CURSOR = re.compile(r"[0-9]{1,18}")

JSON = "application/json"

router = APIRouter()


def _storage(request: Request) -> Storage:
    storage: Storage = request.app.state.storage
    return storage


def _server(namespace: str, name: str) -> str:
    return server_name(f"{namespace}/{name}")


StorageDep = Annotated[Storage, Depends(_storage)]
ServerDep = Annotated[str, Depends(_server)]


@router.post(
    "/v1/manifests",
    status_code=201,
    response_model=VersionOut,
    responses={200: {"model": VersionOut}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": SubmissionIn.model_json_schema()}},
        }
    },
)
async def publish_manifest(request: Request, storage: StorageDep) -> Response:
    """Publish a manifest with its bundle. 201: it is new. 200: this very manifest was there already."""
    settings: Settings = request.app.state.settings
    body = await read_body(request, settings)
    at: datetime = request.app.state.clock()
    submission = await run_in_threadpool(read_submission, body, settings)
    publication = await run_in_threadpool(publish, storage, submission, at=at)
    entry = publication.entry
    headers = {"location": f"/v1/blobs/{address(entry.manifest)}", "cache-control": "no-store"}
    content = _ascii(VersionOut.of(entry))
    return Response(
        content, status_code=201 if publication.created else 200, media_type=JSON, headers=headers
    )


@router.get("/v1/servers/{namespace}/{name}", response_model=ServerOut)
def read_server(request: Request, server: ServerDep, storage: StorageDep) -> Response:
    """A server and its latest version."""
    entries = storage.entries(server, limit=1)
    if not entries:
        raise _unknown(server)
    return _fresh(request, ServerOut(server=server, latest=VersionOut.of(entries[0])))


@router.get("/v1/servers/{namespace}/{name}/versions", response_model=VersionsOut)
def list_versions(
    request: Request, server: ServerDep, storage: StorageDep, cursor: str | None = None
) -> Response:
    """The versions of a server, highest sequence number first, in pages."""
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise InvalidInput(
            "bad-cursor",
            "the cursor is not one that this registry gave out",
            remedy="begin again without one",
        )
    page: int = request.app.state.settings.page
    entries = storage.entries(server, below=None if cursor is None else int(cursor), limit=page + 1)
    if not entries and cursor is None:
        raise _unknown(server)
    return _fresh(request, VersionsOut.of(server, entries[:page], more=len(entries) > page))


@router.get("/v1/servers/{namespace}/{name}/versions/{version}", response_model=VersionOut)
def read_version(request: Request, server: ServerDep, version: str, storage: StorageDep) -> Response:
    """One version: its sequence number, its signer, and the digests of its manifest and bundle."""
    return _version(request, storage, server, version)


@router.get("/v1/servers/{namespace}/{name}/version", response_model=VersionOut)
def look_up_version(
    request: Request, server: ServerDep, version: Annotated[str, Query()], storage: StorageDep
) -> Response:
    """The same for a version that cannot be a path segment, such as one that holds a slash."""
    return _version(request, storage, server, version)


@router.head("/v1/blobs/sha256/{digest}", include_in_schema=False)
@router.get(
    "/v1/blobs/sha256/{digest}",
    response_class=Response,
    responses={200: {"content": {MANIFEST_TYPE: {}, BUNDLE_TYPE: {}}}},
)
def read_blob(request: Request, digest: str, storage: StorageDep) -> Response:
    """A manifest or bundle, byte for byte as it was signed."""
    asked = Digest.from_text(f"sha256:{digest}")
    blob = storage.blob(asked)
    if blob is None:
        message = f"no object has the digest {asked}"
        raise Refused("not-in-registry", message, remedy="check the digest, and that this registry is meant")
    headers = {"etag": f'"{asked}"', "cache-control": IMMUTABLE}
    if _is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(blob.content, media_type=blob.media_type, headers=headers)


@router.get("/livez", response_model=AliveOut)
async def alive() -> Response:
    """The process answers."""
    return Response(_ascii(AliveOut(status="alive")), media_type=JSON, headers={"cache-control": "no-store"})


@router.get("/readyz", response_model=AliveOut)
def ready(storage: StorageDep) -> Response:
    """The process and its database answer."""
    storage.ping()
    return Response(_ascii(AliveOut(status="ready")), media_type=JSON, headers={"cache-control": "no-store"})


def address(digest: Digest) -> str:
    """Where the bytes of a digest are, below `/v1/blobs/`."""
    return digest.replace(":", "/")


def _version(request: Request, storage: Storage, server: str, version: str) -> Response:
    entry = storage.entry(server, server_version(version))
    if entry is None:
        raise _unknown(f"{server}@{version}")
    return _fresh(request, VersionOut.of(entry))


def _unknown(name: str) -> Refused:
    message = f"{escape(name, limit=200)} is not published in this registry"
    return Refused(
        "not-in-registry", message, remedy="check name and version, and that this registry is meant"
    )


def _ascii(document: Document) -> bytes:
    return json.dumps(document.model_dump(mode="json", by_alias=True), separators=(",", ":")).encode("ascii")


def _fresh(request: Request, document: Document) -> Response:
    content = _ascii(document)
    headers = {"etag": f'"sha256:{hashlib.sha256(content).hexdigest()}"', "cache-control": REVALIDATE}
    if _is_known(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=JSON, headers=headers)


def _is_known(request: Request, etag: str) -> bool:
    """Whether the caller holds this representation (RFC 9110 section 13.1.2: weak comparison)."""
    held = request.headers.get("if-none-match", "")
    return held.strip() == "*" or etag in {each.strip().removeprefix("W/") for each in held.split(",")}
