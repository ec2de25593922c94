# SPDX-License-Identifier: Apache-2.0
"""What a host's file was before `wrap`, kept for `unwrap` in a file of our own.

In a file of ours and not in the host's, because hosts refuse members that they do not know; and not beside
it, because hosts read folders. It holds the bytes as they were, the person's own secrets included: it is
readable for its owner alone, and `unwrap` removes it.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Final, NamedTuple

from toolnotary_cli import places
from toolnotary_cli.hosts.documents import MAX_BYTES
from toolnotary_verifier.canonical import Digest, parse
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape

FOLDER: Final = "hosts"
SCHEMA: Final = "https://toolnotary.dev/host-file/v1"
_CODE: Final = "original-corrupt"


class Original(NamedTuple):
    """What was stored of one file.

    Attributes:
        content: the bytes before `wrap`.
        wrapped: the digest of the bytes as `wrap` left them.
    """

    content: bytes
    wrapped: str


def place(target: Path) -> Path:
    """Where the original of a file is stored; links to the file are resolved already."""
    name = hashlib.sha256(str(target).encode("utf-8", "surrogateescape")).hexdigest()
    return places.home() / FOLDER / f"{name}.json"


def digest(content: bytes) -> str:
    """What tells whether a file is as `wrap` left it."""
    return Digest.of(content)


def store(target: Path, original: bytes, wrapped: bytes) -> None:
    """Keep what a file was, before it is written.

    Raises:
        ConfigurationError: `file-not-writable`.
    """
    from toolnotary_verifier.files import replace_file

    document = {
        "schema": SCHEMA,
        "file": str(target).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"),
        "original": base64.b64encode(original).decode("ascii"),
        "wrapped": digest(wrapped),
    }
    content = json.dumps(document, sort_keys=True).encode("ascii")
    replace_file(place(target), content, is_link_kept=False, is_private=True)


def find(target: Path) -> Original | None:
    """What is stored of a file; None where nothing is.

    Raises:
        InvalidInput: `original-corrupt`; it names the file.
        OSError: it cannot be read.
    """
    path = place(target)
    try:
        with path.open("rb") as file:
            raw = file.read(2 * MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    try:
        found = parse(raw, max_bytes=2 * MAX_BYTES)
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise InvalidInput(_CODE, "another schema")  # noqa: TRY301 - told below, with its place
        return Original(
            base64.b64decode(str(found["original"]), validate=True), Digest.from_text(found["wrapped"])
        )
    except (InvalidInput, KeyError, ValueError):
        raise InvalidInput(
            _CODE,
            f"{escape(str(path), limit=300)}: it is not what toolnotary wrap wrote",
            remedy="remove it, and toolnotary unwrap takes out what wrap put in; or restore it from a backup",
        ) from None


def forget(target: Path) -> None:
    """Remove what is stored of a file."""
    place(target).unlink(missing_ok=True)
