"""Jobs in this process: threads, laziness, cancelling, failures, time, commits."""

from __future__ import annotations

import threading
import time
import traceback

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark._job.job import installed_engine
from pyflink_on_spark._runtime.bundle import Bundle
from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark.common import Configuration, Encoder, JobStatus, Types
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import (
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    RollingPolicy,
)
from pyflink_on_spark.datastream.functions import KeyedProcessFunction, MapFunction
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.extensions import CheckpointListener
from pyflink_on_spark.testing import ManualClock, local_engine
from pyflink_on_spark.testing.same_process import SameProcess


class Log(SameProcess):
    """What functions in the job and the test both see."""

    def __init__(self):
        super().__init__()
        self.items = []

    def add(self, item):
        self.items.append(item)
        return item


class Endless(Source):
    """Numbers for ever; or only the first few, and then nothing new."""

    bounded = False
    parallel = False

    def __init__(self, available=None, bundle=10):
        self.available, self.bundle = available, bundle

    def splits(self, parallelism):
        return [None]

    def reader(self, splits, restored, context):
        reader = EndlessReader(self.available, self.bundle)
        reader.next = restored[0] if restored else 0
        return reader


class LookedAfter(Endless):
    """Something in the driver that brings the elements fails."""

    def between_epochs(self, oldest_checkpoint):
        raise ConnectionError("the query has ended")


class EndlessReader(SourceReader):
    def __init__(self, available, bundle):
        self.available, self.bundle, self.next = available, bundle, 0

    def poll(self):
        if self.next == self.available:
            return None
        values = list(range(self.next, self.next + self.bundle))
        self.next += self.bundle
        return Bundle(values)

    def snapshot(self):
        return [self.next]


@pytest.fixture
def clock():
    return ManualClock(1_000)


@pytest.fixture
def engine(clock):
    with local_engine(clock) as engine:
        yield engine


@pytest.fixture
def env(engine):
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    return environment


def test_the_engine_before_comes_back():
    before = installed_engine()
    with local_engine() as outer:
        assert installed_engine() is outer
        with local_engine() as inner:
            assert installed_engine() is inner
        assert installed_engine() is outer
    assert installed_engine() is before


def test_the_engine_before_comes_back_after_an_error():
    before = installed_engine()
    with pytest.raises(ZeroDivisionError), local_engine():
        _ = 1 // 0
    assert installed_engine() is before


def test_execute_runs_in_the_calling_thread(env):
    log = Log()
    env.from_collection([1]).map(lambda v: log.add(threading.current_thread()) and v)
    env.execute()
    assert log.items == [threading.current_thread()]


def test_execute_async_does_not(env):
    log = Log()
    env.from_collection([1]).map(lambda v: log.add(threading.current_thread()) and v)
    env.execute_async().get_job_execution_result().result()
    assert len(log.items) == 1
    assert log.items != [threading.current_thread()]


def test_collecting_goes_only_as_far_as_it_is_asked(env):
    log = Log()
    stream = env._from_runtime_source(Endless(), "endless", None).map(log.add)
    with stream.execute_and_collect() as results:
        assert log.items == []
        assert next(results) == 0
        ahead = len(log.items)
        assert [next(results) for _ in range(1, ahead)] == list(range(1, ahead))
        assert len(log.items) == ahead
        assert next(results) == ahead
        assert len(log.items) > ahead
    with pytest.raises(StopIteration):
        next(results)


def test_a_limit_ends_an_endless_job(env):
    stream = env._from_runtime_source(Endless(), "endless", None).rebalance().map(lambda v: -v)
    assert stream.set_parallelism(2).execute_and_collect(limit=15) != []


