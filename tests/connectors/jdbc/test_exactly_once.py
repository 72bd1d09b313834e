"""The sink whose rows are written once each."""

from __future__ import annotations

import pickle
import sqlite3
import time
from contextlib import closing
from dataclasses import replace

import pytest

from pyflink_on_spark._connectors.jdbc.databases import JdbcError
from pyflink_on_spark._connectors.jdbc.sink import RowsOfCheckpoint
from pyflink_on_spark._runtime.contract.connector import pack
from pyflink_on_spark.common import Row, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from tests.connectors.jdbc.jobs import PAIR, execution, options

pytestmark = pytest.mark.slow

INSERT = "INSERT INTO t (id, name) VALUES (?, ?)"


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def store(request, tmp_path):
    """A database: its options, and what reads it."""
    if request.param == "sqlite":
        file = tmp_path / "test.db"

        def run(sql):
            with closing(sqlite3.connect(file)) as connection, connection:
                return connection.execute(sql).fetchall()

        where = options(f"jdbc:sqlite:{file}")
    elif request.param == "mysql":
        run = request.getfixturevalue("mysql")
        where = options(request.getfixturevalue("mysql_server").url, "root", "")
    else:
        server = request.getfixturevalue("server")
        database = request.getfixturevalue("database")

        def run(sql):
            cursor = database.execute(sql)
            return cursor.fetchall() if cursor.description else []

        where = options(server.url, "owner")
    run("CREATE TABLE t (id INTEGER CHECK (id <> 13), name VARCHAR(99))")
    return where, run


def sink(where, **settings):
    return jdbc_exactly_once_sink(INSERT, PAIR, where, execution(retries=0), **settings)._sink


def committables(made, *rows):
    """Return the committables of a writer at a checkpoint."""
    writer = made.writer(None)
    writer.write(iter(rows))
    prepared = writer.prepare_checkpoint(1)
    writer.close()
    return pickle.loads(pickle.dumps(prepared))


def test_a_job_writes_all_rows(local_engine, store):
    where, run = store
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    stream = env.from_collection([Row(n, "x") for n in range(10)], PAIR).rebalance()
    stream.map(lambda row: row, PAIR).sink_to(jdbc_exactly_once_sink(INSERT, PAIR, where))
    env.execute()
    assert run("SELECT id FROM t ORDER BY id") == [(n,) for n in range(10)]
    assert len(run("SELECT * FROM pyflink_on_spark_commits")) == 2


def test_a_committable_counts_once(store):
    where, run = store
    made = sink(where, commits_table="commits")
    first, second = committables(made, Row(1, "a"), Row(2, "b")), committables(made, Row(3, "c"))
    made.commit(first)
    made.commit_again(first + second)
    made.commit_again(first + second)
    sink(where, commits_table="commits").commit_again(second)
    assert run("SELECT * FROM t ORDER BY id") == [(1, "a"), (2, "b"), (3, "c")]
    assert len(run("SELECT * FROM commits")) == 2


def test_rows_of_many_frames(store, monkeypatch):
    where, run = store
    monkeypatch.setattr("pyflink_on_spark._connectors.jdbc.sink._CHUNK", 3)
    made = sink(where)
    prepared = committables(made, *(Row(n, "a") for n in range(10)))
    assert [len(committable.frames) for committable in prepared] == [4]
    made.commit(prepared)
    assert run("SELECT id FROM t ORDER BY id") == [(n,) for n in range(10)]
    refused = committables(made, *(Row(n, "b") for n in range(10, 20)))
    with pytest.raises(JdbcError, match=r"refuses the row \(13, 'b'\)"):
        made.commit(refused)
    assert run("SELECT COUNT(*) FROM t") == [(10,)]


def test_a_commit_that_is_retried_begins_with_the_first_row(tmp_path, monkeypatch):
    """The connection is lost after the first of two frames."""
    file = tmp_path / "test.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (id INTEGER, name TEXT)")
    monkeypatch.setattr("pyflink_on_spark._connectors.jdbc.sink._CHUNK", 2)
    where = options(f"jdbc:sqlite:{file}")
    made = jdbc_exactly_once_sink(INSERT, PAIR, where, execution(retries=1))._sink
    (prepared,) = committables(made, Row(1, "a"), Row(2, "b"), Row(3, "c"))
    losing = replace(prepared, frames=Losing(prepared.frames))
    made.commit([losing])
    assert losing.frames.iterations == 2
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT id FROM t ORDER BY id").fetchall()
    assert rows == [(1,), (2,), (3,)]


