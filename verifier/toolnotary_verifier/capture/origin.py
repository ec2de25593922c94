# SPDX-License-Identifier: Apache-2.0
"""What a launch line or URL says about where a server comes from."""

from toolnotary_verifier.capture.endpoint import Endpoint
from toolnotary_verifier.capture.source import CommandSource, Source
from toolnotary_verifier.naming import Artifact


def origin(source: Source) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """The artifacts and remotes that a source names."""
    if isinstance(source, CommandSource):
        return (), ()
    return (), (Endpoint.parse(source.url).shown,)
