"""Jobs that write to a real PostgreSQL."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pyflink_on_spark._connectors.jdbc.client import (
    JdbcConnection,
    JdbcExecution,
    JdbcSinkConfig,
)
from pyflink_on_spark._connectors.jdbc.databases import JdbcError
from pyflink_on_spark._connectors.jdbc.sink import JdbcWriter
from pyflink_on_spark.common import Instant, Row, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.jdbc import JdbcSink
from tests.connectors.jdbc.jobs import PAIR, execution, options, write
from tests.connectors.servers import free_port

INSERT = "INSERT INTO t (id, name) VALUES (?, ?)"
UPSERT = f"{INSERT} ON CONFLICT (id) DO UPDATE SET name = excluded.name"


@pytest.fixture
def table(database):
    database.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT CHECK (name <> 'bad'))")
    return lambda: database.execute("SELECT * FROM t ORDER BY id").fetchall()


def writer(server, pause=lambda seconds: None, sql=INSERT):
    connection = JdbcConnection(server.url, user_name="owner")
    return JdbcWriter(JdbcSinkConfig(sql, PAIR, connection, JdbcExecution()), lambda: 0, pause)


def test_rows_are_written(local_engine, server, table):
    rows = [Row(id=number, name=f"100% of '{number}'") for number in range(1000)]
    write(rows, PAIR, INSERT, options(server.url, "owner"), execution(size=300), parallelism=2)
    assert table() == [(n, f"100% of '{n}'") for n in range(1000)]


def test_upsert_and_nulls(local_engine, server, table):
    rows = [Row(1, "a"), Row(2, None), Row(1, "b"), Row(2, "c"), Row(3, None)]
    write(rows, PAIR, UPSERT, options(f"{server.url}?user=owner"))
    assert table() == [(1, "b"), (2, "c"), (3, None)]


KINDS = {
    "bool": (Types.BOOLEAN(), True),
    "smallint": (Types.SHORT(), -3),
    "bigint": (Types.LONG(), 2**62),
    "real": (Types.FLOAT(), 0.5),
    "double precision": (Types.DOUBLE(), 0.1),
    "char": (Types.CHAR(), "c"),
    "numeric(30)": (Types.BIG_INT(), Decimal(2**80)),
    "numeric(10, 2)": (Types.BIG_DEC(), Decimal("1.50")),
    "date": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
    "time": (Types.SQL_TIME(), datetime.time(7, 5, 9)),
    "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime.fromisoformat("2024-02-29T07:05:09.12")),
    "timestamptz": (Types.INSTANT(), Instant.of_epoch_milli(1500)),
    "bytea": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00%s?"),
    "int[]": (Types.BASIC_ARRAY(Types.INT()), [1, 70000]),
    "text[]": (Types.OBJECT_ARRAY(Types.STRING()), ["x", None, "{,}"]),
    "float8[]": (Types.PRIMITIVE_ARRAY(Types.DOUBLE()), [0.1, 2.0]),
    "date[]": (Types.BASIC_ARRAY(Types.STRING()), None),
}


def test_each_type(local_engine, server, database):
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(KINDS))
    database.execute(f"CREATE TABLE t ({columns})")
    database.execute("SET timezone TO 'UTC'")
    row_type = Types.ROW([kind for kind, _ in KINDS.values()])
    values = [value for _, value in KINDS.values()]
    big = list(KINDS).index("numeric(30)")
    sent = [int(value) if index == big else value for index, value in enumerate(values)]
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    rows = [Row(*sent), Row(*[None] * len(KINDS))]
    stream = env.from_collection([0, 1]).map(lambda index: rows[index], row_type)
    marks = ", ".join("?" * len(KINDS))
    sql = f"INSERT INTO t VALUES ({marks})"
    stream.add_sink(JdbcSink.sink(sql, row_type, options(server.url, "owner")))
    env.execute()
    first, second = database.execute("SELECT * FROM t").fetchall()
    expected = [
        datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, datetime.UTC)
        if isinstance(value, Instant)
        else value
        for value in values
    ]
    assert list(first) == expected
    assert set(second) == {None}


def test_a_refused_row_is_named_and_nothing_of_its_batch_is_there(server, table):
    made = writer(server, lambda seconds: pytest.fail("tried again"))
    made.write(iter([Row(1, "a"), Row(2, "bad"), Row(3, "c")]))
    with pytest.raises(JdbcError, match=r"refuses the row \(2, 'bad'\): .* check constraint"):
        made.prepare_checkpoint(1)
    made.close()
    assert table() == []


def test_a_lost_connection_is_made_again(server, database, table):
    pauses = []
    made = writer(server, pauses.append)
    made.write(iter([Row(1, "a")]))
    made.prepare_checkpoint(1)
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
    made.write(iter([Row(2, "b")]))
    made.prepare_checkpoint(2)
    made.close()
    assert table() == [(1, "a"), (2, "b")]
    assert pauses == [0]


def test_a_server_that_is_not_there(local_engine):
    pytest.importorskip("psycopg")
    url = f"jdbc:postgresql://127.0.0.1:{free_port()}/shop?password=secret"
    with pytest.raises(Exception, match=r"cannot connect to jdbc:postgresql.*refused") as caught:
        write([Row(1, "a")], PAIR, INSERT, options(url, "me", "secret"))
    assert "secret" not in str(caught.value)


def test_a_schema_and_a_name_from_the_url(local_engine, server, database):
    database.execute("CREATE SCHEMA named")
    database.execute("CREATE TABLE named.t (id INT, name TEXT)")
    url = f"{server.url}?currentSchema=named&ApplicationName=job"
    sql = "INSERT INTO t VALUES (?, ? || current_setting('application_name'))"
    write([Row(1, "a")], PAIR, sql, options(url, "owner"))
    assert database.execute("SELECT * FROM named.t").fetchall() == [(1, "ajob")]
