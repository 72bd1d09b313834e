"""Jobs that write to SQLite."""

from __future__ import annotations

import datetime
import sqlite3
from contextlib import closing
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

INSERT = "INSERT INTO t (id, name) VALUES (?, ?)"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "test.db"


@pytest.fixture
def url(file):
    run(file, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
    return f"jdbc:sqlite:{file}"


def run(file, sql):
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(sql).fetchall()


def statement(url, sql=INSERT, row_type=PAIR, **execution_options):
    return JdbcSinkConfig(sql, row_type, JdbcConnection(url), JdbcExecution(**execution_options))


def writer(url, clock=lambda: 0, pause=None, sql=INSERT, row_type=PAIR, **execution_options):
    made = statement(url, sql, row_type, **execution_options)
    return JdbcWriter(made, clock, pause or (lambda seconds: None))


def test_rows_are_written(local_engine, url, file):
    rows = [Row(id=number, name=f"n{number}") for number in range(25)]
    write(rows, PAIR, INSERT, options(url), execution(size=10), parallelism=2)
    assert run(file, "SELECT * FROM t ORDER BY id") == [(n, f"n{n}") for n in range(25)]


def test_upsert_and_nulls(local_engine, url, file):
    sql = f"{INSERT} ON CONFLICT (id) DO UPDATE SET name = excluded.name || '?'"
    rows = [Row(1, "a"), Row(2, None), Row(1, "b")]
    write(rows, PAIR, sql, options(url))
    assert run(file, "SELECT * FROM t ORDER BY id") == [(1, "b?"), (2, None)]


def test_values_are_bound_not_pasted(local_engine, url, file):
    evil = "'); DROP TABLE t; --"
    write([Row(1, evil)], PAIR, INSERT, options(url))
    assert run(file, "SELECT * FROM t") == [(1, evil)]


def test_each_type(local_engine, file):
    kinds = {
        Types.BOOLEAN: (True, 1),
        Types.BYTE: (-1, -1),
        Types.LONG: (2**62, 2**62),
        Types.FLOAT: (0.5, 0.5),
        Types.DOUBLE: (0.1, 0.1),
        Types.CHAR: ("c", "c"),
        Types.BIG_INT: (2**63 - 1, 2**63 - 1),
        Types.BIG_DEC: (Decimal("1.50"), "1.50"),
        Types.SQL_DATE: (datetime.date(2024, 2, 29), "2024-02-29"),
        Types.SQL_TIME: (datetime.time(7, 5, 9), "07:05:09"),
        Types.SQL_TIMESTAMP: (
            datetime.datetime.fromisoformat("2024-02-29T07:05:09"),
            "2024-02-29 07:05:09",
        ),
        Types.INSTANT: (Instant.of_epoch_milli(1500), "1970-01-01 00:00:01.500000"),
    }
    row_type = Types.ROW([make() for make in kinds] + [Types.PRIMITIVE_ARRAY(Types.BYTE())])
    columns = [f"c{number}" for number in range(len(kinds) + 1)]
    run(file, f"CREATE TABLE t ({', '.join(columns)})")
    sql = f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})"
    rows = [Row(*[value for value, _ in kinds.values()], b"\x00?"), Row(*[None] * len(columns))]
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([0, 1]).map(lambda index: rows[index], row_type)
    stream.add_sink(JdbcSink.sink(sql, row_type, options(f"jdbc:sqlite:{file}")))
    env.execute()
    assert run(file, "SELECT * FROM t") == [
        (*[stored for _, stored in kinds.values()], b"\x00?"),
        (None,) * len(columns),
    ]


def test_batches_are_of_the_size(url, file):
    made = writer(url, batch_size=3)
    made.write(iter([Row(1, "a"), Row(2, "b")]))
    assert run(file, "SELECT count(*) FROM t") == [(0,)]
    made.write(iter([Row(n, "x") for n in range(3, 9)]))
    assert run(file, "SELECT count(*) FROM t") == [(6,)]
    made.prepare_checkpoint(1)
    assert run(file, "SELECT count(*) FROM t") == [(8,)]
    made.close()


