"""State of an operator of a stream is not taken for that of another kind of operator."""

from __future__ import annotations

import contextlib
import io
import time
from operator import attrgetter, itemgetter

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import layout_of
from pyflink_on_spark._job.job import install_engine, installed_engine
from pyflink_on_spark._runtime.contract.state_meaning import heirs_of
from pyflink_on_spark.common import Configuration, Duration, Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from pyflink_on_spark.testing import local_engine

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
FLOATS = Types.TUPLE([Types.STRING(), Types.DOUBLE()])
CHANGED = "pyflink-on-spark.changed-state"


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Size(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield len(list(elements))


class Same(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


def added(a, b):
    return a[0], a[1] + b[1]


def of(seconds):
    return TumblingEventTimeWindows.of(Time.seconds(seconds))


def windowed(assigner, trigger=None, function=added):
    def apply(keyed):
        stream = keyed.window(assigner)
        if trigger is not None:
            stream = stream.trigger(trigger)
        if isinstance(function, AggregateFunction):
            return stream.aggregate(function)
        return stream.process(function) if function is not added else stream.reduce(function)

    return apply


class _Recorder:
    """Keeps the job instead of running it."""

    runs_nothing = True

    def submit(self, job):
        self.job = job
        raise _Submitted


class _Submitted(Exception):
    """A job was submitted."""


def meanings(apply, selector=None, key_type=None, elements=PAIR):
    """Return the meaning of the state of a program's operators, by their names."""
    before, recorder = installed_engine(), _Recorder()
    install_engine(recorder)
    try:
        env = StreamExecutionEnvironment.get_execution_environment()
        keyed = env.from_collection([("a", 1.0 if elements is FLOATS else 1)], elements).key_by(
            selector or (lambda value: value[0]), key_type=key_type or Types.STRING()
        )
        apply(keyed).uid("it").print()
        with contextlib.suppress(_Submitted):
            env.execute_async()
        return layout_of(list(recorder.job.operators()), []).meanings
    finally:
        install_engine(before)


SECONDS = Time.seconds(10)
SLIDING = SlidingEventTimeWindows.of(SECONDS, Time.seconds(5))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (windowed(of(10)), windowed(of(20)), "assigner: TumblingEventTimeWindows(20000, 0)"),
        (
            windowed(of(10)), windowed(TumblingEventTimeWindows.of(SECONDS, Time.seconds(1))),
            "TumblingEventTimeWindows(10000, 1000)",
        ),
        (windowed(of(10)), windowed(SLIDING), "SlidingEventTimeWindows(10000, 5000, 0)"),
        (
            windowed(of(10)), windowed(TumblingProcessingTimeWindows.of(SECONDS)),
            "TumblingProcessingTimeWindows",
        ),
        (
            windowed(of(10)), windowed(EventTimeSessionWindows.with_gap(SECONDS)),
            "EventTimeSessionWindows(10000)",
        ),
        (windowed(of(10)), windowed(of(10), CountTrigger.of(3)), "trigger: CountTrigger(3)"),
        (
            windowed(of(10), CountTrigger.of(3)), windowed(of(10), CountTrigger.of(4)),
            "trigger: CountTrigger(4)",
        ),
        (
            windowed(of(10), CountTrigger.of(3)),
            windowed(of(10), PurgingTrigger.of(CountTrigger.of(3))),
            "trigger: PurgingTrigger(CountTrigger(3))",
        ),
        (
            windowed(of(10), ContinuousEventTimeTrigger.of(SECONDS)),
            windowed(of(10), ContinuousEventTimeTrigger.of(Time.seconds(5))),
            "trigger: ContinuousEventTimeTrigger(5000)",
        ),
        (windowed(of(10)), windowed(of(10), function=Total()), "contents: aggregating of"),
        (windowed(of(10)), windowed(of(10), function=Size()), "contents: list of"),
        (lambda keyed: keyed.sum(1), lambda keyed: keyed.max(1), "by: max(1)"),
        (lambda keyed: keyed.sum(1), lambda keyed: keyed.sum(0), "by: sum(0)"),
        (lambda keyed: keyed.sum(1), lambda keyed: keyed.reduce(added), "by: reduce"),
        (lambda keyed: keyed.sum(1), windowed(of(10)), "windows; assigner"),
        (lambda keyed: keyed.process(Same()), lambda keyed: keyed.sum(1), "rolling results"),
        (lambda keyed: keyed.count_window(3).reduce(added),
         lambda keyed: keyed.count_window(4).reduce(added), "CountTumblingWindowAssigner(4)"),
    ],
)  # fmt: skip
def test_another_operator(before, after, told):
    stored, wanted = meanings(before), meanings(after)
    assert heirs_of(list(stored), stored, meanings(before), list(stored)).changed == ()
    found = heirs_of(["it"], stored, wanted, ["it"])
    assert found.changed == ("it",)
    assert found.names == {}
    assert told in str(wanted["it"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"selector": itemgetter(0), "key_type": Types.STRING()},
            {"selector": itemgetter(1), "key_type": Types.STRING()},
        ),
        ({"selector": itemgetter(0)}, {"selector": attrgetter("f0")}),
        ({"key_type": Types.STRING()}, {"key_type": Types.LONG()}),
        ({"key_type": Types.INT()}, {"key_type": Types.LONG()}),
        ({}, {"elements": FLOATS}),
    ],
)
def test_other_keys_and_other_elements(before, after):
    def apply(keyed):
        return keyed.reduce(added)

    stored, wanted = meanings(apply, **before), meanings(apply, **after)
    assert heirs_of(["it"], stored, wanted, ["it"]).changed == ("it",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda keyed: keyed.process(Same()), lambda keyed: keyed.map(str)),
        (lambda keyed: keyed.map(str), lambda keyed: keyed.filter(bool)),
        (windowed(of(10)), windowed(of(10), EventTimeTrigger.create())),
        (
            windowed(of(10)),
            lambda keyed: keyed.window(of(10)).allowed_lateness(5).reduce(lambda a, b: b),
        ),
        (windowed(of(10)), lambda keyed: keyed.window(of(10)).reduce(added, Size())),
    ],
)
def test_what_may_change(before, after):
    stored, wanted = meanings(before), meanings(after)
    assert heirs_of(["it"], stored, wanted, ["it"]).changed == ()


