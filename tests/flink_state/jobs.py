"""Jobs whose state moves in: plain PyFlink, for Flink and for this project.

Each function adds a job to an environment. The job reads lines of ``key,time,number`` from the
files of a folder, and appends its results to a file.
"""

from __future__ import annotations

import datetime
import decimal
import fcntl
import os

from pyflink.common import Duration, Encoder, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

LINE = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
FAR = 4102444800000  # 2100


class Append(MapFunction):
    """Appends what passes to a file."""

    def __init__(self, path, label):
        self.path, self.label = path, label

    def map(self, value):
        with open(self.path, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f"{self.label} {value}\n")
        return value


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def lines_of(env, folder, uid="lines"):
    def parse(line):
        key, time, number = line.split(",")
        return key, int(time), int(number)

    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"file://{folder}")
    source = files.monitor_continuously(Duration.of_millis(100)).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    if uid:
        lines.uid(uid)
    watermarks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    parsed = lines.map(parse, LINE)
    return parsed.assign_timestamps_and_watermarks(watermarks)


def add(first, second):
    return first[0], second[1], first[2] + second[2]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, first, second):
        return first[0] + second[0], first[1] + second[1]


class MeanOfLines(Mean):
    def add(self, value, accumulator):
        return super().add(value[2], accumulator)


class Sum(ReduceFunction):
    def reduce(self, first, second):
        return first + second


def kept_for(descriptor):
    rules = StateTtlConfig.new_builder(Time.days(3650))
    descriptor.enable_time_to_live(
        rules.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite).build()
    )
    return descriptor


class AllStates(KeyedProcessFunction):
    """Has a state of each kind, with and without a time to live, and timers."""

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = context.get_list_state(ListStateDescriptor("seen", Types.STRING()))
        self.last = context.get_map_state(MapStateDescriptor("last", Types.STRING(), Types.INT()))
        self.total = context.get_reducing_state(
            ReducingStateDescriptor("total", Sum(), Types.LONG())
        )
        self.mean = context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        )
        self.old = context.get_state(kept_for(ValueStateDescriptor("old", Types.DOUBLE())))
        self.olds = context.get_list_state(kept_for(ListStateDescriptor("olds", Types.INT())))
        self.old_map = context.get_map_state(
            kept_for(MapStateDescriptor("old-map", Types.INT(), Types.STRING()))
        )
        self.fired = context.get_state(ValueStateDescriptor("fired", Types.INT()))

    def process_element(self, value, context):
        key, time, number = value
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(f"é{number}")
        self.last.put(f"of {number % 3}", number)
        self.total.add(number)
        self.mean.add(number)
        self.old.update((self.old.value() or 0.0) + number / 2)
        self.olds.add(number)
        self.old_map.put(number % 4, str(number))
        timers = context.timer_service()
        timers.register_event_time_timer((time // 100 + 1) * 100)
        timers.register_processing_time_timer(FAR)
        yield (
            f"{key} {self.count.value()} {list(self.seen.get())} {sorted(self.last.items())} "
            f"{self.total.get()} {self.mean.get()} {self.old.value()} {list(self.olds.get())} "
            f"{sorted(self.old_map.items())}"
        )

    def on_timer(self, timestamp, context):
        self.fired.update((self.fired.value() or 0) + 1)
        yield f"{context.get_current_key()} at {timestamp}, timer {self.fired.value()}"


def states(env, folder, output, parallelism):
    keyed = lines_of(env, folder).key_by(lambda line: line[0], Types.STRING())
    results = keyed.process(AllStates(), Types.STRING()).uid("all").set_parallelism(parallelism)
    results.map(Append(output, "state"), Types.STRING()).print()


class Contents(ProcessWindowFunction):
    """Shows a window, and counts what it has been called for."""

    def process(self, key, context, elements):
        calls = context.global_state().get_state(ValueStateDescriptor("calls", Types.INT()))
        calls.update((calls.value() or 0) + 1)
        window = context.window()
        yield f"{key} {window.start} {window.end} {[e[2] for e in elements]} {calls.value()}"


class Members(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield f"{key} {window.start} {window.end} {sorted(e[2] for e in elements)}"


class Firings(ProcessWindowFunction):
    """Counts the firings of each window."""

    def process(self, key, context, elements):
        firings = context.window_state().get_state(ValueStateDescriptor("firings", Types.INT()))
        firings.update((firings.value() or 0) + 1)
        yield f"{key} {context.window().start} {len(list(elements))} {firings.value()}"

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("firings", Types.INT())).clear()


def windows(env, folder, output, parallelism):
    keyed = lines_of(env, folder).key_by(lambda line: line[0], Types.STRING())
    second = TumblingEventTimeWindows.of(Time.seconds(1))

    def show(results, name):
        found = results.uid(name).set_parallelism(parallelism)
        found.map(str, Types.STRING()).map(Append(output, name), Types.STRING()).print()

    show(keyed.window(second).reduce(add, output_type=LINE), "tumbling")
    show(keyed.window(second).process(Contents(), Types.STRING()), "contents")
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(900), Time.milliseconds(300))
    show(
        keyed.window(sliding).aggregate(
            MeanOfLines(), None, Types.PICKLED_BYTE_ARRAY(), Types.DOUBLE()
        ),
        "sliding",
    )
    late = keyed.window(second).allowed_lateness(1500)
    show(late.process(Firings(), Types.STRING()), "late")
    gap = EventTimeSessionWindows.with_gap(Time.milliseconds(500))
    show(keyed.window(gap).reduce(add, output_type=LINE), "session")
    show(keyed.window(gap).process(Members(), Types.STRING()), "members")
    show(keyed.window(CountTumblingWindowAssigner.of(3)).reduce(add, output_type=LINE), "count")
    often = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5))).trigger(CountTrigger.of(3))
    show(often.reduce(add, output_type=LINE), "often")
    show(keyed.reduce(add), "reduce")
    show(keyed.sum(2), "sum")
    show(keyed.max_by(2), "max_by")


