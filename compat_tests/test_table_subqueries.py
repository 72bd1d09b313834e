"""Queries inside of expressions, and groups by several sets of keys."""

from __future__ import annotations

import pytest
from pyflink.table import StreamTableEnvironment

from compat_tests.tables import csv_table, last, query


@pytest.fixture(params=["streaming", "batch"])
def t(request, env, tmp_path):
    if request.param == "batch":
        env = request.getfixturevalue("batch_env")
    t_env = StreamTableEnvironment.create(env)
    rows = "1,a,10\n2,b,20\n3,a,30\n4,b,\n5,a,10\n6,,60\n"
    csv_table(t_env, tmp_path, "t", "id INT, k STRING, v INT", rows)
    csv_table(t_env, tmp_path, "o", "k STRING, n INT", "a,1\na,2\nc,3\n")
    csv_table(t_env, tmp_path, "nulls", "k STRING, n INT", "a,1\n,2\n")
    return t_env


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("k IN (SELECT k FROM o)", [1, 3, 5]),
        ("k NOT IN (SELECT k FROM o)", [2, 4]),
        ("k NOT IN (SELECT k FROM nulls)", []),
        ("k NOT IN (SELECT k FROM o WHERE n > 5)", [1, 2, 3, 4, 5, 6]),
        ("k IN (SELECT k FROM o) AND id > 1", [3, 5]),
        ("k IN (SELECT k FROM o) OR id = 2", [1, 2, 3, 5]),
        ("(k, id) IN (SELECT k, n FROM o)", [1]),
        ("id IN (SELECT n FROM o WHERE o.k = t.k)", [1]),
        ("EXISTS (SELECT 1 FROM o WHERE o.k = t.k)", [1, 3, 5]),
        ("EXISTS (SELECT * FROM o WHERE o.k = t.k AND o.n < t.id)", [3, 5]),
        ("NOT EXISTS (SELECT 1 FROM o WHERE o.k = t.k)", [2, 4, 6]),
        ("EXISTS (SELECT 1 FROM o WHERE n > 2)", [1, 2, 3, 4, 5, 6]),
        ("NOT EXISTS (SELECT 1 FROM o WHERE n > 2)", []),
        ("id > (SELECT AVG(n) FROM o)", [3, 4, 5, 6]),
        ("id = SOME (SELECT n FROM o)", [1, 2, 3]),
        ("id > ALL (SELECT n FROM o)", [4, 5, 6]),
    ],
)
def test_conditions(t, condition, expected):
    assert [row[0] for row in last(t, f"SELECT id FROM t WHERE {condition}")] == expected


def test_values(t):
    assert last(t, "SELECT id, (SELECT MAX(n) FROM o) FROM t WHERE id < 3") == [(1, 3), (2, 3)]
    assert last(t, "SELECT id, k IN (SELECT k FROM o) FROM t WHERE id IN (1, 2, 6)") == [
        (1, True), (2, False), (6, None),
    ]  # fmt: skip
    text = "SELECT id, (SELECT MAX(n) FROM o WHERE o.k = t.k) FROM t WHERE id < 3"
    assert last(t, text) == [(1, 2), (2, None)]
    text = "SELECT id, (SELECT COUNT(*) FROM o WHERE o.k = t.k) FROM t WHERE id < 3"
    assert last(t, text) == [(1, 2), (2, 0)]
    text = "SELECT id, (SELECT MAX(n) FROM o WHERE o.n = t.id + 1) FROM t WHERE id < 4"
    assert last(t, text) == [(1, 2), (2, 3), (3, None)]
    text = "SELECT id, (SELECT MAX(k) FROM o WHERE o.n = t.v / 10.0) FROM t WHERE id < 4"
    assert last(t, text) == [(1, "a"), (2, "a"), (3, "c")]
    text = "SELECT k, SUM(id) FROM t GROUP BY k HAVING SUM(id) > (SELECT MAX(n) FROM o) + 3"
    assert last(t, text) == [("a", 9)]


def test_more_than_one_value(t):
    with pytest.raises(Exception, match="more than one element"):
        query(t, "SELECT id, (SELECT n FROM o) FROM t")


def test_sets_of_keys(t):
    text = "SELECT k, v, COUNT(*) FROM t WHERE id < 4 GROUP BY {}"
    ones = [("a", 10, 1), ("a", 30, 1), ("b", 20, 1)]
    by_key = [("a", None, 2), ("b", None, 1)]
    assert last(t, text.format("GROUPING SETS ((k, v), (k), ())")) == sorted(
        [*ones, *by_key, (None, None, 3)], key=repr
    )
    by_value = [(None, 10, 1), (None, 20, 1), (None, 30, 1)]
    assert last(t, text.format("CUBE (k, v)")) == sorted(
        [*ones, *by_key, *by_value, (None, None, 3)], key=repr
    )
    assert last(t, text.format("k, ROLLUP (v)")) == sorted([*ones, *by_key], key=repr)


def test_which_keys_a_row_has(t):
    text = (
        "SELECT k, v, SUM(id), GROUPING(k), GROUPING(v), GROUPING_ID(k, v) FROM t WHERE id < 3 "
        "GROUP BY ROLLUP (k, v)"
    )
    assert last(t, text) == [
        ("a", 10, 1, 0, 0, 0), ("a", None, 1, 0, 1, 1), ("b", 20, 2, 0, 0, 0),
        ("b", None, 2, 0, 1, 1), (None, None, 3, 1, 1, 3),
    ]  # fmt: skip


LATERALS = {
    "SELECT id, n FROM t, LATERAL (SELECT n FROM o WHERE o.k = t.k) AS x":
        [(1, 1), (1, 2), (3, 1), (3, 2), (5, 1), (5, 2)],
    "SELECT id, m FROM t LEFT JOIN LATERAL (SELECT n * 10 FROM o WHERE o.k = t.k) AS x(m) "
    "ON m < 20 WHERE id < 3": [(1, 10), (2, None)],
    "SELECT id, n FROM t, LATERAL (SELECT n FROM o WHERE o.n > t.id) AS x":
        [(1, 2), (1, 3), (2, 3)],
    "SELECT id, m FROM t, LATERAL (SELECT MAX(n) AS m FROM o WHERE o.k = t.k) AS x":
        [(1, 2), (3, 2), (5, 2)],
    "SELECT id, c FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS c FROM o WHERE o.k = t.k) AS x "
    "ON TRUE WHERE id < 4": [(1, 2), (2, 0), (3, 2)],
    "SELECT id, e FROM t LEFT JOIN LATERAL (SELECT * FROM UNNEST(ARRAY[t.v, t.id]) AS u(e)) AS x "
    "ON TRUE WHERE id < 3": [(1, 1), (1, 10), (2, 2), (2, 20)],
    "SELECT id, n FROM t, LATERAL (SELECT n FROM o WHERE n > 2) AS x WHERE id < 3":
        [(1, 3), (2, 3)],
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LATERALS.items())
def test_laterals(t, text, expected):
    assert last(t, text) == expected


def test_whether_a_correlated_query_has_rows(t):
    text = "SELECT id, {} (SELECT 1 FROM o WHERE o.k = t.k) FROM t WHERE id IN (1, 2, 6)"
    assert last(t, text.format("EXISTS")) == [(1, True), (2, False), (6, False)]
    assert last(t, text.format("NOT EXISTS")) == [(1, False), (2, True), (6, True)]
