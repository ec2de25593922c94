# SPDX-License-Identifier: Apache-2.0
"""What a person says about a guarded connection: which server, which files, which registry."""

import os
from pathlib import Path
from typing import NamedTuple, Self

from toolnotary_verifier import places
from toolnotary_verifier.project import Project


class Settings(NamedTuple):
    """What `run` takes as options; the working directory decides none of it.

    Attributes:
        server: the name that the server is pinned under; None where its launch is to find it.
        lockfile: the lockfile in place of the personal one.
        policy: the policy in place of the personal one.
        registry: the URL of the registry in place of the policy's.
        offline: whether no registry is asked.
    """

    server: str | None = None
    lockfile: Path | None = None
    policy: Path | None = None
    registry: str | None = None
    offline: bool = False

    def completed(self) -> Self:
        """These, and from TOOLNOTARY_{LOCKFILE,POLICY,REGISTRY} what they leave open."""
        lockfile, policy, registry = (
            os.environ.get(f"TOOLNOTARY_{name}") or None for name in ("LOCKFILE", "POLICY", "REGISTRY")
        )
        return self._replace(
            lockfile=self.lockfile or (Path(lockfile) if lockfile else None),
            policy=self.policy or (Path(policy) if policy else None),
            registry=self.registry or registry,
        )

    def open(self) -> Project:
        """The files as they are now.

        Raises:
            InvalidInput: `lockfile-*`, `state-corrupt`.
            Refused: `leads-outside`.
            ConfigurationError: `policy-*`, `state-permissions`, a file that cannot be read.
        """
        policy, lockfile = self.policy, self.lockfile
        return Project.load(
            lockfile=places.home() / places.LOCKFILE if lockfile is None else places.named_lockfile(lockfile),
            state=places.state_file(),
            personal_policy=places.personal_policy() if policy is None else places.named_policy(policy),
        )

    @property
    def policy_path(self) -> Path:
        """Where the policy is, or would be."""
        return self.policy or places.home() / places.POLICY

    @property
    def to_files(self) -> list[str]:
        """The options that lead another command to the same files."""
        return places.options(lockfile=self.lockfile, policy=self.policy)

    @property
    def to_registry(self) -> list[str]:
        """The options that lead another command to the same registry."""
        return places.options(registry=self.registry)
