"""Statements over rows with event times, each with the rows that are left at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from compat_tests.tables import csv_table, last, listed_statements

TIME = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
TABLES = {
    "a": (
        f"k STRING, v INT, {TIME} - INTERVAL '4' SECOND",
        [
            ("x", 1, "01"), ("y", 2, "03"), ("x", 3, "02"), ("x", 4, "12"), ("y", 5, "09"),
            ("x", 6, "25"), ("z", 7, "31"),
        ],
    ),
    "b": (
        f"k STRING, w INT, {TIME} - INTERVAL '4' SECOND",
        [("x", 10, "00"), ("y", 20, "04"), ("x", 30, "11"), ("z", 40, "33")],
    ),
    "c": (
        f"k STRING, r INT, {TIME} - INTERVAL '5' SECOND, PRIMARY KEY (k) NOT ENFORCED",
        [("x", 1, "00"), ("x", 2, "10"), ("y", 3, "05")],
    ),
}  # fmt: skip
"""Columns, and rows with their seconds; none is late."""


@pytest.fixture
def tables(env, t_env, tmp_path):
    env.set_parallelism(1)
    for name, (columns, rows) in TABLES.items():
        lines = "".join(f"{k},{v},2024-01-01 00:00:{second}\n" for k, v, second in rows)
        csv_table(t_env, tmp_path, name, columns, lines)
    return t_env


@pytest.mark.parametrize(
    ("statement", "expected"),
    listed_statements(Path(__file__).parent / "timed_statements.txt"),
)
def test_statement(tables, statement, expected):
    kept = Counter()
    with tables.execute_sql(statement).collect() as results:
        for row in results:
            kept["|".join(map(str, row))] += 1 if str(row.get_row_kind())[0] == "+" else -1
    assert sorted(kept.elements()) == expected
    assert min(kept.values()) >= 0


@pytest.mark.whole("the watermark depends on the pieces that the input is cut into")
def test_how_many_rows_come_before_the_first_watermark(tables):
    unknown = "CURRENT_WATERMARK(ts) IS NULL"
    text = f"SELECT {unknown}, COUNT(*) FROM a GROUP BY {unknown}"
    assert last(tables, text) == [(False, 6), (True, 1)]