@pytest.mark.parametrize("size", [0, 100])
def test_the_interval_goes_by_processing_time(url, file, size):
    made = writer(url, lambda: 1000, batch_size=size, batch_interval=50)
    made.write(iter([Row(1, "a")]))
    made.advance_processing_time(1049)
    assert run(file, "SELECT count(*) FROM t") == [(0,)]
    made.advance_processing_time(1050)
    assert run(file, "SELECT count(*) FROM t") == [(1,)]
    made.write(iter([Row(2, "a")]))
    made.advance_processing_time(1099)
    assert run(file, "SELECT count(*) FROM t") == [(1,)]
    made.advance_processing_time(1100)
    assert run(file, "SELECT count(*) FROM t") == [(2,)]
    made.close()


def test_a_row_is_taken_when_it_comes(url, file):
    made, row = writer(url), Row(1, "a")

    def changing():
        yield row
        row[0], row[1] = 2, "b"
        yield row

    made.write(changing())
    made.close()
    assert run(file, "SELECT * FROM t") == [(1, "a"), (2, "b")]


def test_a_locked_database_is_tried_again(url, file, monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._connectors.jdbc.databases._SECONDS_TO_WAIT", 0)
    blocker = sqlite3.connect(file, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            blocker.execute("COMMIT")

    made = writer(url, pause=pause)
    made.write(iter([Row(1, "a")]))
    made.close()
    assert run(file, "SELECT * FROM t") == [(1, "a")]
    assert pauses == [0, 1]
    blocker.execute("BEGIN IMMEDIATE")
    made = writer(url, max_retries=1)
    made.write(iter([Row(2, "b")]))
    with pytest.raises(JdbcError, match=r"failed 2 times: database is locked"):
        made.prepare_commit()
    made.close()
    blocker.close()
    assert run(file, "SELECT * FROM t") == [(1, "a")]


def test_a_refused_row_is_named_and_nothing_of_its_batch_is_there(url, file):
    made = writer(url, pause=lambda seconds: pytest.fail("tried again"))
    made.write(iter([Row(1, "a"), Row(2, "b"), Row(1, "c")]))
    with pytest.raises(JdbcError, match=r"refuses the row \(1, 'c'\): UNIQUE constraint failed"):
        made.prepare_commit()
    made.close()
    assert run(file, "SELECT count(*) FROM t") == [(0,)]


def test_a_missing_table_is_named(local_engine, url):
    with pytest.raises(Exception, match="no such table: missing"):
        write([Row(1, "a")], PAIR, "INSERT INTO missing VALUES (?, ?)", options(url))


def test_a_file_that_cannot_be_opened(local_engine, tmp_path):
    place = f"jdbc:sqlite:{tmp_path}/no/folder.db"
    with pytest.raises(Exception, match=f"cannot connect to {place}: unable to open"):
        write([Row(1, "a")], PAIR, INSERT, options(place))


def test_a_value_of_another_type(file):
    row_type = Types.ROW([Types.SQL_DATE()])
    made = writer(f"jdbc:sqlite:{file}", sql="INSERT INTO t VALUES (?)", row_type=row_type)
    with pytest.raises(JdbcError, match="does not have the sink's types: <Row\\('today'\\)>"):
        made.write(iter([Row("today")]))
    made.close()


def test_what_is_wrong_when_the_sink_is_added(local_engine, url):
    env = StreamExecutionEnvironment.get_execution_environment()
    rows = env.from_collection([Row(1, "a")], PAIR)
    with pytest.raises(ValueError, match=r"has 1 parameters .* 2 fields"):
        rows.add_sink(JdbcSink.sink("INSERT INTO t VALUES (?, '?')", PAIR, options(url)))
    with pytest.raises(ValueError, match=r"there is no driver for jdbc:oracle:\.\.\.: "):
        rows.add_sink(JdbcSink.sink(INSERT, PAIR, options("jdbc:oracle:thin:@h")))
    sink = JdbcSink.sink(INSERT, PAIR, options(url))
    with pytest.raises(TypeError, match=r"declare its type with output_type=Types\.ROW"):
        rows.map(lambda row: row).add_sink(sink)
    with pytest.raises(TypeError, match="the stream's type is"):
        rows.map(lambda row: row, Types.ROW([Types.INT()])).add_sink(sink)
    arrays = Types.ROW([Types.BASIC_ARRAY(Types.INT())])
    with pytest.raises(ValueError, match="SQLite has no arrays"):
        rows.map(lambda row: row, arrays).add_sink(
            JdbcSink.sink("INSERT INTO t VALUES (?)", arrays, options(url))
        )
