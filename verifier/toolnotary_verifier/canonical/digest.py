# SPDX-License-Identifier: Apache-2.0
"""The one digest of the product: `sha256:` and 64 lower-case hex digits over canonical bytes."""

import re
from hashlib import sha256
from typing import Self

from toolnotary_verifier.errors import InvalidInput

_TEXT = r"sha256:[0-9a-f]{64}"  # compiled when first needed


class Digest(str):
    """`sha256:` and 64 lower-case hex digits; a `str`, so that it sorts, hashes and prints as itself."""

    __slots__ = ()

    @classmethod
    def of(cls, content: bytes) -> Self:
        """The digest of these bytes, which the caller has brought into canonical form."""
        return cls("sha256:" + sha256(content).hexdigest())

    @classmethod
    def from_text(cls, text: object) -> Self:
        """The digest that `text` spells.

        Raises:
            InvalidInput: `bad-digest`, if it is not exactly `sha256:` and 64 lower-case hex digits.
        """
        if not isinstance(text, str) or not re.fullmatch(_TEXT, text):
            raise InvalidInput("bad-digest", "expected sha256: and 64 lower-case hex digits")
        return cls(text)

    @property
    def hex(self) -> str:
        """The 64 hex digits without the algorithm."""
        return self[7:]

    @property
    def short(self) -> str:
        """The first 12 hex digits, for people; never compare these."""
        return self[7:19]
