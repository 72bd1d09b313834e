"""Updates of groups, and the primary key of the table that takes them."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

COLUMNS = "s STRING NOT NULL, x INT NOT NULL, n BIGINT"
ROWS = "(VALUES ('a', 1), ('b', 2), ('a', 3)) AS v(s, x)"
DIFFERS = "The query has an upsert key that differs from the primary key of the sink table"
SUMS = f"(SELECT s, x, COUNT(*) AS n FROM {ROWS} GROUP BY s, x)"


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, key in (("by_s", ", PRIMARY KEY (s) NOT ENFORCED"),
                      ("by_both", ", PRIMARY KEY (s, x) NOT ENFORCED"),
                      ("keyless", "")):  # fmt: skip
        t_env.execute_sql(f"CREATE TABLE {name} ({COLUMNS}{key}) WITH ('connector' = 'print')")
    return t_env


@pytest.mark.parametrize(
    ("query", "upsert_key"),
    [
        (f"SELECT s, 1, COUNT(*) FROM {ROWS} GROUP BY s, x", ""),
        (f"SELECT s, x, COUNT(*) FROM {ROWS} GROUP BY s, x", "[s, x]"),
        (f"SELECT UPPER(s), 1, COUNT(*) FROM {ROWS} GROUP BY s", ""),
        (f"SELECT s, x, n FROM {SUMS} WHERE n < 3", "[s, x]"),
        (f"SELECT s, x, COUNT(*) FROM {ROWS} WHERE x > 1 GROUP BY s, x", "[s, x]"),
        (f"SELECT s, x, COUNT(*) FROM {ROWS} WHERE x = 1 GROUP BY s, x", "[s, x]"),
    ],
)
def test_groups_that_would_replace_each_others_rows(t_env, query, upsert_key):
    with pytest.raises(Exception, match=DIFFERS) as caught:
        t_env.explain_sql(f"INSERT INTO by_s {query}")
    assert f"Primary key: [s], upsert key: {upsert_key}." in str(caught.value)


@pytest.mark.parametrize(
    ("table", "query"),
    [
        ("by_s", f"SELECT s, MAX(x), COUNT(*) FROM {ROWS} GROUP BY s"),
        ("by_s", f"SELECT CAST(x AS STRING), 1, COUNT(*) FROM {ROWS} GROUP BY x"),
        ("by_s", f"SELECT 'all', 1, COUNT(*) FROM {ROWS}"),
        ("by_s", f"SELECT CAST(MAX(x) AS STRING), 1, COUNT(*) FROM {ROWS}"),
        ("by_s", f"SELECT s, y, COUNT(*) FROM (SELECT s, 5 AS y FROM {ROWS}) GROUP BY s, y"),
        ("by_s", f"SELECT s, x, CAST(1 AS BIGINT) FROM {ROWS}"),
        ("by_both", f"SELECT s, MAX(x), COUNT(*) FROM {ROWS} GROUP BY s"),
        ("by_both", f"SELECT s, x, COUNT(*) FROM {ROWS} GROUP BY s, x"),
        ("keyless", f"SELECT s, 1, COUNT(*) FROM {ROWS} GROUP BY s, x"),
    ],
)
def test_groups_that_a_table_can_tell_apart(t_env, table, query):
    assert "Sink(" in t_env.explain_sql(f"INSERT INTO {table} {query}")
