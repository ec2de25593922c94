# SPDX-License-Identifier: Apache-2.0
"""Looking at a server that is to be pinned or judged: its surface, and how it was started or reached."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_cli.source import Command, Saved, Source, Url
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.project import Project


class Seen(NamedTuple):
    """A surface and the launch that it belongs to; None where a saved listing came without one."""

    surface: Surface
    launch: "Launch | None"


def launch_of(project: "Project", source: Source) -> "Launch | None":
    """The launch that a source on the command line is, None for files.

    Raises:
        InvalidInput: `launch-url`.
    """
    if isinstance(source, Saved):
        return None
    if isinstance(source, Command):
        return project.launch(source.argv, environment=dict(os.environ), folder=Path.cwd())
    if not isinstance(source, Url):
        return None
    from toolnotary_verifier.launch import Launch

    return Launch.from_url(source.url)


def look(
    project: "Project",
    source: Source,
    *,
    launched: Source | None = None,
    registry: str | None = None,
    offline: bool = False,
) -> Seen:
    """Read a source of one surface; a command is started.

    Nothing comes from here that repeats a secret which the server was given: it would be shown and pinned.

    Args:
        project: the files.
        source: what to read.
        launched: how the server of a saved listing is started or reached, where that is known.
        registry: the value of `--registry`, for a published version; else policy names it.
        offline: open no socket.

    Raises:
        ConfigurationError: `source-part` if it holds several profiles; `no-registry`.
        Refused: `secret-in-surface`.
        InvalidInput, CannotTell: see `subject.load`.
    """
    from toolnotary_cli.loading import load

    launch = launch_of(project, source)
    url = registry or project.policy.registry_url
    subject = load(source, registry=url, offline=offline, limits=project.policy.limits)
    surface = subject.one()
    if launched is not None:
        refuse_secrets(launched, surface)
    return Seen(surface, launch)


def refuse_secrets(launched: Source, surface: Surface) -> None:
    """Refuse what repeats a secret of a launch.

    Args:
        launched: how the server is started or reached.
        surface: what it showed.

    Raises:
        Refused: `secret-in-surface`.
    """
    from toolnotary_verifier.capture.concealed import Concealed
    from toolnotary_verifier.capture.source import CommandSource, UrlSource

    if isinstance(launched, Command):
        Concealed.of(CommandSource(argv=launched.argv)).refuse_in(surface)
    if isinstance(launched, Url):
        Concealed.of(UrlSource(url=launched.url)).refuse_in(surface)


def entry_launch(project: "Project", entry: "Entry") -> "Launch":
    """The launch of a lockfile entry.

    Raises:
        InvalidInput: `lockfile-corrupt`.
    """
    from toolnotary_verifier.launch import Launch

    return Launch.restored(entry.launch, entry.recorded, base=_base(project))


def entry_source(project: "Project", entry: "Entry") -> Source:
    """What to start or reach for a lockfile entry; whoever starts it has shown the line and was told to.

    Raises:
        CannotTell: `launch-masked` if the line cannot be put together again.
    """
    if entry.launch.get("type") == "http":
        url = str(entry.launch.get("url"))
        if "***" in url:
            raise CannotTell(
                "launch-masked", "the recorded URL leaves out a secret", remedy="give the URL itself"
            )
        return Url(url)
    from toolnotary_verifier.relaunch import startable

    return Command(tuple(startable(entry.recorded, base=_base(project), environment=dict(os.environ))))


def launch_needed(project: "Project", server: str) -> str:
    """What `approve SERVER` must end with, where the lockfile does not say all of how the server is started.

    Returns:
        `-- COMMAND` or `URL`; empty where the name is enough.
    """
    from toolnotary_verifier.relaunch import still_needed

    entries = project.lockfile.named(server)
    return still_needed(entries, base=_base(project), environment=dict(os.environ))


def recorded_source(project: "Project", entry: "Entry") -> Source:
    """What is known of how a lockfile entry's server is started, secrets left out where they must be."""
    try:
        return entry_source(project, entry)
    except CannotTell:
        argv = entry.recorded.get("argv")
        words = argv if isinstance(argv, list) else []
        return Command(tuple(str(word) for word in words) or (entry.server,))


def is_file(source: Source) -> bool:
    """Whether the source is a saved listing, which says nothing of how its server was started."""
    return isinstance(source, Saved)


def _base(project: "Project") -> Path:
    return project.lockfile_path.absolute().parent
