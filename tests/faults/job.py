"""The job of the soak; plain PyFlink.

    python -m pyflink_on_spark tests/faults/job.py INPUT OUTPUT --checkpoints FOLDER
        [--restore CHECKPOINT]

Reads the files of a folder as they come, counts per key in state, in event-time windows of three
kinds, by timers of both kinds and in SQL, and writes all of it to files, until there is a file
OUTPUT/stop, with which it ends, or OUTPUT/suspend, with which it only stops. It leaves a savepoint.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from job_tables import changes
from pyflink.common import (
    Configuration,
    Duration,
    Encoder,
    JobStatus,
    Time,
    Types,
    WatermarkStrategy,
)
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

DISORDER, WINDOW = 50_000, 5_000
BURST, GAP = 300, 1_000
SLOT = 7_000
FLUSH = 100
EVENT = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class CountPerKey(MapFunction):
    """Emits the key, the event's number, and how many events the key has had."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value[1]},{value[0]},{count}"


class SumOfWindow(ProcessWindowFunction):
    """Emits the key, the window's begin, how many events it has, and the sum of their numbers."""

    def process(self, key, context, elements):
        numbers = [number for number, _, _ in elements]
        yield f"{key},{context.window().start},{len(numbers)},{sum(numbers)}"


class SumOfSlot(KeyedProcessFunction):
    """Emits what the windows emit, by a timer at the end of each slot of event time."""

    def open(self, runtime_context):
        kind = MapStateDescriptor("sums", Types.LONG(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        self.sums = runtime_context.get_map_state(kind)

    def process_element(self, value, ctx):
        number, _, time = value
        start = time // SLOT * SLOT
        count, total = self.sums.get(start) or (0, 0)
        self.sums.put(start, (count + 1, total + number))
        ctx.timer_service().register_event_time_timer(start + SLOT - 1)

    def on_timer(self, timestamp, ctx):
        start = timestamp + 1 - SLOT
        count, total = self.sums.get(start)
        self.sums.remove(start)
        yield f"{ctx.get_current_key()},{start},{count},{total}"


class ListOfSlot(KeyedProcessFunction):
    """Emits what SumOfSlot emits, of a list of all that waits."""

    def open(self, runtime_context):
        kind = Types.TUPLE([Types.LONG(), Types.LONG()])
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", kind))

    def process_element(self, value, ctx):
        start = value[2] // SLOT * SLOT
        self.waiting.add((start, value[0]))
        ctx.timer_service().register_event_time_timer(start + SLOT - 1)

    def on_timer(self, timestamp, ctx):
        start = timestamp + 1 - SLOT
        waiting = list(self.waiting.get())
        numbers = [number for slot, number in waiting if slot == start]
        self.waiting.update([one for one in waiting if one[0] != start])
        yield f"{ctx.get_current_key()},{start},{len(numbers)},{sum(numbers)}"


class Flush(KeyedProcessFunction):
    """Emits the numbers of the events by processing-time timers."""

    def open(self, runtime_context):
        self.held = runtime_context.get_list_state(ListStateDescriptor("held", Types.LONG()))

    def process_element(self, value, ctx):
        self.held.add(value[0])
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + FLUSH)

    def on_timer(self, timestamp, ctx):
        yield from map(str, self.held.get())
        self.held.clear()


def parse(line):
    return tuple(map(int, line.split(",")))


def sink(folder, policy):
    return (
        FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(policy)
        .with_bucket_check_interval(200)
        .build()
    )


def environment(options):
    settings = {
        "execution.checkpointing.interval": f"{options.interval} ms",
        "execution.checkpointing.dir": options.checkpoints.resolve().as_uri(),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(options.attempts),
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    if options.restore:
        settings["execution.state-recovery.path"] = options.restore
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(options.parallelism)
    return env


def keyed_events(env, options):
    """Return the events of the files, by key."""
    text = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), options.input)
        .monitor_continuously(Duration.of_millis(200))
        .build()
    )
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    return (
        env.from_source(text, WatermarkStrategy.no_watermarks(), "events")
        .uid("events")
        .map(parse, EVENT)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(EventTime()))
        .key_by(lambda event: event[1], Types.LONG())
    )


def results(events):
    """Return the count of each event, and the sums of the windows."""
    windows = events.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
    return (
        events.map(CountPerKey(), Types.STRING()).uid("count"),
        windows.process(SumOfWindow(), Types.STRING()).uid("windows"),
    )


def more_results(events):
    """Return the results of other windows and of timers, by name."""
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(WINDOW), Time.milliseconds(WINDOW // 2))
    bursts = (
        events.filter(lambda event: event[0] // BURST % 2 == 0)
        .key_by(lambda event: event[1], Types.LONG())
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP)))
    )
    return {
        "sliding": events.window(sliding).process(SumOfWindow(), Types.STRING()),
        "sessions": bursts.process(SumOfWindow(), Types.STRING()),
        "timers": events.process(SumOfSlot(), Types.STRING()),
        "lists": events.process(ListOfSlot(), Types.STRING()),
        "flushed": events.process(Flush(), Types.STRING()),
    }


def build(env, options):
    events = keyed_events(env, options)
    counts, windows = results(events)
    # This one's part files continue across checkpoints, that one's end with each.
    continued = RollingPolicy.default_rolling_policy(4096, 1500, 800)
    counts.sink_to(sink(options.output / "counts", continued)).uid("counts")
    ended = RollingPolicy.on_checkpoint_rolling_policy()
    windows.sink_to(sink(options.output / "windows", ended)).uid("sums")
    for name, sums in more_results(events).items():
        sums.uid(name).sink_to(sink(options.output / name, ended)).uid(f"{name} in files")
    for name, lines in changes(env, events).items():
        lines.uid(name).sink_to(sink(options.output / name, ended)).uid(f"{name} in files")


def run(env, options):
    client = env.execute_async("soak")
    stop, suspend = options.output / "stop", options.output / "suspend"
    while not (stop.exists() or suspend.exists()):
        status = client.get_job_status().result()
        if status in (JobStatus.FAILED, JobStatus.CANCELED):
            break
        time.sleep(0.1)
    else:
        savepoints = str(options.checkpoints / "savepoints")
        client.stop_with_savepoint(stop.exists(), savepoints).result()
    client.get_job_execution_result().result()


def arguments():
    """Return the parser for the command lines of both jobs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("output", type=Path)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--restore")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--interval", type=int, default=500, help="between checkpoints, in ms")
    parser.add_argument("--attempts", type=int, default=1000)
    return parser


def main():
    options = arguments().parse_args()
    env = environment(options)
    build(env, options)
    run(env, options)


if __name__ == "__main__":
    main()