TYPES = {
    "bool": (Types.BOOLEAN(), lambda n: n % 2 == 0),
    "byte": (Types.BYTE(), lambda n: n - 12),
    "short": (Types.SHORT(), lambda n: n * 1000),
    "int": (Types.INT(), lambda n: -n * 100_000),
    "long": (Types.LONG(), lambda n: n << 40),
    "float": (Types.FLOAT(), lambda n: n / 4),
    "double": (Types.DOUBLE(), lambda n: n / 7),
    "text": (Types.STRING(), lambda n: "ü\U0001f600" * n),
    "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), lambda n: bytes([n, 0, 255])),
    "decimal": (Types.BIG_DEC(), lambda n: decimal.Decimal(n) / 8),
    "date": (Types.SQL_DATE(), lambda n: datetime.date(2026, 1, 1 + n)),
    "time": (Types.SQL_TIME(), lambda n: datetime.time(1, 2, n, 345_000)),
    "timestamp": (Types.SQL_TIMESTAMP(), lambda n: datetime.datetime(1990, 1, 2, 3, 4, n, 56_000)),
    "pickle": (Types.PICKLED_BYTE_ARRAY(), lambda n: {"n": [n, (1.5, None)]}),
    "row": (
        Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
        lambda n: Row(a=n, b=None if n % 2 else "x"),
    ),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), lambda n: (n, str(n))),
    "list": (Types.LIST(Types.LONG()), lambda n: list(range(n))),
    "array": (Types.OBJECT_ARRAY(Types.STRING()), lambda n: ["a", None, str(n)]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), lambda n: {"a": n, "b": None}),
}


class AllTypes(KeyedProcessFunction):
    """Has a value of each type, and says what it was before."""

    def open(self, context):
        self.values = {
            name: context.get_state(ValueStateDescriptor(name, type_info))
            for name, (type_info, _) in TYPES.items()
        }

    def process_element(self, value, context):
        for name, state in self.values.items():
            yield f"{value[0]} {name} {state.value()}"
            state.update(TYPES[name][1](value[2]))


def types(env, folder, output, parallelism):
    keyed = lines_of(env, folder).key_by(lambda line: line[0], Types.STRING())
    results = keyed.process(AllTypes(), Types.STRING()).uid("types").set_parallelism(parallelism)
    results.map(Append(output, "type"), Types.STRING()).print()


