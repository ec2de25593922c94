# SPDX-License-Identifier: Apache-2.0
"""Where a surface comes from: a command that starts a server, or the URL of one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSource:
    """A server that a command starts, which then speaks over its standard streams.

    Attributes:
        argv: the command and its arguments, secrets included; never shown as they are.
        directory: where it starts; relative paths in `argv` are meant from here.
        environment: the variables that this process has; a child gets them without those that are held back.
        handed: names of variables to hand over although they would be held back.
        contained: that this process does nothing else while it looks (see `process.start`): then what the
            server leaves behind, in sessions of its own too, is found and ended with it.
    """

    argv: tuple[str, ...] = field(repr=False)
    directory: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    handed: frozenset[str] = frozenset()
    contained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlSource:
    """A server behind a Streamable HTTP endpoint.

    Attributes:
        url: the endpoint, secrets in it included; never shown as it is.
        headers: headers to send with every request, such as credentials; never shown.
        ca_file: certificates (PEM) to accept beside those of the system.
        environment: where proxy settings are read from.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)


Source = CommandSource | UrlSource
