"""How many late rows the operators of tables drop, by their metrics."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Row, Types
from pyflink_on_spark.table import Schema, StreamTableEnvironment
from pyflink_on_spark.testing import StreamHarness

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
DROPPED = "numLateRecordsDropped"
WINDOWS = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
HOP = "TABLE(HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '4' SECOND))"
CUMULATE = "TABLE(CUMULATE(TABLE a, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))"
SESSIONS = "TABLE(SESSION(TABLE a, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
FIRST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM a) "
OF_WINDOWS = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
    f"ORDER BY v) AS n FROM {WINDOWS}) "
)
FIRST_OF_WINDOWS = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end "
    f"ORDER BY ts) AS n FROM {WINDOWS}) "
)
MATCH = (
    "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x "
    "PATTERN (A) DEFINE A AS v > 0)"
)
SAME = "l.window_start = r.window_start AND l.window_end = r.window_end"
OVER = "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts {}) FROM a"


def harness(query, inputs=1):
    """Returns a harness around a query over tables with the timestamps of elements."""

    def define(*streams):
        t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
        schema = (
            Schema.new_builder()
            .column_by_metadata("ts", "TIMESTAMP(3)", "rowtime")
            .watermark("ts", "SOURCE_WATERMARK()")
            .build()
        )
        for name, stream in zip("ab", streams):
            t_env.create_temporary_view(name, t_env.from_data_stream(stream, schema))
        return t_env.to_changelog_stream(t_env.sql_query(query))

    return StreamHarness(define, inputs, input_types=[ROWS] * inputs)


def counts(running):
    """Returns the counters of late rows, by their names."""
    return {name: n for name, n in running.metrics().items() if name.endswith("ecordsDropped")}


@pytest.mark.parametrize(
    ("query", "dropped"),
    [
        (f"{FIRST} WHERE n = 1", 3),
        (f"{OF_WINDOWS} WHERE n <= 2", 2),
        (f"{FIRST_OF_WINDOWS} WHERE n = 1", 2),
        (f"SELECT window_end, SUM(v) FROM {WINDOWS} GROUP BY window_start, window_end", 2),
        (f"SELECT window_end, COLLECT(v) FROM {WINDOWS} GROUP BY window_start, window_end", 2),
        (f"SELECT window_end, SUM(v) FROM {HOP} GROUP BY window_start, window_end", 1),
        (f"SELECT window_end, SUM(v) FROM {CUMULATE} GROUP BY window_start, window_end", 3),
        (f"SELECT window_end, SUM(v) FROM {SESSIONS} GROUP BY window_start, window_end", 3),
        (f"SELECT window_end, v FROM {SESSIONS}", 3),
        ("SELECT SUM(v) FROM a GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)", 2),
        ("SELECT SUM(v) FROM a GROUP BY HOP(ts, INTERVAL '2' SECOND, INTERVAL '4' SECOND)", 1),
        ("SELECT SUM(v) FROM a GROUP BY SESSION(ts, INTERVAL '1' SECOND)", 3),
        (OVER.format(""), 4),
        (OVER.format("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"), 4),
        (OVER.format("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"), 3),
        (OVER.format("RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"), 3),
        (MATCH, 4),
    ],
)
def test_late_rows_are_counted(query, dropped):
    with harness(query) as running:
        running.push(Row("x", 1), 7_000)
        assert counts(running) == {DROPPED: 0}
        running.push_watermark(7_000)
        running.push(Row("x", 2), 4_999)
        running.push(Row("x", 3), 5_000)
        running.push(Row("y", 4), 7_000)
        running.push(Row("y", 5), 7_001)
        running.push(Row("x", 6), 100)
        assert counts(running) == {DROPPED: dropped}


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT l.v, r.v FROM {{}} AS l JOIN {{}} AS r ON l.k = r.k AND {SAME}",
        f"SELECT l.v FROM {{}} AS l WHERE k IN (SELECT k FROM {{}} AS r WHERE {SAME})",
        f"SELECT l.v FROM {{}} AS l WHERE k NOT IN (SELECT k FROM {{}} AS r WHERE {SAME})",
    ],
)
def test_late_rows_of_a_window_join_are_counted_for_each_side(query):
    windows = "(SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)))"
    with harness(query.format(windows.format("a"), windows.format("b")), 2) as running:
        running.push_watermark(7_000, into=1)
        running.push_watermark(7_000, into=2)
        running.push(Row("x", 1), 4_999, into=1)
        running.push(Row("x", 2), 3_999, into=1)
        running.push(Row("x", 3), 4_999, into=2)
        running.push(Row("x", 4), 5_000, into=2)
        assert counts(running) == {"leftNumLateRecordsDropped": 2, "rightNumLateRecordsDropped": 1}


def test_an_interval_join_counts_no_late_rows_as_in_flink():
    query = (
        "SELECT l.v, r.v FROM a AS l JOIN b AS r ON l.k = r.k "
        "AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts"
    )
    with harness(query, 2) as running:
        running.push_watermark(7_000, into=1)
        running.push_watermark(7_000, into=2)
        running.push(Row("x", 1), 1_000, into=1)
        assert counts(running) == {}


def test_latency_of_windows():
    query = f"SELECT window_end, SUM(v) FROM {WINDOWS} GROUP BY window_start, window_end"
    with harness(query) as running:
        assert running.metrics()["watermarkLatency"] == 0
        running.set_processing_time(12_000)
        running.push_watermark(7_000)
        assert running.metrics()["watermarkLatency"] == 5_000


LAST = FIRST.replace("ORDER BY ts", "ORDER BY ts DESC")
BY_KEY = "GROUP BY window_start, window_end, k"
MOMENTS = [(1, "x"), (2, "y"), (60, "x"), (3, "x"), (4, "y"), (120, "x"), (5, "x"), (180, "y")]
"""The seconds and keys of rows of which three come late."""


@pytest.mark.parametrize(
    ("query", "dropped"),
    [
        (f"SELECT window_end, k, COUNT(*) FROM {HOP} {BY_KEY}", [3]),
        (f"SELECT window_end, k, COUNT(*) FROM {CUMULATE} {BY_KEY}", [3]),
        (f"SELECT window_end, k, COUNT(*) FROM {SESSIONS} {BY_KEY}", [3]),
        ("SELECT k, COUNT(*) FROM a GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)", [3]),
        ("SELECT k, COUNT(*) FROM a GROUP BY k, SESSION(ts, INTERVAL '5' SECOND)", [3]),
        (OVER.format(""), [3]),
        (OVER.format("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"), [2]),
        (OVER.format("RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"), [2]),
        (f"{FIRST} WHERE n = 1", [3]),
        (f"{LAST} WHERE n = 1", []),
        (f"{FIRST_OF_WINDOWS} WHERE n = 1", [3]),
        (f"{OF_WINDOWS} WHERE n <= 2", [3]),
        (MATCH, [3]),
        ("SELECT k, ts FROM a ORDER BY ts", []),
    ],
)
def test_the_counts_of_a_running_flink(query, dropped):
    """The numbers are those of Flink's metrics, where a watermark follows each row."""
    with harness(query) as running:
        latest = 0
        for second, key in MOMENTS:
            running.push(Row(key, 1), second * 1000)
            latest = max(latest, second * 1000)
            running.push_watermark(latest)
        assert list(counts(running).values()) == dropped
