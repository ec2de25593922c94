# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a registry: versions, signed manifests, objects by digest, and to publish.

Every call ends within its deadline, and all calls of a session within one. "The registry says no" (`Refused`)
and "there is no answer that counts" (`CannotTell`: down, slow, overloaded, a login page in its place) stay
apart.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Self

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import CannotTell, Refused
from toolnotary_verifier.fetch.address import Address
from toolnotary_verifier.fetch.answers import (
    ANSWER_BYTES,
    Publication,
    PublishedVersion,
    SignedManifest,
    document,
    failure,
    page,
    reading,
    strange,
)
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.naming import server_name, server_version

if TYPE_CHECKING:
    from toolnotary_verifier.fetch.exchange import Exchange

_MAX_PAGES = 100
_SEGMENT = re.compile(r"[A-Za-z0-9_~+-][A-Za-z0-9._~+-]*")  # never a dot segment, nothing to be encoded
_LIES = "do not rely on this registry, and tell its operator"
_ROLLED_BACK = "ask the publisher or another registry before you accept anything from here"


class Registry:
    """A registry at a base URL; nothing is opened before the first call."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 10.0,
        deadline: float = 60.0,
        offline: bool = False,
        insecure_http: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Name a registry.

        Args:
            url: its base URL.
            timeout: the longest single wait for the network, in seconds.
            deadline: the most that one call, or all calls of one session, may take, in seconds.
            offline: open no socket: every call ends in `offline`.
            insecure_http: accept plain http to other machines.
            limits: bounds on manifests and bundles.

        Raises:
            ConfigurationError: `registry-url`.
        """
        self._address = Address.parse(url, insecure_http=insecure_http)
        self._origin = self._address.origin
        self._timeout = timeout
        self._deadline = deadline
        self._offline = offline
        self._limits = limits
        self._shared: Exchange | None = None

    @contextmanager
    def session(self) -> Iterator[Self]:
        """This registry for calls that belong together: one connection, and one deadline for all of them.

        Raises:
            CannotTell: `offline`.
        """
        with self._exchange() as exchange:
            within = copy(self)
            within._shared = exchange  # noqa: SLF001 - its own copy
            yield within

    @property
    def url(self) -> str:
        """The base URL."""
        return str(self._address)

    def url_of(self, server: str, version: str) -> str:
        """The URL under which a version is, or would be, published."""
        return self.url + _version_target(server, version)

    def latest(self, server: str, *, at_least: int = 0) -> PublishedVersion:
        """The version with the highest sequence number.

        Args:
            server: the server's name.
            at_least: the highest sequence number that the caller has seen. A lower one means that the
                registry was rolled back, or hides what came after.

        Raises:
            InvalidInput: `server-name`.
            Refused: `not-in-registry`, `registry-rollback`.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        with self._exchange() as exchange:
            answer = exchange.get(f"/v1/servers/{server_name(server)}", max_bytes=ANSWER_BYTES)
        with reading(self._origin):
            found = PublishedVersion.parse(document(self._origin, answer).get("latest"))
        if found.server != server:
            raise strange(self._origin, f"answers for {found.server}, asked for {server}")
        if found.sequence < at_least:
            message = f"{self._origin}: {server} is at sequence {found.sequence}, it was at {at_least} before"
            raise Refused("registry-rollback", message, remedy=_ROLLED_BACK)
        return found

    def version(self, server: str, version: str) -> PublishedVersion:
        """What the registry says of one version.

        Raises:
            InvalidInput: `server-name`, `server-version`.
            Refused: `not-in-registry`.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        with self._exchange() as exchange:
            return self._version(exchange, server_name(server), server_version(version))

    def versions(
        self, server: str, *, most: int | None = None, below: int | None = None
    ) -> tuple[PublishedVersion, ...]:
        """Versions of a server, highest sequence number first; no page is read that is not needed for them.

        Args:
            server: the server's name.
            most: how many; None for all.
            below: leave out those whose sequence number is not lower; None for all.

        Raises:
            InvalidInput: `server-name`.
            Refused: `not-in-registry`.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        target = f"/v1/servers/{server_name(server)}/versions"
        listed: list[PublishedVersion] = []
        wanted: list[PublishedVersion] = []
        with self._exchange() as exchange:
            for entries in self._pages(exchange, target):
                listed += entries
                wanted += [entry for entry in entries if below is None or entry.sequence < below]
                if most is not None and len(wanted) >= most:
                    break
        falling = all(upper.sequence > lower.sequence for upper, lower in pairwise(listed))
        if not falling or not {entry.server for entry in listed} <= {server}:
            raise strange(self._origin, "lists versions out of order, or of another server")
        return tuple(wanted[:most])

    def manifest(self, server: str, version: str) -> SignedManifest:
        """The manifest of a version and its bundle, both re-hashed; `verify` judges them.

        Raises:
            InvalidInput: `server-name`, `server-version`.
            Refused: `not-in-registry`, `registry-digest`.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        with self._exchange() as exchange:
            published = self._version(exchange, server_name(server), server_version(version))
            return SignedManifest(
                published=published,
                manifest=self._blob(exchange, published.manifest, self._limits.manifest_bytes),
                bundle=self._blob(exchange, published.bundle, self._limits.bundle_bytes),
            )

    def blob(self, digest: Digest, *, max_bytes: int | None = None) -> bytes:
        """The bytes that have this digest.

        Args:
            digest: what is asked for.
            max_bytes: the most that is read; what a manifest may have, if None.

        Raises:
            Refused: `not-in-registry`, `registry-digest` if other bytes came.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        with self._exchange() as exchange:
            bound = self._limits.manifest_bytes if max_bytes is None else max_bytes
            return self._blob(exchange, digest, bound)

    def publish(self, manifest: bytes, bundle: bytes) -> Publication:
        """Publish a signed manifest, and read back what the registry serves for it.

        Publishing the same manifest again succeeds; the bundle that was published first stays.

        Raises:
            InvalidInput: the manifest is not one (`manifest-*`, and the codes of the strict parser).
            Refused: `version-exists`, `sequence-not-higher`, `namespace-unclaimed`; `registry-refused` for
                whatever else the registry objects to; `registry-digest` if it serves something else than it
                was given.
            CannotTell: `offline`, `registry-unreachable`, `registry-unavailable`, `registry-answer`.
        """
        import base64
        import json

        from toolnotary_verifier.manifest import Manifest

        named = Manifest.parse(manifest, limits=self._limits)
        parts = {"manifest": manifest, "bundle": bundle}
        encoded = {name: base64.b64encode(content).decode("ascii") for name, content in parts.items()}
        with self._exchange() as exchange:
            body = json.dumps(encoded).encode("ascii")
            answer = exchange.post("/v1/manifests", body, max_bytes=ANSWER_BYTES)
            document(self._origin, answer)
            created = answer.status == 201
            served = self._version(exchange, named.server, named.version)
            if served.manifest != named.digest or (created and served.bundle != Digest.of(bundle)):
                message = (
                    f"{self._origin} serves {named.server}@{named.version} as other bytes than it was given"
                )
                raise Refused("registry-digest", message, remedy=_LIES)
            self._blob(exchange, served.manifest, self._limits.manifest_bytes)
            self._blob(exchange, served.bundle, self._limits.bundle_bytes)
        return Publication(published=served, created=created, url=self.url_of(named.server, named.version))

    @contextmanager
    def _exchange(self) -> Iterator["Exchange"]:
        if self._shared is not None:
            yield self._shared
            return
        if self._offline:
            message = f"{self._origin} was not asked: nothing is asked for offline"
            raise CannotTell("offline", message, remedy="leave --offline out, or fetch it first")
        from toolnotary_verifier.fetch.exchange import Deadline, Exchange

        with Exchange(self._address, Deadline(total=self._deadline, wait=self._timeout)) as exchange:
            yield exchange

    def _version(self, exchange: "Exchange", server: str, version: str) -> PublishedVersion:
        answer = exchange.get(_version_target(server, version), max_bytes=ANSWER_BYTES)
        with reading(self._origin):
            found = PublishedVersion.parse(document(self._origin, answer))
        if (found.server, found.version) != (server, version):
            raise strange(self._origin, "answers for another version than the one asked for")
        return found

    def _pages(self, exchange: "Exchange", target: str) -> Iterator[list[PublishedVersion]]:
        from urllib.parse import quote

        query = ""
        for _ in range(_MAX_PAGES):
            answer = exchange.get(target + query, max_bytes=ANSWER_BYTES)
            with reading(self._origin):
                entries, cursor = page(document(self._origin, answer))
            yield entries
            if cursor is None:
                return
            query = f"?cursor={quote(cursor, safe='')}"
        raise strange(self._origin, "lists versions without end")

    def _blob(self, exchange: "Exchange", digest: Digest, max_bytes: int) -> bytes:
        answer = exchange.get(f"/v1/blobs/{digest.replace(':', '/')}", max_bytes=max_bytes)
        if answer.status != 200:
            raise failure(self._origin, answer)
        if answer.media_type == "text/html":
            raise strange(self._origin, "answers with an HTML page in place of an object")
        got = Digest.of(answer.body)
        if got != digest:
            message = f"{self._origin}: asked for {digest}, got bytes with {got}"
            raise Refused("registry-digest", message, remedy=_LIES)
        return answer.body


def _version_target(server: str, version: str) -> str:
    if _SEGMENT.fullmatch(version):
        return f"/v1/servers/{server}/versions/{version}"
    from urllib.parse import quote

    return f"/v1/servers/{server}/version?version={quote(version, safe='')}"
