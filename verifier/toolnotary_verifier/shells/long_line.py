# SPDX-License-Identifier: Apache-2.0
"""A very long line of the server: looked at while it comes in, and kept where that costs least."""

from collections.abc import Iterable

from toolnotary_verifier.gate.recognise import InParts
from toolnotary_verifier.shells.lines import write
from toolnotary_verifier.stowage import CAN_STOW, Stowage


class LongLine:
    """One line, from what was kept of it so far to its end.

    Attributes:
        in_parts: what the gate is asked about, in place of the whole frame.
    """

    def __init__(self, begun: Iterable[bytes | bytearray]) -> None:
        self.in_parts = InParts()
        self._parts = list(begun)
        self._stowage = Stowage() if CAN_STOW else None
        for part in self._parts:
            self.in_parts.add(part)

    def add(self, part: bytes) -> None:
        """Keep what comes next."""
        self.in_parts.add(part)
        if self._stowage is not None:
            part = self._stowage.add(part)
        if part or not self.in_parts.may_be_plain:  # no room, or it is to be read as a whole
            self._take_back()
            self._parts.append(part)

    def pour(self, descriptor: int) -> None:
        """Write it; nothing is kept.

        Raises:
            OSError: as a write to that descriptor.
        """
        try:
            for part in self._parts:
                write(descriptor, part)
            if self._stowage is not None:
                self._stowage.pour(descriptor)
        finally:
            self.close()

    def whole(self) -> bytes:
        """Its bytes; nothing is kept."""
        self._take_back()
        line = b"".join(self._parts)
        self.close()
        return line

    def close(self) -> None:
        """Keep nothing."""
        self._parts = []
        if self._stowage is not None:
            self._stowage.close()

    def _take_back(self) -> None:
        if self._stowage is not None:
            self._parts.append(self._stowage.content())
            self._stowage = None
