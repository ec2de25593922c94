# SPDX-License-Identifier: Apache-2.0
"""`toolnotary keygen`: a private key and its public half, in two files."""

from pathlib import Path

import click

from toolnotary_cli import options, prompt
from toolnotary_cli.output import Output, shown

_ALGORITHMS = ("ed25519", "p256")


@click.command()
@click.option(
    "--algorithm",
    type=click.Choice(_ALGORITHMS),
    default="ed25519",
    show_default=True,
    help="Ed25519, or ECDSA with curve P-256.",
)
@click.option(
    "-o",
    "--output",
    "name",
    metavar="NAME",
    type=click.Path(path_type=Path),
    required=True,
    help="Write NAME.key and NAME.pub; neither may exist.",
)
@click.option("--no-passphrase", is_flag=True, help="Leave the private key unencrypted on the disk.")
@options.output
def command(*, algorithm: str, name: Path, no_passphrase: bool, output: Output) -> None:
    """Make a signing key.

    NAME.key is readable by you alone and encrypted with a passphrase, which is asked for on the terminal or
    read from the file that TOOLNOTARY_KEY_PASSPHRASE_FILE names. NAME.pub and the key id are for those who
    verify.
    """
    from toolnotary_signer import passphrase
    from toolnotary_signer.keyfile import PrivateKey, write_pair

    secret = None if no_passphrase else passphrase.chosen(prompt.secret)
    key = PrivateKey.generate("ed25519" if algorithm == "ed25519" else "ecdsa-p256-sha256")
    private, public = write_pair(name, key, passphrase=secret)
    if no_passphrase:
        output.note("the private key is not encrypted: whoever can read the file can sign")
    document = {
        "schema": "https://toolnotary.dev/output/keygen/v1",
        "keyId": key.public.key_id,
        "algorithm": key.public.algorithm,
        "privateKey": str(private),
        "publicKey": str(public),
    }
    lines = [
        f"key id       {key.public.key_id}",
        f"private key  {shown(str(private), limit=None)} (keep it to yourself)",
        f"public key   {shown(str(public), limit=None)}",
    ]
    output.result(document, lines)
