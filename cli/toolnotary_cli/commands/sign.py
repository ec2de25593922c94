# SPDX-License-Identifier: Apache-2.0
"""`toolnotary sign`: a captured manifest, a server's name and version, and a signature over both."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import options, prompt
from toolnotary_cli.output import Output, shown
from toolnotary_cli.reading import KEY_BYTES, about, read

if TYPE_CHECKING:
    from toolnotary_signer.keyfile import PrivateKey
    from toolnotary_verifier.bundle import Bundle
    from toolnotary_verifier.limits import Limits
    from toolnotary_verifier.manifest import Manifest, UnnamedManifest
    from toolnotary_verifier.statement import PublishPredicate, Source

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--key", metavar="PEM", type=_FILE, required=True, help="Private key file (see keygen).")
@click.option(
    "--server", metavar="NAME", type=options.SERVER, required=True, help="Name of the server, as published."
)
@click.option("--version", metavar="V", required=True, help="Version of the server.")
@click.option(
    "--sequence",
    type=click.IntRange(min=1),
    help="Position in the server's history: 1 for its first release. Asked from the registry if left out.",
)
@click.option(
    "--supersedes", metavar="DIGEST", help="Digest of the manifest before; from the registry likewise."
)
@click.option(
    "--expires-in", metavar="DAYS", type=click.IntRange(min=1, max=36500), help="Days to accept it."
)
@click.option(
    "--artifact",
    "artifacts",
    metavar="PURL[=DIGEST|=PATH]",
    multiple=True,
    help="What the server is distributed as; a file at PATH is digested.",
)
@click.option("--remote", "remotes", metavar="URL", multiple=True, help="Where the server can be reached.")
@click.option(
    "--source",
    "sources",
    metavar="NAME=VALUE",
    multiple=True,
    help="Where the release was made, recorded unchecked: repository, commit, workflow or run.",
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write OUT.manifest.json and OUT.sigstore.json; FILE without its .json if left out.",
)
@click.option("--force", is_flag=True, help="Replace files that exist with other content.")
@options.registry
@click.option("--insecure-http", is_flag=True, help="Accept a registry on another machine over plain http.")
@options.policy
@options.offline
@options.output
def command(
    *,
    file: Path,
    key: Path,
    server: str,
    version: str,
    sequence: int | None,
    supersedes: str | None,
    expires_in: int | None,
    artifacts: tuple[str, ...],
    remotes: tuple[str, ...],
    sources: tuple[str, ...],
    out: Path | None,
    force: bool,
    registry: str | None,
    insecure_http: bool,
    policy: Path | None,
    offline: bool,
    output: Output,
) -> None:
    """Sign a captured manifest for a server name and version.

    FILE is what `toolnotary capture -o FILE` wrote. It is a file and nothing else: whatever starts a server
    must not be able to sign. A second run for the same release keeps its number and its files.
    """
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.registries import registry as named
    from toolnotary_cli.releasing import place, standing, write
    from toolnotary_signer.artifacts import artifact_of
    from toolnotary_signer.attest import sign_manifest
    from toolnotary_verifier.canonical import Digest

    source = _source(sources)
    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    limits = rules.limits
    captured = _captured(file, limits)
    made = [artifact_of(text) for text in artifacts]
    manifest = captured.named(server=server, version=version, artifacts=made, remotes=remotes, limits=limits)
    before = Digest.from_text(supersedes) if supersedes else None
    if sequence is None:
        asked = partial(named, registry, rules=rules, offline=offline, insecure_http=insecure_http)
        found = place(manifest, asked)
        sequence, before = found.sequence, before or found.supersedes
    signing, now = _key(key), datetime.now(UTC).replace(microsecond=0)
    bundle = sign_manifest(
        manifest,
        signing,
        sequence=sequence,
        issued_at=now,
        supersedes=before,
        expires_at=now + timedelta(days=expires_in) if expires_in else None,
        source=source,
    )
    paths = _beside(file, out)
    kept = None if force else standing(paths, manifest, bundle, signing.public, at=now, limits=limits)
    if kept is None:
        write(dict(zip(paths, (manifest.canonical, bundle.to_json()), strict=True)), force=force)
    output.result(*_told(manifest, bundle, kept, paths))


def _beside(file: Path, out: Path | None) -> tuple[Path, Path]:
    """Where manifest and bundle go: beside the file that was captured, unless another name was given."""
    from toolnotary_verifier.files import beside

    base = out if out is not None else file.with_name(file.name.removesuffix(".json") or file.name)
    return beside(base, ".manifest.json"), beside(base, ".sigstore.json")


def _captured(file: Path, limits: "Limits") -> "UnnamedManifest":
    from toolnotary_verifier.manifest import UnnamedManifest

    with about(file):
        return UnnamedManifest.parse(read(file, limits.manifest_bytes), limits=limits)


def _told(
    manifest: "Manifest", bundle: "Bundle", kept: "PublishPredicate | None", paths: tuple[Path, Path]
) -> tuple[dict[str, object], list[str]]:
    """What was signed, for programs and for people; `kept` is what the files of an earlier run say."""
    from toolnotary_verifier.statement import Statement, time_text

    said = kept or Statement.parse(bundle.envelope.payload).predicate
    signer = f"key:{bundle.key_hint}"
    document = {
        "schema": "https://toolnotary.dev/output/sign/v1",
        "server": said.server,
        "version": said.version,
        "sequence": said.sequence,
        "supersedes": said.supersedes,
        "expiresAt": time_text(said.expires_at) if said.expires_at else None,
        "digest": manifest.digest,
        "signer": signer,
        "manifest": str(paths[0]),
        "bundle": str(paths[1]),
    }
    lines = [
        f"signed    {said.server}@{shown(said.version)}, sequence {said.sequence}",
        f"signer    {signer}",
        f"manifest  {manifest.digest}",
        *(f"{'kept ' if kept else 'wrote'}     {shown(str(path), limit=None)}" for path in paths),
    ]
    return document, lines


def _key(path: Path) -> "PrivateKey":
    from toolnotary_signer import passphrase
    from toolnotary_signer.keyfile import PrivateKey, is_encrypted

    pem = read(path, KEY_BYTES)
    with about(path):
        secret = passphrase.existing(prompt.secret) if is_encrypted(pem) else None
        return PrivateKey.from_pem(pem, passphrase=secret)


def _source(sources: tuple[str, ...]) -> "Source | None":
    from toolnotary_verifier.statement import Source

    said = dict(text.partition("=")[::2] for text in sources)
    names = set(Source.__dataclass_fields__)
    if len(said) != len(sources) or not names >= set(said) or not all(said.values()):
        expected = ", ".join(sorted(names))
        raise click.UsageError(f"--source expects NAME=VALUE, each NAME once and one of {expected}")
    return Source(**said) if said else None