def test_what_fails_in_the_driver_between_two_turns_ends_the_job(engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    env._from_runtime_source(LookedAfter(), "looked after", None).map(str).print()
    with pytest.raises(Exception, match="the query has ended"):
        env.execute()


def test_an_endless_source_that_pauses_hands_everything_on(env):
    stream = env._from_runtime_source(Endless(available=30), "endless", None)
    doubled = stream.rebalance().map(lambda v: v).set_parallelism(2)
    assert sorted(doubled.execute_and_collect(limit=30)) == list(range(30))


def test_cancelling_does_not_wait_for_the_end_of_a_bundle(env):
    log, begun, go_on = Log(), Event(), Event()

    def slow(value):
        log.add(value)
        begun.set()
        go_on.wait()

    env.from_collection(list(range(1_000))).map(slow)
    client = env.execute_async()
    begun.wait()
    assert client.get_job_status().result() == JobStatus.RUNNING
    cancelled = client.cancel()
    (job,) = installed_engine()._jobs
    job._cancellation.wait(10)
    go_on.set()
    cancelled.result()
    assert client.get_job_status().result() == JobStatus.CANCELED
    assert log.items == [0]
    with pytest.raises(JobCancelledError, match="Job was cancelled"):
        client.get_job_execution_result().result()


class Event(SameProcess):
    def __init__(self):
        super().__init__()
        self.event = threading.Event()

    def set(self):
        self.event.set()

    def wait(self):
        assert self.event.wait(10)


def test_jobs_end_with_the_engine():
    with local_engine():
        env = StreamExecutionEnvironment.get_execution_environment()
        env._from_runtime_source(Endless(available=0), "endless", None).map(lambda v: v)
        client = env.execute_async()
    assert client.get_job_status().result() == JobStatus.CANCELED


class CustomError(Exception):
    pass


def broken(value):
    raise CustomError(f"no {value}")


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_failure_is_told_as_on_spark_and_its_cause_is_the_user_s_own(env, parallelism):
    env.from_collection([1]).rebalance().map(broken).set_parallelism(parallelism)
    with pytest.raises(JobExecutionError, match=r"^Traceback[^$]*CustomError: no 1") as caught:
        env.execute()
    cause = caught.value.__cause__
    assert isinstance(cause, CustomError)
    assert traceback.extract_tb(cause.__traceback__)[-1].name == "broken"
    assert "in operator 'Map', added at" in str(caught.value)


def test_what_was_collected_before_a_failure_comes_first(env):
    with env.from_collection([1, 0]).map(lambda v: 1 // v).execute_and_collect() as results:
        assert next(results) == 1
        with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
            next(results)


class Reminder(KeyedProcessFunction):
    def __init__(self, log):
        self.log = log

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(5_000)
        return []

    def on_timer(self, timestamp, ctx):
        self.log.add((ctx.get_current_key(), ctx.timer_service().current_processing_time()))
        return []


@pytest.mark.parametrize("parallelism", [1, 2])
def test_timers_follow_the_clock_of_the_test(env, engine, clock, parallelism):
    log = Log()
    env.set_parallelism(parallelism)
    source = env._from_runtime_source(Endless(available=2, bundle=1), "endless", None)
    source.key_by(lambda v: v).process(Reminder(log))
    client = env.execute_async()
    engine.wait_until_idle()
    clock.set(5_000)
    engine.wait_until_idle()
    assert log.items == []
    clock.advance(1)
    engine.wait_until_idle()
    assert sorted(log.items) == [(0, 5_001), (1, 5_001)]
    client.cancel().result()


def test_a_function_can_move_the_clock(env, clock):
    stream = env.from_collection([1, 2]).map(lambda v: clock.advance(10) or clock.now())
    assert list(stream.execute_and_collect()) == [1_010, 1_020]
    assert clock.now() == 1_020


def test_elements_of_a_chain_are_copies_where_they_are_on_spark(env):
    log = Log()

    def grow(value):
        value.append("map")
        return value

    start = env.from_collection([["a"]])
    start.map(grow, Types.PICKLED_BYTE_ARRAY()).map(log.add)
    start.map(log.add)
    env.execute()
    assert sorted(log.items) == [["a"], ["a", "map"]]


def finished(folder):
    return [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")]


def file_sink(folder):
    return FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build()


def test_files_are_committed_at_the_end(env, tmp_path):
    env.from_collection(["a", "b"], Types.STRING()).sink_to(file_sink(tmp_path))
    env.execute()
    assert [path.read_text() for path in finished(tmp_path)] == ["a\nb\n"]


def test_a_failed_job_leaves_nothing_behind(env, tmp_path):
    env.from_collection(["a"], Types.STRING()).sink_to(file_sink(tmp_path))
    late = env.from_collection(list(range(10_000)))
    late.map(lambda v: 1 // (9_999 - v))
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        env.execute()
    assert finished(tmp_path) == []
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_checkpoint_commits_files_of_an_endless_job(engine, clock, tmp_path):
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "60 s")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    source = env._from_runtime_source(Endless(available=2, bundle=1), "endless", None)
    source.map(str, Types.STRING()).sink_to(file_sink(tmp_path))
    client = env.execute_async()
    engine.wait_until_idle()
    assert finished(tmp_path) == []
    clock.advance(60_000)
    engine.wait_until_idle()
    assert [path.read_text() for path in finished(tmp_path)] == ["0\n1\n"]
    client.cancel().result()


def test_a_job_that_has_ended_has_no_savepoint(env):
    env.from_collection([1]).map(lambda v: v)
    client = env.execute_async()
    client.get_job_execution_result().result()
    with pytest.raises(CheckpointError, match="the job is FINISHED: it has no state to save"):
        client.trigger_savepoint("/nowhere").result()


def test_a_batch_job_has_no_savepoint(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_collection([1]).map(lambda v: v)
    client = env.execute_async()
    with pytest.raises(NotImplementedError, match="a job with BATCH semantics has no checkpoints"):
        client.trigger_savepoint("/nowhere").result()
    with pytest.raises(NotImplementedError, match="a job with BATCH semantics has no checkpoints"):
        client.stop_with_savepoint(False, "/nowhere").result()


def test_a_job_continues_from_a_savepoint(env, tmp_path):
    def started(available):
        log = Log()
        source = Endless(available)
        env._from_runtime_source(source, "endless", None).uid("numbers").map(log.add)
        return env.execute_async(), log

    def wait_for(log, count):
        while len(log.items) < count:
            time.sleep(0.001)

    client, log = started(20)
    wait_for(log, 20)
    savepoint = client.stop_with_savepoint(False, str(tmp_path)).result()
    client.get_job_execution_result().result()
    env._configuration.set_string("execution.state-recovery.path", savepoint)
    client, log = started(30)
    wait_for(log, 10)
    client.cancel().result()
    assert log.items == list(range(20, 30))


def test_a_clock_does_not_go_back(clock):
    with pytest.raises(ValueError, match="cannot go back"):
        clock.set(999)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


def with_checkpoints():
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "60 s")
    configuration.set_string("pyflink-on-spark.checkpoint-elements", "2")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


class Listens(MapFunction, CheckpointListener):
    """Notes what it sees and hears, and how many elements this instance has had."""

    def __init__(self, log):
        self.log, self.count = log, 0

    def map(self, value):
        self.count += 1
        return self.log.add((value, self.count))

    def notify_checkpoint_complete(self, checkpoint_id):
        self.log.add(checkpoint_id)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [(0, 1), (1, 2), 1, (2, 3), (3, 4), 2, (4, 5), 3]),
        (
            {"checkpoint_each_turn": True, "restart_each_checkpoint": True},
            [(0, 1), (1, 2), 1, (2, 1), (3, 2), 2, (4, 1), 3],
        ),
    ],
)
def test_where_a_job_is_cut(clock, settings, expected):
    log = Log()
    with local_engine(clock, **settings):
        env = with_checkpoints()
        env.from_collection(list(range(5))).map(Listens(log))
        env.execute()
    assert log.items == expected