class Losing:
    """Frames whose first iteration ends with the error of a database that is locked."""

    def __init__(self, frames):
        self.frames, self.iterations = frames, 0

    def __iter__(self):
        self.iterations += 1
        yield self.frames[0]
        if self.iterations == 1:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        yield from self.frames[1:]


def test_committables_of_earlier_versions_are_read():
    old = object.__new__(RowsOfCheckpoint)
    old.__dict__.update(number="n", rows=[(1, "a"), (2, "b")])
    read = pickle.loads(pickle.dumps(old))
    assert read == RowsOfCheckpoint(tuple(pack([(1, "a"), (2, "b")])), "n")


def test_nothing_written_nothing_noted(store):
    where, run = store
    made = sink(where)
    assert committables(made) == []
    made.commit([])
    with pytest.raises(Exception, match="commits"):
        run("SELECT * FROM pyflink_on_spark_commits")


def test_a_failure_leaves_nothing_and_can_be_mended(store):
    where, run = store
    made = sink(where)
    prepared = committables(made, Row(1, "a"), Row(13, "b")) + committables(made, Row(2, "c"))
    with pytest.raises(JdbcError, match=r"refuses the row \(13, 'b'\)"):
        made.commit(prepared)
    assert run("SELECT * FROM t") == run("SELECT * FROM pyflink_on_spark_commits") == []
    run("ALTER TABLE t RENAME TO strict_t")
    run("CREATE TABLE t (id INTEGER, name VARCHAR(99))")
    made.commit_again(prepared)
    assert run("SELECT id FROM t ORDER BY id") == [(1,), (2,), (13,)]


def test_old_commits_are_forgotten(store):
    where, run = store
    made = sink(where, days=2)
    made.commit(committables(made, Row(1, "a")))
    run("UPDATE pyflink_on_spark_commits SET committed_at = committed_at - 3 * 24 * 60 * 60 * 1000")
    made.commit(committables(made, Row(2, "b")))
    assert len(run("SELECT * FROM pyflink_on_spark_commits")) == 1
    assert len(run("SELECT * FROM t")) == 2


def test_a_clock_that_jumps_makes_no_commit_count_twice(store, monkeypatch):
    where, run = store
    made = sink(where, days=2)
    prepared = committables(made, Row(1, "a"))
    made.commit(prepared)
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3 * 24 * 60 * 60 * 10**9)
    for _ in range(2):
        made.commit_again(prepared)
    monkeypatch.setattr(time, "time_ns", now)
    made.commit_again(prepared)
    assert run("SELECT id FROM t") == [(1,)]


def test_no_right_to_make_tables_is_needed(server, database):
    database.execute("CREATE TABLE t (id INT, name TEXT)")
    columns = "committable VARCHAR(36) PRIMARY KEY, committed_at BIGINT NOT NULL"
    database.execute(f"CREATE TABLE pyflink_on_spark_commits ({columns})")
    database.execute("DROP ROLE IF EXISTS clerk")
    database.execute("CREATE ROLE clerk LOGIN")
    database.execute("GRANT USAGE ON SCHEMA public TO clerk")
    database.execute("GRANT ALL ON t, pyflink_on_spark_commits TO clerk")
    made = sink(options(server.url, "clerk"))
    made.commit(committables(made, Row(1, "a")))
    assert database.execute("SELECT * FROM t").fetchall() == [(1, "a")]


def test_names_and_types_are_checked(tmp_path):
    where = options(f"jdbc:sqlite:{tmp_path}/test.db")
    with pytest.raises(ValueError, match="not the name of a table"):
        sink(where, commits_table="e; DROP TABLE t")
    with pytest.raises(ValueError, match="a day at least"):
        sink(where, days=0)
    with pytest.raises(TypeError, match="writes a stream of rows"):
        sink(where).with_input_type(Types.STRING())
