# SPDX-License-Identifier: Apache-2.0
"""Which registry a command talks to."""

from pathlib import Path
from typing import TYPE_CHECKING

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

    found = registry_url(url, policy=policy)
    if found is None:
        raise no_registry("a registry")
    return Registry(found, offline=offline, insecure_http=insecure_http)


def registry_url(url: str | None, *, policy: Path | None = None) -> str | None:
    """The registry of `--registry` or TOOLNOTARY_REGISTRY, else the one that the policy names, if any.

    A policy that is named is read in any case: a mistake in it must not go unnoticed.

    Raises:
        ConfigurationError: what is wrong with a policy file.
        InvalidInput: `state-corrupt`.
    """
    if url is not None and policy is None:
        return url
    from toolnotary_cli.opening import open_policy

    named = open_policy(policy).registry_url
    return named if url is None else url


def no_registry(what: str) -> ConfigurationError:
    """The error where a registry is needed for `what`, and nothing names one."""
    return ConfigurationError(
        "no-registry",
        f"nothing names {what}",
        remedy="say --registry URL, set TOOLNOTARY_REGISTRY, or name one in toolnotary.toml ([registry] url)",
    )
