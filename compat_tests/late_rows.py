"""Tables of rows that come later than the watermark of their time, and what queries make of them.

Some rows are late by a millisecond or at the border, where they just count, others by seconds.
"""

from __future__ import annotations

import datetime
import time
from pathlib import Path
from typing import Any

from pyflink.common import Types
from pyflink.table import Schema, Table

from compat_tests.pacing import PAUSE_SECONDS
from compat_tests.tables import changes, csv_table

START = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
ROWS = [
    ("a", 1, 1000), ("a", 2, 5000), ("b", 3, 5000), ("c", 4, 4999), ("d", 5, 5001), ("a", 6, 500),
    ("e", 7, 1), ("d", 8, 20000), ("f", 9, 20000), ("g", 10, 20001), ("a", 11, 19999),
    ("b", 12, 20002),
]  # fmt: skip
"""The key, a number, and the time, which is the watermark as well once a row has passed."""

SESSIONS = [
    ("a", 1, 1000), ("a", 2, 3000), ("b", 3, 3000), ("a", 4, 10000), ("a", 5, 8500), ("b", 6, 7000),
    ("a", 7, 8000), ("a", 8, 7000), ("a", 9, 6999), ("a", 10, 6000), ("c", 11, 8000),
    ("c", 12, 8001), ("c", 13, 6500), ("a", 14, 30000), ("a", 15, 28000), ("a", 16, 26000),
    ("a", 17, 23999), ("b", 18, 28001), ("b", 19, 27999), ("b", 20, 26001), ("c", 21, 27999),
    ("a", 22, 40000),
]  # fmt: skip
"""Late rows that sessions of two seconds reach, one after the other, and others."""

OVER = [
    ("a", 1, 1000), ("a", 2, 5000), ("a", 3, 2000), ("a", 4, 4999), ("b", 5, 30000),
    ("a", 6, 12000), ("a", 7, 11000), ("a", 8, 29000), ("b", 9, 31000), ("a", 10, 28000),
    ("a", 11, 60000), ("a", 12, 3000), ("b", 13, 200000), ("a", 14, 100000), ("b", 15, 300000),
    ("a", 16, 3000),
]  # fmt: skip

MIXED = [
    ("a", 1, 3000), ("a", 2, 1000), ("b", 3, 2000), ("a", 4, 2500), ("b", 5, 500), ("a", 6, 4000),
    ("a", 7, 2500), ("a", 8, 9000), ("b", 9, 6000), ("a", 10, 5500), ("a", 11, 7000),
    ("b", 12, 8000), ("a", 13, 15000), ("a", 14, 12000), ("b", 15, 14000), ("a", 16, 9999),
    ("a", 17, 10500), ("a", 18, 30000),
]  # fmt: skip
"""Rows out of order, some of which come after windows that end with their slice."""


def create_late_table(t_env: Any, folder: Path, rows: Any = ROWS, delay: int = 0) -> None:
    """Creates the table `e` of rows, whose watermark follows each row after a delay (ms)."""
    t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")  # after every row
    lines = "".join(f"{key},{v},{START + _ms(time)}\n" for key, v, time in rows)
    watermark = f"WATERMARK FOR ts AS ts - INTERVAL '{delay / 1000}' SECOND(2, 3)"
    csv_table(t_env, folder, "e", f"k STRING, v INT, ts TIMESTAMP(3), {watermark}", lines)


def timed_changes(table: Table) -> list[tuple[Any, ...]]:
    """Runs a table and returns its changes, with times in milliseconds."""
    return [tuple(map(_time, row)) for row in changes(table)]


def added(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Returns rows that are only added, in order; those of one moment may come in any."""
    assert {kind for kind, *_ in found} <= {"+I"}
    return sorted(tuple(row) for _, *row in found)


def create_sides(env: Any, t_env: Any, rows: Any) -> None:
    """Creates the views `l` and `r` of rows that come one after the other, and `latest` of `r`."""
    env.get_config().set_auto_watermark_interval(0)  # after every row
    env.set_buffer_timeout(0)
    t_env.get_config().set_local_timezone("UTC")

    def pause(element: Any) -> Any:
        time.sleep(PAUSE_SECONDS)
        return element

    kind = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()])
    paced = env.from_collection(rows, kind).map(pause, kind)
    schema = (
        Schema.new_builder()
        .column_by_expression("ts", "CAST(TO_TIMESTAMP_LTZ(f3, 3) AS TIMESTAMP(3))")
        .watermark("ts", "ts")
        .build()
    )
    t_env.create_temporary_view("both", t_env.from_data_stream(paced, schema))
    for side in ("l", "r"):
        t_env.execute_sql(
            f"CREATE TEMPORARY VIEW {side} AS "
            f"SELECT f1 AS k, f2 AS v, ts FROM `both` WHERE f0 = '{side}'"
        )
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW latest AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY k ORDER BY ts DESC) AS n FROM r) WHERE n = 1"
    )


def _ms(number: int) -> datetime.timedelta:
    return datetime.timedelta(milliseconds=number)


def _time(value: Any) -> Any:
    return (value - START) // _ms(1) if isinstance(value, datetime.datetime) else value
