# SPDX-License-Identifier: Apache-2.0
"""What a registry may answer, and what each other answer means.

Only a problem document (RFC 9457) of a registry is a no. Any other failure, whatever its status, may come
from something in between: a proxy, a login page, a half-dead load balancer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue, parse, plain
from toolnotary_verifier.errors import CannotTell, InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import server_name, server_version
from toolnotary_verifier.shape import array, members, text

ANSWER_BYTES = 1 << 20
_UNAVAILABLE = frozenset({408, 425, 429})
# The refusals that a caller may act upon, with the status that must come with each.
_KNOWN_REFUSALS = {
    "not-in-registry": 404,
    "version-exists": 409,
    "sequence-not-higher": 409,
    "namespace-unclaimed": 403,
}
_OTHER = "check the registry's URL; a network that wants a login first answers in its place"
_LATER = "try again later; what is pinned keeps working without the registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, read to its end and within its bound."""

    status: int
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVersion:
    """What a registry says of a version: where to find it, never evidence. `verify` tells what was signed.

    Attributes:
        server: the server's name, as asked for.
        version: the version.
        sequence: its number in the server's sequence.
        manifest: digest of the manifest.
        bundle: digest of the publisher's bundle.
        signer: the identity that the registry admitted it under.
    """

    server: str
    version: str
    sequence: int
    manifest: Digest
    bundle: Digest
    signer: str

    @classmethod
    def parse(cls, value: JsonValue) -> Self:
        """The version that a document describes; members of later releases are ignored.

        Raises:
            InvalidInput: it is not shaped like one.
        """
        code = "registry-answer"
        required = ("server", "version", "sequence", "manifest", "bundle", "signer")
        entry = members(value, "the version", code=code, required=required, optional=None)
        sequence = plain(entry["sequence"])
        if isinstance(sequence, bool) or not isinstance(sequence, int) or sequence < 1:
            raise InvalidInput(code, "the sequence is not a positive integer")
        return cls(
            server=server_name(entry["server"]),
            version=server_version(entry["version"]),
            sequence=sequence,
            manifest=Digest.from_text(entry["manifest"]),
            bundle=Digest.from_text(entry["bundle"]),
            signer=text(entry["signer"], "the signer", code=code, most=300),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedManifest:
    """A manifest and its bundle, byte for byte what the digests name; not verified yet."""

    published: PublishedVersion
    manifest: bytes
    bundle: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A version that is in the registry.

    Attributes:
        published: what the registry serves, read back from it.
        created: whether it was not there before.
        url: where it is.
    """

    published: PublishedVersion
    created: bool
    url: str


def strange(origin: str, what: str) -> CannotTell:
    """The error of an answer that no registry gives.

    Args:
        origin: who answered, for the message.
        what: what it did, as a verb phrase; already escaped.
    """
    return CannotTell("registry-answer", f"{origin} {what}", remedy=_OTHER)


@contextmanager
def reading(origin: str) -> Iterator[None]:
    """Whatever is not shaped as the protocol says becomes `registry-answer`: it is not the caller's input.

    Raises:
        CannotTell: `registry-answer`.
    """
    try:
        yield
    except InvalidInput as error:
        raise strange(origin, f"does not answer as a registry does: {error.message}") from error


def document(origin: str, answer: Answer) -> JsonObject:
    """The JSON object of a success.

    Raises:
        Refused: see `failure`.
        CannotTell: `registry-unavailable`, `registry-answer`.
    """
    if answer.status not in (200, 201):
        raise failure(origin, answer)
    if answer.media_type != "application/json":
        raise strange(origin, f"answers with {escape(answer.media_type, limit=80)} in place of JSON")
    with reading(origin):
        value = parse(answer.body, max_bytes=ANSWER_BYTES)
        return members(value, "the answer", code="registry-answer", optional=None)


def page(value: JsonObject) -> tuple[list[PublishedVersion], str | None]:
    """The versions on one page of a list, and the cursor of the next page.

    Raises:
        InvalidInput: it is no such page.
    """
    code = "registry-answer"
    entries = array(value.get("versions"), "versions", code=code)
    cursor = value.get("nextCursor")
    if cursor is not None:
        text(cursor, "nextCursor", code=code, most=200)
    return [PublishedVersion.parse(entry) for entry in entries], cursor


def failure(origin: str, answer: Answer) -> ToolnotaryError:
    """The error that an answer other than success is: `Refused` for a registry's own no, else `CannotTell`.

    Codes of a registry are taken over only where a caller may act upon them; a hostile one cannot make up an
    outcome that another part of toolnotary gives.
    """
    status = answer.status
    if status >= 500 or status in _UNAVAILABLE:
        return CannotTell("registry-unavailable", f"{origin} answers with status {status}", remedy=_LATER)
    if answer.media_type != "application/problem+json":
        return strange(origin, f"answers with status {status} and no problem document")
    try:
        value = parse(answer.body, max_bytes=ANSWER_BYTES)
        problem = members(value, "the problem", code="registry-answer", optional=None)
    except InvalidInput as error:
        return strange(origin, f"answers with status {status} and no problem document: {error.message}")
    code, detail, remedy = (_said(problem, name) for name in ("code", "detail", "remedy"))
    if _KNOWN_REFUSALS.get(code) == status:
        return Refused(code, f"{origin}: {detail}", remedy=remedy)
    return Refused("registry-refused", f"{origin}: {code or status}: {detail}", remedy=remedy)


def _said(problem: JsonObject, name: str) -> str:
    said = problem.get(name)
    return escape(said, limit=500) if isinstance(said, str) else ""
