# SPDX-License-Identifier: Apache-2.0
"""Signed manifests that a registry offers for a server, judged before anything is made of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from toolnotary_cli.output import shown
from toolnotary_cli.registries import no_registry
from toolnotary_verifier.errors import CannotTell, InvalidInput, Refused, ToolnotaryError

if TYPE_CHECKING:
    from toolnotary_cli.source import Published
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.project import Project

_NEWEST: Final = 8  # versions that are looked at: a server that changed is rarely further behind


class Notes(Protocol):
    """Where people read what is noticed on the way."""

    def note(self, line: str) -> None:
        """Tell one line; it is escaped there."""


class Offers(NamedTuple):
    """What a registry offers for a server.

    Attributes:
        signed: the newest versions whose signatures verify under the user's policy.
        failure: why the registry was not asked to the end, None if it was.
    """

    signed: "tuple[Signed, ...]" = ()
    failure: ToolnotaryError | None = None


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


def offered(project: "Project", server: str, client: "Registry", *, notes: Notes) -> Offers:
    """What a registry offers for `server`; versions that do not count are told.

    Args:
        project: whose policy says who may sign.
        server: the name that the user gave it.
        client: the registry, whose deadline is one for all of it; nothing is opened where nobody may sign for
            this name.
        notes: where people are told.

    Raises:
        ConfigurationError: `policy-key`.
    """
    from toolnotary_verifier.naming import server_name

    try:
        server_name(server)
    except InvalidInput:
        return Offers()  # a name that nobody can publish
    trusted = project.trusted(server)
    if not trusted:
        return Offers()
    found: list[Signed] = []
    try:
        with client.session() as session:
            for published in session.versions(server, most=_NEWEST):
                try:
                    found.append(_signed(project, session, server, published.version, trusted))
                except (Refused, InvalidInput) as error:
                    notes.note(f"{server}@{published.version} does not count: {error.code}: {error.message}")
    except (Refused, CannotTell) as error:
        return Offers(tuple(found), error)
    return Offers(tuple(found))


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
    return _signed(project, client, version.server, version.version, trusted)


def _signed(
    project: "Project", client: "Registry", server: str, version: str, trusted: "Mapping[str, PublicKey]"
) -> "Signed":
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
        limits=project.policy.limits,
    )
    return Signed(verified=verified, bundle=fetched.bundle)
