"""Joins with a table of a database that is looked up, row by row."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import pytest

from pyflink_on_spark._sql.tables.connectors.jdbc import CachePolicy, LookupCache
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.table import (
    DataTypes,
    EnvironmentSettings,
    StreamTableEnvironment,
    TableEnvironment,
)
from pyflink_on_spark.table.expressions import col
from pyflink_on_spark.table.udf import udf
from pyflink_on_spark.testing import local_engine


@pytest.fixture(autouse=True)
def engine():
    with local_engine():
        yield


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE goods (id INTEGER, name TEXT, price TEXT)")
        connection.executemany(
            "INSERT INTO goods VALUES (?, ?, ?)",
            [(1, "apple", "1.50"), (2, "pear", "2.50"), (2, "plum", "0.25"), (4, None, None)],
        )
    return path


@pytest.fixture
def t_env(database):
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    made = StreamTableEnvironment.create(environment)
    prepare(made, database)
    return made


def prepare(t_env, database, *options):
    orders = t_env.from_elements(
        [(10, 1), (11, 2), (12, 3), (13, None), (14, 4)],
        DataTypes.ROW(
            [DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("k", DataTypes.INT())]
        ),
    )
    t_env.create_temporary_view("plain", orders)
    t_env.execute_sql("CREATE TEMPORARY VIEW orders AS SELECT n, k, PROCTIME() AS pt FROM plain")
    goods(t_env, "goods", database, *options)


def goods(t_env, name, database, *options, columns="id BIGINT, name STRING, price DECIMAL(6, 2)"):
    given = ", ".join(["'connector' = 'jdbc'", f"'url' = 'jdbc:sqlite:{database}'",
                       "'table-name' = 'goods'", *options])  # fmt: skip
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({given})")


def rows(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return [tuple(row) for row in found]


AS_OF = "FOR SYSTEM_TIME AS OF o.pt AS g"


def test_inner(t_env):
    assert rows(t_env, f"SELECT n, name FROM orders o JOIN goods {AS_OF} ON o.k = g.id") == [
        (10, "apple"), (11, "pear"), (11, "plum"), (14, None),
    ]  # fmt: skip


def test_left(t_env):
    text = f"SELECT n, name, id FROM orders o LEFT JOIN goods {AS_OF} ON o.k = g.id"
    assert rows(t_env, text) == [
        (10, "apple", 1), (11, "pear", 2), (11, "plum", 2), (12, None, None), (13, None, None),
        (14, None, 4),
    ]  # fmt: skip


def test_several_keys_constants_and_other_conditions(t_env):
    join = f"FROM orders o LEFT JOIN goods {AS_OF} ON o.k = g.id AND"
    assert rows(t_env, f"SELECT n, price {join} g.name = 'plum' WHERE n < 12") == [
        (10, None), (11, Decimal("0.25")),
    ]  # fmt: skip
    assert rows(t_env, f"SELECT n, name {join} price > 1 AND n < 12") == [
        (10, "apple"), (11, "pear"), (12, None), (13, None), (14, None),
    ]  # fmt: skip
    assert rows(
        t_env, f"SELECT n, name FROM orders o JOIN goods {AS_OF} ON g.id = 4 WHERE n = 10"
    ) == [(10, None)]


def test_computed_columns_are_null_without_a_partner(t_env, database):
    goods(t_env, "more", database, columns="label AS COALESCE(name, '?'), name STRING, id INT")
    text = f"SELECT n, label FROM orders o LEFT JOIN more {AS_OF} ON o.k = g.id"
    assert rows(t_env, text) == [
        (10, "apple"), (11, "pear"), (11, "plum"), (12, None), (13, None), (14, "?"),
    ]  # fmt: skip


def test_batch_mode(database):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    prepare(t_env, database)
    found = rows(t_env, f"SELECT n, name FROM orders o JOIN goods {AS_OF} ON o.k = g.id")
    assert sorted(found, key=repr) == [(10, "apple"), (11, "pear"), (11, "plum"), (14, None)]


def test_an_updating_table(t_env):
    text = (
        "SELECT c, g.name FROM (SELECT k, COUNT(*) AS c, PROCTIME() AS pt FROM "
        f"(SELECT 1 AS k UNION ALL SELECT 1) GROUP BY k) AS o JOIN goods {AS_OF} ON o.k = g.id"
    )
    with t_env.execute_sql(text).collect() as found:
        assert [(str(row.get_row_kind()), *row) for row in found] == [
            ("+I", 1, "apple"), ("-U", 1, "apple"), ("+U", 2, "apple"),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ((), ["sold 1", "sold 2"]),
        (("'lookup.cache' = 'NONE'",), ["sold 1", "sold 2"]),
        (("'lookup.cache' = 'PARTIAL'",), ["sold 1", "sold 1"]),
        (
            ("'lookup.cache' = 'PARTIAL'", "'lookup.partial-cache.max-rows' = '10'",
             "'lookup.partial-cache.expire-after-write' = '1 h'"),
            ["sold 1", "sold 1"],
        ),
        (("'lookup.cache.max-rows' = '10'", "'lookup.cache.ttl' = '1 h'"), ["sold 1", "sold 1"]),
        (("'lookup.cache.max-rows' = '10'",), ["sold 1", "sold 2"]),
    ],
)  # fmt: skip
def test_the_cache_keeps_what_was_looked_up(t_env, database, options, seen):
    @udf(result_type="INT", deterministic=False)
    def sell(number):
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE goods SET name = ? WHERE id = 1", (f"sold {number}",))
        return 1

    goods(t_env, "kept", database, *options)
    sold = t_env.from_elements([(1,), (2,)], ["n"]).select(sell(col("n")).alias("k"))
    t_env.create_temporary_view("sales", sold)
    text = (
        "SELECT g.name FROM (SELECT k, PROCTIME() AS pt FROM sales) AS o "
        f"JOIN kept {AS_OF} ON o.k = g.id"
    )
    assert [name for (name,) in rows(t_env, text)] == seen


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (CachePolicy(), [1, 2, 3]),
        (CachePolicy(max_keys=1), [1, 2, 1, 3]),
        (CachePolicy(after_write=5000), [1, 2, 1, 3]),
        (CachePolicy(after_access=2000), [1, 2, 1, 3]),
        (CachePolicy(missing=False), [1, 2, 3, 3]),
    ],
)
def test_what_a_cache_forgets(policy, asked):
    now, seen = [0], []

    def find(key):
        seen.append(key[0])
        return [] if key[0] == 3 else [(key[0], "row")]

    find = LookupCache(policy, lambda: now[0]).caching(find)
    for moment, key in [(0, 1), (1000, 1), (2000, 2), (4000, 2), (5000, 1), (5000, 3), (5500, 3)]:
        now[0] = moment
        assert find((key,)) == ([] if key == 3 else [(key, "row")])
    # The key 2 is asked at its second time, too, where two seconds are over by then.
    if policy.after_access is not None:
        asked = [1, 2, 2, 1, 3]
    assert seen == asked


@pytest.mark.parametrize(
    ("options", "condition", "text"),
    [
        ((), "o.k > g.id", "requires an equality condition on fields of table"),
        (("'lookup.cache' = 'FULL'",), "o.k = g.id", "NONE or PARTIAL, not FULL"),
        (("'lookup.cache' = 'some'",), "o.k = g.id", "lookup.cache"),
        (("'lookup.cash' = 'NONE'",), "o.k = g.id", "Unsupported options"),
    ],
)
def test_what_cannot_be_looked_up(t_env, database, options, condition, text):
    goods(t_env, "other", database, *options)
    with pytest.raises(Exception, match=text):
        t_env.sql_query(f"SELECT n FROM orders o JOIN other {AS_OF} ON {condition}")


def test_a_table_of_files_is_not_looked_up(t_env, tmp_path):
    t_env.execute_sql(
        "CREATE TABLE f (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv')"
    )
    with pytest.raises(Exception, match="Processing-time temporal join is not supported yet"):
        t_env.sql_query(f"SELECT n FROM orders o JOIN f {AS_OF} ON o.k = g.id")


def test_a_query_that_the_database_refuses(t_env, database):
    goods(t_env, "wrong", database, columns="id INT, absent INT")
    with pytest.raises(PyFlinkOnSparkError, match="refuses the query SELECT"):
        rows(t_env, f"SELECT absent FROM orders o JOIN wrong {AS_OF} ON o.k = g.id")
