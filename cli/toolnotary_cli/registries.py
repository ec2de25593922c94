# SPDX-License-Identifier: Apache-2.0
"""Which registry a command talks to."""

from typing import TYPE_CHECKING

from toolnotary_verifier.errors import ConfigurationError

if TYPE_CHECKING:
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.policy import Policy


def registry(
    url: str | None, *, rules: "Policy", offline: bool = False, insecure_http: bool = False
) -> "Registry":
    """The registry of `--registry` or TOOLNOTARY_REGISTRY, else the one that the policy names.

    Args:
        url: the value of the option or variable.
        rules: the policy in force, whose limits bound what is read.
        offline: open no socket.
        insecure_http: accept plain http to other machines.

    Raises:
        ConfigurationError: `no-registry`, `registry-url`.
    """
    from toolnotary_verifier.fetch import Registry

    found = url or rules.registry_url
    if found is None:
        raise no_registry("a registry")
    return Registry(found, offline=offline, insecure_http=insecure_http, limits=rules.limits)


def no_registry(what: str) -> ConfigurationError:
    """The error where a registry is needed for `what`, and nothing names one."""
    return ConfigurationError(
        "no-registry",
        f"nothing names {what}",
        remedy="say --registry URL, set TOOLNOTARY_REGISTRY, or name one in toolnotary.toml ([registry] url)",
    )
