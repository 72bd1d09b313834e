"""Jobs in this process: threads, laziness, cancelling, failures, time, commits."""

from __future__ import annotations

import gc
import threading
import time
import traceback

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark._job.job import installed_engine
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle
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
from pyflink_on_spark.testing.local_engine import SameProcess


class Log(SameProcess):
    """A list that the functions of the job and the test share."""

    def __init__(self):
        super().__init__()
        self.items = []

    def add(self, item):
        self.items.append(item)
        return item


class Endless(Source):
    """Numbers without end; or only the first few, and then nothing new."""

    bounded = False
    parallel = False

    def __init__(self, available=None, bundle=10):
        self.available, self.bundle = available, bundle

    def splits(self, parallelism):
        return [None]

    def reader(self, splits, restored, context):
        return EndlessReader(self.available, self.bundle)


class LookedAfter(Endless):
    """Something in the driver that brings the elements fails."""

    def maintain(self, oldest_checkpoint):
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
        ahead = len(log.items)  # as far as a turn goes
        assert [next(results) for _ in range(ahead - 1)] == list(range(1, ahead))
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
    log, begun, resumed = Log(), Event(), Event()

    def slow(value):
        log.add(value)
        begun.set()
        resumed.wait()

    env.from_collection(list(range(1_000))).map(slow)
    client = env.execute_async()
    begun.wait()
    assert client.get_job_status().result() == JobStatus.RUNNING
    cancelled = client.cancel()
    (job,) = installed_engine()._jobs
    job._cancellation.wait(10)
    resumed.set()
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


def test_a_failed_job_leaves_nothing(env, tmp_path):
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


def endless_counts(log, path=None):
    configuration = Configuration()
    if path is not None:
        configuration.set_string("execution.state-recovery.path", path)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    stream = env._from_runtime_source(Endless(available=3, bundle=1), "endless", None)
    stream.key_by(lambda v: "all").process(Counts(log)).uid("counts")
    return env


class Counts(KeyedProcessFunction):
    def __init__(self, log):
        self.log = log

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.log.add(self.count.value())
        return []


@pytest.mark.parametrize("stop", [False, True])
def test_a_job_begins_with_a_savepoint(engine, tmp_path, stop):
    log, directory = Log(), str(tmp_path)
    client = endless_counts(log).execute_async()
    engine.wait_until_idle()
    if stop:
        path = client.stop_with_savepoint(False, directory).result()
        assert client.get_job_status().result() == JobStatus.FINISHED
    else:
        path = client.trigger_savepoint(directory).result()
        assert client.get_job_status().result() == JobStatus.RUNNING
        client.cancel().result()
    endless_counts(log, path).execute_async()
    engine.wait_until_idle()
    assert log.items == [1, 2, 3, 4, 5, 6]


def test_a_job_that_has_ended_has_no_state_to_save(env, tmp_path):
    env.from_collection([1]).map(lambda v: v)
    client = env.execute_async()
    client.get_job_execution_result().result()
    with pytest.raises(CheckpointError, match="the job is FINISHED: it has no state to save"):
        client.trigger_savepoint(str(tmp_path)).result()


