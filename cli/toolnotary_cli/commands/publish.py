# SPDX-License-Identifier: Apache-2.0
"""`toolnotary publish`: a signed manifest and its bundle, sent to a registry and read back from it."""

from pathlib import Path

import click

from toolnotary_cli import options
from toolnotary_cli.output import Output
from toolnotary_cli.reading import about, read

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("manifest", metavar="OUT.manifest.json", type=_FILE)
@click.argument("bundle", metavar="OUT.sigstore.json", type=_FILE)
@options.registry
@click.option("--insecure-http", is_flag=True, help="Accept a registry on another machine over plain http.")
@options.policy
@options.offline
@options.output
def command(
    *,
    manifest: Path,
    bundle: Path,
    registry: str | None,
    insecure_http: bool,
    policy: Path | None,
    offline: bool,
    output: Output,
) -> None:
    """Send a signed manifest to a registry.

    Prints the URL of the published version once the registry was seen to serve the very bytes that were sent.
    Publishing the same manifest again succeeds; a version that holds another one is never replaced.
    """
    from toolnotary_cli.opening import open_policy, tell_unaccepted
    from toolnotary_cli.registries import registry as named
    from toolnotary_verifier.bundle import Bundle
    from toolnotary_verifier.canonical import Digest
    from toolnotary_verifier.manifest import Manifest

    rules = open_policy(policy)
    tell_unaccepted(rules, output)
    limits = rules.limits
    client = named(registry, rules=rules, offline=offline, insecure_http=insecure_http)
    raw, sent = read(manifest, limits.manifest_bytes), read(bundle, limits.bundle_bytes)
    with about(manifest):
        Manifest.parse(raw, limits=limits)
    with about(bundle):
        Bundle.parse(sent, limits=limits)
    publication = client.publish(raw, sent)
    published = publication.published
    if published.bundle != Digest.of(sent):
        output.note("this manifest was published before under another bundle, which stays")
    document = {
        "schema": "https://toolnotary.dev/output/publish/v1",
        "created": publication.created,
        "server": published.server,
        "version": published.version,
        "sequence": published.sequence,
        "manifest": published.manifest,
        "bundle": published.bundle,
        "signer": published.signer,
        "url": publication.url,
    }
    done = "published" if publication.created else "already published"
    lines = [
        f"{done}: {published.server}@{published.version}, sequence {published.sequence}",
        f"manifest  {published.manifest}",
        f"url       {publication.url}",
    ]
    output.result(document, lines)
