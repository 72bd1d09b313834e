"""Parts of queries that a planner leaves out, which shows in the kinds of changes."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes, StreamTableEnvironment
from pyflink.table.udf import udaf

from compat_tests.tables import changes

ROWS = [(1, 5, "a"), (2, 4, "a"), (3, 3, "b"), (4, 6, "a")]
GROUPS = "(SELECT k, MAX(v) AS m, COUNT(*) AS c FROM s GROUP BY k)"
OF_GROUPS = [
    ("+I", "a", 5, 1), ("-U", "a", 5, 1), ("+U", "a", 5, 2), ("+I", "b", 3, 1),
    ("-U", "a", 5, 2), ("+U", "a", 6, 3),
]  # fmt: skip
HIGHEST = [("+I", "a", 5), ("+I", "b", 3), ("-U", "a", 5), ("+U", "a", 6)]


@pytest.fixture
def s(t_env):
    fields = [
        DataTypes.FIELD("id", DataTypes.INT()),
        DataTypes.FIELD("v", DataTypes.INT()),
        DataTypes.FIELD("k", DataTypes.STRING()),
    ]
    t_env.create_temporary_view("s", t_env.from_elements(ROWS, DataTypes.ROW(fields)))
    return t_env


def test_updates_of_a_function_that_nobody_reads_are_not_there(s):
    assert changes(s.sql_query(f"SELECT k, m FROM {GROUPS}")) == HIGHEST
    unnested = f"SELECT k, m, a FROM {GROUPS} CROSS JOIN UNNEST(ARRAY[1]) AS u (a)"
    assert changes(s.sql_query(unnested)) == [(*change, 1) for change in HIGHEST]
    assert changes(s.sql_query(f"SELECT k FROM {GROUPS}")) == [("+I", "a"), ("+I", "b")]


def test_updates_below_a_rank_are_there(s):
    ranked = f"(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY m) AS r FROM {GROUPS})"
    assert changes(s.sql_query(f"SELECT k, m FROM {ranked} WHERE r <= 2")) == [
        ("+I", "a", 5), ("-D", "a", 5), ("+I", "a", 5), ("+I", "b", 3), ("-D", "a", 5),
        ("+I", "a", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT DISTINCT k, m, c FROM {GROUPS}",
        f"SELECT k, SUM(m), MIN(c) FROM {GROUPS} GROUP BY k",
        f"SELECT k, MAX(m), c FROM {GROUPS} GROUP BY c, k",
    ],
)
def test_groups_of_single_rows_pass_changes_on(s, query):
    assert changes(s.sql_query(query)) == OF_GROUPS


def test_groups_of_single_rows_that_are_counted_are_aggregated(s):
    query = f"SELECT k, MAX(m), COUNT(c) FROM {GROUPS} GROUP BY k"
    assert changes(s.sql_query(query)) == [
        ("+I", "a", 5, 1), ("-D", "a", 5, 1), ("+I", "a", 5, 1), ("+I", "b", 3, 1),
        ("-D", "a", 5, 1), ("+I", "a", 6, 1),
    ]  # fmt: skip


def test_a_pandas_aggregate_of_no_rows_has_no_row(batch_env):
    t = StreamTableEnvironment.create(batch_env)
    total = udaf(lambda v: v.sum(), result_type=DataTypes.BIGINT(), func_type="pandas")
    t.create_temporary_function("total", total)
    query = "SELECT total(x) FROM (VALUES (1), (2)) AS v (x) WHERE x > CHAR_LENGTH(UUID())"
    assert changes(t.sql_query(query)) == []


def test_split_index_of_an_empty_text(t_env):
    query = (
        "SELECT SPLIT_INDEX(x, ' ', 0), SPLIT_INDEX(x, ' ', 1), SPLIT_INDEX(x, y, 0) "
        "FROM (VALUES ('', ' '), ('b', ' ')) AS v (x, y)"
    )
    assert changes(t_env.sql_query(query)) == [("+I", None, None, None), ("+I", "b", None, "b")]
