# SPDX-License-Identifier: Apache-2.0
"""What `run --url` does: find out what the server is held to, and relay between a host and its URL."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from toolnotary_cli.variables import headers_of
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.guard import Guard, Settings
from toolnotary_verifier.shells.bridge.serve import serve
from toolnotary_verifier.shells.log import Log


def bridge(url: str, *, headers: Sequence[str], ca_file: Path | None, settings: Settings) -> int:
    """Relay until the host or the server ends it; returns the exit code.

    Raises:
        click.UsageError: a header that names no variable.
        Refused: `identity`, before anything is sent; or what keeps a signed entry from counting.
        CannotTell: `object-missing`.
        ConfigurationError: `server-ambiguous`, `url`, `header`, `ca-file`, `proxy`, `insecure-url`, or a file
            that cannot be read.
        InvalidInput: a file that is not valid.
    """
    source = UrlSource(url=url, headers=headers_of(headers), ca_file=ca_file)
    return serve(
        Guard.of_url(url, settings, log=partial(Log, place="in an answer"), headers=source.headers), source
    )
