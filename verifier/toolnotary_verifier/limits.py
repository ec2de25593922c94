# SPDX-License-Identifier: Apache-2.0
"""Bounds on everything that an untrusted peer decides the size of (DESIGN: limits).

Each bound is enforced before the work that it bounds. All sizes are bytes, all times seconds.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one connection or one command; the defaults fit every real server that was measured."""

    page_bytes: int = 4 << 20
    listing_bytes: int = 16 << 20
    pages: int = 100
    tools: int = 5000
    cursor_bytes: int = 64 << 10
    definition_bytes: int = 1 << 20
    manifest_bytes: int = 4 << 20
    bundle_bytes: int = 256 << 10
    profiles: int = 64  # of one manifest
    variants: int = 16  # definitions of one name in one manifest (DESIGN: manifest)
    frame_bytes: int = 16 << 20  # a longer frame is never parsed
    line_bytes: int = 64 << 20  # a longer line ends the connection
    definition_depth: int = 64
    message_depth: int = 128
    listing_seconds: float = 10.0
    first_start_seconds: float = 30.0


DEFAULT_LIMITS = Limits()
