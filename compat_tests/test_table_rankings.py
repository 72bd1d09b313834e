"""Set operations, ORDER BY, LIMIT and the first rows of each key."""

from __future__ import annotations

import pytest

from compat_tests.tables import changes, create_letters, last, query


@pytest.fixture
def t(t_env):
    create_letters(t_env)
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW r AS SELECT * FROM (VALUES ('a'), ('b'), ('c')) AS v (k)"
    )
    return t_env


def test_set_operations(t):
    def united(operator):
        return [row[0] for row in last(t, f"SELECT k FROM t {operator} SELECT k FROM r")]

    assert united("UNION") == ["a", "b", "c", None]
    assert united("UNION ALL") == ["a", "a", "a", "b", "b", "b", "c", None]
    assert united("INTERSECT") == ["a", "b"]
    assert united("INTERSECT ALL") == ["a", "b"]
    assert united("EXCEPT") == [None]
    assert united("EXCEPT ALL") == ["a", "b", None]


def test_order_and_limit(t):
    assert last(t, "SELECT k, v FROM t ORDER BY v DESC LIMIT 2") == [("b", 5), (None, 4)]
    assert last(t, "SELECT k, v FROM t ORDER BY v LIMIT 2 OFFSET 1") == [("a", 3), ("b", 2)]
    assert last(t, "SELECT v FROM t ORDER BY k LIMIT 2") == [(1,), (4,)]
    assert query(t, "SELECT k, v FROM t LIMIT 2") == [("a", 1), ("b", 2)]
    with pytest.raises(Exception, match="Sort on a non-time-attribute field is not supported"):
        query(t, "SELECT k, v FROM t ORDER BY v")


def test_changes_of_the_first_rows(t):
    numbered = (
        "(SELECT *, ROW_NUMBER() OVER (ORDER BY x DESC) AS n FROM (VALUES (1), (5), (3)) AS v (x))"
    )
    assert changes(t.sql_query(f"SELECT x FROM {numbered} WHERE n <= 2")) == [
        ("+I", 1), ("+I", 5), ("-D", 1), ("+I", 3),
    ]  # fmt: skip
    assert changes(t.sql_query(f"SELECT x, n FROM {numbered} WHERE n <= 2")) == [
        ("+I", 1, 1), ("-U", 1, 1), ("+U", 5, 1), ("+I", 1, 2), ("-U", 1, 2), ("+U", 3, 2),
    ]  # fmt: skip


def test_first_rows_of_each_key(t):
    numbered = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t)"
    assert last(t, f"SELECT k, v FROM {numbered} WHERE n = 1") == [("a", 3), ("b", 5), (None, 4)]
    assert last(t, f"SELECT k, v, n FROM {numbered} WHERE n <= 2") == [
        ("a", 1, 2), ("a", 3, 1), ("b", 2, 2), ("b", 5, 1), (None, 4, 1),
    ]  # fmt: skip
    counts = "(SELECT k, COUNT(*) AS c FROM t GROUP BY k)"
    text = (
        f"SELECT k, c FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY c DESC, k) AS n FROM {counts}) "
        "WHERE n <= 1"
    )
    assert last(t, text) == [("a", 2)]


FIVE = "(VALUES (1, 'a'), (5, 'b'), (3, 'c'), (7, 'd'), (6, 'e')) AS v (x, s)"
FIRST_TWO = [
    ("+I", 1), ("+I", 5), ("-D", 1), ("+I", 3), ("-D", 3), ("+I", 7), ("-D", 5), ("+I", 6),
]  # fmt: skip
SECOND_AND_THIRD = [
    ("+I", 1), ("-U", 1), ("+U", 3), ("+I", 1), ("-U", 3), ("+U", 5), ("-U", 1), ("+U", 3),
    ("-U", 5), ("+U", 6), ("-U", 3), ("+U", 5),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ("n <= 1", [("+I", 1), ("-U", 1), ("+U", 5), ("-U", 5), ("+U", 7)]),
        ("n = 2", [("+I", 1), ("-U", 1), ("+U", 3), ("-U", 3), ("+U", 5), ("-U", 5), ("+U", 6)]),
        ("n BETWEEN 2 AND 3", SECOND_AND_THIRD),
        ("n <= 2", FIRST_TWO),
    ],
)  # fmt: skip
def test_changes_of_ranks(t, ranks, expected):
    numbered = f"(SELECT *, ROW_NUMBER() OVER (ORDER BY x DESC) AS n FROM {FIVE})"
    assert changes(t.sql_query(f"SELECT x FROM {numbered} WHERE {ranks}")) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("LIMIT 1", [("+I", 1), ("-U", 1), ("+U", 5), ("-U", 5), ("+U", 7)]),
        ("LIMIT 2 OFFSET 1", SECOND_AND_THIRD),
        ("LIMIT 2", FIRST_TWO),
    ],
)  # fmt: skip
def test_changes_of_a_limit(t, limit, expected):
    assert changes(t.sql_query(f"SELECT x FROM {FIVE} ORDER BY x DESC {limit}")) == expected


COUNTED = "(SELECT x, COUNT(*) AS c FROM (VALUES (1), (2), (1), (3), (2)) AS v (x) GROUP BY x)"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            f"SELECT * FROM {COUNTED} LIMIT 3",
            [
                ("+I", 1, 1), ("+I", 2, 1), ("-D", 1, 1), ("+I", 1, 2), ("+I", 3, 1),
                ("-D", 2, 1), ("+I", 2, 2),
            ],
        ),
        (
            f"SELECT * FROM {COUNTED} LIMIT 2",
            [
                ("+I", 1, 1), ("+I", 2, 1), ("-D", 1, 1), ("+I", 1, 2), ("-D", 2, 1),
                ("+I", 3, 1),
            ],
        ),
        (
            f"SELECT * FROM (SELECT * FROM {COUNTED} LIMIT 3) LIMIT 1",
            [("+I", 1, 1), ("-D", 1, 1), ("+I", 2, 1), ("-D", 2, 1), ("+I", 1, 2)],
        ),
        (f"SELECT * FROM {COUNTED} LIMIT 0", []),
        (f"SELECT DISTINCT x FROM {COUNTED} LIMIT 2", [("+I", 1), ("+I", 2)]),
    ],
)  # fmt: skip
def test_limit_of_changing_rows(t, query, expected):
    assert changes(t.sql_query(query)) == expected


def test_offset_needs_a_limit_in_streams(t):
    with pytest.raises(Exception, match="FETCH is missed, which on streaming table is not"):
        query(t, "SELECT k FROM t OFFSET 1 ROWS")
