# SPDX-License-Identifier: Apache-2.0
"""Which registry a command talks to."""

from pathlib import Path
from typing import TYPE_CHECKING

from toolnotary_cli import places
from toolnotary_verifier.errors import ConfigurationError

if TYPE_CHECKING:
    from toolnotary_verifier.fetch import Registry


def registry(
    url: str | None, *, policy: Path | None = None, offline: bool = False, insecure_http: bool = False
) -> "Registry":
    """The registry of `--registry` or TOOLNOTARY_REGISTRY, else the one that the policy names.

    Args:
        url: the value of the option or variable.
        policy: the value of `--policy`.
        offline: open no socket.
        insecure_http: accept plain http to other machines.

    Raises:
        ConfigurationError: `no-registry`, `registry-url`, and what is wrong with a policy file.
    """
    from toolnotary_verifier.fetch import Registry

    if url is None:
        from toolnotary_verifier.policy import Policy

        files = places.policy_files(policy)
        url = Policy.load(personal=files.personal, project=files.project).registry_url
    if url is None:
        remedy = "say --registry URL, set TOOLNOTARY_REGISTRY, or name one in toolnotary.toml"
        raise ConfigurationError("no-registry", "no registry is named", remedy=remedy)
    return Registry(url, offline=offline, insecure_http=insecure_http)