def test_a_batch_job_has_no_savepoint(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_collection([1]).map(lambda v: v)
    client = env.execute_async()
    with pytest.raises(NotImplementedError, match="a job with BATCH semantics has no checkpoints"):
        client.trigger_savepoint("/nowhere").result()
    with pytest.raises(NotImplementedError, match="a job with BATCH semantics has no checkpoints"):
        client.stop_with_savepoint(False, "/nowhere").result()


def test_a_savepoint_that_cannot_be_written_does_not_end_the_job(engine, tmp_path):
    (tmp_path / "file").touch()
    log = Log()
    client = endless_counts(log).execute_async()
    with pytest.raises(CheckpointError, match="cannot write"):
        client.trigger_savepoint(str(tmp_path / "file")).result()
    assert client.get_job_status().result() == JobStatus.RUNNING
    client.cancel().result()


def test_a_job_that_waits_for_its_restart_has_no_savepoint(engine, tmp_path):
    delay = {"restart-strategy.fixed-delay.delay": "1 h"}
    env = with_checkpoints(**{"restart-strategy.type": "fixed-delay"} | delay)
    log = Log()
    env.from_collection(list(range(5))).map(FailsOnce(log))
    client = env.execute_async()
    while client.get_job_status().result() != JobStatus.RESTARTING:
        time.sleep(0.01)
    with pytest.raises(
        CheckpointError, match=r"is RESTARTING, because of .*: once: until it begins"
    ):
        client.trigger_savepoint(str(tmp_path)).result()
    client.cancel().result()
    assert client.get_job_status().result() == JobStatus.CANCELED


@pytest.mark.parametrize("settings", [{}, {"checkpoint_each_turn": True}])
def test_a_job_that_fails_begins_again(clock, settings):
    log = Log()
    with local_engine(clock, **settings):
        env = with_checkpoints(**{"restart-strategy.type": "fixed-delay"})
        env.from_collection(list(range(5))).map(FailsOnce(log))
        env.execute()
    assert log.items.count("failed") == 1
    assert [item for item in log.items if item != "failed"][-1] == 4
    assert set(log.items) == {0, 1, 2, 3, 4, "failed"}


class FailsOnce(MapFunction):
    def __init__(self, log):
        self.log = log

    def map(self, value):
        if value == 3 and "failed" not in self.log.items:
            self.log.add("failed")
            raise CustomError("once")
        return self.log.add(value)


def test_a_clock_does_not_go_back(clock):
    with pytest.raises(ValueError, match="cannot go back"):
        clock.set(999)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


def with_checkpoints(**more):
    configuration = Configuration()
    for key, value in {"restart-strategy.fixed-delay.delay": "0 s", **more}.items():
        configuration.set_string(key, value)
    configuration.set_string("execution.checkpointing.interval", "60 s")
    configuration.set_string("pyflink-on-spark.checkpoint-elements", "2")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


class Listens(MapFunction, CheckpointListener):
    """Notes what it sees and its notifications, and how many elements this instance has had."""

    def __init__(self, log):
        self.log, self.count = log, 0

    def map(self, value):
        self.count += 1
        return self.log.add((value, self.count))

    def notify_checkpoint_complete(self, checkpoint_id):
        self.log.add(checkpoint_id)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("each_turn", [False, True])
def test_where_a_job_is_cut(clock, each_turn, restarted):
    log = Log()
    with local_engine(
        clock, checkpoint_each_turn=each_turn, restart_each_checkpoint=restarted
    ) as engine:
        env = with_checkpoints()
        env.from_collection(list(range(5))).map(Listens(log))
        env.execute()
        assert engine.clock.now() == clock.now() == 1_000
    pieces = [[]]
    for item in log.items:
        if isinstance(item, int):
            assert item == len(pieces)  # the number of the checkpoint
            pieces.append([])
        else:
            pieces[-1].append(item)
    assert pieces.pop() == []
    assert [value for piece in pieces for value, _ in piece] == list(range(5))
    assert max(map(len, pieces)) <= 2
    counts = [[count for _, count in piece] for piece in pieces]
    if restarted:
        assert all(piece == list(range(1, len(piece) + 1)) for piece in counts)
    else:
        assert [count for piece in counts for count in piece] == [1, 2, 3, 4, 5]


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
    assert len(texts) == 2
    assert "".join(texts).split() == [f"{number}" for number in range(9)]
    assert [p for p in tmp_path.rglob(".*") if p.is_file()] == []


def test_searches_for_cycles_are_rare_while_the_engine_is_installed():
    before = gc.get_threshold()
    with local_engine():
        assert gc.get_threshold()[0] == 50_000
    assert gc.get_threshold() == before
