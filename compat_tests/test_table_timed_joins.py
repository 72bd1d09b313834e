"""Joins that time bounds: of intervals, of windows, and with versions of a table."""

from __future__ import annotations

import datetime

import pytest

from compat_tests.tables import changes, csv_table, query

LEFT = """1,x,2024-01-01 00:00:01.000
2,y,2024-01-01 00:00:05.000
3,x,2024-01-01 00:00:20.000
4,z,2024-01-01 00:00:30.000
5,,2024-01-01 00:00:31.000
"""
RIGHT = """10,x,2024-01-01 00:00:02.000
20,x,2024-01-01 00:00:08.000
30,y,2024-01-01 00:00:06.000
40,x,2024-01-01 00:00:21.000
50,w,2024-01-01 00:00:29.000
60,,2024-01-01 00:00:31.000
"""
VERSIONS = """x,100,2024-01-01 00:00:00.000
y,200,2024-01-01 00:00:02.000
x,110,2024-01-01 00:00:10.000
y,210,2024-01-01 00:00:06.000
x,120,2024-01-01 00:00:20.000
"""
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
CLOSE = "l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '8' SECOND"
PAIRS = [(1, 10), (1, 20), (2, 30), (3, 40)]


@pytest.fixture
def t(t_env, tmp_path):
    columns = f"id INT, k STRING, ts TIMESTAMP(3), pt AS PROCTIME(), {WATERMARK}"
    csv_table(t_env, tmp_path, "l", columns, LEFT)
    csv_table(t_env, tmp_path, "r", columns, RIGHT)
    versions = "k STRING, rate INT, ts TIMESTAMP(3)"
    key = "PRIMARY KEY (k) NOT ENFORCED"
    csv_table(t_env, tmp_path, "versions", f"{versions}, {key}, {WATERMARK}", VERSIONS)
    csv_table(t_env, tmp_path, "appended", f"{versions}, {WATERMARK}", VERSIONS)
    return t_env


def inserted(t_env, text):
    """Returns the rows of a query that only adds rows, in order of their text."""
    found = changes(t_env.sql_query(text))
    assert {kind for kind, *_ in found} <= {"+I"}
    return sorted((tuple(row) for _, *row in found), key=repr)


def at(second):
    return datetime.datetime(2024, 1, 1, 0, 0, second)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("kind", "alone"),
    [
        ("JOIN", []),
        ("LEFT JOIN", [(4, None), (5, None)]),
        ("RIGHT JOIN", [(None, 50), (None, 60)]),
        ("FULL JOIN", [(4, None), (5, None), (None, 50), (None, 60)]),
    ],
)
def test_intervals(t, kind, alone):
    assert inserted(t, f"SELECT l.id, r.id FROM l {kind} r ON {CLOSE}") == [*PAIRS, *alone]


def test_conditions_of_intervals(t):
    text = (
        "SELECT l.id, r.id FROM l, r WHERE l.k = r.k AND l.ts >= r.ts - INTERVAL '5' SECOND "
        "AND l.ts < r.ts + INTERVAL '1' SECOND"
    )
    assert inserted(t, text) == [(1, 10), (2, 30), (3, 40)]
    text = "SELECT l.id, r.id FROM l JOIN r ON r.ts BETWEEN l.ts AND l.ts + INTERVAL '1' SECOND"
    assert inserted(t, text) == [(1, 10), (2, 30), (3, 40), (4, 60), (5, 60)]
    assert inserted(t, "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.ts = r.ts") == []
    text = (
        "SELECT l.id, r.id FROM l, r WHERE l.k = r.k AND l.pt BETWEEN r.pt - INTERVAL '1' HOUR "
        "AND r.pt + INTERVAL '1' HOUR AND r.id < 30"
    )
    assert inserted(t, text) == [(1, 10), (1, 20), (3, 10), (3, 20)]


def test_times_of_joined_rows(t):
    text = (
        "SELECT TUMBLE_START(lt, INTERVAL '10' SECOND), COUNT(*) FROM "
        f"(SELECT l.ts AS lt, r.id FROM l JOIN r ON {CLOSE}) "
        "GROUP BY TUMBLE(lt, INTERVAL '10' SECOND)"
    )
    assert query(t, text) == [(at(0), 3), (at(20), 1)]


