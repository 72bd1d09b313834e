"""Counts views of pages, of which few are viewed often; its argument is how many a second."""

from __future__ import annotations

import random
import sys
import time

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

from pyflink_on_spark.extensions import DataGeneratorSource, GeneratorFunction, RateLimiterStrategy

VIEW = Types.TUPLE([Types.STRING(), Types.LONG()])
MINUTE = 60_000


class View(GeneratorFunction):
    def map(self, value):
        return f"page-{int(random.paretovariate(1.1)) % 1000}", int(time.time() * 1000)


class Viewed(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        by_minute = MapStateDescriptor("by minute", Types.LONG(), Types.LONG())
        self.by_minute = runtime_context.get_map_state(by_minute)
        self.views = runtime_context.get_metrics_group().counter("views")

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        minute = value[1] // MINUTE
        self.by_minute.put(minute, (self.by_minute.get(minute) or 0) + 1)
        self.views.inc()
        yield value


class Size(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, len(list(elements))


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    rate = RateLimiterStrategy.per_second(int(sys.argv[1]))
    source = DataGeneratorSource(View(), 10**12, rate, VIEW)
    strategy = (
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        .with_idleness(Duration.of_seconds(5))
        .with_timestamp_assigner(Viewed())
    )
    views = env.from_source(source, WatermarkStrategy.no_watermarks(), "views").uid("views")
    timed = views.assign_timestamps_and_watermarks(strategy)
    counted = timed.key_by(lambda view: view[0], Types.STRING()).process(Count(), VIEW)
    keyed = counted.name("counts").uid("counts").key_by(lambda view: view[0], Types.STRING())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(10))).process(Size())
    windows.name("per 10 s").uid("windows").filter(lambda found: False).print()
    env.execute("page views")


if __name__ == "__main__":
    main()
