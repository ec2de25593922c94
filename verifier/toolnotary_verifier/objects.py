# SPDX-License-Identifier: Apache-2.0
"""Manifests, bundles and texts under the digest of their bytes, beside the lockfile that names them.

What lies here proves nothing by lying here: it is hashed again at every load. The folder can be committed, so
that a review shows what is pinned and a fresh clone verifies without a network (DESIGN: lockfile).
"""

from collections.abc import Sequence
from pathlib import Path

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.links import opened, within

_MAX_OBJECT_BYTES = 64 << 20
# A checkout that rewrites line ends would change what is hashed.
_ATTRIBUTES = b"* -text\n"


class Objects:
    """A content-addressed store in one folder, reading from further ones where that has nothing.

    Args:
        folder: where new objects go.
        fallbacks: where else to look, in order.
        root: the project that nothing is written outside of (see `links.within`); None for the user's own
            folder. What is read through a link is hashed like everything else.
    """

    def __init__(self, folder: Path, *, fallbacks: Sequence[Path] = (), root: Path | None = None) -> None:
        self.folder = folder
        self._root = root
        self._folders = (folder, *fallbacks)

    def put(self, content: bytes) -> Digest:
        """Store these bytes; returns their digest. Storing them again changes nothing.

        Raises:
            ConfigurationError: `file-not-writable`, where the folder is read-only or the disk is full.
            Refused: `leads-outside`, where the folder is a link out of the project.
        """
        digest = Digest.of(content)
        path = self._path(self.folder, digest)
        if path.is_symlink() or not path.is_file() or self._read(path) != content:
            self._write(path, content)
            attributes = self.folder / ".gitattributes"
            if not attributes.exists():
                self._write(attributes, _ATTRIBUTES)
        return digest

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file of the store; a link in its place is replaced, since who knows what it leads to."""
        from toolnotary_verifier.files import replace_file

        place = within(path.parent, self._root) / path.name
        replace_file(place, content, is_link_kept=False, is_private=self._root is None)

    def get(self, digest: Digest) -> bytes | None:
        """The bytes of this digest, or None where no folder has them.

        Raises:
            InvalidInput: `object-corrupt`, if what lies there has another digest.
            ConfigurationError: `object-unreadable`.
        """
        for folder in self._folders:
            path = self._path(folder, digest)
            if path.is_file():
                content = self._read(path)
                if Digest.of(content) != digest:
                    raise InvalidInput(
                        "object-corrupt",
                        f"{escape(str(path), limit=300)} does not hold what its name says",
                        remedy="restore the file from version control, or delete it and pin again",
                    )
                return content
        return None

    @staticmethod
    def _path(folder: Path, digest: Digest) -> Path:
        return folder / digest.hex[:2] / digest.hex[2:]

    @staticmethod
    def _read(path: Path) -> bytes:
        try:
            with opened(path) as file:
                return file.read(_MAX_OBJECT_BYTES)
        except OSError as error:
            raise ConfigurationError(
                "object-unreadable",
                f"{escape(str(path), limit=300)}: {(error.strerror or 'cannot be read').lower()}",
            ) from None
