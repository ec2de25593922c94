# SPDX-License-Identifier: Apache-2.0
"""`toolnotary sign`: a captured manifest, a server's name and version, and a signature over both."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolnotary_cli import options, prompt
from toolnotary_cli.output import Output, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolnotary_signer.keyfile import PrivateKey
    from toolnotary_verifier.fetch import PublishedVersion, Registry
    from toolnotary_verifier.statement import Source

# A registry proves no number. One that no history of releases reaches is not signed: numbers only rise, and
# none would be left for the release after it.
_MAX_TAKEN = 1 << 32
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--key", metavar="PEM", type=_FILE, required=True, help="Private key file (see keygen).")
@click.option("--server", metavar="NAME", required=True, help="Name of the server, as published.")
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
    must not be able to sign.
    """
    from toolnotary_cli.registries import registry as named
    from toolnotary_signer.artifacts import artifact_of
    from toolnotary_signer.attest import sign_manifest
    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.files import beside
    from toolnotary_verifier.limits import DEFAULT_LIMITS
    from toolnotary_verifier.manifest import UnnamedManifest
    from toolnotary_verifier.statement import time_text

    source = _source(sources)
    manifest = UnnamedManifest.parse(_read(file, DEFAULT_LIMITS.manifest_bytes)).named(
        server=server,
        version=version,
        artifacts=[artifact_of(text) for text in artifacts],
        remotes=remotes,
    )
    before = Digest.from_text(supersedes) if supersedes else None
    if sequence is None:
        last = _last(
            server, lambda: named(registry, policy=policy, offline=offline, insecure_http=insecure_http)
        )
        sequence = last.sequence + 1 if last else 1
        if before is None and last is not None and last.manifest != manifest.digest:
            before = last.manifest
    signing = _key(key)
    now = datetime.now(UTC).replace(microsecond=0)
    expires_at = now + timedelta(days=expires_in) if expires_in else None
    bundle = sign_manifest(
        manifest,
        signing,
        sequence=sequence,
        issued_at=now,
        supersedes=before,
        expires_at=expires_at,
        source=source,
    )
    base = out if out is not None else file.with_name(file.name.removesuffix(".json") or file.name)
    paths = [beside(base, f".{kind}.json") for kind in ("manifest", "sigstore")]
    _write(dict(zip(paths, (manifest.canonical, bundle.to_json()), strict=True)), force=force)
    document = {
        "schema": "https://toolnotary.dev/output/sign/v1",
        "server": server,
        "version": version,
        "sequence": sequence,
        "supersedes": before,
        "expiresAt": time_text(expires_at) if expires_at else None,
        "digest": manifest.digest,
        "signer": f"key:{signing.public.key_id}",
        "manifest": str(paths[0]),
        "bundle": str(paths[1]),
    }
    lines = [
        f"signed    {server}@{shown(version)}, sequence {sequence}",
        f"signer    key:{signing.public.key_id}",
        f"manifest  {manifest.digest}",
        *(f"wrote     {shown(str(path), limit=None)}" for path in paths),
    ]
    output.result(document, lines)


def _read(path: Path, most: int) -> bytes:
    """At most one byte more than `most`, so that the parser can say that there is too much."""
    with path.open("rb") as file:
        return file.read(most + 1)


def _key(path: Path) -> "PrivateKey":
    from toolnotary_signer import passphrase
    from toolnotary_signer.keyfile import PrivateKey, is_encrypted

    pem = _read(path, 1 << 14)
    return PrivateKey.from_pem(
        pem, passphrase=passphrase.existing(prompt.secret) if is_encrypted(pem) else None
    )


def _source(sources: tuple[str, ...]) -> "Source | None":
    from toolnotary_verifier.statement import Source

    said = dict(text.partition("=")[::2] for text in sources)
    names = set(Source.__dataclass_fields__)
    if len(said) != len(sources) or not names >= set(said) or not all(said.values()):
        expected = ", ".join(sorted(names))
        raise click.UsageError(f"--source expects NAME=VALUE, each NAME once and one of {expected}")
    return Source(**said) if said else None


def _last(server: str, client: "Callable[[], Registry]") -> "PublishedVersion | None":
    """The server's last published version, None before its first; nothing is guessed (DESIGN: statement)."""
    from toolnotary_verifier.errors import ConfigurationError, Refused

    try:
        last = client().latest(server)
    except ConfigurationError as error:
        if error.code != "no-registry":
            raise
        raise ConfigurationError(
            "sequence-needed",
            "the position in the server's history is not known, and no registry is named to ask",
            remedy="say --sequence 1 for a first release, one more than the last later, or --registry URL",
        ) from None
    except Refused as error:
        if error.code == "not-in-registry":
            return None
        raise
    if last.sequence > _MAX_TAKEN:
        raise Refused(
            "registry-sequence",
            f"the registry says that {server} is at sequence {last.sequence}, which no history of releases "
            "reaches",
            remedy="ask its operator; say --sequence with the number that you know",
        )
    return last


def _write(files: dict[Path, bytes], *, force: bool) -> None:
    from toolnotary_verifier.errors import ConfigurationError
    from toolnotary_verifier.files import replace_file

    for path, content in files.items():
        if not force and path.exists() and _read(path, len(content)) != content:
            raise ConfigurationError(
                "file-exists",
                f"{path} exists with other content",
                remedy="choose another name with -o, or replace it with --force",
            )
    for path, content in files.items():
        replace_file(path, content)
