# SPDX-License-Identifier: Apache-2.0
"""The files that one command works with: lockfile and objects, policy, and the user's state."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.escape import escape
from toolnotary_verifier.links import repository, within
from toolnotary_verifier.lockfile import Entry, Lockfile
from toolnotary_verifier.objects import Objects
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.state import State

if TYPE_CHECKING:
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.launch import Launch


class Project(NamedTuple):
    """The files of one command: lockfile with its objects, policy, and the user's state.

    Attributes:
        lockfile_path: where the lockfile is, or would be.
        lockfile: its entries.
        objects: manifests, bundles and texts beside it.
        policy: what is in force.
        state: what the user decided.
        accept_project: whether what the lockfile says counts as accepted for this run, because the review of
            the repository is the acceptance (continuous integration).
    """

    lockfile_path: Path
    lockfile: Lockfile
    objects: Objects
    policy: Policy
    state: State
    accept_project: bool = False

    @classmethod
    def load(
        cls,
        *,
        lockfile: Path,
        state: Path,
        personal_policy: Path | None = None,
        project_policy: Path | None = None,
        accept_project: bool = False,
    ) -> "Project":
        """The project that these files make.

        Raises:
            InvalidInput: `lockfile-*`, `state-corrupt`.
            Refused: `leads-outside`, for a file of the project that is a link out of it: nobody reviewed what
                it leads to as a part of the project.
            ConfigurationError: `policy-*`, `state-permissions`, a file that cannot be read.
        """
        within(lockfile, _root(lockfile, state))
        if project_policy is not None:
            within(project_policy, _root(project_policy, state))
        known = State.load(state)
        policy = Policy.load(
            personal=personal_policy,
            project=project_policy,
            accepted=known.history.values,
            accept_project=accept_project,
        )
        return cls(
            lockfile_path=lockfile,
            lockfile=Lockfile.load(lockfile),
            objects=_beside(lockfile, state),
            policy=policy,
            state=known,
            accept_project=accept_project,
        )

    def with_lockfile(self, path: Path) -> "Project":
        """The user's own lockfile under the same policy and state; no review of a project accepts its pins.

        Raises:
            InvalidInput: `lockfile-*`.
            ConfigurationError: `lockfile-unreadable`.
        """
        return self._replace(
            lockfile_path=path,
            lockfile=Lockfile.load(path),
            objects=_beside(path, self.state.path),
            accept_project=False,
        )

    @property
    def root(self) -> Path | None:
        """The folder that the project's files lie in, links resolved; None where they are the user's own."""
        return _root(self.lockfile_path, self.state.path)

    @property
    def own_objects(self) -> Path:
        """The user's own folder of objects, for texts that must not lie beside the lockfile."""
        return _objects(self.state.path)

    def launch(
        self, argv: Sequence[str], *, environment: Mapping[str, str], folder: Path | None = None
    ) -> "Launch":
        """The launch of a command, its files told from the lockfile's folder."""
        from toolnotary_verifier.launch import Launch

        base = self.lockfile_path.absolute().parent
        return Launch.from_command(argv, base=base, environment=environment, folder=folder)

    def server_of(self, launch: "Launch") -> str | None:
        """The name under which this launch is pinned; None if it is not, or under several names."""
        names = {entry.server for entry in self.lockfile.launched(launch.identity)}
        return names.pop() if len(names) == 1 else None

    def entry_named(self, server: str) -> Entry | None:
        """The entry of a server whose launch nobody gave (a saved listing).

        Raises:
            CannotTell: `launch-ambiguous` if the server is pinned under several launches.
        """
        entries = self.lockfile.named(server)
        if len(entries) > 1:
            raise CannotTell(
                "launch-ambiguous",
                f"{escape(server, limit=120)} is pinned under {len(entries)} launches",
                remedy="give the command behind --",
            )
        return entries[0] if entries else None

    def trusted(self, server: str) -> "dict[str, PublicKey]":
        """The keys that may sign for `server`: those of policy, and those that the user named before.

        Raises:
            ConfigurationError: `policy-key`.
        """
        from toolnotary_verifier.keys import PublicKey

        keys = dict(self.policy.signers_for(server))
        for pem in self.state.keys(server).values():
            key = PublicKey.from_pem(pem.encode("ascii"))
            keys[key.key_id] = key
        return keys


def on_policy_alone(project: Project, servers: str) -> str:
    """The line that tells of signed pins which count although nothing is recorded about their servers.

    Args:
        project: the files.
        servers: the names of those whose pins are `unrecorded`, escaped.
    """
    where = escape(str(project.state.path), limit=300)
    return (
        f"nothing is recorded in {where} about {servers}: what is pinned counts by your policy"
        " alone, and neither an older version nor a withdrawal would be noticed"
    )


def torn(state: State) -> str | None:
    """The line that tells that the state's last record was cut off; None if it is whole."""
    if state.torn is None:
        return None
    return (
        f"{escape(str(state.path), limit=300)}, line {state.torn}: it was cut off while it was written, and"
        " counts as never written; the next record takes its place. If nothing was interrupted, restore the"
        " file from a backup"
    )


def _beside(lockfile: Path, state: Path) -> Objects:
    folder, own = _objects(lockfile), _objects(state)
    return Objects(folder, fallbacks=() if own == folder else (own,), root=_root(lockfile, state))


def _root(file: Path, state: Path) -> Path | None:
    """The project of a file: the repository around it, else its folder; None beside the user's own state."""
    folder = file.absolute().parent
    return None if folder == state.absolute().parent else repository(folder) or folder


def _objects(file: Path) -> Path:
    return file.parent / ".toolnotary" / "objects"
