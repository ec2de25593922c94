# SPDX-License-Identifier: Apache-2.0
"""How a host starts a server: in which folder, with which values in the place of placeholders."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli.hosts.documents import Document
from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.placeholders import filled

if TYPE_CHECKING:
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.project import Project


def start_folder(document: Document, entry: Entry) -> Path:
    """The folder that a host starts a server in, where its entry does not say: its project's, or home."""
    if entry.where and Path(entry.where).is_absolute():
        return Path(entry.where)
    return document.project or Path.home()


def filling(folder: Path) -> Callable[[str], str]:
    """What fills in the placeholders of a text, as the host would that has this folder open."""
    return lambda text: filled(text, os.environ, folder=folder, is_windows=os.name == "nt")


def variables(entry: Entry, folder: Path) -> dict[str, str]:
    """What a host sets for a server, placeholders filled in."""
    fill = filling(folder)
    return {name: fill(value) for name, value in entry.environment.items() if isinstance(value, str)}


def launch_of(
    entry: Entry,
    project: "Project",
    *,
    folder: Path,
    argv: Sequence[str] | None = None,
    url: str | None = None,
) -> "Launch":
    """The launch that a host makes of an entry, as it is told from a lockfile.

    Args:
        entry: the server.
        project: the files.
        folder: where the host starts it, if its entry does not say.
        argv: what starts the server itself, where that is not the entry's own command.
        url: where it is reached, if nothing is started.

    Raises:
        InvalidInput: `launch-empty`, `launch-url`.
    """
    fill = filling(folder)
    if url is not None:
        from toolnotary_verifier.launch import Launch

        return Launch.from_url(fill(url))
    where = Path(fill(entry.cwd)) if entry.cwd else folder
    words = [fill(word) for word in (entry.argv if argv is None else argv)]
    return project.launch(words, environment={**os.environ, **variables(entry, folder)}, folder=where)
