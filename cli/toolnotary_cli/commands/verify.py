# SPDX-License-Identifier: Apache-2.0
"""`toolnotary verify`: who signed a manifest, whether they may, and whether a surface is what they signed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import completion, exits, options
from toolnotary_cli.output import Output
from toolnotary_cli.reading import KEY_BYTES, about, read
from toolnotary_cli.trailing import TrailingCommand

if TYPE_CHECKING:
    from toolnotary_verifier.keys import PublicKey
    from toolnotary_verifier.policy import Policy
    from toolnotary_verifier.verdict import Judgement
    from toolnotary_verifier.verify import VerifiedManifest

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=TrailingCommand)
@click.argument("manifest", metavar="MANIFEST", type=_FILE)
@click.argument("bundle", metavar="BUNDLE", type=_FILE)
@click.argument("source", metavar="[SOURCE]", required=False, shell_complete=completion.files)
@click.option(
    "--key",
    "keys",
    metavar="PUB",
    type=_FILE,
    multiple=True,
    help="Public key that may sign, in place of those that the policy names; more than one may be given.",
)
@click.option(
    "--server", metavar="NAME", type=options.SERVER, help="Refuse the manifest of any other server."
)
@click.option("--version", metavar="V", help="Refuse any other version.")
@options.policy
@options.registry
@options.offline
@options.output
def command(
    *,
    manifest: Path,
    bundle: Path,
    source: str | None,
    argv: tuple[str, ...],
    keys: tuple[Path, ...],
    server: str | None,
    version: str | None,
    policy: Path | None,
    registry: str | None,
    offline: bool,
    output: Output,
) -> int:
    """Judge a manifest and its signature, and a SOURCE by the manifest.

    The signature must be that of a key which may sign for the manifest's server: one of --key, or one that
    the policy names for it. Where a SOURCE is given (a saved listing, a URL, 'stdio:COMMAND', or a command
    after --), all that it shows must be what one profile of the manifest holds.

    Exit code 0: verified. 1: not signed as required, or the SOURCE differs. 4: a file is not valid.
    """
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.proof import contained, document, lines, passes
    from toolnotary_cli.source import one
    from toolnotary_verifier.bundle import Bundle
    from toolnotary_verifier.manifest import Manifest
    from toolnotary_verifier.verify import verify_publish

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    limits = rules.limits
    raw, signed = read(manifest, limits.manifest_bytes), read(bundle, limits.bundle_bytes)
    with about(manifest):
        named = Manifest.parse(raw, limits=limits).server
    with about(bundle):
        Bundle.parse(signed, limits=limits)
    # Which keys count depends on the name in bytes that nobody verified yet: a lie here picks another name's
    # keys, and then the statement must be theirs.
    trusted = _given(keys) if keys else rules.signers_for(named)
    if not keys and not (rules.signers or rules.unaccepted):
        _refuse_without_trust(named)
    verified = verify_publish(
        raw,
        signed,
        trusted=trusted,
        at=datetime.now(UTC),
        server=server,
        version=version,
        limits=limits,
    )
    _refuse_revoked(verified, rules)
    judgements: list[tuple[str, Judgement]] = []
    if source is not None or argv:
        url = registry or rules.registry_url
        judgements = contained(verified, one(source, argv), rules, url=url, offline=offline)
    output.result(document(verified, judgements), lines(verified, judgements))
    return exits.FINE if all(passes(judgement) for _, judgement in judgements) else exits.OBJECTION


def _given(paths: Sequence[Path]) -> "Mapping[str, PublicKey]":
    from toolnotary_verifier.keys import PublicKey

    keys = {}
    for path in paths:
        with about(path):
            key = PublicKey.from_pem(read(path, KEY_BYTES))
        keys[key.key_id] = key
    return keys


def _refuse_without_trust(server: str) -> None:
    from toolnotary_verifier.errors import ConfigurationError

    raise ConfigurationError(
        "no-trusted-keys",
        f"nothing says who may sign for {server}",
        remedy="give the publisher's public key with --key, or name it in a policy",
    )


def _refuse_revoked(verified: "VerifiedManifest", policy: "Policy") -> None:
    from toolnotary_verifier.errors import Refused

    if verified.manifest.digest in policy.revoked:
        message = f"the policy revokes {verified.manifest.digest}"
        raise Refused(
            "revoked", message, remedy="take another version; only a change of the policy undoes it"
        )
