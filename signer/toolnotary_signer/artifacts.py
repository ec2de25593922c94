# SPDX-License-Identifier: Apache-2.0
"""Artifacts as a publisher names them: a package URL, and a digest or a file to be digested."""

import hashlib
import re
from pathlib import Path

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.naming import Artifact

_DIGEST = re.compile(r"(?P<purl>.+)=(?P<digest>sha(?:256:|512-).+)")


def artifact_of(text: str) -> Artifact:
    """The artifact in `PURL`, `PURL=DIGEST` or `PURL=PATH`.

    A package URL with qualifiers (`?a=b`) has equals signs of its own and takes a digest, not a path.

    Raises:
        InvalidInput: `artifact`.
        ConfigurationError: `artifact-file`, if PATH cannot be read.
    """
    if with_digest := _DIGEST.fullmatch(text):
        return Artifact(with_digest["purl"], with_digest["digest"])
    purl, equals, path = text.partition("=")
    if not equals or "?" in purl:
        return Artifact(text)
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        why = (error.strerror or "cannot be read").lower()
        raise ConfigurationError(
            "artifact-file",
            f"{escape(path, limit=300)}: {why}",
            remedy="write PURL=PATH with the path of the built file, PURL=DIGEST, or the PURL alone",
        ) from None
    return Artifact(purl, f"sha256:{digest}")
