"""A KeyedProcessFunction with value state and an event-time timer for each element; 1,000 keys."""

from __future__ import annotations

import heapq
import tempfile

from benchmarks.command import last_lines, main

KEYS = 1_000
DELAY_MS = 1_000


def event(number):
    """Events come in order, a millisecond apart."""
    return number % KEYS, number


def key(item):
    return item[0]


def describe(item):
    return f"{item[0]} {item[1]}"


def flink(env, numbers, records, typed=False):
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream import KeyedProcessFunction
    from pyflink.datastream.state import ValueStateDescriptor

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    class SumThenFire(KeyedProcessFunction):
        def open(self, runtime_context):
            self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
            self.fired = runtime_context.get_state(ValueStateDescriptor("fired", Types.LONG()))

        def process_element(self, value, ctx):
            self.total.update((self.total.value() or 0) + value[1])
            ctx.timer_service().register_event_time_timer(value[1] + DELAY_MS)

        def on_timer(self, timestamp, ctx):
            fired = (self.fired.value() or 0) + 1
            self.fired.update(fired)
            if fired == records // KEYS:
                yield ctx.get_current_key(), self.total.value()

    element = Types.TUPLE([Types.LONG(), Types.LONG()]) if typed else None
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    return (
        numbers.map(event, element)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(key, Types.LONG())
        .process(SumThenFire(), element)
        .map(describe, Types.STRING())
    )


def spark(session, records):
    """transformWithState over files, in one micro-batch; its timers fire in the one after it."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class SumThenFire(StatefulProcessor):
        def init(self, handle):
            self.handle = handle
            self.total = handle.getValueState("total", "total long, seen long")
            self.fired = handle.getValueState("fired", "fired long")

        def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803 - PySpark's names
            total, seen = tuple(self.total.get()) if self.total.exists() else (0, 0)
            for row in rows:
                total, seen = total + row.id, seen + 1
                self.handle.registerTimer(row.id + DELAY_MS)
            self.total.update((total, seen))
            if seen == records // KEYS:
                yield Row(key=key[0], total=total)

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: N802, N803
            fired = (self.fired.get()[0] if self.fired.exists() else 0) + 1
            self.fired.update((fired,))
            return iter(())

        def close(self):
            pass

    with tempfile.TemporaryDirectory() as folder:
        events = session.range(1, records + 1).selectExpr(
            f"id % {KEYS} AS key", "id", "timestamp_millis(id) AS time"
        )
        events.write.parquet(f"{folder}/events")
        totals = (
            session.readStream.schema(events.schema)
            .parquet(f"{folder}/events")
            .withWatermark("time", "0 seconds")
            .groupBy("key")
            .transformWithState(SumThenFire(), "key long, total long", "Append", "EventTime")
        )
        return last_lines(totals, folder, lambda row: f"{row.key} {row.total}")


def loop(records):
    totals, fired, timers = {}, {}, []

    def fire(limit):
        while timers and timers[0][0] <= limit:
            _, owner = heapq.heappop(timers)
            fired[owner] = fired.get(owner, 0) + 1
            if fired[owner] == records // KEYS:
                yield describe((owner, totals[owner]))

    for number in range(1, records + 1):
        item = event(number)
        owner = key(item)
        totals[owner] = totals.get(owner, 0) + item[1]
        heapq.heappush(timers, (item[1] + DELAY_MS, owner))
        yield from fire(item[1] - 1)
    yield from fire(records + DELAY_MS)


def inlined(records):
    """The same with a look at the timers as often as a watermark comes."""
    totals, fired, timers = {}, {}, []
    last = records // KEYS
    for number in range(1, records + 1):
        key = number % KEYS
        totals[key] = totals.get(key, 0) + number
        heapq.heappush(timers, (number + DELAY_MS, key))
        if number % _WATERMARK_EVERY == 0 or number == records:
            limit = number - 1 if number < records else records + DELAY_MS
            while timers and timers[0][0] <= limit:
                _, key = heapq.heappop(timers)
                count = fired[key] = fired.get(key, 0) + 1
                if count == last:
                    yield f"{key} {totals[key]}"


def calls(records):
    """The loop with the calls that PyFlink's API asks for: what the functions cost at least."""
    current, timers, lines = _Current(), [], []
    total, fired = _Value(current), _Value(current)

    class Context:
        def timer_service(self):
            return self

        def register_event_time_timer(self, time):
            heapq.heappush(timers, (time, current.key))

        def get_current_key(self):
            return current.key

    def process_element(value, ctx):
        total.update((total.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(value[1] + DELAY_MS)

    def on_timer(timestamp, ctx):
        count = (fired.value() or 0) + 1
        fired.update(count)
        if count == records // KEYS:
            yield ctx.get_current_key(), total.value()

    context = Context()
    for number in range(1, records + 1):
        item = event(number)
        current.key = key(item)
        process_element(item, context)
        if number % _WATERMARK_EVERY == 0 or number == records:
            limit = item[1] - 1 if number < records else records + DELAY_MS
            while timers and timers[0][0] <= limit:
                time, current.key = heapq.heappop(timers)
                lines.extend(map(describe, on_timer(time, context)))
    return lines


_WATERMARK_EVERY = 100_000  # about as many elements as come in 200 ms


class _Current:
    """Knows the current key."""

    __slots__ = ("key",)


class _Value:
    """A value for each key."""

    __slots__ = ("_current", "_values")

    def __init__(self, current):
        self._current, self._values = current, {}

    def value(self):
        return self._values.get(self._current.key)

    def update(self, value):
        self._values[self._current.key] = value


if __name__ == "__main__":
    main(flink=flink, spark=spark, loop=loop, inlined=inlined, calls=calls)
