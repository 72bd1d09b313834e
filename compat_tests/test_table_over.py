"""Functions with OVER, in streams and in batch mode."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment

from compat_tests.tables import changes, csv_table, query

LINES = """a,1,2024-01-01 00:00:01.000
b,2,2024-01-01 00:00:03.000
a,3,2024-01-01 00:00:12.000
a,4,2024-01-01 00:00:09.000
a,7,2024-01-01 00:00:09.000
b,5,2024-01-01 00:00:31.000
a,6,2024-01-01 00:00:20.000
a,,2024-01-01 00:00:40.000
b,8,2024-01-01 00:00:33.000
"""
BY_TIME = "PARTITION BY k ORDER BY ts"


@pytest.fixture
def w(t_env, tmp_path):
    columns = (
        "k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    )
    csv_table(t_env, tmp_path, "w", columns, LINES)
    return t_env


def over(t_env, function, window):
    return query(t_env, f"SELECT k, v, {function} OVER ({window}) FROM w")


@pytest.mark.one_attempt("a restart sets the watermark back, so that late rows count")
def test_up_to_the_row(w):
    assert over(w, "SUM(v)", BY_TIME) == [
        ("a", 1, 1), ("b", 2, 2), ("a", 4, 12), ("a", 7, 12), ("a", 3, 15), ("b", 5, 7),
        ("a", None, 15),
    ]  # fmt: skip
    rows = f"{BY_TIME} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    assert over(w, "SUM(v)", rows) == [
        ("a", 1, 1), ("b", 2, 2), ("a", 4, 5), ("a", 7, 12), ("a", 3, 15), ("b", 5, 7),
        ("a", None, 15),
    ]  # fmt: skip
    assert [row[2] for row in over(w, "COUNT(*)", "ORDER BY ts")] == [1, 2, 4, 4, 5, 6, 7]


def test_some_rows(w):
    """A row that is late is not, as long as no later one of its key has come out."""
    rows = f"{BY_TIME} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
    assert sorted(over(w, "SUM(v)", rows), key=repr) == [
        ("a", 1, 1), ("a", 3, 10), ("a", 4, 5), ("a", 6, 9), ("a", 7, 11), ("a", None, 6),
        ("b", 2, 2), ("b", 5, 7), ("b", 8, 13),
    ]  # fmt: skip
    text = (
        "SELECT v, MIN(v) OVER x, MAX(v) OVER x, AVG(v) OVER x, COUNT(DISTINCT v) OVER x FROM w "
        f"WHERE k = 'a' WINDOW x AS ({BY_TIME} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    )
    assert query(w, text) == [
        (1, 1, 1, 1, 1), (4, 1, 4, 2, 2), (7, 1, 7, 4, 3), (3, 3, 7, 4, 3), (6, 3, 7, 5, 3),
        (None, 3, 6, 4, 2),
    ]  # fmt: skip
    assert sorted(over(w, "LAST_VALUE(v)", f"{BY_TIME} ROWS 1 PRECEDING"), key=repr)[:3] == [
        ("a", 1, 1), ("a", 3, 3), ("a", 4, 4),
    ]  # fmt: skip


def test_some_time(w):
    window = f"{BY_TIME} RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW"
    assert sorted(over(w, "SUM(v)", window), key=repr) == [
        ("a", 1, 1), ("a", 3, 14), ("a", 4, 11), ("a", 6, 6), ("a", 7, 11), ("a", None, None),
        ("b", 2, 2), ("b", 5, 5), ("b", 8, 13),
    ]  # fmt: skip


def test_by_arrival(w):
    by_clock = "PARTITION BY k ORDER BY pt"
    sums = [(1, 1), (2, 2), (3, 4), (4, 8), (7, 15), (5, 7), (6, 21), (None, 21), (8, 15)]
    assert [row[1:] for row in over(w, "SUM(v)", by_clock)] == sums
    rows = f"{by_clock} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
    assert [row[2] for row in over(w, "SUM(v)", rows)] == [1, 2, 4, 7, 11, 7, 13, 6, 13]
    assert [row[2] for row in over(w, "LAG(v)", by_clock)] == [
        None, None, 1, 3, 4, 2, 7, 6, 5,
    ]  # fmt: skip
    assert [row[2] for row in over(w, "ROW_NUMBER()", by_clock)] == [1, 1, 2, 3, 4, 2, 5, 6, 3]


@pytest.mark.one_attempt("a restart sets the watermark back, so that late rows count")
def test_places_in_the_order(w):
    assert [row[2] for row in over(w, "ROW_NUMBER()", BY_TIME)] == [1, 1, 2, 3, 4, 2, 5]
    assert [row[2] for row in over(w, "LAG(v)", BY_TIME)] == [None, None, 4, 4, 7, 2, 3]
    assert [row[2] for row in over(w, "LAG(v, 2, -1)", BY_TIME)] == [-1, -1, 1, 1, 4, -1, 7]
    assert [row[2] for row in over(w, "FIRST_VALUE(v)", BY_TIME)] == [1, 2, 1, 1, 1, 2, 1]


@pytest.mark.one_attempt("a restart sets the watermark back, so that late rows count")
@pytest.mark.pyflink_bug("counts the rows that are equal in order, and those before")
def test_ranks(w):
    assert [row[2] for row in over(w, "RANK()", BY_TIME)] == [1, 1, 2, 2, 4, 2, 5]
    assert [row[2] for row in over(w, "DENSE_RANK()", BY_TIME)] == [1, 1, 2, 2, 3, 2, 4]


@pytest.mark.one_attempt("a restart sets the watermark back, so that late rows count")
def test_among_other_expressions(w):
    text = f"SELECT v * 2 + SUM(v) OVER ({BY_TIME}) AS s, UPPER(k) FROM w WHERE v > 1"
    assert query(w, text) == [(6, "B"), (19, "A"), (25, "A"), (20, "A"), (17, "B")]


@pytest.mark.one_attempt("a restart sets the watermark back, so that late rows count")
def test_the_time_stays_a_time_attribute(w):
    text = (
        "SELECT window_start, SUM(s) FROM TABLE(TUMBLE((SELECT k, ts, SUM(v) OVER "
        f"({BY_TIME}) AS s FROM w), DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    found = [(start.second, total) for start, total in query(w, text)]
    assert found == [(0, 27), (10, 15), (30, 7), (40, 15)]


@pytest.mark.parametrize(
    ("function", "window", "message"),
    [
        ("LEAD(v)", BY_TIME, "LEAD Function is not supported in stream mode"),
        ("NTILE(2)", BY_TIME, "NTILE Function is not supported in stream mode"),
        ("PERCENT_RANK()", BY_TIME, "PERCENT_RANK Function is not supported in stream mode"),
        ("SUM(v)", f"{BY_TIME} DESC", "can only be ordered in ASCENDING mode"),
        ("SUM(v)", f"{BY_TIME}, v", "can only be ordered by a single time column"),
        ("SUM(v)", "PARTITION BY k", "can only be ordered by a single time column"),
        ("SUM(v)", f"{BY_TIME} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING", "FOLLOWING windows"),
        ("SUM(v) FILTER (WHERE v > 1)", BY_TIME, "OVER must be applied to aggregate function"),
    ],
)
def test_what_streams_do_not_have(w, function, window, message):
    with pytest.raises(Exception, match=message):
        over(w, function, window)


def test_one_window_for_all_functions(w):
    text = f"SELECT SUM(v) OVER ({BY_TIME}), COUNT(v) OVER (ORDER BY ts) FROM w"
    with pytest.raises(Exception, match="All aggregates must be computed on the same window"):
        query(w, text)


# -- batch mode ----------------------------------------------------------------------------------


@pytest.fixture
def b(batch_env):
    t_env = StreamTableEnvironment.create(batch_env)
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW w AS SELECT * FROM (VALUES (1, 'a', 10), (2, 'b', 20), "
        "(3, 'a', 30), (4, 'b', CAST(NULL AS INT)), (5, 'a', 10), (6, CAST(NULL AS STRING), 60)) "
        "AS x (id, k, v)"
    )
    return t_env


@pytest.mark.parametrize(
    ("function", "window", "expected"),
    [
        ("SUM(v)", "PARTITION BY k ORDER BY id", [10, 20, 40, 20, 50, 60]),
        ("SUM(v)", "PARTITION BY k", [50, 20, 50, 20, 50, 60]),
        ("SUM(id)", "PARTITION BY k ORDER BY v", [6, 6, 9, 4, 6, 6]),
        ("SUM(v)", "ORDER BY id DESC", [130, 120, 100, 70, 70, 60]),
        ("ROW_NUMBER()", "PARTITION BY k ORDER BY id", [1, 1, 2, 2, 3, 1]),
        ("RANK()", "PARTITION BY k ORDER BY v", [1, 2, 3, 1, 1, 1]),
        ("DENSE_RANK()", "ORDER BY v DESC", [4, 3, 2, 5, 4, 1]),
        ("PERCENT_RANK()", "ORDER BY v", [0.2, 0.6, 0.8, 0.0, 0.2, 1.0]),
        ("CUME_DIST()", "ORDER BY v", [0.5, 4 / 6, 5 / 6, 1 / 6, 0.5, 1.0]),
        ("NTILE(2)", "ORDER BY id", [1, 1, 1, 2, 2, 2]),
        ("LAG(v)", "PARTITION BY k ORDER BY id", [None, None, 10, 20, 30, None]),
        ("LEAD(id, 2)", "PARTITION BY k ORDER BY id", [5, None, None, None, None, None]),
        ("FIRST_VALUE(v)", "PARTITION BY k ORDER BY id", [10, 20, 10, 20, 10, 60]),
        (
            "SUM(v)",
            "PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            [40, 20, 50, 20, 40, 60],
        ),
        (
            "SUM(v)",
            "PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            [50, 20, 40, None, 10, 60],
        ),
        (
            "SUM(id)",
            "ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            [3, 6, 9, 12, 15, 11],
        ),
        (
            "COUNT(*)",
            "ORDER BY v RANGE BETWEEN 10 PRECEDING AND CURRENT ROW",
            [2, 3, 2, 1, 2, 1],
        ),
        ("COUNT(*)", "ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", [0, 1, 2, 2, 2, 2]),
    ],
)
def test_in_batch_mode(b, function, window, expected):
    found = query(b, f"SELECT id, {function} OVER ({window}) FROM w")
    assert [value for _, value in sorted(found)] == expected


def test_several_windows_in_batch_mode(b):
    text = "SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC), SUM(v) OVER (PARTITION BY k) FROM w"
    assert sorted(query(b, text)) == [
        (1, 6, 50), (2, 5, 20), (3, 4, 50), (4, 3, 20), (5, 2, 50), (6, 1, 60),
    ]  # fmt: skip


def test_over_groups_in_batch_mode(b):
    text = (
        "SELECT k, SUM(id), RANK() OVER (ORDER BY SUM(id) DESC) FROM w WHERE k IS NOT NULL "
        "GROUP BY k"
    )
    assert sorted(query(b, text)) == [("a", 9, 1), ("b", 6, 2)]


def at(second):
    return datetime.datetime(2024, 1, 1, 0, 0, second)  # noqa: DTZ001


def test_the_first_rows_of_windows(w):
    tumble = "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    text = (
        "SELECT k, v, window_start, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
        f"window_start, window_end ORDER BY v DESC) AS n FROM {tumble}) WHERE n <= 2"
    )
    assert query(w, text) == [
        ("a", 7, at(0), 1), ("a", 4, at(0), 2), ("a", 3, at(10), 1), ("a", 6, at(20), 1),
        ("b", 8, at(30), 1), ("b", 5, at(30), 2), ("a", None, at(40), 1),
    ]  # fmt: skip
    text = (
        "SELECT k, v, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
        f"window_start, window_end, k ORDER BY ts DESC) AS n FROM {tumble}) WHERE n = 1"
    )
    assert sorted(query(w, text), key=repr) == [
        ("a", 3, at(10)), ("a", 6, at(20)), ("a", 7, at(0)), ("a", None, at(40)), ("b", 2, at(0)),
        ("b", 8, at(30)),
    ]  # fmt: skip
    grouped = (
        f"SELECT k, window_start, window_end, SUM(v) AS s FROM {tumble} "
        "GROUP BY k, window_start, window_end"
    )
    text = (
        "SELECT k, s, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
        f"ORDER BY s DESC) AS n FROM ({grouped})) WHERE n <= 1"
    )
    assert query(w, text) == [
        ("a", 12, 1), ("a", 3, 1), ("a", 6, 1), ("b", 13, 1), ("a", None, 1),
    ]  # fmt: skip


VARIABLE = """
    (VALUES (1, 'a', 5, 2), (2, 'a', 3, 1), (3, 'b', 9, 1), (4, 'a', 5, 2), (5, 'a', 4, 2),
        (6, 'b', 1, 1), (7, 'a', 3, 2), (8, 'c', 1, 0)) AS t(i, k, v, n)