KEYS = {
    "untyped": (None, lambda n: (n % 3, "x")),
    "long": (Types.LONG(), lambda n: n % 5 - 2),
    "int": (Types.INT(), lambda n: n % 5),
    "bool": (Types.BOOLEAN(), lambda n: n % 2 == 0),
    "double": (Types.DOUBLE(), lambda n: n % 4 / 8),
    "text": (Types.STRING(), lambda n: "äπ\U0001f600"[n % 3]),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), lambda n: (n % 3, "k")),
    "row": (
        Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
        lambda n: Row(a=n % 3, b="k"),
    ),
    "decimal": (Types.BIG_DEC(), lambda n: decimal.Decimal(n % 3) / 4),
    "date": (Types.SQL_DATE(), lambda n: datetime.date(2026, 1, 1 + n % 3)),
}


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, context):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{context.get_current_key()} {self.count.value()}"


def keys(env, folder, output, parallelism):
    lines = lines_of(env, folder)
    for name, (key_type, select) in KEYS.items():
        keyed = lines.key_by(lambda line, select=select: select(line[2]), key_type)
        counted = keyed.process(Count(), Types.STRING()).uid(f"by {name}")
        counted.set_parallelism(parallelism).map(Append(output, name), Types.STRING()).print()


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Ruled(BroadcastProcessFunction):
    def process_element(self, value, context):
        yield f"{value[2]} {sorted(context.get_broadcast_state(RULES).items())}"

    def process_broadcast_element(self, value, context):
        if value[2] < 6:
            context.get_broadcast_state(RULES).put(value[0], value[2])


class KeyRuled(KeyedBroadcastProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, context):
        self.count.update((self.count.value() or 0) + 1)
        if value[2] >= 12:
            rules = sorted(context.get_broadcast_state(RULES).items())
            yield f"{value[0]} {self.count.value()} {rules}"

    def process_broadcast_element(self, value, context):
        if value[2] < 6:
            context.get_broadcast_state(RULES).put(value[0], value[2])


class Both(KeyedCoProcessFunction):
    def open(self, context):
        self.left = context.get_state(ValueStateDescriptor("left", Types.LONG()))
        self.right = context.get_list_state(ListStateDescriptor("right", Types.LONG()))

    def process_element1(self, value, context):
        self.left.update((self.left.value() or 0) + value[2])
        yield f"left {value[0]} {self.left.value()}"

    def process_element2(self, value, context):
        self.right.add(value[2])
        yield f"right {value[0]} {list(self.right.get())}"


class Numbered(MapFunction):
    def open(self, context):
        self.number = context.get_state(ValueStateDescriptor("number", Types.LONG()))

    def map(self, value):
        self.number.update((self.number.value() or 0) + 1)
        return f"{value[0]} {self.number.value()}"


class Pairs(FlatMapFunction):
    def open(self, context):
        self.first = context.get_state(ValueStateDescriptor("first", Types.INT()))

    def flat_map(self, value):
        first = self.first.value()
        if first is None:
            self.first.update(value[2])
        else:
            self.first.clear()
            yield f"{value[0]} {first} {value[2]}"


