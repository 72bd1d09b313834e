"""Python sources and sinks in whole jobs."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Time, Types, WatermarkStrategy
from pyflink_on_spark.datastream import (
    ProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.state import ListStateDescriptor
from pyflink_on_spark.datastream.window import TumblingEventTimeWindows
from pyflink_on_spark.extensions import (
    CheckpointedFunction,
    ListCheckpointed,
    ParallelSourceFunction,
    RichSinkFunction,
    RichSourceFunction,
    SinkContext,
    SinkFunction,
    SourceContext,
    SourceFunction,
    add_sink,
    add_source,
)

WRITTEN = []


@pytest.fixture
def env(local_engine):
    WRITTEN.clear()
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(2)
    return environment


class Numbers(RichSourceFunction):
    def __init__(self, end=5):
        self.end = end

    def open(self, runtime_context):
        self.opened = runtime_context.get_number_of_parallel_subtasks()

    def run(self, ctx):
        assert isinstance(ctx, SourceContext)
        assert self.opened == 1
        for number in range(self.end):
            ctx.collect(number)

    def cancel(self):
        raise AssertionError


class Timed(SourceFunction):
    """Elements with timestamps, and watermarks."""

    def run(self, ctx):
        for time in (1, 4, 12):
            ctx.collect_with_timestamp(time, time)
        ctx.emit_watermark(15)
        ctx.collect_with_timestamp(3, 3)
        ctx.collect_with_timestamp(20, 20)

    def cancel(self):
        pass


def test_a_source_has_one_instance(env):
    stream = add_source(env, Numbers(), "numbers", Types.INT(), bounded=True)
    assert stream.get_name() == "numbers"
    assert stream.get_type() == Types.INT()
    assert sorted(stream.map(lambda number: number * 10).execute_and_collect()) == [
        0, 10, 20, 30, 40,
    ]  # fmt: skip


def test_a_parallel_source_has_many(env):
    class Shares(ParallelSourceFunction):
        def open(self, runtime_context):
            self.numbers = range(runtime_context.get_index_of_this_subtask(), 9, 2)

        def run(self, ctx):
            for number in self.numbers:
                ctx.collect(number)

        def cancel(self):
            pass

    stream = add_source(env, Shares(), bounded=True)
    assert sorted(stream.execute_and_collect()) == list(range(9))


def windowed(stream):
    return (
        stream.key_by(lambda time: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda first, second: first + second)
    )


def test_its_watermarks_fire_windows_and_make_elements_late(env):
    assert list(windowed(add_source(env, Timed(), bounded=True)).execute_and_collect()) == [
        5, 12, 20,
    ]  # fmt: skip


def test_batch_mode_knows_no_late_elements(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    found = list(windowed(add_source(env, Timed(), bounded=True)).execute_and_collect())
    assert found == [8, 12, 20]


def test_batch_mode_needs_a_source_that_ends(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    add_source(env, Numbers()).print()
    with pytest.raises(ValueError, match="BATCH mode needs sources that end"):
        env.execute()


def test_declared_types_apply_behind_the_source(env):
    stream = add_source(env, Numbers(1), "numbers", Types.BYTE(), bounded=True)
    assert list(stream.execute_and_collect()) == [0]
    wrong = add_source(env, Numbers(1), "numbers", Types.STRING(), bounded=True)
    wrong.map(lambda value: value).print()
    with pytest.raises(RuntimeError, match=r"int.*encode"):
        env.execute()


def test_a_failure_begins_with_the_users_lines(env):
    class Failing(Numbers):
        def run(self, ctx):
            super().run(ctx)
            raise ValueError("the well is dry")

    add_source(env, Failing(), "well", bounded=True).print()
    with pytest.raises(RuntimeError) as failure:
        env.execute()
    text = str(failure.value)
    assert text.startswith("Traceback")
    assert 'raise ValueError("the well is dry")' in text
    assert "_runtime" not in text
    assert "well" in text.splitlines()[-1]


def test_what_the_environment_refuses(env):
    with pytest.raises(TypeError, match="is not a source"):
        env.add_source(Numbers())
    with pytest.raises(TypeError, match="is not a source"):
        env.from_source(Numbers(), WatermarkStrategy.no_watermarks(), "numbers")
    with pytest.raises(TypeError, match="is not a sink"):
        env.from_collection([1]).add_sink(Recording())
    with pytest.raises(TypeError, match="add_source needs a SourceFunction"):
        add_source(env, lambda ctx: None)
    with pytest.raises(TypeError, match="add_sink needs a SinkFunction"):
        add_sink(env.from_collection([1]), print)


def test_what_is_incomplete():
    class Endless(SourceFunction):
        def run(self, ctx):
            pass

    with pytest.raises(TypeError, match="cancel"):
        Endless()


class Recording(RichSinkFunction):
    def open(self, runtime_context):
        WRITTEN.append("open")

    def invoke(self, value, context):
        assert isinstance(context, SinkContext)
        WRITTEN.append((value, context.timestamp(), context.current_watermark()))

    def finish(self):
        WRITTEN.append("finish")

    def close(self):
        WRITTEN.append("close")


def test_a_sink(env):
    env.set_parallelism(1)
    sink = add_sink(add_source(env, Timed(), bounded=True), Recording(), "recording")
    sink.name("recorded").set_parallelism(1)
    assert '"Sink: recorded"' in env.get_execution_plan()
    env.execute()
    start = -(2**63)
    assert WRITTEN == [  # noqa: SIM300
        "open", (1, 1, start), (4, 4, start), (12, 12, start), (3, 3, 15), (20, 20, 15),
        "finish", "close",
    ]  # fmt: skip


def test_a_sink_on_a_keyed_stream(env):
    stream = env.from_collection(["a", "b", "a"]).key_by(lambda letter: letter)
    add_sink(stream, Recording()).set_parallelism(1)
    env.execute()
    assert sorted(element[0] for element in WRITTEN[1:-2]) == ["a", "a", "b"]


def test_a_sink_that_fails(env):
    class Full(SinkFunction):
        def invoke(self, value, context):
            raise OSError("no space left")

    add_sink(env.from_collection(["a"]), Full(), "disk")
    with pytest.raises(RuntimeError, match=r"(?s)no space left.*in operator 'disk'.*worked on 'a'"):
        env.execute()


class Counting(SourceFunction, ListCheckpointed):
    """Counts on after a restart."""

    def __init__(self, end):
        self.offset, self.end, self.running = 0, end, True

    def run(self, ctx):
        while self.running and self.offset < self.end:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.offset)
                self.offset += 1

    def cancel(self):
        self.running = False

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.offset]

    def restore_state(self, state):
        [self.offset] = state


class Gathering(ProcessFunction, CheckpointedFunction):
    def __init__(self):
        self.seen = []

    def initialize_state(self, context):
        descriptor = ListStateDescriptor("seen", Types.INT())
        self.state = context.get_operator_state_store().get_list_state(descriptor)
        self.seen += self.state

    def snapshot_state(self, context):
        self.state.update(self.seen)

    def process_element(self, value, ctx):
        self.seen.append(value)
        yield len(self.seen)


@pytest.mark.parametrize("restarts", [0, 1, 4])
def test_exactly_once_from_a_source_to_a_function(restarts):
    from pyflink_on_spark._connectors.functions import FunctionSource
    from pyflink_on_spark._runtime.user_code import UserFunction
    from tests.runtime.rounds import RunningJob, job_of

    def job():
        source = FunctionSource(UserFunction.of(Counting(20_000)), bounded=True, parallel=False)
        return job_of(lambda stream: stream.process(Gathering()), source)

    running = RunningJob(job())
    for checkpoint in range(1, restarts + 1):
        running.round()
        running = RunningJob(job(), running.save(checkpoint), running.collected)
    while running.round():
        pass
    running.close()
    assert running.collected == list(range(1, 20_001))
