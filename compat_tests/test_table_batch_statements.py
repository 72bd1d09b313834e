"""Statements of BATCH programs over every kind of value, each with its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import csv_table, listed_statements

VALUES = """
(1, CAST(-2147483648 AS INT), CAST(-9223372036854775808 AS BIGINT), CAST(-128 AS TINYINT),
 CAST(-32768 AS SMALLINT), CAST(0.1 AS FLOAT), CAST(0.2 AS DOUBLE), CAST(123.456 AS DECIMAL(10,3)),
 'a,b', TIMESTAMP '2024-03-10 01:30:00', DATE '2024-02-29', TIME '10:20:30'),
(2, 2147483647, 9223372036854775807, CAST(127 AS TINYINT), CAST(32767 AS SMALLINT),
 CAST(1.5 AS FLOAT), -0.0, CAST(-99.995 AS DECIMAL(10,3)), '', TIMESTAMP '1969-12-31 23:59:59.999',
 DATE '1970-01-01', TIME '00:00:00'),
(3, CAST(NULL AS INT), 0, CAST(0 AS TINYINT), CAST(0 AS SMALLINT), CAST(NULL AS FLOAT), 0.0,
 CAST(NULL AS DECIMAL(10,3)), CAST(NULL AS STRING), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS DATE),
 CAST(NULL AS TIME))
"""
GROUPS = """
('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 3), ('b', CAST(NULL AS STRING), 4),
(CAST(NULL AS STRING), 'x', 5)
"""
LINES = "0.1,0.2,1,1969-12-31 23:59:59.999,-2147483648\n0.3,0.7,3,1969-12-30 12:00:00,5\n"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env.get_config().set("parallelism.default", "1")
    columns = "id, i, l, b, s, f, d, c, x, ts, dt, tm"
    t_env.execute_sql(f"CREATE TEMPORARY VIEW v AS SELECT * FROM (VALUES {VALUES}) AS v({columns})")
    t_env.execute_sql(f"CREATE TEMPORARY VIEW g AS SELECT * FROM (VALUES {GROUPS}) AS g(k, m, n)")
    columns = "f FLOAT, d DOUBLE, i INT, ts TIMESTAMP(3), m INT"
    csv_table(t_env, tmp_path_factory.mktemp("w"), "w", columns, LINES)
    return t_env


@pytest.mark.parametrize(
    ("statement", "expected"),
    listed_statements(Path(__file__).parent / "batch_statements.txt"),
)
def test_statement(tables, statement, expected):
    with tables.execute_sql(statement).collect() as results:
        assert sorted(map(str, results)) == expected


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT CONCAT(x, 1) FROM v", "Cannot apply 'CONCAT' to arguments of type"),
        ("SELECT CRC32('a')", r"No match found for function signature CRC32\(<CHARACTER>\)"),
        ("SELECT id, FIELD('b','a','b') FROM v", "No match found for function signature FIELD"),
        ("SELECT 1/0", "by zero"),
        ("SELECT 1e0/0, id FROM v", "Division by zero"),
        ("SELECT CAST(1 AS FLOAT)/CAST(0 AS FLOAT)", "Division by zero"),
        ("SELECT id FROM v WHERE d > 1e0/0", "Division by zero"),
        ("SELECT CASE WHEN id > 5 THEN 0e0/0 ELSE 1 END FROM v", "Division by zero"),
        ("SELECT CAST('2024-02-30' AS DATE)", "2024-02-30"),
    ],
)
def test_what_is_refused(tables, statement, message):
    with pytest.raises(Exception, match=message):
        list(tables.execute_sql(statement).collect())


@pytest.mark.pyflink_bug("confuses the constants of windows of several orders")
def test_a_default_beside_another_order(tables):
    text = "SELECT n, LAG(n, 1, -1) OVER (ORDER BY n), RANK() OVER (ORDER BY k) FROM g WHERE n < 4"
    with tables.execute_sql(text).collect() as results:
        assert sorted(map(tuple, results)) == [(1, -1, 1), (2, 1, 1), (3, 2, 3)]


@pytest.mark.pyflink_bug("counts equal rows one by one after PERCENT_RANK")
def test_cumulative_distribution_after_percent_rank(tables):
    text = "SELECT PERCENT_RANK() OVER (ORDER BY k), CUME_DIST() OVER (ORDER BY k) FROM g"
    with tables.execute_sql(text).collect() as results:
        assert sorted(row[1] for row in results) == [0.2, 0.6, 0.6, 1.0, 1.0]