def test_a_key_selector_that_nobody_can_tell_is_not_compared():
    def apply(keyed):
        return keyed.reduce(added)

    known, unknown = meanings(apply, selector=itemgetter(0)), meanings(apply)
    assert heirs_of(["it"], known, unknown, ["it"]).changed == ()
    assert heirs_of(["it"], unknown, known, ["it"]).changed == ()


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 1000


def run(folder, apply, lines, savepoint=None, **options):
    """Stops when so many lines were printed; returns the savepoint and what was printed."""
    configuration = Configuration()
    if savepoint is not None:
        configuration.set_string("execution.state-recovery.path", savepoint)
    for key, value in options.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), str(folder / "in")
    )
    texts = env.from_source(
        source.monitor_continuously(Duration.of_millis(20)).build(),
        WatermarkStrategy.no_watermarks(),
        "lines",
    )
    pairs = texts.map(lambda line: (line[0], int(line[2:])), PAIR)
    timed = pairs.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    )
    timed.map(lambda pair: f"seen {pair}").print()
    apply(timed.key_by(lambda pair: pair[0], key_type=Types.STRING())).uid("it").print()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        client = env.execute_async()
        deadline = time.monotonic() + 20
        while printed.getvalue().count("\n") < lines and time.monotonic() < deadline:
            if client.get_job_status().result().name == "FAILED":
                client.get_job_execution_result().result()
            time.sleep(0.005)
        path = client.stop_with_savepoint(False, str(folder / "savepoints")).result()
    return path, [line for line in printed.getvalue().splitlines() if "seen" not in line]


def test_windows_of_another_size(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1").write_text("a,1\na,2\n")
    with local_engine():
        path, printed = run(tmp_path, windowed(of(10)), 2)
        assert printed == []
        (tmp_path / "in" / "2").write_text("a,25\na,99\n")
        with pytest.raises(CheckpointError) as refused:
            run(tmp_path, windowed(of(20)), 2, path)
        assert (
            str(refused.value)
            .splitlines()[0]
            .endswith("has state of 'it' that means something else in this job.")
        )
        assert str(refused.value).splitlines()[1:3] == [
            f"  {where}: windows; assigner: TumblingEventTimeWindows({size}, 0); trigger: "
            "EventTimeTrigger(); contents: reducing of TupleTypeInfo(String, Long); key type: "
            "String"
            for where, size in (("There", 10_000), ("Here", 20_000))
        ]
        assert run(tmp_path, windowed(of(10)), 4, path)[1] == ["(a,3)", "(a,25)"]
        assert run(tmp_path, windowed(of(20)), 3, path, **{CHANGED: "drop"})[1] == ["(a,25)"]
        taken = run(tmp_path, windowed(of(20)), 4, path, **{CHANGED: "take"})[1]
        assert taken == ["(a,3)", "(a,25)"]
