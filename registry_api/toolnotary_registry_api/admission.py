# SPDX-License-Identifier: Apache-2.0
"""May this bundle enter? Pure: bytes, keys, what is stored and the time come in as values.

Admission has two questions, because the first is work and the second must be asked inside a write
transaction: `admit` (is this a manifest, signed by a key that may speak for its name?) and `place` (is there
room for it in the server's sequence?). DESIGN sections 5, 6 and 11 are the source of the rules.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from toolnotary_registry_api.records import Entry, NamespaceKey
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Manifest
from toolnotary_verifier.naming import server_name
from toolnotary_verifier.verify import VerifiedManifest, verify_publish

# A server's name (see `naming`), or its namespace with `*` for whatever follows the slash.
_PATTERN = re.compile(r"[a-zA-Z0-9.-]+/\*")
_MAX_PATTERN = 200
_ADD_KEY = "the operator registers one: toolnotary registry add-key 'NAMESPACE/*' KEY.pub"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a publisher sends: two documents, byte for byte as they were signed."""

    manifest: bytes
    bundle: bytes


def key_pattern(text: str) -> str:
    """The pattern `NAMESPACE/*` or the name `NAMESPACE/NAME` that a key is registered for.

    Raises:
        InvalidInput: `namespace-pattern`, if it is neither.
    """
    if len(text) <= _MAX_PATTERN and _PATTERN.fullmatch(text):
        return text
    try:
        return server_name(text)
    except InvalidInput:
        message = f"got {escape(text, limit=80)}, expected NAMESPACE/* or NAMESPACE/NAME"
        raise InvalidInput("namespace-pattern", message, remedy="for example io.github.acme/*") from None


def patterns_for(server: str) -> tuple[str, ...]:
    """The patterns that cover this name. Keys of both count: the narrower one adds, and takes none away."""
    return server, server.partition("/")[0] + "/*"


def admit(
    submission: Submission, manifest: Manifest, *, keys: tuple[NamespaceKey, ...], at: datetime
) -> VerifiedManifest:
    """The manifest, verified under the keys that are registered for its name.

    Args:
        submission: the two documents.
        manifest: the parsed first of them.
        keys: the keys of `patterns_for(manifest.server)`, retired ones included.
        at: the present, in UTC.

    Raises:
        InvalidInput: that of `verify_publish`.
        Refused: `namespace-unclaimed`, or that of `verify_publish`.
    """
    trusted = _trusted(keys)
    if not trusted:
        message = f"no key is registered in this registry for {manifest.server}"
        raise Refused("namespace-unclaimed", message, remedy=_ADD_KEY)
    try:
        return verify_publish(
            submission.manifest,
            submission.bundle,
            trusted=trusted,
            at=at,
            server=manifest.server,
            version=manifest.version,
        )
    except Refused as error:
        if error.code != "unknown-key":
            raise
        # To a reader it names the reader's policy; here it is the operator who says which keys count.
        raise Refused(error.code, error.message, remedy=_ADD_KEY) from None


def place(proposed: Entry, *, stored: Entry | None, last_sequence: int) -> Entry:
    """The version that the registry holds afterwards: `proposed` itself if it is new, else the stored one.

    A manifest that was signed a second time is the same publication: signing again (another time, another
    ECDSA nonce) changes no definition, and a release pipeline that runs twice must end well both times.

    Args:
        proposed: what is to be published.
        stored: what this registry holds under the same server and version.
        last_sequence: the server's highest sequence number, 0 before its first version.

    Raises:
        Refused: `version-exists`, if the version is stored with another manifest; `sequence-not-higher`.
    """
    name = f"{proposed.server}@{escape(proposed.version, limit=80)}"
    if stored is not None:
        if stored.manifest == proposed.manifest:
            return stored
        message = (
            f"{name}: got {Digest(proposed.manifest).short}, is published as {Digest(stored.manifest).short}"
        )
        raise Refused(
            "version-exists", message, remedy="a published version never changes: publish another version"
        )
    if proposed.sequence <= last_sequence:
        message = f"{name}: got sequence {proposed.sequence}, expected more than {last_sequence}"
        raise Refused(
            "sequence-not-higher", message, remedy=f"sign again with --sequence {last_sequence + 1}"
        )
    return proposed


def _trusted(keys: tuple[NamespaceKey, ...]) -> Mapping[str, PublicKey]:
    return {key.key_id: PublicKey.from_pem(key.public_key) for key in keys if key.retired_at is None}
