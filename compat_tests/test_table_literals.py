"""Literals with escapes, periods of time, and the functions of a session."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import (
    col,
    current_database,
    current_watermark,
    lit,
    temporal_overlaps,
)

from compat_tests.tables import check_values, csv_table, query, rows, value


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_characters_by_their_numbers(b):
    expected = [
        (r"U&'\0041b'", "Ab"),
        (r"u&'\00e9'", "é"),
        (r"U&'\D83D\DE00'", "\U0001f600"),
        (r"U&'!0041\b' UESCAPE '!'", r"A\b"),
        (r"U&'\\x'", r"\x"),
        (r"U&'!!!0041' UESCAPE '!'", "!A"),
        ("U&'a''b'", "a'b"),
        ("U&''", ""),
        (r"CONCAT(U&'\0041', 'z')", "Az"),
        ("'é'", "é"),
    ]  # fmt: skip
    check_values(b, dict(expected))


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (r"U&'\00'", "starting at character 0 is not exactly four hex digits"),
        (r"U&'ab\00zz'", "starting at character 2 is not exactly four hex digits"),
        ("U&'!0041' UESCAPE '!!'", "UESCAPE '!!' must be exactly one character"),
        ("U&'!0041' UESCAPE 'a'", "UESCAPE 'a' may not be hex digit, whitespace"),
        ("U&'!0041' UESCAPE ' '", "UESCAPE ' ' may not be hex digit, whitespace"),
        ("'abc' UESCAPE '!'", "UESCAPE cannot be specified without Unicode literal introducer"),
    ],
)
def test_wrong_literals(b, literal, message):
    with pytest.raises(Exception, match=message):
        value(b, literal)


JANUARY = "DATE '2020-01-01', DATE '2020-01-05'"

MONTH = "TIMESTAMP '2020-01-01 00:00:00', INTERVAL '1' MONTH"


def test_overlaps(b):
    expected = [
        ("(TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR)", True),
        ("(TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR)", False),
        ("(TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:00:00', INTERVAL '3' HOUR)", True),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-05', DATE '2020-01-07')", True),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-06', DATE '2020-01-07')", False),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-09', DATE '2020-01-04')", True),
        (f"({MONTH}) OVERLAPS (TIMESTAMP '2020-01-31 12:00:00', INTERVAL '1' DAY)", True),
        ("(DATE '2020-01-01', CAST(NULL AS DATE)) OVERLAPS (DATE '2020-01-31', INTERVAL '1' DAY)",
         False),
        ("(DATE '2020-01-31', CAST(NULL AS DATE)) OVERLAPS (DATE '2020-01-01', INTERVAL '1' DAY)",
         None),
        (f"ROW({JANUARY}) OVERLAPS ROW(DATE '2020-01-06', DATE '2020-01-07')", False),
        (f"NOT ({JANUARY}) OVERLAPS (DATE '2020-01-06', DATE '2020-01-07')", True),
        (f"PERIOD ({JANUARY}) OVERLAPS PERIOD (DATE '2020-01-06', DATE '2020-01-07')", False),
    ]  # fmt: skip
    check_values(b, dict(expected))


def test_periods_of_columns(b):
    periods = (
        f"(VALUES ({JANUARY}, DATE '2020-01-02', DATE '2020-01-03'), "
        f"({JANUARY}, DATE '2020-02-02', CAST(NULL AS DATE))) AS t(a, b, c, d)"
    )
    assert query(b, f"SELECT (a, b) OVERLAPS (c, d) FROM {periods}") == [(True,), (None,)]
    text = f"SELECT c FROM {periods} WHERE (a, b) OVERLAPS (c, d) AND a > DATE '2019-01-01'"
    assert query(b, text) == [(datetime.date(2020, 1, 2),)]
    days = [datetime.date(2020, 1, day) for day in (1, 5, 2, 3)]
    table = b.from_elements([tuple(days)], ["a", "b", "c", "d"])
    found = table.select(
        temporal_overlaps(col("a"), col("b"), col("c"), col("d")),
        temporal_overlaps(col("a"), lit(1).day, col("d"), lit(1).day),
    )
    assert rows(found) == [(True, False)]


@pytest.mark.parametrize(
    "periods",
    [
        f"({JANUARY}) OVERLAPS (TIMESTAMP '2020-01-05 00:00:00', TIMESTAMP '2020-01-07 00:00:00')",
        f"({JANUARY}) OVERLAPS (DATE '2020-01-05')",
        "(1, 2) OVERLAPS (2, 3)",
    ],
)
def test_no_periods(b, periods):
    with pytest.raises(Exception, match="Cannot apply 'OVERLAPS'"):
        value(b, periods)


def test_the_current_database(b):
    assert value(b, "CURRENT_DATABASE() || current_database()") == "default_database" * 2
    b.execute_sql("CREATE TEMPORARY VIEW v AS SELECT CURRENT_DATABASE() AS d")
    with b.execute_sql("DESCRIBE v").collect() as columns:
        assert [tuple(column)[:3] for column in columns] == [("d", "STRING", False)]
    b.execute_sql("CREATE DATABASE other")
    b.use_database("other")
    assert value(b, "CURRENT_DATABASE()") == "other"
    assert rows(b.from_elements([(1,)], ["a"]).select(current_database())) == [("other",)]
    with pytest.raises(Exception, match="Was expecting 0 arguments"):
        value(b, "CURRENT_DATABASE(1)")
    with pytest.raises(Exception, match="Column 'CURRENT_DATABASE' not found"):
        value(b, "CURRENT_DATABASE")


def at(hour, second=0):
    return datetime.datetime(2024, 1, 1, hour, 0, second)  # noqa: DTZ001


@pytest.mark.whole("cuts bring watermarks at other places")
def test_the_current_watermark(t_env, tmp_path):
    lines = "".join(f"{hour},2024-01-01 {hour:02d}:00:00\n" for hour in (1, 2, 5, 4, 7))
    columns = "i INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND"
    csv_table(t_env, tmp_path, "w", columns, lines)
    expected = [
        (hour, seen and seen.replace(minute=59, second=50))
        for hour, seen in ((1, None), (2, at(0)), (5, at(1)), (4, at(4)), (7, at(4)))
    ]
    assert query(t_env, "SELECT i, CURRENT_WATERMARK(ts) FROM w") == expected
    table = t_env.from_path("w").select(col("i"), current_watermark(col("ts")))
    assert rows(table) == expected
    text = "SELECT i FROM w WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"
    assert query(t_env, text) == [(1,), (2,), (5,), (7,)]
    for argument in ("i", "CAST(ts AS TIMESTAMP(3))"):
        with pytest.raises(Exception, match="CURRENT_WATERMARK"):
            query(t_env, f"SELECT CURRENT_WATERMARK({argument}) FROM w")
