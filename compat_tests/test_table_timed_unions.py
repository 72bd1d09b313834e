"""UNION ALL of tables with time attributes keeps them."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table.expressions import col, lit
from pyflink.table.window import Tumble

from compat_tests.tables import changes, csv_table, query

LINES = "1,2024-01-01 00:00:01\n2,2024-01-01 00:00:12\n"
WINDOWS = (
    "SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end"
)
OF_WINDOWS = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
START = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
LATER = START + datetime.timedelta(seconds=10)


@pytest.fixture
def tables(t_env, tmp_path):
    """Tables of the same two rows: by event time, but `plain` and `later`."""
    t_env.get_config().set_local_timezone("UTC")
    rowtime = "WATERMARK FOR ts AS ts"
    csv_table(t_env, tmp_path, "a", f"v INT, ts TIMESTAMP(3), {rowtime}", LINES)
    csv_table(
        t_env,
        tmp_path,
        "b",
        "w INT, rt TIMESTAMP(3) NOT NULL, WATERMARK FOR rt AS rt - INTERVAL '1' SECOND",
        LINES,
    )
    points = "ts AS CAST(TO_TIMESTAMP(text) AS TIMESTAMP_LTZ(3))"
    csv_table(t_env, tmp_path, "points", f"v INT, text STRING, {points}, {rowtime}", LINES)
    csv_table(t_env, tmp_path, "plain", "v INT, ts TIMESTAMP(3)", LINES)
    csv_table(t_env, tmp_path, "later", "v INT, ts TIMESTAMP(3), p AS PROCTIME()", LINES)
    return t_env


def create_union(t_env, text):
    t_env.execute_sql(f"CREATE TEMPORARY VIEW u AS {text}")


def time_of(t_env):
    """Returns the type of the union's time, and whether it may be NULL."""
    with t_env.execute_sql("DESCRIBE u").collect() as rows:
        return next((row[1], row[2]) for row in rows if row[0] == "ts")


@pytest.mark.parametrize(
    ("text", "kind", "sums"),
    [
        ("SELECT * FROM a UNION ALL SELECT * FROM a", "TIMESTAMP(3)", [2, 4]),
        ("SELECT * FROM a UNION ALL SELECT * FROM b", "TIMESTAMP(3)", [2, 4]),
        ("SELECT w AS v, rt AS ts FROM b UNION ALL SELECT * FROM a", "TIMESTAMP(3)", [2, 4]),
        (
            "SELECT * FROM a UNION ALL SELECT * FROM b UNION ALL SELECT * FROM a",
            "TIMESTAMP(3)",
            [3, 6],
        ),
        (
            "SELECT CAST(v AS BIGINT) AS v, ts FROM a UNION ALL SELECT * FROM b",
            "TIMESTAMP(3)",
            [2, 4],
        ),
        (
            "SELECT v, ts FROM points UNION ALL SELECT v, ts FROM points",
            "TIMESTAMP_LTZ(3)",
            [2, 4],
        ),
        ("SELECT v, ts FROM a UNION ALL SELECT v, ts FROM points", "TIMESTAMP(3)", [2, 4]),
        ("SELECT * FROM a UNION ALL SELECT * FROM plain", "TIMESTAMP(3)", [2, 4]),
        (
            f"SELECT v, window_time AS ts FROM {OF_WINDOWS} UNION ALL SELECT * FROM b",
            "TIMESTAMP(3)",
            [2, 4],
        ),
    ],
)
def test_a_union_has_the_event_time_of_its_first_table(tables, text, kind, sums):
    create_union(tables, text)
    assert time_of(tables)[0] == f"{kind} *ROWTIME*"
    assert sorted(query(tables, WINDOWS)) == list(zip([START, LATER], sums))


def test_a_union_of_tables_by_the_clock_is_one_as_well(tables):
    create_union(tables, "SELECT v, p AS ts FROM later UNION ALL SELECT v, p FROM later")
    assert time_of(tables) == ("TIMESTAMP_LTZ(3) *PROCTIME*", False)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM plain UNION ALL SELECT * FROM a",
        "SELECT v, CAST(ts AS TIMESTAMP(3)) AS ts FROM a UNION ALL SELECT * FROM a",
    ],
)
def test_a_union_has_no_time_where_its_first_table_has_none(tables, text):
    create_union(tables, text)
    assert time_of(tables) == ("TIMESTAMP(3)", True)
    with pytest.raises(Exception, match="TIMESTAMP"):
        query(tables, WINDOWS)


def test_over_a_union_rows_are_in_the_order_of_their_time(tables):
    create_union(tables, "SELECT * FROM a UNION ALL SELECT * FROM b")
    sums = tables.sql_query("SELECT v, SUM(v) OVER (ORDER BY ts) FROM u")
    assert sorted(changes(sums)) == [("+I", 1, 2), ("+I", 1, 2), ("+I", 2, 6), ("+I", 2, 6)]


def test_a_group_window_of_a_union(tables):
    create_union(tables, "SELECT * FROM a UNION ALL SELECT * FROM b")
    found = query(
        tables,
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND), SUM(v) FROM u "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)",
    )
    last = datetime.timedelta(milliseconds=9999)
    assert sorted(found) == [(START + last, 2), (LATER + last, 4)]


def test_a_window_of_the_table_api_over_a_union(tables):
    union = tables.from_path("a").union_all(tables.from_path("b"))
    window = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
    sums = union.window(window).group_by(col("w")).select(col("w").start, col("v").sum)
    with sums.execute().collect() as rows:
        assert sorted(map(tuple, rows)) == [(START, 2), (LATER, 4)]


@pytest.mark.parametrize(
    ("operator", "sums"),
    [
        ("EXCEPT ALL SELECT * FROM b WHERE w = 1", [(LATER, 2)]),
        ("INTERSECT ALL SELECT * FROM b", [(START, 1), (LATER, 2)]),
        ("EXCEPT ALL SELECT * FROM b WHERE w > 2", [(START, 1), (LATER, 2)]),
    ],
)
def test_rows_of_one_table_and_not_of_another_keep_their_time(tables, operator, sums):
    create_union(tables, f"SELECT * FROM a {operator}")
    assert sorted(query(tables, WINDOWS)) == sums


@pytest.mark.parametrize("operator", ["EXCEPT", "INTERSECT", "UNION"])
def test_distinct_rows_have_no_time_attribute(tables, operator):
    create_union(tables, f"SELECT * FROM a {operator} SELECT * FROM b")
    with pytest.raises(Exception, match="requires the timecol is a time attribute type"):
        tables.explain_sql(WINDOWS)


@pytest.mark.parametrize("operator", ["EXCEPT ALL", "INTERSECT ALL"])
def test_what_has_updates_is_no_input_of_over(tables, operator):
    create_union(tables, f"SELECT * FROM a {operator} SELECT * FROM b")
    with pytest.raises(Exception, match="doesn't support consuming update"):
        tables.explain_sql("SELECT v, SUM(v) OVER (ORDER BY ts) FROM u")
