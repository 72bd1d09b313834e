"""Tables of databases."""

from __future__ import annotations

import datetime
import decimal
import sqlite3

import pytest

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark.common import Row, RowKind, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import Schema, StreamTableEnvironment
from pyflink_on_spark.testing import local_engine

COLUMNS = "id INT, name STRING, price DECIMAL(6, 2), day_ DATE, at_ TIMESTAMP(3), ok BOOLEAN"


@pytest.fixture
def env():
    with local_engine():
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.set_parallelism(2)
        yield environment


@pytest.fixture
def t_env(env):
    return StreamTableEnvironment.create(env)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, price TEXT, day_ TEXT, "
            "at_ TEXT, ok INTEGER)"
        )
    return path


def table(t_env, path, columns=COLUMNS, *options):
    given = ", ".join(["'connector' = 'jdbc'", f"'url' = 'jdbc:sqlite:{path}'",
                       "'table-name' = 'goods'", *options])  # fmt: skip
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({given})")


def rows(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in found]


def test_there_and_back(t_env, database):
    table(t_env, database)
    t_env.execute_sql(
        "INSERT INTO t VALUES (1, 'a', 1.50, DATE '2024-01-02', "
        "TIMESTAMP '2024-01-02 03:04:05.600', TRUE), "
        "(2, CAST(NULL AS STRING), CAST(NULL AS DECIMAL(6, 2)), CAST(NULL AS DATE), "
        "CAST(NULL AS TIMESTAMP(3)), FALSE)"
    ).wait()
    assert sorted(rows(t_env, "SELECT * FROM t")) == [
        (1, "a", decimal.Decimal("1.50"), datetime.date(2024, 1, 2),
         datetime.datetime(2024, 1, 2, 3, 4, 5, 600000), True),
        (2, None, None, None, None, False),
    ]  # fmt: skip


def test_ranges(t_env, database):
    with sqlite3.connect(database) as connection:
        connection.executemany("INSERT INTO goods (id) VALUES (?)", [(n,) for n in range(1, 101)])
    table(t_env, database, "id INT", "'scan.partition.column' = 'id'",
          "'scan.partition.num' = '7'", "'scan.partition.lower-bound' = '1'",
          "'scan.partition.upper-bound' = '100'")  # fmt: skip
    assert sorted(rows(t_env, "SELECT id FROM t")) == [(n,) for n in range(1, 101)]


def test_updates(t_env, env, database):
    table(t_env, database, "id INT PRIMARY KEY NOT ENFORCED, name STRING")
    kinds = [
        (RowKind.INSERT, 1, "a"), (RowKind.INSERT, 2, "b"), (RowKind.UPDATE_BEFORE, 1, "a"),
        (RowKind.UPDATE_AFTER, 1, "c"), (RowKind.DELETE, 2, "b"), (RowKind.INSERT, 3, "d"),
    ]  # fmt: skip
    kind = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    stream = env.from_collection(range(6)).map(lambda n: Row.of_kind(*kinds[n]), kind)
    stream.set_parallelism(1)
    schema = Schema.new_builder().column("id", "INT NOT NULL").column("name", "STRING")
    keyed = schema.primary_key("id").build()
    t_env.from_changelog_stream(stream, keyed).execute_insert("t").wait()
    assert sorted(rows(t_env, "SELECT id, name FROM t")) == [(1, "c"), (3, "d")]


def test_rows_that_a_filter_takes_back(t_env, database):
    table(t_env, database, "id INT PRIMARY KEY NOT ENFORCED, name STRING")
    counts = "SELECT x, COUNT(*) AS n FROM (VALUES (1), (2), (1), (3), (1)) AS v (x) GROUP BY x"
    t_env.execute_sql(
        f"INSERT INTO t SELECT x, CAST(n AS STRING) FROM ({counts}) WHERE n < 2 OR x = 3"
    ).wait()
    assert sorted(rows(t_env, "SELECT id, name FROM t")) == [(2, "1"), (3, "1")]


def test_added_rows_replace_each_other_without_a_clause(t_env, database):
    table(t_env, database, "id INT PRIMARY KEY NOT ENFORCED, name STRING")
    t_env.get_config().set("parallelism.default", "1")
    statement = "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'c')"
    assert "upsertMaterialize" not in t_env.explain_sql(statement)
    t_env.execute_sql(statement).wait()
    assert sorted(rows(t_env, "SELECT id, name FROM t")) == [(1, "c"), (2, "b")]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [("DO NOTHING", [(1, "a"), (2, "b")]), ("DO DEDUPLICATE", [(1, "c"), (2, "b")])],
)
def test_rows_with_the_same_key(t_env, database, clause, expected):
    table(t_env, database, "id INT PRIMARY KEY NOT ENFORCED, name STRING")
    t_env.get_config().set("parallelism.default", "1")
    values = "(VALUES (1, 'a'), (2, 'b'), (1, 'c'), (1, 'a')) AS v (id, name)"
    query = f"SELECT id, name FROM {values} GROUP BY id, name"
    with pytest.raises(ValidationError, match=r"Primary key: \[id\], upsert key: \[id, name\]"):
        t_env.execute_sql(f"INSERT INTO t {query}")
    t_env.execute_sql(f"INSERT INTO t {query} ON CONFLICT {clause}").wait()
    assert sorted(rows(t_env, "SELECT id, name FROM t")) == expected


def test_what_is_wrong(t_env, database):
    t_env.execute_sql(
        "CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:oracle:x', "
        "'table-name' = 'x')"
    )
    with pytest.raises(PyFlinkOnSparkError, match="there is no driver"):
        t_env.sql_query("SELECT * FROM t")
    t_env.execute_sql("DROP TABLE t")
    table(t_env, database, "nope INT")
    with pytest.raises(PyFlinkOnSparkError, match="no such column: nope"):
        rows(t_env, "SELECT nope FROM t")
