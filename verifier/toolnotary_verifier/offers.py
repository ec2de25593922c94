# SPDX-License-Identifier: Apache-2.0
"""Signed manifests that a registry offers for a server, judged before anything is made of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from toolnotary_verifier.errors import CannotTell, InvalidInput, Refused, ToolnotaryError

if TYPE_CHECKING:
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
                    found.append(verified(project, session, server, published.version, trusted))
                except (Refused, InvalidInput) as error:
                    notes.note(f"{server}@{published.version} does not count: {error.code}: {error.message}")
    except (Refused, CannotTell) as error:
        return Offers(tuple(found), error)
    return Offers(tuple(found))


def verified(
    project: "Project", client: "Registry", server: str, version: str, trusted: "Mapping[str, PublicKey]"
) -> "Signed":
    """One version, fetched and verified.

    Args:
        project: whose policy bounds what is read.
        client: the registry.
        server: the server's name.
        version: which.
        trusted: the keys that may sign for it, by key id.

    Raises:
        Refused, CannotTell, InvalidInput: see `fetch` and `verify`.
    """
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.verify import verify_publish

    fetched = client.manifest(server, version)
    found = verify_publish(
        fetched.manifest,
        fetched.bundle,
        trusted=trusted,
        at=datetime.now(UTC),
        server=server,
        version=version,
        limits=project.policy.limits,
    )
    return Signed(verified=found, bundle=fetched.bundle)