def windowed(name):
    return f"(SELECT * FROM TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '10' SECOND)))"


@pytest.mark.parametrize(
    ("kind", "alone"),
    [
        ("JOIN", []),
        ("LEFT JOIN", [(4, None, at(30)), (5, None, at(30))]),
        ("RIGHT JOIN", [(None, 50, None), (None, 60, None)]),
    ],
)
def test_windows(t, kind, alone):
    text = (
        f"SELECT l.id, r.id, l.window_start FROM {windowed('l')} AS l {kind} {windowed('r')} AS r "
        "ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )
    pairs = [(1, 10, at(0)), (1, 20, at(0)), (2, 30, at(0)), (3, 40, at(20))]
    assert inserted(t, text) == [*pairs, *alone]


def test_windows_of_joined_windows(t):
    text = (
        f"SELECT l.window_start, COUNT(*) FROM {windowed('l')} AS l JOIN {windowed('r')} AS r "
        "ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end "
        "GROUP BY l.window_start, l.window_end"
    )
    assert inserted(t, text) == [(at(0), 3), (at(20), 1)]


def test_versions(t):
    text = (
        "SELECT l.id, v.rate FROM l {} JOIN versions FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k"
    )
    found = [(1, 100), (2, 200), (3, 120)]
    assert inserted(t, text.format("")) == found
    assert inserted(t, text.format("LEFT")) == [*found, (4, None), (5, None)]
    assert inserted(t, text.format("LEFT") + " AND v.rate > 105") == [
        (1, None), (2, 200), (3, 120), (4, None), (5, None),
    ]  # fmt: skip
    text = (
        "SELECT TUMBLE_START(ts, INTERVAL '10' SECOND), SUM(rate) FROM (SELECT l.ts, v.rate "
        "FROM l JOIN versions FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k) "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    )
    assert query(t, text) == [(at(0), 300), (at(20), 120)]


def test_versions_of_a_view(t):
    t.execute_sql(
        "CREATE TEMPORARY VIEW last_ones AS SELECT k, rate, ts FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY k ORDER BY ts DESC) AS n FROM appended) WHERE n = 1"
    )
    text = "SELECT l.id, v.rate FROM l JOIN last_ones FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k"
    assert inserted(t, text) == [(1, 100), (2, 200), (3, 120)]


@pytest.mark.parametrize(
    ("rank", "keys"), [("RANK", "k"), ("DENSE_RANK", "k"), ("ROW_NUMBER", "k, UPPER(k)")]
)
def test_a_view_without_one_row_for_each_key_has_no_versions(t, rank, keys):
    t.execute_sql(
        f"CREATE TEMPORARY VIEW ranked AS SELECT k, rate, ts FROM (SELECT *, {rank}() OVER "
        f"(PARTITION BY {keys} ORDER BY ts DESC) AS n FROM appended) WHERE n = 1"
    )
    with pytest.raises(Exception, match="primary key"):
        query(t, "SELECT l.id FROM l JOIN ranked FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("JOIN appended FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k", "requires primary key"),
        (
            "JOIN versions FOR SYSTEM_TIME AS OF l.pt AS v ON l.k = v.k",
            "Processing-time temporal join is not supported yet",
        ),
    ],
)
def test_no_versions(t, source, message):
    with pytest.raises(Exception, match=message):
        query(t, f"SELECT l.id, v.rate FROM l {source}")


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ("(k INT, v INT)", "requires primary key in versioned table"),
        ("(k INT, v INT, PRIMARY KEY (k) NOT ENFORCED)", "Processing-time temporal join is not"),
    ],
)
def test_versions_at_a_processing_time(t_env, versions, text):
    made = "WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    t_env.execute_sql(f"CREATE TABLE o (k INT, pt AS PROCTIME()) {made}")
    t_env.execute_sql(f"CREATE TABLE d {versions} {made}")
    with pytest.raises(Exception, match=text):
        t_env.execute_sql("SELECT v FROM o JOIN d FOR SYSTEM_TIME AS OF o.pt ON o.k = d.k")
