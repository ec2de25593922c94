# SPDX-License-Identifier: Apache-2.0
"""Signed manifests that a registry offers for a server, judged before anything is made of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from toolnotary_cli.output import Output
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused

if TYPE_CHECKING:
    from toolnotary_cli.source import Published
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.project import Project

_NEWEST: Final = 8  # versions that are looked at: a server that changed is rarely further behind


def offers(
    project: "Project", server: str, *, registry: str | None, offline: bool, output: Output
) -> "tuple[Signed, ...]":
    """The newest versions of `server` whose signatures verify under the user's policy.

    None where no registry is named, with `--offline`, or where the registry has nothing that verifies; what
    kept a version out is told on stderr.
    """
    url = registry or project.policy.registry_url
    if url is None or offline:
        return ()
    from toolnotary_verifier.naming import server_name

    try:
        server_name(server)
    except InvalidInput:
        return ()  # a name that nobody can publish
    if not project.trusted(server):
        return ()
    return tuple(_verified(project, server, url, output))


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
        raise ConfigurationError(
            "no-registry",
            "no registry is named",
            remedy="say --registry URL, set TOOLNOTARY_REGISTRY, or name one in toolnotary.toml",
        )
    return _signed(Registry(url, offline=offline), version.server, version.version, trusted)


def _signed(client: "Registry", server: str, version: str, trusted: "Mapping[str, PublicKey]") -> "Signed":
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.verify import verify_publish

    fetched = client.manifest(server, version)
    verified = verify_publish(
        fetched.manifest,
        fetched.bundle,
        trusted=trusted,
        at=datetime.now(UTC),
        server=server,
        version=version,
    )
    return Signed(verified=verified, bundle=fetched.bundle)


def _verified(project: "Project", server: str, url: str, output: Output) -> "list[Signed]":
    from toolnotary_verifier.fetch import Registry

    client = Registry(url)
    found: list[Signed] = []
    try:
        for published in client.versions(server)[:_NEWEST]:
            try:
                found.append(_signed(client, server, published.version, project.trusted(server)))
            except (Refused, InvalidInput) as error:
                output.note(f"{server}@{published.version} does not count: {error.code}: {error.message}")
    except (Refused, CannotTell) as error:
        output.note(f"no newer version is known: {error.code}: {error.message}")
    return found
