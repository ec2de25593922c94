# SPDX-License-Identifier: Apache-2.0
"""A surface from a command or URL, on raw frames: one look (`inspect`), or the whole (`capture`).

The client is our own and small. An SDK's models drop fields that they do not know, cache lists and stop after
the first page; what is pinned has to be what the server sent.
"""

from toolnotary_verifier.capture.inspection import inspect
from toolnotary_verifier.capture.plan import Capture, capture
from toolnotary_verifier.capture.source import CommandSource, Source, UrlSource
from toolnotary_verifier.capture.stability import Move, Unstable

__all__ = ["Capture", "CommandSource", "Move", "Source", "Unstable", "UrlSource", "capture", "inspect"]
