"""Rows and changes of tables of a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

import datetime
import struct
from decimal import Decimal
from itertools import islice

import pytest

from pyflink_on_spark._connectors.change_capture import (
    AFTER,
    BEFORE,
    DELETED,
    INSERTED,
    CaptureConfig,
    CaptureError,
    CaptureReader,
    Decoder,
    Kind,
    WalPlace,
    open_client,
)
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.testing import local_engine

pytestmark = pytest.mark.slow

SLOT = "captured"


class Captured:
    """A table that is written and captured."""

    def __init__(self, kind, run, port, user, database, schema=""):
        self.kind, self.run, self.port = kind, run, port
        self.config = CaptureConfig(
            kind, "127.0.0.1", port, user, "", database, schema, "t", ("id", "name"), True, SLOT
        )
        names = {"hostname": "127.0.0.1", "port": str(port), "username": user, "password": ""}
        names |= {"database-name": database, "table-name": "t"}
        if schema:
            names |= {"schema-name": schema, "slot.name": SLOT}
            names |= {"decoding.plugin.name": "pgoutput"}
        self.options = {
            "connector": f"{kind.value[:8]}-cdc".replace("postgresq", "postgres"),
            **names,
        }

    def create(self, columns="id INT PRIMARY KEY, name VARCHAR(20)"):
        self.run(f"CREATE TABLE t ({columns})")
        if self.kind is Kind.POSTGRESQL:
            self.run("ALTER TABLE t REPLICA IDENTITY FULL")

    def table(self, t_env, columns):
        options = ", ".join(f"'{key}' = '{value}'" for key, value in self.options.items())
        t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({options})")


@pytest.fixture
def postgres(server, database):
    yield Captured(Kind.POSTGRESQL, database.execute, server.port, "owner", "postgres", "public")
    database.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active"
    )


@pytest.fixture
def maria(mysql_server, mysql):
    return Captured(Kind.MYSQL, mysql, mysql_server.port, "root", "test")


@pytest.fixture(params=["postgres", "maria"])
def captured(request):
    return request.getfixturevalue(request.param)


def reader(captured, position=None, limit=100):
    made = CaptureReader(captured.config, position, pause=lambda seconds: None)
    made.limit = limit
    return made


def polled(source, count):
    """Return the next elements without their times; None from a poll is no element."""
    found = []
    for _ in range(200):
        bundle = source.poll()
        found += [] if bundle is None else bundle.values
        if len(found) >= count:
            break
    return [(kind, (int(values[0]), values[1])) for kind, values, _ in found]


CHANGES = [
    "INSERT INTO t VALUES (3, 'c'), (4, 'd')",
    "UPDATE t SET name = 'B' WHERE id = 2",
    "DELETE FROM t WHERE id = 1",
]
EXPECTED = [
    (INSERTED, (3, "c")),
    (INSERTED, (4, "d")),
    (BEFORE, (2, "b")),
    (AFTER, (2, "B")),
    (DELETED, (1, "a")),
]


def test_rows_then_changes(captured):
    captured.create()
    captured.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    source = reader(captured)
    captured.run("CREATE TABLE other (id INT)")
    assert sorted(polled(source, 2)) == [(INSERTED, (1, "a")), (INSERTED, (2, "b"))]
    for statement in CHANGES:
        captured.run(statement)
        captured.run("INSERT INTO other VALUES (1)")
    assert polled(source, 5) == EXPECTED
    assert source.poll() is None
    captured.run("DROP TABLE other")
    source.close()


@pytest.mark.parametrize("limit", [1, 3])
def test_each_restart_continues_after_the_last_element(captured, limit):
    captured.create()
    captured.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    source = reader(captured, limit=limit)
    for statement in CHANGES:
        captured.run(statement)
    found, restarts = [], 0
    while len(found) < 7 and restarts < 60:
        bundle = source.poll()
        found += [] if bundle is None else bundle.values
        restarts += 1
        source.prepare_checkpoint(restarts)
        [position] = source.snapshot()
        if restarts % 2:
            source.notify_checkpoint_complete(restarts)
        source.close()
        source = reader(captured, position, limit)
    source.close()
    plain = [(kind, (int(values[0]), values[1])) for kind, values, _ in found]
    assert sorted(plain[:2]) == [(INSERTED, (1, "a")), (INSERTED, (2, "b"))]
    assert plain[2:] == EXPECTED


def test_the_rows_of_a_snapshot_do_not_change_with_the_table(captured):
    captured.create()
    captured.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    source = reader(captured, limit=1)
    captured.run("UPDATE t SET name = 'new'")
    first = polled(source, 1)
    [position] = source.snapshot()
    source.close()
    source = reader(captured, position)
    rest = polled(source, 5)
    source.close()
    assert sorted(first + rest[:1]) == [(INSERTED, (1, "a")), (INSERTED, (2, "b"))]
    assert sorted(rest[1:]) == [
        (BEFORE, (1, "a")), (BEFORE, (2, "b")), (AFTER, (1, "new")), (AFTER, (2, "new")),
    ]  # fmt: skip


def test_postgresql_forgets_what_a_complete_checkpoint_has(postgres):
    postgres.create()
    source = reader(postgres)
    assert source.poll() is None
    postgres.run("INSERT INTO t VALUES (1, 'a')")
    assert polled(source, 1) == [(INSERTED, (1, "a"))]
    kept = "SELECT confirmed_flush_lsn FROM pg_replication_slots"
    before = postgres.run(kept).fetchone()
    source.prepare_checkpoint(1)
    source.snapshot()
    assert postgres.run(kept).fetchone() == before
    source.notify_checkpoint_complete(1)
    assert postgres.run(kept).fetchone() != before
    source.close()


def test_transactions_that_a_snapshot_has():
    place = WalPlace(0, "100:105:101,103")
    assert [n for n in range(98, 108) if place.has(n)] == [98, 99, 100, 102, 104]
    wrapped = WalPlace(0, f"{2**32 + 1}:{2**32 + 5}:")
    assert wrapped.has(2**32 - 1)
    assert wrapped.has(4)
    assert not wrapped.has(5)


def test_a_change_that_comes_while_the_log_is_looked_at_comes_once(postgres):
    postgres.create()
    source = reader(postgres)
    assert polled(source, 1) == []
    end_of_log = source._client._end_of_log

    def before_another_change():
        end = end_of_log()
        postgres.run("INSERT INTO t VALUES (1, 'a')")
        source._client._end_of_log = end_of_log
        return end

    source._client._end_of_log = before_another_change
    postgres.run("CREATE TABLE other (id INT)")
    assert polled(source, 2) == [(INSERTED, (1, "a"))]
    postgres.run("DROP TABLE other")
    source.close()


def row_messages(final, end):
    """The messages of a transaction that inserts (7, 'g'), whose commit has these places."""
    value = b"t" + struct.pack(">i", 1)
    column = b"\0%s\0" + struct.pack(">Ii", 25, -1)
    relation = b"R" + struct.pack(">I", 1) + b"public\0t\0f" + struct.pack(">h", 2)
    return [
        b"B" + struct.pack(">qqI", final, 0, 9),
        relation + column % b"id" + column % b"name",
        b"I" + struct.pack(">I", 1) + b"N" + struct.pack(">h", 2) + value + b"7" + value + b"g",
        b"C" + struct.pack(">bqqq", 0, final, end, 0),
    ]


@pytest.mark.parametrize(("place", "count"), [(99, 1), (100, 1), (120, 1), (149, 1), (150, 0)])
def test_a_transaction_is_read_until_its_end_is_behind(place, count):
    """The end of the log can be in the middle of the record of a commit, from 100 to 150."""
    config = CaptureConfig(
        Kind.POSTGRESQL, "host", 1, "user", "", "database", "public", "t", ("name", "id")
    )
    decoder = Decoder(config, WalPlace(place))
    found = [each for message in row_messages(100, 150) for each in decoder.decode(message)]
    assert [values for (_, values, _), _ in found] == [("g", "7")] * count
    assert decoder.place.end == (150 if count else place)


def test_the_lock_of_a_start_that_fails_is_given_back(maria):
    maria.create()
    client = open_client(maria.config)
    client._end_of_log = lambda: client._all("SELECT nothing")
    with pytest.raises(CaptureError, match="nothing"):
        client.start()
    maria.run("SET lock_wait_timeout = 3")
    maria.run("INSERT INTO t VALUES (1, 'a')")


def test_a_table_without_whole_rows_in_its_log_is_refused(postgres):
    postgres.run("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
    with pytest.raises(CaptureError, match="REPLICA IDENTITY FULL"):
        reader(postgres)


def test_a_table_and_a_column_that_are_missing(maria):
    with pytest.raises(CaptureError, match="has no column id, name"):
        reader(maria)


KINDS = {
    "flag": ("BOOLEAN", "BOOLEAN", True),
    "big": ("BIGINT", "BIGINT", 2**62),
    "real_": ("DOUBLE", "DOUBLE PRECISION", 0.1),
    "price": ("DECIMAL(10, 2)", "DECIMAL(10, 2)", Decimal("1.50")),
    "day_": ("DATE", "DATE", datetime.date(2024, 2, 29)),
    "at_": ("TIME(0)", "TIME", datetime.time(7, 5, 9)),
    "stamp": ("TIMESTAMP(6)", "TIMESTAMP(6)", datetime.datetime(2024, 2, 29, 7, 5, 9, 120000)),
    "words": ("STRING", "TEXT", "ü'\\ 100%"),
}
FORMS = {"stamp": "DATETIME(6)", "real_": "DOUBLE"}


def test_each_type_in_the_snapshot_and_in_changes(captured):
    forms = FORMS if captured.kind is Kind.MYSQL else {}
    columns = ", ".join(f"{name} {forms.get(name, k[1])}" for name, k in KINDS.items())
    captured.create(f"id INT PRIMARY KEY, {columns}")
    words = "'ü''\\ 100%'".replace("\\", "\\\\") if captured.kind is Kind.MYSQL else "'ü''\\ 100%'"
    values = "TRUE, 4611686018427387904, 0.1, 1.50, '2024-02-29', '07:05:09', "
    values += f"'2024-02-29 07:05:09.12', {words}"
    captured.run(f"INSERT INTO t VALUES (1, {values})")
    with local_engine():
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.get_config().set("parallelism.default", "1")
        captured.table(t_env, "id INT, " + ", ".join(f"{n} {k[0]}" for n, k in KINDS.items()))
        nulls = ", ".join(["NULL"] * len(KINDS))
        with t_env.sql_query("SELECT * FROM t").execute().collect() as results:
            first = next(results)
            captured.run(f"INSERT INTO t VALUES (2, {values})")
            captured.run(f"INSERT INTO t VALUES (3, {nulls})")
            second, third = islice(results, 2)
    expected = [value for _, _, value in KINDS.values()]
    assert list(first) == [1, *expected]
    assert list(second) == [2, *expected]
    assert list(third) == [3, *[None] * len(KINDS)]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_query_over_a_captured_table(captured, restarts):
    captured.create()
    captured.run("INSERT INTO t VALUES (1, 'a'), (2, 'a')")
    with local_engine(checkpoint_each_turn=restarts, restart_each_checkpoint=restarts):
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.get_config().set("parallelism.default", "1")
        if restarts:
            t_env.get_config().set("execution.checkpointing.interval", "10 ms")
        captured.table(
            t_env,
            "id INT, name STRING, db STRING METADATA FROM 'database_name' VIRTUAL, "
            "PRIMARY KEY (id) NOT ENFORCED",
        )
        query = "SELECT name, db, COUNT(*) FROM t GROUP BY name, db"
        kept = {}
        with t_env.sql_query(query).execute().collect() as results:
            changed = False
            for row in results:
                if str(row.get_row_kind()) in {"+I", "+U"}:
                    kept[row[0]] = row[2]
                elif str(row.get_row_kind()) == "-D":
                    del kept[row[0]]
                if kept == {"a": 2} and not changed:
                    changed = True
                    captured.run("INSERT INTO t VALUES (3, 'b')")
                    captured.run("UPDATE t SET name = 'b' WHERE id = 1")
                    captured.run("DELETE FROM t WHERE id = 2")
                if kept == {"b": 2}:
                    break
    assert kept == {"b": 2}
    assert row[1] == captured.config.database
