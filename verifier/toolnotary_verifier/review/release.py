# SPDX-License-Identifier: Apache-2.0
"""Two releases of a server: who published them, and in which order."""

from collections.abc import Iterator

from toolnotary_verifier.canonical import JsonValue, canonical_bytes
from toolnotary_verifier.naming import Release
from toolnotary_verifier.review.finding import Change, Finding, Whole
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import release


def release_findings(old: Release | None, new: Release | None, *, differs: bool) -> Iterator[Finding]:
    """What two releases say of themselves that does not fit together.

    Args:
        old: the release of before; None where nobody says.
        new: the release of now.
        differs: whether their definitions differ.
    """
    if old is None or new is None:
        return
    if old.server != new.server:
        yield _finding(release.SERVER_CHANGED, "server", old.server, new.server)
        return
    if old.signer and new.signer and old.signer != new.signer:
        yield _finding(release.SIGNER_CHANGED, "signer", old.signer, new.signer)
    if old.sequence is not None and new.sequence is not None and new.sequence < old.sequence:
        yield _finding(release.ROLLBACK, "sequence", old.sequence, new.sequence)
    if differs and old.version == new.version:
        yield _finding(release.VERSION_NOT_BUMPED, "version", old.version, new.version)


def _finding(rule: Rule, member: str, old: JsonValue, new: JsonValue) -> Finding:
    before, after = (canonical_bytes(side).decode("utf-8") for side in (old, new))
    whole = Whole.RELEASE
    return Finding(rule, whole, whole.value, Change.CHANGED, f"/{member}", before, after)
