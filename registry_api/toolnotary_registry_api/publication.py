# SPDX-License-Identifier: Apache-2.0
"""What the registry does: publish a submission, claim a namespace. Rules meet storage here, without HTTP."""

from dataclasses import dataclass, replace
from datetime import datetime

from toolnotary_registry_api.admission import Submission, admit, key_pattern, patterns_for, place
from toolnotary_registry_api.records import Blob, Entry, NamespaceKey
from toolnotary_registry_api.storage import Storage
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Manifest

MANIFEST_TYPE = "application/vnd.toolnotary.manifest.v1+json"
BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A version that is in the registry now; `created` says whether it was not before."""

    entry: Entry
    created: bool


def publish(storage: Storage, submission: Submission, *, at: datetime) -> Publication:
    """Admit and store a submission; the same one again is answered with what is stored.

    Raises:
        InvalidInput: what is wrong with the documents.
        Refused: `namespace-unclaimed`, `version-exists`, `sequence-not-higher`, or why the signature does not
            count.
        CannotTell: `database-unreachable`.
    """
    manifest = Manifest.parse(submission.manifest)
    bundle = Digest.of(submission.bundle)
    stored = storage.entry(manifest.server, manifest.version)
    if stored is not None and (stored.manifest, stored.bundle) == (manifest.digest, bundle):
        # Nothing enters, so nothing is checked: a pipeline may run again after its key was retired.
        return Publication(entry=stored, created=False)
    patterns = patterns_for(manifest.server)
    keys = storage.namespace_keys(patterns)
    verified = admit(submission, manifest, keys=keys, at=at)
    proposed = Entry(
        server=manifest.server,
        version=manifest.version,
        sequence=verified.sequence,
        manifest=manifest.digest,
        bundle=bundle,
        signer=verified.signer.identity,
        published_at=at,
    )
    blobs = {
        proposed.manifest: Blob(media_type=MANIFEST_TYPE, content=submission.manifest),
        proposed.bundle: Blob(media_type=BUNDLE_TYPE, content=submission.bundle),
    }
    with storage.writing(proposed.server, under=patterns) as writing:
        # Verifying is work that no transaction should wait for; the keys that count are those of now.
        if writing.namespace_keys(patterns) != keys:
            admit(submission, manifest, keys=writing.namespace_keys(patterns), at=at)
        stored = writing.entry(proposed.server, proposed.version)
        settled = place(proposed, stored=stored, last_sequence=writing.last_sequence(proposed.server))
        if settled is proposed:
            writing.add(proposed, blobs)
    return Publication(entry=settled, created=settled is proposed)


def claim(storage: Storage, pattern: str, pem: bytes, *, at: datetime) -> NamespaceKey:
    """Let a key publish under a pattern. A key that already may is left as it is.

    Raises:
        InvalidInput: `namespace-pattern`, or what is wrong with the key.
        CannotTell: `database-unreachable`.
    """
    pattern, public_key = key_pattern(pattern), PublicKey.from_pem(pem)
    key = NamespaceKey(pattern=pattern, key_id=public_key.key_id, public_key=public_key.to_pem(), added_at=at)
    with storage.writing(pattern) as writing:
        for known in writing.namespace_keys([pattern]):
            if known.key_id == key.key_id and known.retired_at is None:
                return known
        writing.add_key(key)
    return key


def retire(storage: Storage, pattern: str, key_id: str, *, at: datetime) -> NamespaceKey:
    """Let a key publish under a pattern no more; what it signed stays as it is.

    Raises:
        Refused: `no-such-key`, if the key may not publish under exactly this pattern.
        CannotTell: `database-unreachable`.
    """
    with storage.writing(pattern) as writing:
        for known in writing.namespace_keys([pattern]):
            if known.key_id == key_id and known.retired_at is None:
                writing.retire_key(known, at=at)
                return replace(known, retired_at=at)
    remedy = "toolnotary registry list-keys shows patterns and key ids"
    raise Refused("no-such-key", "no such key publishes under this pattern", remedy=remedy)
