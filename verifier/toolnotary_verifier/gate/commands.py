# SPDX-License-Identifier: Apache-2.0
"""The commands that a gate tells of: one that reads, for models too, and those that change what is pinned."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from toolnotary_verifier.shellwords import command


def _nothing() -> str:
    return ""


class Commands(NamedTuple):
    """What to run about one server, each as a shell reads it.

    Attributes:
        server: the name given by the user.
        files: options and values that lead every command to the same files.
        registry: likewise, to the same registry; only what pins asks one.
        launch: gives what `approve` needs besides, such as `-- COMMAND`, where the lockfile does not hold the
            whole launch; asked when it is told, since finding out reads more than `run` needs to start.
        url: where a server is reached that is not started, as a shell reads it; a word in capitals where
            nobody may see it.
        is_named: whether `server` is the name of a pin, or one that a pin can have.
    """

    server: str
    files: Sequence[str] = ()
    registry: Sequence[str] = ()
    launch: Callable[[], str] = _nothing
    url: str = ""
    is_named: bool = True

    @property
    def explain(self) -> str:
        """The command that says why, and changes nothing."""
        return command("explain", self.server, *self.files)

    def approve(self) -> str:
        """The command that shows a person what changed, and asks."""
        return command("approve", self.server, *self.files, *self.registry, behind=self.launch())

    @property
    def lock(self) -> str:
        """The command that pins what the server shows."""
        name = self.server if self.is_named else "NAME"
        options = ("--server", name, *self.files, *self.registry)
        return command("lock", None, *options, behind=self.url or "-- COMMAND")

    @property
    def lock_version(self) -> str:
        """The command that pins a version of the registry, which the reader has to name."""
        name = f"{self.server}@VERSION"
        behind = f"--url {self.url}" if self.url else "-- COMMAND"
        return command("lock", name, *self.files, *self.registry, behind=behind)
