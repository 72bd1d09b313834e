"""Jobs that write to a real MariaDB, as to a MySQL."""

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


@pytest.fixture
def table(mysql):
    mysql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(99) CHECK (name <> 'bad'))")
    return lambda: mysql("SELECT * FROM t ORDER BY id")


def writer(server, pause=lambda seconds: None):
    connection = JdbcConnection(server.url, user_name="root")
    return JdbcWriter(JdbcSinkConfig(INSERT, PAIR, connection, JdbcExecution()), lambda: 0, pause)


def test_rows_are_written(local_engine, mysql_server, table):
    rows = [Row(id=n, name=f"100% of '{n}' ü\\") for n in range(1000)]
    connection = options(mysql_server.url, "root", "")
    write(rows, PAIR, INSERT, connection, execution(size=300), parallelism=2)
    assert table() == [(n, f"100% of '{n}' ü\\") for n in range(1000)]


def test_upsert_and_nulls(local_engine, mysql_server, table):
    sql = f"{INSERT} ON DUPLICATE KEY UPDATE name = VALUES(name)"
    rows = [Row(1, "a"), Row(2, None), Row(1, "b"), Row(3, None)]
    write(rows, PAIR, sql, options(f"{mysql_server.url}?user=root"))
    assert table() == [(1, "b"), (2, None), (3, None)]


KINDS = {
    "BOOLEAN": (Types.BOOLEAN(), True),
    "BIGINT": (Types.LONG(), 2**62),
    "DOUBLE": (Types.DOUBLE(), 0.1),
    "DECIMAL(30)": (Types.BIG_INT(), 2**80),
    "DECIMAL(10, 2)": (Types.BIG_DEC(), Decimal("1.50")),
    "DATE": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
    "TIME": (Types.SQL_TIME(), datetime.time(7, 5, 9)),
    "DATETIME(6)": (
        Types.SQL_TIMESTAMP(),
        datetime.datetime.fromisoformat("2024-02-29T07:05:09.12"),
    ),
    "DATETIME(3)": (Types.INSTANT(), Instant.of_epoch_milli(1500)),
    "VARBINARY(9)": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00%s?'"),
}


def test_each_type(local_engine, mysql_server, mysql):
    mysql(f"CREATE TABLE t ({', '.join(f'c{n} {kind}' for n, kind in enumerate(KINDS))})")
    row_type = Types.ROW([kind for kind, _ in KINDS.values()])
    values = [value for _, value in KINDS.values()]
    rows = [Row(*values), Row(*[None] * len(KINDS))]
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([0, 1]).map(lambda index: rows[index], row_type)
    sql = f"INSERT INTO t VALUES ({', '.join('?' * len(KINDS))})"
    stream.add_sink(JdbcSink.sink(sql, row_type, options(mysql_server.url, "root", "")))
    env.execute()
    first, second = mysql("SELECT * FROM t")
    expected = dict(zip(KINDS, values))
    expected["TIME"] = datetime.timedelta(hours=7, minutes=5, seconds=9)
    expected["DATETIME(3)"] = datetime.datetime.fromisoformat("1970-01-01T00:00:01.5")
    assert dict(zip(KINDS, first)) == expected
    assert set(second) == {None}


def test_a_refused_row_is_named_and_nothing_of_its_batch_is_there(mysql_server, table):
    made = writer(mysql_server, lambda seconds: pytest.fail("tried again"))
    made.write(iter([Row(1, "a"), Row(2, "bad"), Row(3, "c")]))
    with pytest.raises(JdbcError, match=r"refuses the row \(2, 'bad'\): .*CONSTRAINT"):
        made.prepare_checkpoint(1)
    made.close()
    assert table() == []


def test_a_lost_connection_is_made_again(mysql_server, mysql, table):
    pauses = []
    made = writer(mysql_server, pauses.append)
    made.write(iter([Row(1, "a")]))
    made.prepare_checkpoint(1)
    own = mysql("SELECT connection_id()")[0][0]
    for (other,) in mysql(f"SELECT id FROM information_schema.processlist WHERE id <> {own}"):
        mysql(f"KILL {other}")
    made.write(iter([Row(2, "b")]))
    made.prepare_checkpoint(2)
    made.close()
    assert table() == [(1, "a"), (2, "b")]
    assert pauses == [0]


def test_a_table_that_is_not_there(mysql_server, mysql):
    made = writer(mysql_server, lambda seconds: pytest.fail("tried again"))
    made.write(iter([Row(1, "a")]))
    with pytest.raises(JdbcError, match=r"Table 'test\.t' doesn't exist"):
        made.prepare_commit()
    made.close()


def test_a_server_that_is_not_there(local_engine):
    pytest.importorskip("pymysql")
    url = f"jdbc:mysql://127.0.0.1:{free_port()}/shop"
    with pytest.raises(Exception, match=r"cannot connect to jdbc:mysql.*refused") as caught:
        write([Row(1, "a")], PAIR, INSERT, options(url, "me", "secret"))
    assert "secret" not in str(caught.value)
