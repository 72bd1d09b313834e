"""ORDER BY: of what is selected, and of what is not."""

from __future__ import annotations

import pytest

ORDERS = [
    ("SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY COUNT(*) DESC", [("b", 3), ("a", 2), ("c", 1)]),
    ("SELECT k FROM t GROUP BY k ORDER BY SUM(v)", ["c", "a", "b"]),
    ("SELECT k FROM t GROUP BY k ORDER BY SUM(v) / COUNT(*) DESC, k", ["a", "b", "c"]),
    ("SELECT k, SUM(v) AS s FROM t GROUP BY k ORDER BY -s", [("b", 12), ("a", 9), ("c", 3)]),
    ("SELECT k FROM t GROUP BY k HAVING COUNT(*) > 1 ORDER BY MAX(v) LIMIT 1", ["a"]),
    ("SELECT COUNT(*) FROM t GROUP BY k ORDER BY k DESC", [1, 3, 2]),
    ("SELECT COUNT(*) FROM t GROUP BY t.k ORDER BY t.k", [2, 3, 1]),
    ("SELECT v FROM t WHERE k = 'b' ORDER BY w * -1", [4, 6, 2]),
    ("SELECT t.v FROM t WHERE k = 'b' ORDER BY t.w + 1", [2, 6, 4]),
    ("SELECT v FROM t WHERE k = 'b' ORDER BY CASE WHEN w = 5 THEN 0 ELSE w END", [6, 2, 4]),
    ("SELECT v, v + w AS s FROM t WHERE k = 'b' ORDER BY s - w - v, s DESC LIMIT 1", [(6, 11)]),
    ("SELECT v AS w FROM t WHERE k = 'b' ORDER BY w", [2, 4, 6]),
    ("SELECT v FROM t WHERE k = 'b' ORDER BY UPPER(k), w DESC LIMIT 2", [4, 6]),
    ("SELECT a.v FROM t a JOIN t b ON a.w = b.w WHERE a.k = 'b' ORDER BY b.w", [2, 6, 4]),
    ("SELECT a.w FROM t a JOIN t b ON a.v = b.w ORDER BY b.w DESC, a.w", [5, 2, 1, 6, 4, 3]),
    ("SELECT a.w FROM t a JOIN t b ON a.v = b.w ORDER BY a.w DESC LIMIT 3", [6, 5, 4]),
    ("SELECT * FROM t ORDER BY t.v DESC, t.w LIMIT 1", [("b", 6, 5)]),
]  # fmt: skip


@pytest.fixture
def tables():
    """A batch environment with rows of a key and two numbers."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "1")
    rows = [("a", 4, 1), ("b", 2, 3), ("a", 5, 2), ("b", 6, 5), ("c", 3, 4), ("b", 4, 6)]
    env.create_temporary_view("t", env.from_elements(rows, ["k", "v", "w"]))
    return env


@pytest.mark.parametrize(("query", "expected"), ORDERS)
def test_orders(tables, query, expected):
    with tables.sql_query(query).execute().collect() as rows:
        found = [tuple(row) if len(row) > 1 else row[0] for row in rows]
    assert found == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT k FROM t ORDER BY v",
        "SELECT k FROM t GROUP BY k ORDER BY v",
        "SELECT k FROM t ORDER BY missing + 1",
    ],
)
def test_refused(tables, query):
    with pytest.raises(Exception, match="ValidationException"):
        tables.sql_query(query)
