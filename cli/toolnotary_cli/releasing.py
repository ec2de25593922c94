# SPDX-License-Identifier: Apache-2.0
"""Where a release stands: its number in the server's history, and the files that may hold it already.

A release pipeline runs again: after it broke, or because somebody pressed the button twice. The second run
must end as the first one did, with the same number and the same files.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_cli.reading import read
from toolnotary_verifier.errors import ConfigurationError, Refused, ToolnotaryError
from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolnotary_verifier.bundle import Bundle
    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.fetch import PublishedVersion, Registry
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.limits import Limits
    from toolnotary_verifier.manifest import Manifest
    from toolnotary_verifier.statement import PublishPredicate

# A registry proves no number. One that no history of releases reaches is not signed: numbers only rise, and
# none would be left for the release after it.
_MAX_TAKEN = 1 << 32


class Place(NamedTuple):
    """Where a manifest belongs in its server's history.

    Attributes:
        sequence: its number.
        supersedes: digest of the manifest before, None for the first.
    """

    sequence: int
    supersedes: "Digest | None"


def place(manifest: "Manifest", client: "Callable[[], Registry]") -> Place:
    """The place that the registry tells; nothing is guessed (DESIGN: statement).

    A version that is published with this very manifest keeps its number.

    Raises:
        ConfigurationError: `sequence-needed`, `registry-url`.
        Refused: `version-exists`, `registry-sequence`.
        CannotTell: the registry could not be asked.
    """
    registry = _asked(client)
    last = _found(lambda: registry.latest(manifest.server))
    if last is None:
        return Place(1, None)
    if last.sequence > _MAX_TAKEN:
        raise Refused(
            "registry-sequence",
            f"the registry says that {manifest.server} is at sequence {last.sequence}, which no history of "
            "releases reaches",
            remedy="ask its operator; say --sequence with the number that you know",
        )
    if last.version == manifest.version:
        own: PublishedVersion | None = last
    else:
        own = _found(lambda: registry.version(manifest.server, manifest.version))
    if own is None:
        return Place(last.sequence + 1, last.manifest)
    if own.manifest != manifest.digest:
        raise Refused(
            "version-exists",
            f"{manifest.server}@{escape(manifest.version, limit=80)} is published with another manifest, "
            f"{own.manifest}",
            remedy="a published version never changes: sign this as another version",
        )
    before = registry.versions(manifest.server, most=1, below=own.sequence)
    return Place(own.sequence, before[0].manifest if before else None)


def _asked(client: "Callable[[], Registry]") -> "Registry":
    try:
        return client()
    except ConfigurationError as error:
        if error.code != "no-registry":
            raise
        raise ConfigurationError(
            "sequence-needed",
            "the position in the server's history is not known, and no registry is named to ask",
            remedy="say --sequence 1 for a first release, one more than the last later, or --registry URL",
        ) from None


def _found(ask: "Callable[[], PublishedVersion]") -> "PublishedVersion | None":
    try:
        return ask()
    except Refused as error:
        if error.code == "not-in-registry":
            return None
        raise


def standing(
    paths: "tuple[Path, Path]",
    manifest: "Manifest",
    made: "Bundle",
    key: "PublicKey",
    *,
    at: datetime,
    limits: "Limits",
) -> "PublishPredicate | None":
    """What the files of an earlier run say, if they say what `made` says, at whatever time.

    Args:
        paths: where manifest and bundle would be written.
        manifest: what is signed.
        made: its new bundle.
        key: the signer's.
        at: now; what has expired is signed anew.
        limits: bounds on both files; one that is too large is no earlier run's.
    """
    from toolnotary_verifier.statement import Statement
    from toolnotary_verifier.verify import verify_publish

    try:
        raw, bundle = read(paths[0], limits.manifest_bytes), read(paths[1], limits.bundle_bytes)
        found = verify_publish(raw, bundle, trusted={key.key_id: key}, at=at, limits=limits)
    except (OSError, ToolnotaryError):
        return None
    said, wanted = found.statement.predicate, Statement.parse(made.envelope.payload).predicate
    same = found.manifest.digest == manifest.digest and _timeless(said) == _timeless(wanted)
    return said if same else None


def _timeless(predicate: "PublishPredicate") -> object:
    """What a statement says apart from when it was made; it expires after so long, whenever that was."""
    lasts = predicate.expires_at - predicate.issued_at if predicate.expires_at else None
    return replace(predicate, issued_at=datetime.min.replace(tzinfo=UTC), expires_at=None), lasts


def write(files: Mapping[Path, bytes], *, force: bool) -> None:
    """Write all files, or none where one is in the way.

    Raises:
        ConfigurationError: `file-exists`, `file-not-writable`.
    """
    from toolnotary_verifier.files import replace_file

    for path, content in files.items():
        if not force and path.exists() and read(path, len(content)) != content:
            raise ConfigurationError(
                "file-exists",
                f"{escape(str(path), limit=300)} exists with other content",
                remedy="choose another name with -o, or replace it with --force",
            )
    for path, content in files.items():
        replace_file(path, content)
