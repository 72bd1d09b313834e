"""Errors name their cause; a job that resumes after a repair loses nothing."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from pyflink_on_spark._connectors.jdbc.client import (
    JdbcConnection,
    JdbcExecution,
    JdbcSinkConfig,
)
from pyflink_on_spark._connectors.jdbc.databases import JdbcError, Sqlite
from pyflink_on_spark._connectors.jdbc.sink import JdbcWriter
from pyflink_on_spark.common import Row
from tests.connectors.jdbc.jobs import PAIR
from tests.connectors.rabbitmq.proxy import Proxy


class Rows:
    """A sink of a table, step by step.

    Args:
        url: the database's.
        user: who connects, if anyone.
        pause: waits between two tries.
    """

    ALL = (Row(1, "a"), Row(2, "b"))

    def __init__(self, url, user=None, pause=lambda seconds: None):
        connection = JdbcConnection(url, user_name=user)
        told = JdbcSinkConfig("INSERT INTO t VALUES (?, ?)", PAIR, connection, JdbcExecution())
        self.writer = JdbcWriter(told, lambda: 0, pause)

    def write(self, *rows):
        self.writer.write(iter(rows or self.ALL))
        self.writer.prepare_checkpoint(1)


def runs(connection):
    """Return a function that executes a statement and returns its rows, if it has any."""

    def run(sql):
        found = connection.execute(sql)
        return found.fetchall() if found.description else []

    return run


class TestJdbc:
    TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(9))"

    def mends_a_missing_table(self, url, user, run, error):
        made = Rows(url, user, lambda seconds: pytest.fail("tried again"))
        with pytest.raises(JdbcError, match=error) as caught:
            made.write()
        made.writer.close()
        assert "INSERT INTO t" in str(caught.value)
        run(self.TABLE)
        made = Rows(url, user)
        made.write()
        made.writer.close()
        assert sorted(run("SELECT * FROM t")) == [(1, "a"), (2, "b")]

    def test_a_table_that_is_not_there(self, tmp_path):
        file = tmp_path / "test.db"

        def run(sql):
            with contextlib.closing(sqlite3.connect(file)) as connection, connection:
                return connection.execute(sql).fetchall()

        self.mends_a_missing_table(f"jdbc:sqlite:{file}", None, run, "no such table: t")

    def test_a_table_that_is_not_there_in_postgresql(self, server, database):
        run = runs(database)
        self.mends_a_missing_table(server.url, "owner", run, 'relation "t" does not exist')

    def test_a_server_that_goes_away(self, server, database):
        run = runs(database)
        run(self.TABLE)
        proxy = Proxy(server.port)
        lost = Rows(server.url.replace(str(server.port), str(proxy.port)), "owner")
        lost.write(Row(3, "c"))
        proxy.close()
        place = f"jdbc:postgresql://127.0.0.1:{proxy.port}/postgres failed 4 times"
        with pytest.raises(JdbcError, match=place):
            lost.write(Row(4, "d"))
        lost.writer.close()
        again = Rows(server.url, "owner")
        again.write(Row(4, "d"))
        again.writer.close()
        assert [row[0] for row in run("SELECT * FROM t ORDER BY id")] == [3, 4]

    def test_a_table_that_is_not_there_in_mysql(self, mysql_server, mysql):
        self.mends_a_missing_table(mysql_server.url, "root", mysql, r"test\.t' doesn't exist")

    def test_a_disk_that_is_full(self, tmp_path, monkeypatch):
        file = tmp_path / "test.db"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        many = [Row(number, "x" * 1000) for number in range(100)]
        open_file = Sqlite.open

        def small(self):
            connection = open_file(self)
            connection.execute("PRAGMA max_page_count = 10")
            return connection

        monkeypatch.setattr(Sqlite, "open", small)
        made = Rows(f"jdbc:sqlite:{file}")
        with pytest.raises(JdbcError, match=f"jdbc:sqlite:{file}.* database or disk is full"):
            made.write(*many)
        made.writer.close()
        monkeypatch.undo()
        made = Rows(f"jdbc:sqlite:{file}")
        made.write(*many)
        made.writer.close()
        with contextlib.closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (100,)

    def test_a_server_that_refuses_when_it_is_there_again(self, tmp_path, monkeypatch):
        file = tmp_path / "test.db"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute(self.TABLE)
            made = Rows(f"jdbc:sqlite:{file}", pause=lambda seconds: break_the_way())
            connection.execute("BEGIN EXCLUSIVE")
            made.writer._client._connection.execute("PRAGMA busy_timeout = 0")

            def break_the_way():
                monkeypatch.setattr(Sqlite, "open", lambda self: sqlite3.connect(tmp_path))

            place = f"cannot connect to jdbc:sqlite:{file}: unable to open"
            with pytest.raises(JdbcError, match=place):
                made.write()
            made.writer.close()
            connection.rollback()

    def test_no_row_is_blamed_for_a_connection(self, tmp_path):
        file = tmp_path / "test.db"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute(self.TABLE)
            made = Rows(f"jdbc:sqlite:{file}")
            client = made.writer._client
            client._connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN EXCLUSIVE")
            error = client._explained([(1, "a")], sqlite3.IntegrityError("no such thing"))
            connection.rollback()
            made.writer.close()
        assert str(error).startswith(f"jdbc:sqlite:{file}: no such thing (statement: INSERT")

    @pytest.mark.parametrize(
        ("row", "why"), [(Row(2**70, "b"), "too large"), (Row(2, "\ud800"), "surrogates")]
    )
    def test_a_value_that_the_driver_cannot_send(self, tmp_path, row, why):
        file = tmp_path / "test.db"
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute(self.TABLE)
            made = Rows(f"jdbc:sqlite:{file}")
            with pytest.raises(JdbcError, match=rf"refuses the row \({row[0]}, .*{why}"):
                made.write(Row(1, "a"), row)
            made.writer.close()
            assert connection.execute("SELECT * FROM t").fetchall() == []
