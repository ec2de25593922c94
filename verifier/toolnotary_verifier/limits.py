# SPDX-License-Identifier: Apache-2.0
"""Bounds on everything that an untrusted peer decides the size of (DESIGN: limits).

Each bound is enforced before the work that it bounds. All sizes are bytes, all times seconds.
"""

from typing import NamedTuple


class Limits(NamedTuple):
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
    probe_seconds: float = 3.0  # of silence to `server/discover`, after which `initialize` is sent too
    reverify_seconds: float = 300.0  # a verified listing older than this is verified again before a call
    quiet_seconds: float = 60.0  # the longest pause between verifications that only a server asks for
    held_requests: int = 256  # of a host, waiting for a verification
    held_bytes: int = 16 << 20
    override_seconds: float = 86_400.0  # for which break-glass lets something pass at most
    views: int = 8  # revisions and client capabilities that one connection is seen under


DEFAULT_LIMITS = Limits()
