"""Statements over views that read one another, each with the rows that are left at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import last, listed_statements

ROWS = """
(1, 'a', 10), (2, 'b', 20), (3, 'a', 30), (4, CAST(NULL AS STRING), 40), (5, 'b', CAST(NULL AS INT))
"""


@pytest.fixture(scope="module")
def tables():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    for name, query in {
        "v1": f"SELECT * FROM (VALUES {ROWS}) AS x(id, k, v)",
        "v2": "SELECT k, SUM(v) AS s, COUNT(v) AS c, COUNT(*) AS n FROM v1 GROUP BY k",
        "v3 (kk, m)": "SELECT a.k, a.s - b.s FROM v2 a JOIN v2 b ON a.n = b.n "
        "AND a.k IS DISTINCT FROM b.k",
    }.items():
        t_env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS {query}")
    return t_env


@pytest.mark.parametrize(
    ("statement", "expected"),
    listed_statements(Path(__file__).parent / "view_statements.txt"),
)
def test_statement(tables, statement, expected):
    assert [str(row) for row in last(tables, statement)] == expected
