# SPDX-License-Identifier: Apache-2.0
"""How one guarded server is started or reached, and what it is called where nobody named it."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.shellwords import told_url

if TYPE_CHECKING:
    from toolnotary_verifier.capture.source import Source
    from toolnotary_verifier.launch import Launch


class Reached(NamedTuple):
    """A server that is still to be started or reached.

    Attributes:
        launch: its identity.
        source: gives how it is started or reached with the secrets in it, of which nothing is kept.
        otherwise: what to call it if nobody named or pinned it.
        refused: what does not happen to it if it is not the pinned one.
        url: where it is reached, as commands tell it; empty where it is started.
    """

    launch: "Launch"
    source: "Callable[[], Source]"
    otherwise: str
    refused: str
    url: str = ""

    @classmethod
    def by_command(
        cls, argv: Sequence[str], project: Project, *, environment: Mapping[str, str], folder: Path
    ) -> Self:
        """A server that a command starts.

        Raises:
            InvalidInput: `launch-empty`.
        """

        def source() -> "Source":
            from toolnotary_verifier.capture.source import CommandSource  # where something is not as pinned

            return CommandSource(argv=tuple(argv), environment=environment)

        launch = project.launch(argv, environment=environment, folder=folder)
        return cls(launch, source, otherwise=Path(argv[0]).name, refused="started")

    @classmethod
    def by_url(cls, url: str, *, headers: Mapping[str, str]) -> Self:
        """A server behind a URL.

        Raises:
            InvalidInput: `launch-url`.
        """
        from toolnotary_verifier.launch import Launch

        def source() -> "Source":
            from toolnotary_verifier.capture.source import UrlSource

            return UrlSource(url=url, headers=headers)

        launch = Launch.from_url(url)
        return cls(launch, source, otherwise=launch.display, refused="connected to", url=told_url(url))


def may_be_offered(project: Project, server: str, pins: Pins) -> bool:
    """Whether a version that a registry offers could change what is decided about this server.

    That is: somebody may sign for its name, and nothing is pinned to it but what somebody signed.
    """
    if pins.standing is not None or (pins.signer is None and (pins.profiles or pins.known)):
        return False
    return any(rule.covers(server) for rule in project.policy.signers) or bool(project.state.keys(server))


def still_needed_for(project: Project, server: str) -> str:
    """What `approve` needs besides the name."""
    from toolnotary_verifier.relaunch import still_needed

    entries = project.lockfile.named(server)
    return still_needed(entries, base=project.lockfile_path.absolute().parent, environment=os.environ)


def pinned_name(project: Project, launch: "Launch") -> str | None:
    """The name that the launch is pinned under, None if it is not.

    Raises:
        ConfigurationError: `server-ambiguous`.
    """
    names = sorted({entry.server for entry in project.lockfile.launched(launch.identity)})
    if len(names) > 1:
        shown = ", ".join(escape(name, limit=80) for name in names)
        raise ConfigurationError(
            "server-ambiguous", f"this launch is pinned under {shown}", remedy="say --server NAME"
        )
    return names[0] if names else None