class BothMaps(CoMapFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map1(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return f"{value[0]} {self.count.value()}"

    map2 = map1


def functions(env, folder, output, parallelism):
    lines = lines_of(env, folder)
    keyed = lines.key_by(lambda line: line[0], Types.STRING())

    def show(results, name):
        found = results.uid(name).set_parallelism(parallelism)
        found.map(Append(output, name), Types.STRING()).print()

    later = lines.filter(lambda line: line[2] >= 12)
    show(later.connect(lines.broadcast(RULES)).process(Ruled(), Types.STRING()), "broadcast")
    show(keyed.connect(lines.broadcast(RULES)).process(KeyRuled(), Types.STRING()), "keyed rules")
    show(keyed.connect(keyed).process(Both(), Types.STRING()), "both")
    show(keyed.map(Numbered(), Types.STRING()), "numbered")
    show(keyed.flat_map(Pairs(), Types.STRING()), "pairs")
    show(keyed.connect(keyed).map(BothMaps(), Types.STRING()), "both maps")


class Slowly(MapFunction):
    """Takes its time, so that a source is stopped in the middle."""

    def __init__(self, seconds):
        self.seconds = seconds

    def map(self, value):
        import time

        time.sleep(self.seconds)
        return value


def numbers(env, folder, output, parallelism):
    source = NumberSequenceSource(1, 100)
    read = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    slow = read.uid("numbers").map(Slowly(0.2), Types.LONG())
    slow.map(Append(output, "number"), Types.LONG()).print()


def half_read(env, folder, output, parallelism):
    slow = lines_of(env, folder).map(Slowly(0.7), LINE)
    slow.map(lambda line: str(line[2]), Types.STRING()).map(
        Append(output, "line"), Types.STRING()
    ).print()


def nameless(env, folder, output, parallelism):
    """Has no uid at all, but for names that are all different."""
    keyed = lines_of(env, folder, uid=None).key_by(lambda line: line[0], Types.STRING())
    counted = keyed.process(Count(), Types.STRING()).name("counting")
    counted.set_parallelism(parallelism).map(Append(output, "count"), Types.STRING()).print()
    second = TumblingEventTimeWindows.of(Time.seconds(1))
    summed = keyed.window(second).reduce(add, output_type=LINE).set_parallelism(parallelism)
    summed.map(str, Types.STRING()).map(Append(output, "window"), Types.STRING()).print()


def file_sink(env, folder, output, parallelism):
    sink = FileSink.for_row_format(f"{output}-files", Encoder.simple_string_encoder()).build()
    lines = lines_of(env, folder).map(lambda line: str(line[2]), Types.STRING())
    lines.map(Append(output, "line"), Types.STRING()).sink_to(sink).uid("files")


def file_sinks(env, folder, output, parallelism):
    """Has a sink in several subtasks."""
    sink = FileSink.for_row_format(f"{output}-files", Encoder.simple_string_encoder()).build()
    lines = lines_of(env, folder).map(lambda line: str(line[2]), Types.STRING())
    shown = lines.map(Append(output, "line"), Types.STRING())
    shown.sink_to(sink).uid("files").set_parallelism(parallelism)


class Thirds(Trigger):
    """Fires for each third element of a window, and at the end of time."""

    def on_element(self, element, timestamp, window, context):
        descriptor = ReducingStateDescriptor("seen", Sum(), Types.LONG())
        seen = context.get_partitioned_state(descriptor)
        seen.add(1)
        return TriggerResult.FIRE if seen.get() % 3 == 0 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, context):
        return TriggerResult.CONTINUE

    def on_merge(self, window, context):
        raise NotImplementedError

    def clear(self, window, context):
        pass


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {[e[2] for e in elements]}"


def assigners(env, folder, output, parallelism):
    keyed = lines_of(env, folder).key_by(lambda line: line[0], Types.STRING())

    def show(windowed, name):
        results = windowed.process(Numbers(), Types.STRING()).uid(name)
        found = results.set_parallelism(parallelism)
        found.map(Append(output, name), Types.STRING()).print()

    show(keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(5)), "global")
    days = TumblingProcessingTimeWindows.of(Time.days(3650))
    show(keyed.window(days).trigger(CountTrigger.of(3)), "days")
    purged = keyed.window(TumblingEventTimeWindows.of(Time.days(1)))
    show(purged.trigger(PurgingTrigger.of(CountTrigger.of(3))), "purged")
    gap = EventTimeSessionWindows.with_dynamic_gap(Gap())
    show(keyed.window(gap).allowed_lateness(400), "gaps")
    show(keyed.window(CountSlidingWindowAssigner.of(4, 2)), "sliding counts")
    show(keyed.window(GlobalWindows.create()).trigger(Thirds()), "thirds")


class Odd(FilterFunction):
    """Lets every second line of a key pass."""

    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def filter(self, value):
        self.seen.update((self.seen.value() or 0) + 1)
        return self.seen.value() % 2 == 1


class Lately(CoFlatMapFunction):
    def open(self, context):
        self.last = context.get_map_state(MapStateDescriptor("last", Types.STRING(), Types.LONG()))

    def flat_map1(self, value):
        self.last.put("first", value[2])
        yield f"first {value[0]} {self.last.get('first')}"

    def flat_map2(self, value):
        self.last.put("second", (self.last.get("second") or 0) + value[2])
        yield f"second {value[0]} {self.last.get('second')}"


