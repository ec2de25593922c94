# SPDX-License-Identifier: Apache-2.0
"""The registry in force, asked for signed manifests of a server."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolnotary_cli.output import shown
from toolnotary_cli.registries import no_registry
from toolnotary_verifier.offers import Notes, Offers, offered, verified

if TYPE_CHECKING:
    from toolnotary_cli.source import Published
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.project import Project


def offers(project: "Project", server: str, *, registry: str | None, offline: bool, output: Notes) -> Offers:
    """What the registry in force offers for `server`; what kept a version out, or its answer, is told.

    Nothing where no registry is named, with `--offline`, or where the registry has nothing that verifies.

    Raises:
        ConfigurationError: `registry-url`, `policy-key`.
    """
    url = registry or project.policy.registry_url
    if url is None or offline:
        return Offers()
    from toolnotary_verifier.fetch import Registry

    client = Registry(url, limits=project.policy.limits)
    found = offered(project, server, client, notes=output)
    if found.failure is not None:
        output.note(f"no newer version is known: {found.failure.code}: {found.failure.message}")
    return found


def named_version(
    project: "Project",
    version: "Published",
    *,
    registry: str | None,
    offline: bool,
    trusted: "Mapping[str, PublicKey]",
) -> "Signed":
    """The version that a person named, verified.

    Raises:
        ConfigurationError: `no-registry`.
        Refused, CannotTell, InvalidInput: see `fetch` and `verify`.
    """
    from toolnotary_verifier.fetch import Registry

    url = registry or project.policy.registry_url
    if url is None:
        raise no_registry(f"the registry that has {version.server}@{shown(version.version, limit=80)}")
    client = Registry(url, offline=offline, limits=project.policy.limits)
    return verified(project, client, version.server, version.version, trusted)