class FailsOnce(MapFunction):
    """Counts elements in keyed state; the first attempt fails at an element."""

    def __init__(self, at):
        self.at = at

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        if self.attempt == 0 and value == self.at:
            raise ValueError("the first attempt")
        self.count.update((self.count.value() or 0) + 1)
        return f"{self.attempt}: {value} is {self.count.value()}"


def test_a_restart_continues_from_the_latest_checkpoint(tmp_path):
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    with local_engine(checkpoint_each_turn=True):
        env = with_checkpoints()
        env.configure(configuration)
        keyed = env.from_collection(list(range(6)), Types.INT()).key_by(lambda _: "all")
        keyed.map(FailsOnce(at=3), Types.STRING()).sink_to(sink)
        env.execute()
    lines = [line for path in finished(tmp_path) for line in path.read_text().splitlines()]
    assert sorted(lines) == [
        *("0: 0 is 1", "0: 1 is 2"),
        *("1: 2 is 3", "1: 3 is 4", "1: 4 is 5", "1: 5 is 6"),
    ]


def test_a_job_that_collects_tells_of_both_the_failure_and_the_restart():
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    with local_engine():
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        keyed = env.from_collection([3], Types.INT()).key_by(lambda v: v)
        with pytest.raises(JobExecutionError) as raised:
            list(keyed.map(FailsOnce(at=3)).execute_and_collect())
    assert "ValueError: the first attempt" in str(raised.value)
    assert "Job restarted" in str(raised.value)
    assert type(raised.value.__cause__) is ValueError


def test_a_job_restarts_only_if_its_configuration_says_so():
    with local_engine(checkpoint_each_turn=True):
        env = with_checkpoints()
        env.from_collection([3], Types.INT()).key_by(lambda v: v).map(FailsOnce(at=3))
        with pytest.raises(JobExecutionError, match="the first attempt"):
            env.execute()


def test_files_wait_for_as_many_checkpoints_as_on_spark(tmp_path):
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    sink = sink.enable_compact(strategy, FileCompactor.concat_file_compactor())
    with local_engine(checkpoint_each_turn=True):
        env = with_checkpoints()
        lines = env.from_collection([f"{number}" for number in range(9)], Types.STRING())
        lines.sink_to(sink.build())
        env.execute()
    texts = sorted(path.read_text() for path in finished(tmp_path))
    assert texts == ["0\n1\n2\n3\n4\n5\n", "6\n7\n8\n"]
    assert [p for p in tmp_path.rglob(".*") if p.is_file()] == []
