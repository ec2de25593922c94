# SPDX-License-Identifier: Apache-2.0
"""What a person's answer stands on: an answer to what has moved since it was shown grants nothing.

A change set says what a server shows against what is pinned. Whoever agreed to it saw one lockfile, one
history of decisions and one policy; another process may change each of them before the answer comes. The
answer counts where all three are what they were (compare and set), and that is asked under the lock that is
held while the pin moves.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_verifier.errors import Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.shellwords import command

if TYPE_CHECKING:
    from pathlib import Path

    from toolnotary_verifier.history import History
    from toolnotary_verifier.lockfile import Entry
    from toolnotary_verifier.policy import Policy
    from toolnotary_verifier.project import Project


class Grounds(NamedTuple):
    """What was known about one server when something was shown; equality is that nothing of it moved.

    Attributes:
        server: the name that the user gave it.
        lockfile: where the lockfile is.
        entries: what it pins under that name, under every launch.
        decided: what the user's state holds about it (`History.decided`).
        policy: what is in force.
    """

    server: str
    lockfile: "Path"
    entries: "tuple[Entry, ...]"
    decided: tuple[object, ...]
    policy: "Policy"

    @classmethod
    def of(cls, project: "Project", server: str, *, known: "History | None" = None) -> "Grounds":
        """What these files hold about a server.

        Args:
            project: the files.
            server: its name.
            known: the history to go by; that of `project` if None.
        """
        return cls(
            server,
            project.lockfile_path,
            tuple(project.lockfile.named(server)),
            (known or project.state.history).decided(server),
            project.policy,
        )

    def expect(self, now: "Grounds") -> None:
        """Refuse to go on where something moved.

        Raises:
            Refused: `decided-meanwhile`, with what moved.
        """
        sides = {
            "the lockfile": (self.lockfile, self.entries) != (now.lockfile, now.entries),
            "what you decided about the server": self.decided != now.decided,
            "the policy": self.policy != now.policy,
        }
        moved = [what for what, is_moved in sides.items() if is_moved]
        if moved:
            raise Refused(
                "decided-meanwhile",
                f"{' and '.join(moved)} changed after this was shown about {escape(self.server, limit=120)}; "
                "nothing was accepted",
                remedy=f"look at it as it is now: {command('approve', self.server)}",
            )

    def unmoved(self, reopen: "Callable[[], Project]") -> "Callable[[History], bool]":
        """What `Move.apply` asks under its lock: never True, since it raises where something moved.

        Args:
            reopen: the files as they are then.
        """

        def is_moved(known: "History") -> bool:
            self.expect(Grounds.of(reopen(), self.server, known=known))
            return False

        return is_moved