def others(env, folder, output, parallelism):
    """Has what the jobs of functions and of windows have not."""
    lines = lines_of(env, folder)
    keyed = lines.key_by(lambda line: line[0], Types.STRING())

    def show(results, name):
        found = results.uid(name).set_parallelism(parallelism)
        found.map(str, Types.STRING()).map(Append(output, name), Types.STRING()).print()

    show(keyed.filter(Odd()), "filter")
    show(keyed.connect(keyed).flat_map(Lately(), Types.STRING()), "lately")
    show(keyed.min(2), "min")
    show(keyed.max(2), "max")
    show(keyed.min_by(2), "min_by")
    week = TumblingEventTimeWindows.of(Time.days(7))
    often = keyed.window(week).trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(700)))
    show(often.process(Numbers(), Types.STRING()), "continuous")
    show(
        keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(
            add, ContentsOfLines(), output_type=Types.STRING()
        ),
        "reduced contents",
    )
    second = TumblingEventTimeWindows.of(Time.seconds(1))
    all_lines = lines.window_all(second).process(AllNumbers(), Types.STRING()).uid("all lines")
    all_lines.map(Append(output, "all lines"), Types.STRING()).print()


class ContentsOfLines(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {context.window().start} {list(elements)}"


class AllNumbers(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield f"{context.window().start} {[e[2] for e in elements]}"


class Overdue(KeyedProcessFunction):
    """Fires once for each key, by the clock, and lists what has come until then."""

    def open(self, context):
        self.since = context.get_state(ValueStateDescriptor("since", Types.LONG()))

    def process_element(self, value, context):
        if self.since.value() is None:
            timers = context.timer_service()
            due = timers.current_processing_time() + WAIT
            self.since.update(due)
            timers.register_processing_time_timer(due)
            yield f"{value[0]} waits"

    def on_timer(self, timestamp, context):
        due = "on time" if timestamp == self.since.value() else "at another time"
        yield f"{context.get_current_key()} fires {due}"


WAIT = 20_000
"""Milliseconds by the clock, longer than the first half of the job takes."""


def clocks(env, folder, output, parallelism):
    """Has what goes by the clock, and has its time when the job continues."""
    keyed = lines_of(env, folder).key_by(lambda line: line[0], Types.STRING())

    def show(results, name):
        found = results.uid(name).set_parallelism(parallelism)
        found.map(Append(output, name), Types.STRING()).print()

    def numbers_of(windowed, name):
        show(windowed.process(Sums(), Types.STRING()), name)

    show(keyed.process(Overdue(), Types.STRING()), "overdue")
    numbers_of(keyed.window(ProcessingTimeSessionWindows.with_gap(Time.seconds(20))), "session")
    numbers_of(keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(60))), "tumbling")
    sliding = SlidingProcessingTimeWindows.of(Time.seconds(90), Time.seconds(45))
    numbers_of(keyed.window(sliding), "sliding")
    days = keyed.window(TumblingProcessingTimeWindows.of(Time.days(3650)))
    often = ContinuousProcessingTimeTrigger.of(Time.seconds(20))
    numbers_of(days.trigger(PurgingTrigger.of(often)), "continuous")


