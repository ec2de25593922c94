# SPDX-License-Identifier: Apache-2.0
"""Signed manifests that a registry offers for a server, judged before anything is made of them."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from toolnotary_cli.output import Output
from toolnotary_verifier.errors import CannotTell, InvalidInput, Refused

if TYPE_CHECKING:
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


def _verified(project: "Project", server: str, url: str, output: Output) -> "list[Signed]":
    from toolnotary_verifier.fetch import Registry
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.verify import verify_publish

    client = Registry(url)
    found: list[Signed] = []
    try:
        for published in client.versions(server)[:_NEWEST]:
            fetched = client.manifest(server, published.version)
            try:
                verified = verify_publish(
                    fetched.manifest,
                    fetched.bundle,
                    trusted=project.trusted(server),
                    at=datetime.now(UTC),
                    server=server,
                    version=published.version,
                )
            except (Refused, InvalidInput) as error:
                output.note(f"{server}@{published.version} does not count: {error.code}: {error.message}")
                continue
            found.append(Signed(verified=verified, bundle=fetched.bundle))
    except (Refused, CannotTell) as error:
        output.note(f"no newer version is known: {error.code}: {error.message}")
    return found
