# SPDX-License-Identifier: Apache-2.0
"""The database: migrations in both directions, tables that only grow, URLs that are taken."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from servers.publisher import NOW, Publisher
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from toolnotary_registry_api.migrations import downgrade, upgrade
from toolnotary_registry_api.publication import claim, retire
from toolnotary_registry_api.settings import database_url as parsed
from toolnotary_registry_api.storage import Storage
from toolnotary_registry_api.tables import APPEND_ONLY, Table
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(parsed(url))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def schema(connection: Connection) -> dict[str, object]:
    inspector = inspect(connection)
    return {
        table: (
            sorted((column["name"], str(column["type"])) for column in inspector.get_columns(table)),
            sorted(str(unique["name"]) for unique in inspector.get_unique_constraints(table)),
            sorted(str(key["name"]) for key in inspector.get_foreign_keys(table)),
            sorted(str(index["name"]) for index in inspector.get_indexes(table)),
        )
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def test_the_schema_goes_up_and_down_and_up_again(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
        first = schema(connection)
        downgrade(connection, "base")
        assert schema(connection) == {}
        upgrade(connection)
        assert schema(connection) == first
    assert set(first) == set(APPEND_ONLY)


def test_the_migrations_make_exactly_the_tables_of_the_code(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Table.metadata) == []


def test_every_table_only_grows(database_url: str) -> None:
    assert set(APPEND_ONLY) == set(Table.metadata.tables)
    with closing(Storage.open(database_url)) as storage:
        claim(storage, "io.github.acme/*", Publisher().pem, at=NOW)
    statements = {"UPDATE key_events SET pattern = 'x/*'", "DELETE FROM key_events"}
    for statement in statements:
        with pytest.raises(DBAPIError, match="append-only"), connected(database_url) as connection:
            connection.execute(text(statement))


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_every_table_has_its_triggers(database_url: str, table: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
        if connection.dialect.name == "postgresql":
            query = (
                "SELECT event_manipulation FROM information_schema.triggers WHERE event_object_table = :table"
            )
            found = set(connection.execute(text(query), {"table": table}).scalars())
            assert found == {"UPDATE", "DELETE"}
        else:
            query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :table"
            found = set(connection.execute(text(query), {"table": table}).scalars())
            assert found == {f"{table}_no_update", f"{table}_no_delete"}


def test_a_database_of_a_later_release_is_not_touched(database_url: str) -> None:
    with closing(Storage.open(database_url)):
        pass
    with connected(database_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError) as refused:
        Storage.open(database_url)
    assert refused.value.code == "database-newer"


def test_sqlite_writes_ahead_and_syncs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.sqlite'}"
    with closing(Storage.open(url)) as storage, storage.writing("x") as writing:
        connection = writing._session.connection()  # noqa: SLF001 - pragmas of this very connection
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert values == ["wal", 2, 1, 10_000]


def test_what_a_failed_transaction_wrote_is_not_there(database_url: str) -> None:
    with closing(Storage.open(database_url)) as storage:
        key = claim(storage, "io.github.acme/*", Publisher().pem, at=NOW)

        def retire_and_fail() -> None:
            with storage.writing("io.github.acme/*") as writing:
                writing.retire_key(key, at=NOW)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            retire_and_fail()
        assert [found.retired_at for found in storage.namespace_keys()] == [None]


def test_keys_keep_their_history(database_url: str) -> None:
    with closing(Storage.open(database_url)) as storage:
        first, second = Publisher(), Publisher()
        for publisher in (first, second, first):
            claim(storage, "io.github.acme/*", publisher.pem, at=NOW)
        retire(storage, "io.github.acme/*", first.public_key.key_id, at=NOW)
        states = {key.key_id: key.retired_at for key in storage.namespace_keys()}
        assert states == {first.public_key.key_id: NOW, second.public_key.key_id: None}
        with pytest.raises(Refused) as refused:
            retire(storage, "io.github.acme/*", first.public_key.key_id, at=NOW)
    assert refused.value.code == "no-such-key"


@pytest.mark.parametrize(
    "pattern", ["*", "*/*", "io.github.*/x", "acme", "acme/", "/x", "a/b/c", "a/**", "a/.."]
)
def test_a_pattern_that_would_claim_more_than_a_namespace_is_refused(tmp_path: Path, pattern: str) -> None:
    with (
        closing(Storage.open(f"sqlite:///{tmp_path / 'r.sqlite'}")) as storage,
        pytest.raises(InvalidInput) as refused,
    ):
        claim(storage, pattern, Publisher().pem, at=NOW)
    assert refused.value.code == "namespace-pattern"


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://h/d", "sqlite://", "sqlite:///:memory:", "sqlite://host/x", "postgres:"]
)
def test_a_database_that_would_forget_or_is_unknown_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Storage.open(url)
    assert refused.value.code == "database-url"


@pytest.mark.parametrize(
    "url", ["sqlite:////nonexistent/folder/r.sqlite", "postgresql://someone:geheim@127.0.0.1:1/x"]
)
def test_a_database_that_does_not_answer_is_named_without_its_password(url: str) -> None:
    with pytest.raises(CannotTell) as failed:
        Storage.open(url)
    assert failed.value.code == "database-unreachable"
    assert "geheim" not in str(failed.value) + failed.value.remedy
