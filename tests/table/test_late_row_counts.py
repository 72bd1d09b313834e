"""How many late rows the operators of tables drop, by their metrics."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Row, Types
from pyflink_on_spark.table import Schema, StreamTableEnvironment
from pyflink_on_spark.testing import StreamHarness

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
DROPPED = "numLateRecordsDropped"
WINDOWS = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
SESSIONS = "TABLE(SESSION(TABLE a, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
FIRST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM a) "
OF_WINDOWS = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
    f"ORDER BY v) AS n FROM {WINDOWS}) "
)
MATCH = (
    "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x "
    "PATTERN (A) DEFINE A AS v > 0)"
)
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
        (f"{FIRST} WHERE n = 1", 2),
        (f"{OF_WINDOWS} WHERE n <= 2", 1),
        (f"SELECT window_end, SUM(v) FROM {WINDOWS} GROUP BY window_start, window_end", 1),
        (f"SELECT window_end, COLLECT(v) FROM {WINDOWS} GROUP BY window_start, window_end", 1),
        (f"SELECT window_end, SUM(v) FROM {SESSIONS} GROUP BY window_start, window_end", 2),
        (OVER.format(""), 3),
        (OVER.format("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"), 2),
        (MATCH, 3),
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
        assert counts(running) == {DROPPED: dropped}


def test_late_rows_of_a_window_join_are_counted_for_each_side():
    windows = "(SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)))"
    query = (
        f"SELECT l.v, r.v FROM {windows.format('a')} AS l JOIN {windows.format('b')} AS r ON "
        "l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )
    with harness(query, 2) as running:
        running.push_watermark(7_000, into=1)
        running.push_watermark(7_000, into=2)
        running.push(Row("x", 1), 4_999, into=1)
        running.push(Row("x", 2), 3_999, into=1)
        running.push(Row("x", 3), 4_999, into=2)
        running.push(Row("x", 4), 5_000, into=2)
        assert counts(running) == {"leftNumLateRecordsDropped": 2, "rightNumLateRecordsDropped": 1}


def test_latency_of_windows():
    query = f"SELECT window_end, SUM(v) FROM {WINDOWS} GROUP BY window_start, window_end"
    with harness(query) as running:
        assert running.metrics()["watermarkLatency"] == 0
        running.set_processing_time(12_000)
        running.push_watermark(7_000)
        assert running.metrics()["watermarkLatency"] == 5_000
