# SPDX-License-Identifier: Apache-2.0
"""The database: migrations in both directions, tables that only grow, URLs that are taken."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from servers.publisher import NOW, SERVER, Publisher
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from toolnotary_registry_api.admission import Submission, patterns_for
from toolnotary_registry_api.migrations import downgrade, upgrade
from toolnotary_registry_api.publication import claim, publish, retire
from toolnotary_registry_api.settings import database_url as parsed
from toolnotary_registry_api.storage import Storage, Writing
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


# A key that is retired while somebody publishes with it.


class HaltedStorage(Storage):
    """A session that stops before its write transaction until it is told to go on."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.reached, self.goes_on = threading.Event(), threading.Event()

    @contextmanager
    def writing(self, subject: str, *, under: Sequence[str] = ()) -> Iterator[Writing]:
        self.reached.set()
        assert self.goes_on.wait(60)
        with super().writing(subject, under=under) as writing:
            yield writing


@pytest.mark.parametrize("pattern", ["io.github.acme/*", SERVER])
def test_a_key_that_is_retired_after_its_signature_was_verified_publishes_no_more(
    database_url: str, pattern: str
) -> None:
    publisher = Publisher()
    release = publisher.release()
    submission = Submission(manifest=release.manifest, bundle=release.bundle)
    with (
        closing(Storage.open(database_url)) as operator,
        closing(HaltedStorage.open(database_url)) as halted,
        ThreadPoolExecutor(1) as pool,
    ):
        claim(operator, pattern, publisher.pem, at=NOW)
        publishing = pool.submit(publish, halted, submission, at=NOW)
        assert halted.reached.wait(60)
        retire(operator, pattern, publisher.public_key.key_id, at=NOW)
        halted.goes_on.set()
        with pytest.raises(Refused) as refused:
            publishing.result(60)
        assert refused.value.code == "namespace-unclaimed"
        assert operator.entries(SERVER, limit=1) == ()


@pytest.mark.parametrize("pattern", ["io.github.acme/*", SERVER])
def test_a_key_that_a_publication_was_admitted_by_is_retired_after_it(
    database_url: str, pattern: str
) -> None:
    publisher = Publisher()
    steps = []
    with closing(Storage.open(database_url)) as operator, closing(Storage.open(database_url)) as storage:
        claim(operator, pattern, publisher.pem, at=NOW)

        def withdraw() -> None:
            retire(operator, pattern, publisher.public_key.key_id, at=NOW)
            steps.append("retired")

        retiring = threading.Thread(target=withdraw)
        with storage.writing(SERVER, under=patterns_for(SERVER)) as writing:
            retiring.start()
            retiring.join(0.3)  # time to do it in, which the lock does not give: nothing here waits for it
            keys = writing.namespace_keys(patterns_for(SERVER))
            steps.append("published")
        retiring.join(60)
        assert [key.retired_at for key in keys] == [None]
        assert steps == ["published", "retired"]


def test_publications_of_one_namespace_do_not_wait_for_each_other(database_url: str) -> None:
    """But on SQLite, which has one writer at a time in any case."""
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has one writer at a time in any case, so that nothing can wait here")
    others = "io.github.acme/maps"
    with (
        closing(Storage.open(database_url)) as first,
        closing(Storage.open(database_url)) as second,
        first.writing(SERVER, under=patterns_for(SERVER)),
        second.writing(others, under=patterns_for(others)) as writing,
    ):
        assert writing.last_sequence(others) == 0
