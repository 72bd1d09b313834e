"""Counts of each key in windows of event time: the same pipeline here and on real PyFlink.

An element is a key and the time (ms) when it was made, which is its event time.
"""

from __future__ import annotations

import sys
import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    FlatMapFunction,
    MapFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import TumblingEventTimeWindows

from benchmarks.continuous.command import parse_arguments, wait_for_end
from benchmarks.continuous.recorder import Recorder

MIX = 2_654_435_761
ENDLESS = 2**63 - 1


def pair():
    """Two numbers: PyFlink cannot pickle a type that it has used before."""
    return Types.TUPLE([Types.LONG(), Types.LONG()])


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(AggregateFunction):
    """The accumulator: the end of the window, and how many elements."""

    def __init__(self, window):
        self.window = window

    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        if accumulator[1]:
            return accumulator[0], accumulator[1] + 1
        return value[1] - value[1] % self.window + self.window, 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return max(a[0], b[0]), a[1] + b[1]


class Record(FlatMapFunction):
    """Notes each result; nothing comes out."""

    def __init__(self, folder):
        self.folder = folder

    def open(self, runtime_context):
        self.recorder = Recorder(self.folder)

    def flat_map(self, value):
        self.recorder.note(value[0], value[1])
        return ()


def fast(keys):
    """Make what turns a number into an element that is made now."""

    def make(number):
        return number * MIX % 4_294_967_296 % keys, int(time.time() * 1000)

    return make


class Paced(MapFunction):
    """Turns numbers into elements at a rate; each is made when its time has come."""

    def __init__(self, keys, rate):
        self.keys, self.rate = keys, rate

    def open(self, runtime_context):
        self.begun, self.count = time.time(), 0

    def map(self, number):
        due = self.begun + self.count / self.rate
        self.count += 1
        left = due - time.time()
        if left > 0:
            time.sleep(left)
        return number * MIX % 4_294_967_296 % self.keys, int(due * 1000)


def flink_source(env, arguments):
    """Numbers, and a function that makes elements of them."""
    numbers = env.from_source(
        NumberSequenceSource(1, ENDLESS - 1),
        WatermarkStrategy.no_watermarks(),
        "numbers",
        Types.LONG(),
    )
    if arguments.rate:
        return numbers.map(Paced(arguments.keys, arguments.rate / arguments.parallelism), pair())
    return numbers.map(fast(arguments.keys), pair())


def our_source(env, arguments):
    """The sources of the extensions: a generator, or a function that runs all the time."""
    from pyflink_on_spark.extensions import (
        DataGeneratorSource,
        RichParallelSourceFunction,
        add_source,
    )

    if not arguments.rate:
        generator = DataGeneratorSource(fast(arguments.keys), ENDLESS, type_info=pair())
        return env.from_source(generator, WatermarkStrategy.no_watermarks(), "elements")

    class PacedSource(RichParallelSourceFunction):
        def __init__(self, keys, rate):
            self.paced, self.running = Paced(keys, rate), True

        def open(self, runtime_context):
            self.first = runtime_context.get_index_of_this_subtask() * 1_000_003

        def run(self, ctx):
            self.paced.open(None)
            number = self.first
            while self.running:
                number += 1
                ctx.collect(self.paced.map(number))

        def cancel(self):
            self.running = False

    source = PacedSource(arguments.keys, arguments.rate / arguments.parallelism)
    return add_source(env, source, type_info=pair())


def main():
    arguments = parse_arguments()
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("execution.checkpointing.dir", f"file://{arguments.folder}/state")
    configuration.set_string("restart-strategy.type", "none")
    if arguments.disk:
        configuration.set_string("state.backend.type", "rocksdb")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(arguments.parallelism)
    env.enable_checkpointing(arguments.checkpoint)
    ours = "pyflink_on_spark" in sys.modules
    elements = (our_source if ours else flink_source)(env, arguments)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    (
        elements.assign_timestamps_and_watermarks(strategy)
        .key_by(lambda element: element[0], Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(arguments.window)))
        .aggregate(Count(arguments.window), accumulator_type=pair(), output_type=pair())
        .flat_map(Record(arguments.folder), Types.LONG())
        .print()
    )
    client = env.execute_async("windows")
    wait_for_end()
    client.cancel()


if __name__ == "__main__":
    main()
