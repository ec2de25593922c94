# SPDX-License-Identifier: Apache-2.0
"""`toolnotary registry`: the operator decides who may publish under which name, on the database itself."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

import click

from toolnotary_cli import extras, options
from toolnotary_cli.output import Output, shown
from toolnotary_cli.reading import KEY_BYTES, about

if TYPE_CHECKING:
    from toolnotary_registry_api.records import NamespaceKey
    from toolnotary_registry_api.storage import Storage

_SCHEMA = "https://toolnotary.dev/output/registry-keys/v1"


@click.group()
def command() -> None:
    """Administer a registry, through its database."""


@command.command("add-key")
@click.argument("pattern")
@click.argument("public_key", metavar="PUBKEY.pem", type=click.File("rb"))
@options.database
@options.output
def add_key(*, pattern: str, public_key: BinaryIO, database: str | None, output: Output) -> None:
    """Let a key publish under PATTERN.

    PATTERN is NAMESPACE/* (such as io.github.acme/*) or one server's name. Adding a key again changes
    nothing.
    """
    with _storage(database) as storage:
        from toolnotary_registry_api.publication import claim
        from toolnotary_verifier.keys import PublicKey

        with about(public_key.name):
            pem = PublicKey.from_pem(public_key.read(KEY_BYTES)).to_pem()
        key = claim(storage, pattern, pem, at=datetime.now(UTC))
    output.result(_document([key]), f"{key.key_id} may publish as {shown(key.pattern)}")


@command.command("list-keys")
@click.argument("pattern", required=False)
@options.database
@options.output
def list_keys(*, pattern: str | None, database: str | None, output: Output) -> None:
    """List the keys, retired ones included, of PATTERN or of all."""
    with _storage(database, create=False) as storage:
        keys = storage.namespace_keys(None if pattern is None else [pattern])
    output.result(_document(keys), [_line(key) for key in keys])


@command.command("retire-key")
@click.argument("pattern")
@click.argument("key_id", metavar="KEY-ID")
@options.database
@options.output
def retire_key(*, pattern: str, key_id: str, database: str | None, output: Output) -> None:
    """Let a key publish under PATTERN no more. What it signed stays published."""
    with _storage(database, create=False) as storage:
        from toolnotary_registry_api.publication import retire

        key = retire(storage, pattern, key_id, at=datetime.now(UTC))
    output.result(_document([key]), f"{key.key_id} may no longer publish as {shown(key.pattern)}")


@contextmanager
def _storage(database: str | None, *, create: bool = True) -> Iterator["Storage"]:
    from toolnotary_cli import places

    with extras.needs("registry"):
        from toolnotary_registry_api.storage import Storage
    storage = Storage.open(database or places.registry_database(create=create), create=create)
    try:
        yield storage
    finally:
        storage.close()


def _document(keys: "Iterable[NamespaceKey]") -> dict[str, object]:
    from toolnotary_verifier.statement import time_text

    told = [
        {
            "pattern": key.pattern,
            "keyId": key.key_id,
            "addedAt": time_text(key.added_at),
            "retiredAt": time_text(key.retired_at) if key.retired_at else None,
        }
        for key in keys
    ]
    return {"schema": _SCHEMA, "keys": told}


def _line(key: "NamespaceKey") -> str:
    state = f"retired {key.retired_at:%Y-%m-%d}" if key.retired_at else f"since {key.added_at:%Y-%m-%d}"
    return f"{shown(key.pattern)}  {key.key_id}  {state}"