"""


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            "i, k",
            [
                ("+I", 1, "a"), ("+I", 2, "a"), ("+I", 3, "b"), ("-D", 1, "a"), ("+I", 5, "a"),
                ("-D", 3, "b"), ("+I", 6, "b"), ("-D", 5, "a"), ("+I", 7, "a"),
            ],
        ),
        (
            "i, k, r",
            [
                ("+I", 1, "a", 1), ("-U", 1, "a", 1), ("+U", 2, "a", 1), ("+I", 1, "a", 2),
                ("+I", 3, "b", 1), ("-U", 1, "a", 2), ("+U", 5, "a", 2), ("-U", 3, "b", 1),
                ("+U", 6, "b", 1), ("-U", 5, "a", 2), ("+U", 7, "a", 2),
            ],
        ),
    ],
)  # fmt: skip
def test_the_first_row_of_a_key_says_how_many_are_kept(t_env, columns, expected):
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM {VARIABLE}"
    table = t_env.sql_query(f"SELECT {columns} FROM ({ranked}) WHERE r <= n AND k <> 'c'")
    assert changes(table) == expected


def test_in_batch_mode_each_row_says_how_many_are_kept():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, i) AS r FROM {VARIABLE}"
    found = query(t_env, f"SELECT i, k FROM ({ranked}) WHERE r <= n")
    assert sorted(found) == [(2, "a"), (6, "b"), (7, "a")]


@pytest.mark.parametrize(
    ("window", "text"),
    [
        ("v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "Non-time attribute sort is not supported"),
        ("v RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "Non-time attribute sort is not supported"),
        ("v DESC", "The window can only be ordered in ASCENDING mode"),
        ("v, i", "The window can only be ordered by a single time column"),
    ],
)
def test_orders_that_a_stream_cannot_have(t_env, window, text):
    with pytest.raises(Exception, match=text):
        t_env.execute_sql(f"SELECT SUM(v) OVER (PARTITION BY k ORDER BY {window}) FROM {VARIABLE}")