class Sums(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {sorted(e[2] for e in elements)}"


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 400 + element[2] % 2 * 100


QUERIES = {
    "grouped": """
        SELECT k, COUNT(*), SUM(n), MIN(n), MAX(n), AVG(n), COUNT(DISTINCT n / 6)
        FROM lines GROUP BY k""",
    "regrouped": """
        SELECT c, COUNT(*), SUM(s) FROM (SELECT k, COUNT(*) AS c, SUM(n) AS s FROM lines GROUP BY k)
        GROUP BY c""",
    "first rows": """
        SELECT k, t, n FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS r FROM lines) WHERE r = 1""",
    "last rows": """
        SELECT k, t, n FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p DESC) AS r FROM lines)
        WHERE r = 1""",
    "top": """
        SELECT k, t, n FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM lines)
        WHERE r <= 2""",
    "joined": "SELECT a.k, a.n, b.n FROM lines AS a JOIN lines AS b ON a.k = b.k AND a.n = b.n - 3",
    "left joined": "SELECT a.k, a.n, b.n FROM lines AS a LEFT JOIN lines AS b ON a.n = b.n - 13",
    "windows": """
        SELECT k, window_start, COUNT(*), SUM(n)
        FROM TABLE(TUMBLE(TABLE lines, DESCRIPTOR(w), INTERVAL '1' SECOND))
        GROUP BY k, window_start, window_end""",
}


TYPED = """
    SELECT k, t, n, n % 4 = 0 AS flag, CAST(n AS TINYINT) AS tiny, CAST(n AS DOUBLE) / 4 AS d,
        CAST(n AS DECIMAL(10, 2)) / 3 AS price, CAST(n AS DECIMAL(30, 5)) AS big,
        'a text of more than seven bytes: é' || k AS long_text, 'é' || k AS short_text,
        DATE '2026-01-01' AS today, CAST(TO_TIMESTAMP_LTZ(t, 3) AS TIMESTAMP(3)) AS at_millis,
        CAST(TO_TIMESTAMP_LTZ(t, 3) AS TIMESTAMP(6)) AS at_micros,
        CAST(NULLIF(n % 3, 1) AS SMALLINT) AS holes, CAST(n AS FLOAT) / 8 AS f, p, w
    FROM lines"""
MORE_QUERIES = {
    "types": """
        SELECT flag, long_text, price, big, today, at_millis, at_micros, holes, COUNT(*), MAX(n)
        FROM typed GROUP BY flag, long_text, price, big, today, at_millis, at_micros, holes""",
    "aggregates": """
        SELECT short_text, COUNT(holes), SUM(tiny), SUM(d), SUM(price), SUM(big), AVG(d),
            AVG(price), AVG(holes), AVG(f), MIN(long_text), MAX(at_micros), MIN(price), MAX(today),
            SUM(f), SUM(n) FILTER (WHERE flag)
        FROM typed GROUP BY short_text""",
    "different": """
        SELECT flag, COUNT(DISTINCT k), SUM(DISTINCT tiny), COUNT(DISTINCT price), COUNT(*)
        FROM typed GROUP BY flag""",
    "keys in turn": "SELECT short_text, k, SUM(n) FROM typed GROUP BY short_text, k",
    "all": "SELECT COUNT(*), SUM(n) FROM lines",
    "unlike": "SELECT DISTINCT k, n / 5 FROM lines",
    "sum of sums": """
        SELECT s / 100, SUM(s), AVG(a) FROM (
            SELECT k, SUM(n) AS s, AVG(d) AS a FROM typed GROUP BY k) GROUP BY s / 100""",
    "kept types": """
        SELECT k, flag, price, big, long_text, at_millis, at_micros, holes, f FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p DESC) AS r FROM typed)
        WHERE r = 1""",
    "last by time": """
        SELECT k, t, n FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY w DESC) AS r FROM lines)
        WHERE r = 1""",
    "top by two": """
        SELECT k, n, price, r FROM (
            SELECT *, ROW_NUMBER() OVER (
                PARTITION BY k ORDER BY holes DESC, price ASC) AS r FROM typed)
        WHERE r <= 3""",
    "limit": "SELECT k, n FROM lines ORDER BY n DESC LIMIT 3",
    "joined types": """
        SELECT a.k, a.n, b.price, b.at_micros, b.long_text
        FROM typed AS a JOIN typed AS b ON a.n = b.n + 2 AND a.short_text <> b.long_text""",
    "full joined": """
        SELECT a.k, a.n, b.n FROM lines AS a FULL JOIN lines AS b ON a.n = b.n - 13""",
    "joined sums": """
        SELECT a.k, a.s, b.n FROM (SELECT k, SUM(n) AS s FROM lines GROUP BY k) AS a
        JOIN (SELECT k, MAX(n) AS n FROM lines GROUP BY k) AS b ON a.k = b.k""",
    "sums of lines": """
        SELECT a.k, a.n, b.s FROM lines AS a
        LEFT JOIN (SELECT k, COUNT(*) AS c, SUM(n) AS s FROM lines GROUP BY k) AS b
        ON a.n = b.c""",
    "semi": "SELECT k, n FROM lines WHERE n IN (SELECT n - 13 FROM lines)",
    "anti": """
        SELECT k, n FROM lines AS a WHERE NOT EXISTS (SELECT * FROM lines AS b WHERE b.n = a.n - 13)
        """,
    "hops": """
        SELECT k, window_start, window_end, COUNT(*), AVG(n), MAX(price)
        FROM TABLE(HOP(TABLE typed, DESCRIPTOR(w), INTERVAL '1' SECOND, INTERVAL '3' SECOND))
        GROUP BY k, window_start, window_end""",
    "hops of sums": """
        SELECT k, window_end, SUM(n), COUNT(DISTINCT tiny)
        FROM TABLE(HOP(TABLE typed, DESCRIPTOR(w), INTERVAL '1' SECOND, INTERVAL '2' SECOND))
        GROUP BY k, window_start, window_end""",
    "all windows": """
        SELECT window_start, SUM(d), MIN(n)
        FROM TABLE(TUMBLE(TABLE typed, DESCRIPTOR(w), INTERVAL '1' SECOND))
        GROUP BY window_start, window_end""",
}


def kafka(env, folder, output, parallelism):
    from pyflink.common.serialization import SimpleStringSchema
    from pyflink.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource

    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(os.environ["MOVING_IN_KAFKA"])
        .set_topics("lines")
        .set_group_id("moving-in")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "kafka").uid("kafka")
    shown = lines.set_parallelism(parallelism).map(str, Types.STRING())
    shown.map(Append(output, "kafka"), Types.STRING()).print()


