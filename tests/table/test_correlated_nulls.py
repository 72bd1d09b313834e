"""Columns that are NULL where a correlated query uses them: PyFlink's planner loses such rows."""

from __future__ import annotations

import pytest

from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment

T = "(VALUES (1, 10), (2, CAST(NULL AS INT)))"
P = "(VALUES ('a', 10), ('b', 20), ('b', 30))"
QUERIES = {
    "SELECT id, (SELECT COUNT(*) FROM p WHERE p.w > t.v OR t.v IS NULL) FROM t": [(1, 2), (2, 3)],
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.w > t.v OR t.v IS NULL)": [(1,), (2,)],
    "SELECT id, x.v FROM t, LATERAL (SELECT DISTINCT t.v FROM p) AS x": [(1, 10), (2, None)],
    "SELECT id, n FROM t, LATERAL (SELECT w, ROW_NUMBER() OVER (ORDER BY w) AS n FROM p "
    "WHERE p.w > t.v OR t.v IS NULL) AS x WHERE w = 30": [(1, 2), (2, 3)],
}


@pytest.fixture
def tables():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, columns, rows in (("t", "id, v", T), ("p", "k, w", P)):
        t_env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {rows} AS x({columns})")
    return t_env


@pytest.mark.parametrize(("query", "expected"), QUERIES.items())
def test_a_row_with_null_is_kept(tables, query, expected):
    with tables.execute_sql(query).collect() as rows:
        assert sorted((tuple(row) for row in rows), key=repr) == expected


@pytest.mark.parametrize("word", ["IN", "EXISTS"])
def test_limit_is_refused(tables, word):
    left = "id " if word == "IN" else ""
    query = f"SELECT id FROM t WHERE {left}{word} (SELECT w FROM p WHERE p.w > t.v LIMIT 1)"
    with pytest.raises(Exception, match=r"'t.v' at line 1, column \d+ is a column of the query"):
        tables.sql_query(query)
