"""Joins, and collections as tables."""

from __future__ import annotations

import pytest

from compat_tests.tables import create_letters, last, query, rows


@pytest.fixture
def t(t_env):
    create_letters(t_env)
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW r AS SELECT * FROM (VALUES ('a', 'ann'), ('b', 'bob'), "
        "('c', 'cid')) AS v (k, name)"
    )
    return t_env


def test_inner_joins(t):
    expected = [("a", 1, "ann"), ("a", 3, "ann"), ("b", 2, "bob"), ("b", 5, "bob")]
    assert last(t, "SELECT t.k, v, name FROM t JOIN r ON t.k = r.k") == expected
    assert last(t, "SELECT t.k, v, name FROM t, r WHERE t.k = r.k AND v > 1") == expected[1:]
    text = "SELECT a.v, b.v FROM t AS a JOIN t AS b ON a.k = b.k AND a.v < b.v"
    assert last(t, text) == [(1, 3), (2, 5)]


def test_joins_of_null(t):
    both = "t AS a {} JOIN t AS b ON a.k IS NOT DISTINCT FROM b.k AND a.v {} b.v"
    assert last(t, f"SELECT a.v, b.v FROM {both.format('', '<=')} WHERE b.v > 3") == [
        (2, 5), (4, 4), (5, 5),
    ]  # fmt: skip
    assert last(t, f"SELECT a.v, b.v FROM {both.format('LEFT', '<')}") == [
        (1, 3), (2, 5), (3, None), (4, None), (5, None),
    ]  # fmt: skip


def test_outer_joins(t):
    text = "SELECT t.k, v, name FROM t LEFT JOIN r ON t.k = r.k AND v > 1"
    assert last(t, text) == [
        ("a", 1, None), ("a", 3, "ann"), ("b", 2, "bob"), ("b", 5, "bob"), (None, 4, None),
    ]  # fmt: skip
    text = "SELECT name, v FROM t RIGHT JOIN r ON t.k = r.k"
    assert last(t, text) == [
        ("ann", 1), ("ann", 3), ("bob", 2), ("bob", 5), ("cid", None),
    ]  # fmt: skip
    text = "SELECT v, name FROM t FULL OUTER JOIN r ON t.k = r.k AND v > 2"
    assert last(t, text) == [
        (1, None), (2, None), (3, "ann"), (4, None), (5, "bob"), (None, "cid"),
    ]  # fmt: skip


def test_joins_of_updating_tables(t):
    sums = "(SELECT k, SUM(v) AS s FROM t GROUP BY k)"
    text = f"SELECT name, s FROM r JOIN {sums} AS g ON r.k = g.k"
    assert last(t, text) == [("ann", 4), ("bob", 7)]
    text = f"SELECT name, s FROM r LEFT JOIN {sums} AS g ON r.k = g.k"
    assert last(t, text) == [("ann", 4), ("bob", 7), ("cid", None)]
    text = f"WITH g AS {sums} SELECT COUNT(*), SUM(s) FROM g JOIN r ON g.k = r.k"
    assert last(t, text) == [(2, 11)]


def test_unnest(t):
    assert last(t, "SELECT v, x FROM t CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (x) WHERE v < 3") == [
        (1, 1), (1, 2), (2, 1), (2, 2),
    ]  # fmt: skip
    rows = "(VALUES ('a', ARRAY[1, 2]), ('b', ARRAY[3])) AS q (k, xs)"
    text = f"SELECT k, x FROM {rows} CROSS JOIN UNNEST(xs) AS u (x)"
    assert sorted(query(t, text)) == [("a", 1), ("a", 2), ("b", 3)]
    maps = "(VALUES ('a', MAP['x', 1, 'y', 2])) AS q (k, m)"
    text = f"SELECT k, kk, vv FROM {maps} CROSS JOIN UNNEST(m) AS u (kk, vv)"
    assert sorted(query(t, text)) == [("a", "x", 1), ("a", "y", 2)]
    structs = "(VALUES ('z', ARRAY[ROW(1, 'p'), ROW(2, 'q')])) AS q (k, rs)"
    text = f"SELECT k, a, b FROM {structs} CROSS JOIN UNNEST(rs) AS u (a, b)"
    assert sorted(query(t, text)) == [("z", 1, "p"), ("z", 2, "q")]


def test_unnest_of_computed_values(t):
    values = "(VALUES ('a,b', 1), (CAST(NULL AS STRING), 2)) AS q (s, i)"
    text = f"SELECT i, x FROM {values} CROSS JOIN UNNEST(SPLIT(s, ',')) AS u (x)"
    assert sorted(query(t, text)) == [(1, "a"), (1, "b")]
    rows = "(VALUES (1, ROW(ARRAY['x', 'y'])), (2, ROW(ARRAY['z']))) AS q (i, r)"
    text = f"SELECT i, x FROM (SELECT i, r.EXPR$0 AS xs FROM {rows}) CROSS JOIN UNNEST(xs) AS u (x)"
    assert sorted(query(t, text)) == [(1, "x"), (1, "y"), (2, "z")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT t.k FROM t JOIN r ON t.k = r.nope", "Column 'nope' not found in table 'r'"),
        ("SELECT k FROM t JOIN r ON t.k = r.k", "Column 'k' is ambiguous"),
    ],
)
def test_what_is_wrong(t, text, message):
    with pytest.raises(Exception, match=message):
        t.sql_query(text)


def test_joins_by_names(t):
    assert last(t, "SELECT * FROM t JOIN r USING (k)") == [
        ("a", 1, "ann"), ("a", 3, "ann"), ("b", 2, "bob"), ("b", 5, "bob"),
    ]  # fmt: skip
    assert last(t, "SELECT * FROM t NATURAL JOIN r") == last(t, "SELECT * FROM t JOIN r USING (k)")
    assert last(t, "SELECT k, v, name FROM t LEFT JOIN r USING (k) WHERE v > 3") == [
        ("b", 5, "bob"), (None, 4, None),
    ]  # fmt: skip


def test_joins_without_an_equality(t):
    text = "SELECT a.v, b.v FROM t AS a LEFT JOIN t AS b ON b.v < a.v - 2"
    assert last(t, text) == [(1, None), (2, None), (3, None), (4, 1), (5, 1), (5, 2)]
    text = "SELECT a.v, b.v FROM t AS a LEFT JOIN t AS b ON b.v < a.v - 3 WHERE b.v IS NULL"
    assert last(t, text) == [(1, None), (2, None), (3, None), (4, None)]


_MAPS = "CREATE TEMPORARY VIEW {} AS SELECT id, MAP['a', id] AS m FROM (VALUES {}) AS t(id)"


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "FULL JOIN"])
def test_rows_with_maps_are_joined(t_env, kind):
    t_env.execute_sql(_MAPS.format("l", "(2), (2)"))
    t_env.execute_sql(_MAPS.format("r", "(2)"))
    found = rows(t_env.sql_query(f"SELECT l.id, l.m, r.m FROM l {kind} r ON l.id = r.id"))
    assert found[-1] == (2, {"a": 2}, {"a": 2})


def test_rows_with_maps_that_have_partners(t_env):
    t_env.execute_sql(_MAPS.format("l", "(1), (2), (2)"))
    inside = "SELECT * FROM l WHERE id IN (SELECT id FROM (VALUES (2), (3)) AS t(id))"
    assert query(t_env, inside) == [(2, {"a": 2})] * 2