def old_kafka(env, folder, output, parallelism):
    from pyflink.common.serialization import SimpleStringSchema
    from pyflink.datastream.connectors.kafka import FlinkKafkaConsumer

    properties = {"bootstrap.servers": os.environ["MOVING_IN_KAFKA"], "group.id": "moving-in"}
    source = FlinkKafkaConsumer("lines", SimpleStringSchema(), properties)
    lines = env.add_source(source.set_start_from_latest()).uid("old-kafka")
    shown = lines.set_parallelism(parallelism).map(str, Types.STRING())
    shown.map(Append(output, "kafka"), Types.STRING()).print()


def old_kinesis(env, folder, output, parallelism):
    from pyflink.common.serialization import SimpleStringSchema
    from pyflink.datastream.connectors.kinesis import FlinkKinesisConsumer

    properties = {"aws.region": "eu-west-1"}
    source = FlinkKinesisConsumer("clicks", SimpleStringSchema(), properties)
    env.add_source(source).uid("kinesis").map(str, Types.STRING()).print()


def tables(env, folder, output, parallelism):
    queries_of(env, folder, output, parallelism, QUERIES)


def more_tables(env, folder, output, parallelism):
    queries_of(env, folder, output, parallelism, MORE_QUERIES)


def aging_tables(env, folder, output, parallelism):
    """Has rows that are forgotten after a while."""
    names = ("grouped", "top", "last rows", "joined", "left joined")
    queries = {name: QUERIES[name] for name in names}
    queries_of(env, folder, output, parallelism, queries, {"table.exec.state.ttl": "1000 d"})


def queries_of(env, folder, output, parallelism, queries, options=None):
    from pyflink.table import StreamTableEnvironment

    env.set_parallelism(parallelism)
    tables = StreamTableEnvironment.create(env)
    for key, value in (options or {}).items():
        tables.get_config().set(key, value)
    tables.execute_sql(f"""
        CREATE TABLE lines (
            k STRING, t BIGINT, n INT, p AS PROCTIME(), w AS TO_TIMESTAMP_LTZ(t, 3),
            WATERMARK FOR w AS w
        ) WITH (
            'connector' = 'filesystem', 'path' = 'file://{folder}', 'format' = 'csv',
            'source.monitor-interval' = '100ms'
        )""")
    tables.create_temporary_view("typed", tables.sql_query(TYPED))
    for name, query in queries.items():
        results = tables.to_changelog_stream(tables.sql_query(query))
        shown = results.map(lambda row: f"{row.get_row_kind().name} {row}", Types.STRING())
        shown.map(Append(output, name), Types.STRING()).print()


JOBS = {
    f.__name__: f
    for f in (
        states,
        windows,
        types,
        keys,
        functions,
        numbers,
        half_read,
        nameless,
        others,
        clocks,
        file_sink,
        file_sinks,
        kafka,
        old_kafka,
        old_kinesis,
        tables,
        more_tables,
        aging_tables,
        assigners,
    )
}
