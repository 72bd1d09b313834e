"""Late rows in groups by windows, also of the Table API and with functions of pandas."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udaf
from pyflink.table.window import Slide, Tumble

from compat_tests.late_rows import (
    ROWS,
    SESSIONS,
    create_late_table,
    timed_changes,
)

pytestmark = [pytest.mark.one_attempt("a restart sets the watermark back"), pytest.mark.timed]


pandas_numbers = udaf(
    lambda v: int(len(v) * 1000 + v.sum()), result_type=DataTypes.INT(), func_type="pandas"
)


@pytest.fixture
def late(t_env, tmp_path):
    """A function that runs a query, or what a function makes, over `e`, a table of rows."""
    t_env.create_temporary_function("pandas_numbers", pandas_numbers)

    def run(query, rows=ROWS, delay=0):
        create_late_table(t_env, tmp_path, rows, delay)
        made = query(t_env) if callable(query) else query
        found = timed_changes(t_env.sql_query(made) if isinstance(made, str) else made)
        assert {kind for kind, *_ in found} <= {"+I"}
        return in_order(tuple(row) for _, *row in found)

    return run


SIZES = {
    "TUMBLE": "INTERVAL '5' SECOND",
    "HOP": "INTERVAL '2' SECOND, INTERVAL '4' SECOND",
    "SESSION": "INTERVAL '2' SECOND",
}
SUMS = {
    "TUMBLE": [
        ("a", 0, 1001), ("a", 5000, 1002), ("b", 5000, 1003), ("d", 5000, 1005),
        ("d", 20000, 1008), ("f", 20000, 1009), ("g", 20000, 1010), ("b", 20000, 1012),
    ],
    "HOP": [
        ("a", -2000, 1001), ("a", 0, 1001), ("a", 2000, 1002), ("b", 2000, 1003),
        ("c", 2000, 1004), ("d", 2000, 1005), ("a", 4000, 1002), ("b", 4000, 1003),
        ("c", 4000, 1004), ("d", 4000, 1005), ("d", 18000, 1008), ("f", 18000, 1009),
        ("g", 18000, 1010), ("a", 18000, 1011), ("b", 18000, 1012), ("d", 20000, 1008),
        ("f", 20000, 1009), ("g", 20000, 1010), ("b", 20000, 1012),
    ],
    "SESSION": [
        ("a", 1000, 2003), ("b", 3000, 1003), ("a", 6000, 6043), ("a", 26000, 3045),
        ("a", 40000, 1022),
    ],
}  # fmt: skip
FUNCTIONS = {
    "built in": "CAST(COUNT(*) * 1000 + SUM(v) AS INT)",
    "pandas": "pandas_numbers(v)",
}


def rows_of(kind):
    return SESSIONS if kind == "SESSION" else ROWS


def in_order(found):
    return sorted(found, key=str)


CASES = [("TUMBLE", "built in"), ("HOP", "built in"), ("TUMBLE", "pandas")]


@pytest.mark.parametrize(("kind", "function"), [*CASES, ("SESSION", "built in"), ("HOP", "pandas")])
def test_groups_by_windows(late, kind, function):
    window = f"ts, {SIZES[kind]}"
    query = (
        f"SELECT k, {kind}_START({window}), {FUNCTIONS[function]} FROM e "
        f"GROUP BY k, {kind}({window})"
    )
    assert late(query, rows_of(kind)) == in_order(SUMS[kind])


def test_sessions_have_no_functions_of_series(late):
    with pytest.raises(Exception, match="Session Group Window is currently not supported for Pan"):
        late("SELECT pandas_numbers(v) FROM e GROUP BY SESSION(ts, INTERVAL '2' SECOND)")


def test_groups_by_hopping_windows_that_are_no_multiple_of_their_step(late):
    window = "ts, INTERVAL '2' SECOND, INTERVAL '5' SECOND"
    query = f"SELECT HOP_START({window}), COUNT(*), SUM(v) FROM e GROUP BY HOP({window})"
    assert late(query) == in_order(
        [
            (-2000, 1, 1), (0, 1, 1), (2000, 4, 14), (4000, 4, 14), (16000, 5, 50), (18000, 5, 50),
            (20000, 4, 39),
        ]
    )  # fmt: skip


API = {
    "TUMBLE": Tumble.over(lit(5).seconds),
    "HOP": Slide.over(lit(4).seconds).every(lit(2).seconds),
}


@pytest.mark.parametrize(("kind", "function"), CASES)
def test_windows_of_the_table_api(late, kind, function):
    values = {
        "built in": (col("v").count * 1000 + col("v").sum).cast(DataTypes.INT()),
        "pandas": pandas_numbers(col("v")),
    }

    def query(t_env):
        table = t_env.from_path("e").window(API[kind].on(col("ts")).alias("w"))
        grouped = table.group_by(col("k"), col("w"))
        return grouped.select(col("k"), col("w").start, values[function])

    assert late(query, rows_of(kind)) == in_order(SUMS[kind])
