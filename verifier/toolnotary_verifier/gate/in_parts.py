# SPDX-License-Identifier: Apache-2.0
"""Whether a very long answer holds nothing to look at, told part by part while it comes in."""

from typing import Final

from toolnotary_verifier.gate.recognise import (
    ANSWER,
    LONGEST,
    NAMES,
    NEAR,
    OPENING,
    VERSION,
    names_in_few_quotes,
)

_BACKSLASH: Final = 0x5C
_RETURN: Final = 0x0D


class InParts:
    """As `is_plain`, of a frame that is not put together; it may say no where the whole frame is plain.

    Attributes:
        may_be_plain: False once a part was added of which only the whole frame can tell.
    """

    def __init__(self) -> None:
        self.may_be_plain = True
        self._has_version = False
        self._before: bytes | bytearray | None = None
        self._last: bytes | bytearray = b""

    def add(self, part: bytes | bytearray) -> None:
        """Look at the next part."""
        if not self.may_be_plain:
            return
        before, self._last = self._before, part
        if before is None:
            before = b""
            self.may_be_plain = part.startswith((ANSWER, OPENING))
            self._has_version = part.find(VERSION, 0, NEAR) >= 0
        seam = (before + part[:LONGEST]).lower()
        self.may_be_plain = (
            self.may_be_plain
            and _BACKSLASH not in part
            and _RETURN not in part
            and part.isascii()
            and not any(seam.find(name) >= 0 for name in NAMES)
            and names_in_few_quotes(part) is False
        )
        self._before = part[-LONGEST:] if len(part) >= LONGEST else (before + part)[-LONGEST:]

    @property
    def is_plain(self) -> bool:
        """Whether the frame that ends with the last part is plain."""
        last = self._last
        return self.may_be_plain and last.endswith(b"}\n") and (self._has_version or last.rfind(VERSION) >= 0)
