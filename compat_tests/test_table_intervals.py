"""Differences of times, ``(later - earlier) DAY``, and what is computed with them."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import csv_table, last

PAIRS = [
    ("2024-03-31 10:00:00.123", "2024-01-31 11:30:05"),
    ("2024-01-31 11:30:05", "2024-03-31 10:00:00.123"),
    ("", "2024-01-31 11:30:05"),
    ("2024-01-31 09:00:00", "2024-03-31 10:00:00"),
    ("2024-02-29 10:00:00", "2024-01-31 09:00:00"),
    ("2024-01-31 09:00:00", "2024-02-29 08:00:00"),
    ("2024-02-15 10:00:00", "2024-02-15 10:00:00.001"),
    ("1960-05-05 01:02:03.004", "1960-03-06 01:02:03.004"),
    ("2025-02-28 00:00:00", "2024-02-29 12:00:00"),
    ("2024-02-29 12:00:00", "2025-02-28 00:00:00"),
    ("2023-01-15 08:00:00", "2024-01-15 09:00:00"),
    ("2023-04-30 08:00:00", "2022-12-31 09:00:00"),
]


@pytest.fixture(scope="module", params=["streaming", "batch"])
def tables(request, tmp_path_factory):
    settings = EnvironmentSettings.in_streaming_mode()
    if request.param == "batch":
        settings = EnvironmentSettings.in_batch_mode()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set_local_timezone("Europe/Berlin")
    lines = [
        f"{number},{a},{b},{a[:10]},{b[:10]},{a[11:19]},{b[11:19]}\n"
        for number, (a, b) in enumerate(PAIRS, 1)
    ]
    columns = "i INT, a TIMESTAMP(3), b TIMESTAMP(3), p DATE, q DATE, s TIME, t TIME"
    csv_table(t_env, tmp_path_factory.mktemp("tables"), "x", columns, "".join(lines))
    return t_env


def column(tables, expression):
    """Return the values of an expression, those of the first row first."""
    found = last(tables, f"SELECT i, {expression} AS v FROM x")
    return [value for _, value in sorted(found, key=lambda row: row[0])]


MONTHS = [1, -2, None, -3, 1, -1, -1, 1, 11, -12, -13, 3]


@pytest.mark.parametrize("unit", ["MONTH", "QUARTER", "YEAR", "YEAR TO MONTH"])
def test_months_between_timestamps(tables, unit):
    def text(months):
        if months is None:
            return None
        return f"{'-' if months < 0 else '+'}{abs(months) // 12}-{abs(months) % 12:02}"

    assert column(tables, f"CAST((a - b) {unit} AS STRING)") == list(map(text, MONTHS))


def test_timestampdiff_counts_the_same_months(tables):
    assert column(tables, "TIMESTAMPDIFF(MONTH, b, a)") == MONTHS
    quarters = [0, 0, None, -1, 0, 0, 0, 0, 3, -4, -4, 1]
    assert column(tables, "TIMESTAMPDIFF(QUARTER, b, a)") == quarters
    assert column(tables, "TIMESTAMPDIFF(YEAR, b, a)") == [0] * 2 + [None] + [0] * 6 + [-1, -1, 0]


def test_months_between_dates(tables):
    expected = [2, -2, None, -2, 1, -1, 0, 1, 12, -12, -12, 4]
    assert column(tables, "EXTRACT(MONTH FROM (p - q) MONTH) + "
                          "12 * EXTRACT(YEAR FROM (p - q) MONTH)") == expected  # fmt: skip
    assert column(tables, "TIMESTAMPDIFF(MONTH, q, p)") == expected


SECONDS = [
    "+59 22:29:55.123", "-59 22:29:55.123", None, "-60 01:00:00.000", "+29 01:00:00.000",
    "-28 23:00:00.000", "-0 00:00:00.001", "+60 00:00:00.000", "+364 12:00:00.000",
    "-364 12:00:00.000", "-365 01:00:00.000", "+119 23:00:00.000",
]  # fmt: skip


@pytest.mark.parametrize("unit", ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "DAY TO SECOND"])
def test_times_between_timestamps(tables, unit):
    assert column(tables, f"CAST((a - b) {unit} AS STRING)") == SECONDS


def test_points_in_time(tables):
    hour = "(CAST(a AS TIMESTAMP_LTZ(3)) - CAST(b AS TIMESTAMP_LTZ(3))) HOUR"
    found = column(tables, f"CAST({hour} AS STRING)")
    assert found[:4] == ["+59 21:29:55.123", "-59 21:29:55.123", None, "-60 00:00:00.000"]


def test_dates_and_times_of_day(tables):
    days = column(tables, "CAST((p - q) DAY AS STRING)")
    assert days[:3] == ["+60 00:00:00.000", "-60 00:00:00.000", None]
    times = column(tables, "CAST((s - t) HOUR AS STRING)")
    assert times[:4] == ["-0 01:30:05.000", "+0 01:30:05.000", None, "-0 01:00:00.000"]


def test_a_difference_moves_a_time(tables):
    later = column(tables, "a")
    assert column(tables, "b + (a - b) DAY") == later
    assert column(tables, "q + (p - q) DAY") == column(tables, "p")
    assert column(tables, "t + (s - t) SECOND") == column(tables, "s")
    assert column(tables, "CAST(b + (a - b) MONTH AS STRING)")[:4] == [
        "2024-02-29 11:30:05.000", "2024-01-31 10:00:00.123", None, "2023-12-31 10:00:00.000",
    ]  # fmt: skip


def test_a_date_moves_by_whole_days_of_either_sign(tables):
    day = datetime.date
    assert column(tables, "q + (a - b) HOUR")[:4] == [
        day(2024, 3, 30), day(2024, 2, 1), None, day(2024, 1, 31),
    ]  # fmt: skip
    assert column(tables, "q + INTERVAL '-36' HOUR")[:2] == [day(2024, 1, 30), day(2024, 3, 30)]
    assert column(tables, "q - INTERVAL '36' HOUR")[:2] == [day(2024, 1, 30), day(2024, 3, 30)]
    assert column(tables, "q - INTERVAL '-36' HOUR")[:2] == [day(2024, 2, 1), day(2024, 4, 1)]


def test_differences_are_compared_and_grouped(tables):
    found = column(tables, "(a - b) DAY > INTERVAL '1' DAY")
    truth = [True, False, None, False, True, False, False, True, True, False, False, True]
    assert found == truth
    counts = last(tables, "SELECT COUNT(*), COUNT(DISTINCT (a - b) DAY) FROM x")
    assert counts == [(12, 11)]
    months = last(
        tables,
        "SELECT MIN(i), COUNT(*) FROM x GROUP BY (a - b) MONTH HAVING COUNT(*) > 1",
    )
    assert months == [(1, 3), (6, 2)]


@pytest.mark.pyflink_bug("the planner pushes the filter into the source: scala.MatchError")
def test_a_filter_by_a_difference(tables):
    found = last(tables, "SELECT i FROM x WHERE (a - b) DAY > INTERVAL '59' DAY")
    assert found == [(1,), (12,), (8,), (9,)]


@pytest.mark.parametrize("operands", ["a - q", "p - b", "a - 1", "a - INTERVAL '1' DAY", "'a' - b"])
def test_differences_of_other_things_are_refused(tables, operands):
    with pytest.raises(Exception, match=r"SQL validation failed|Cannot apply"):
        tables.sql_query(f"SELECT ({operands}) DAY FROM x")
