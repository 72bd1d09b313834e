"""Event-time tumbling windows with an aggregate: 1,000 keys, a hundred events a key and window."""

from __future__ import annotations

import tempfile

from benchmarks.command import last_lines, main
from benchmarks.peers import bytewax_lines, pathway_rows

KEYS = 1_000
WINDOW_MS = 100_000


def event(number):
    """Events come in order, a millisecond apart."""
    return number % KEYS, number


def key(item):
    return item[0]


def add(item, total):
    return item[0], total[1] + 1, total[2] + item[1], max(total[3], item[1])


def describe(total):
    return f"{total[0]} {total[1]} {total[2]}"


def is_last(records):
    """Make the filter that keeps one line per key: its last window's."""
    return lambda total: total[3] > records - KEYS


def flink(env, numbers, records, typed=False):
    from pyflink.common import Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream import AggregateFunction
    from pyflink.datastream.window import TumblingEventTimeWindows

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    class Total(AggregateFunction):
        def create_accumulator(self):
            return 0, 0, 0, 0

        def add(self, value, accumulator):
            return add(value, accumulator)

        def get_result(self, accumulator):
            return accumulator

        def merge(self, a, b):
            return a[0], a[1] + b[1], a[2] + b[2], max(a[3], b[3])

    element = Types.TUPLE([Types.LONG(), Types.LONG()]) if typed else None
    total = Types.TUPLE([Types.LONG()] * 4) if typed else None
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    return (
        numbers.map(event, element)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(key, Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        .aggregate(Total(), accumulator_type=total, output_type=total)
        .filter(is_last(records))
        .map(describe, Types.STRING())
    )


def spark(session, records):
    """Spark's own window aggregation, in SQL: no Python function runs for a record."""
    from pyspark.sql import functions as F  # noqa: N812 - PySpark's own habit

    with tempfile.TemporaryDirectory() as folder:
        totals = (
            _events(session, records, folder)
            .groupBy("key", F.window("time", f"{WINDOW_MS} milliseconds"))
            .agg(F.count("*").alias("count"), F.sum("id").alias("total"), F.max("id").alias("last"))
        )
        return _last_totals(totals, records, folder, "complete")


def spark_state(session, records):
    """The windows as a stateful processor, with a map state and an event-time timer for each."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class Windows(StatefulProcessor):
        def init(self, handle):
            self.handle = handle
            value = "count long, total long, last long"
            self.windows = handle.getMapState("windows", "start long", value)

        def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803 - PySpark's names
            totals = {}
            for row in rows:
                start = row.id - row.id % WINDOW_MS
                total = totals.get(start)
                if total is None:
                    total = self.windows.getValue((start,)) or (0, 0, 0)
                    self.handle.registerTimer(start + WINDOW_MS - 1)
                totals[start] = total[0] + 1, total[1] + row.id, max(total[2], row.id)
            for start, total in totals.items():
                self.windows.updateValue((start,), total)
            return iter(())

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: N802, N803
            start = (expiredTimerInfo.getExpiryTimeInMs() + 1 - WINDOW_MS,)
            count, total, last = self.windows.getValue(start)
            self.windows.removeKey(start)
            yield Row(key=key[0], count=count, total=total, last=last)

        def close(self):
            pass

    schema = "key long, count long, total long, last long"
    with tempfile.TemporaryDirectory() as folder:
        totals = (
            _events(session, records, folder)
            .withWatermark("time", "0 seconds")
            .groupBy("key")
            .transformWithState(Windows(), schema, "Append", "EventTime")
        )
        return _last_totals(totals, records, folder, "append")


def _events(session, records, folder):
    """Return a stream of the events, which are files then; one of the far future closes windows."""
    events = session.range(1, records + 1).selectExpr(f"id % {KEYS} AS key", "id")
    end = session.range(1).selectExpr(f"{KEYS}L AS key", f"{records + 2 * WINDOW_MS}L AS id")
    events = events.union(end).selectExpr("key", "id", "timestamp_millis(id) AS time")
    events.write.parquet(f"{folder}/events")
    return session.readStream.schema(events.schema).parquet(f"{folder}/events")


def _last_totals(totals, records, folder, mode):
    last = totals.where(f"key < {KEYS} AND last > {records - KEYS}")
    line = "{0.key} {0[count]} {0.total}".format
    return last_lines(last, folder, line, mode)


def bytewax(records):
    from datetime import UTC, datetime, timedelta

    import bytewax.operators as op
    from bytewax.operators import windowing

    start = datetime(1970, 1, 1, tzinfo=UTC)

    def merge(a, b):
        return a[0], a[1] + b[1], a[2] + b[2], max(a[3], b[3])

    def build(numbers):
        clock = windowing.EventClock(
            lambda item: start + timedelta(milliseconds=item[1]),
            wait_for_system_duration=timedelta(0),
        )
        windows = windowing.TumblingWindower(
            length=timedelta(milliseconds=WINDOW_MS), align_to=start
        )
        keyed = op.key_on("key", op.map("event", numbers, event), lambda item: str(key(item)))
        totals = windowing.fold_window(
            "window",
            keyed,
            clock,
            windows,
            lambda: (0, 0, 0, 0),
            lambda total, item: add(item, total),
            merge,
        )
        plain = op.map("total", totals.down, lambda found: found[1][1])
        return op.map("line", op.filter("last", plain, is_last(records)), describe)

    return bytewax_lines(records, build)


def pathway(records):
    """Windows of its own, without a Python function for each addition."""
    import pathway as pw

    def build(numbers):
        items = numbers.select(item=pw.apply_with_type(event, tuple[int, int], pw.this.n))
        parts = items.select(key=pw.this.item[0], time=pw.this.item[1])
        window = pw.temporal.tumbling(duration=WINDOW_MS)
        return parts.windowby(pw.this.time, window=window, instance=pw.this.key).reduce(
            key=pw.this._pw_instance,
            count=pw.reducers.count(),
            total=pw.reducers.sum(pw.this.time),
            last=pw.reducers.max(pw.this.time),
        )

    totals = (tuple(row.values()) for row in pathway_rows(records, build))
    return [describe(total) for total in totals if is_last(records)(total)]


def loop(records):
    totals = {}
    keeps = is_last(records)
    for number in range(1, records + 1):
        item = event(number)
        pane = key(item), item[1] - item[1] % WINDOW_MS
        totals[pane] = add(item, totals.get(pane, (0, 0, 0, 0)))
    return [describe(total) for total in totals.values() if keeps(total)]


def inlined(records):
    totals = {}
    for number in range(1, records + 1):
        key = number % KEYS
        pane = key, number - number % WINDOW_MS
        total = totals.get(pane)
        if total is None:
            totals[pane] = key, 1, number, number
        else:
            last = total[3]
            totals[pane] = key, total[1] + 1, total[2] + number, max(last, number)
    for key, count, total, last in totals.values():
        if last > records - KEYS:
            yield f"{key} {count} {total}"


if __name__ == "__main__":
    main(
        flink=flink,
        spark=spark,
        spark_state=spark_state,
        bytewax=bytewax,
        pathway=pathway,
        loop=loop,
        inlined=inlined,
    )
