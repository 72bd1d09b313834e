"""Starting, awaiting and ending jobs on Spark."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time

import pytest
from pyspark.sql import SparkSession

from pyflink_on_spark._compat.errors import JobCancelledError, JobExecutionError
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._job.job import current_engine
from pyflink_on_spark._spark.hosts.streaming_job import StreamingJob
from pyflink_on_spark.common import Configuration, Encoder, JobStatus, Types
from pyflink_on_spark.datastream import (
    ReduceFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.connectors.file_system import FileSink

MODES = [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH]


def slow_numbers(env):
    return env.from_collection(range(2000)).map(lambda n: time.sleep(0.05) or n)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("delay", [0, 0.3, 1.5])
def test_cancelling_at_any_time(env, mode, delay):
    env.set_parallelism(2)
    env.set_runtime_mode(mode)
    slow_numbers(env).key_by(lambda n: n % 2).reduce(lambda a, b: a + b).print()
    client = env.execute_async()
    time.sleep(delay)
    begun = time.monotonic()
    client.cancel().result()
    assert time.monotonic() - begun < 20
    assert client.get_job_status().result() is JobStatus.CANCELED
    with pytest.raises(JobCancelledError, match="Job was cancelled"):
        client.get_job_execution_result().result()


@pytest.mark.parametrize("mode", MODES)
def test_files_are_there_when_a_job_has_ended(env, mode, tmp_path):
    env.set_parallelism(2)
    env.set_runtime_mode(mode)
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    counted = env.from_collection([n % 3 for n in range(30)], Types.INT()).key_by(lambda n: n)
    counted.map(lambda n: f"{n}", Types.STRING()).sink_to(sink)
    env.execute()
    parts = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(part.name.startswith("part-") for part in parts)
    lines = [line for part in parts for line in part.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{n % 3}" for n in range(30))


@pytest.mark.parametrize("mode", MODES)
def test_a_worker_keeps_nothing_of_a_job(env, spark, mode):
    class OfOneJob(ReduceFunction):
        def reduce(self, first, second):
            return first + second

    def kept(_):
        gc.unfreeze()
        yield [name for each in gc.get_objects() if (name := type(each).__name__) == "OfOneJob"]
        gc.freeze()

    env.set_runtime_mode(mode)
    for _ in range(3):
        env.from_collection(range(100)).key_by(lambda n: n % 2).reduce(OfOneJob()).print()
        env.execute()
    workers = spark.sparkContext.parallelize(range(12), 12).mapPartitions(kept)
    assert workers.collect() == [[]] * 12


@pytest.mark.parametrize("mode", MODES)
def test_a_commit_that_takes_too_long_ends_the_job_without_a_restart(
    env, mode, tmp_path, monkeypatch
):
    released, done, calls = threading.Event(), threading.Event(), []
    commit = PartFileSink.commit

    def stalls(self, committables):
        calls.append(len(committables))
        released.wait()
        commit(self, committables)
        done.set()

    monkeypatch.setattr(PartFileSink, "commit", stalls)
    env.set_runtime_mode(mode)
    options = {
        "pyflink-on-spark.commit-timeout": "100 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    if mode is RuntimeExecutionMode.STREAMING:  # without checkpoints it does not restart
        options["execution.checkpointing.interval"] = "1 h"
    env.configure(Configuration.from_dict(options))
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match=r"waited 0\.1 s for the sink PartFileSink"):
        env.execute()
    assert calls == [1]
    released.set()
    assert done.wait(30)
    [part] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert part.name.startswith("part-")
    assert part.read_text() == "a\nb\n"


def test_cancelling_a_job_that_is_over(env):
    env.from_collection([1]).print()
    client = env.execute_async()
    client.get_job_execution_result().result()
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.FINISHED


def test_two_jobs_at_once(spark, capfd):
    clients = []
    for name in ("a", "b"):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        stream = env.from_collection([1, 2, 3]).map(lambda n: time.sleep(0.2) or n, Types.INT())
        stream.print(name)
        clients.append(env.execute_async(name))
    for client in clients:
        client.get_job_execution_result().result()
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == [f"{name}> {n}" for name in "ab" for n in (1, 2, 3)]
    assert clients[0].get_job_id() != clients[1].get_job_id()


def test_executing_in_a_thread(env):
    found = []

    def run():
        with env.from_collection([1, 2]).execute_and_collect() as results:
            found.extend(results)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [1, 2]


@pytest.mark.parametrize("seen", [0, 1])
def test_closing_what_is_collected_ends_the_job_at_once(env, seen, capfd):
    results = slow_numbers(env).execute_and_collect()
    for _ in range(seen):
        next(results)
    begun = time.monotonic()
    results.close()
    assert time.monotonic() - begun < 20
    assert list(results) == []
    assert not open_channels()
    assert "Exception" not in capfd.readouterr().err


def test_what_is_collected_is_released(env):
    with env.from_collection([1]).execute_and_collect() as results:
        assert list(results) == [1]
    assert not open_channels()


def open_channels():
    engine = current_engine()
    return [name for server in engine._servers.values() for name in server._channels]


def test_elements_come_while_the_job_runs(env, tmp_path):
    resumed = tmp_path / "resume"

    def wait(n, file=str(resumed)):
        while n == 2 and not os.path.exists(file):
            time.sleep(0.01)
        return n

    with env.from_collection([1, 2]).map(wait).execute_and_collect() as results:
        assert next(results) == 1
        resumed.touch()
        assert list(results) == [2]


def test_ctrl_c_cancels_the_job(env, tmp_path, monkeypatch):
    """Spark would put a handler of its own in the place of Python's, and end its jobs first."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    jobs = []
    start = StreamingJob.start
    monkeypatch.setattr(StreamingJob, "start", lambda job: (jobs.append(job), start(job)))
    begun = tmp_path / "begun"
    slow_numbers(env).map(lambda n: begun.touch()).print()

    def press():
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    presses = threading.Thread(target=press, daemon=True)
    presses.start()
    with pytest.raises(KeyboardInterrupt):
        env.execute()
    presses.join()
    assert jobs[0].status() is JobStatus.CANCELED


def queries():
    """The queries of the session that jobs get; other tests may have made another one active."""
    return SparkSession.active().streams.active


def test_spark_lists_a_job_with_checkpoints_and_can_stop_it(env):
    options = {"execution.checkpointing.interval": "1 h", "restart-strategy.type": "none"}
    env.configure(Configuration.from_dict(options))
    stream = env.from_collection(range(10_000)).map(lambda n: time.sleep(0.01) or n, Types.INT())
    stream.filter(lambda n: n < 0).print()
    client = env.execute_async("listed")
    while not (listed := [q for q in queries() if q.name.startswith("listed #")]):
        assert not client.get_job_status().result().is_globally_terminal_state()
        time.sleep(0.02)
    listed[0].stop()
    with pytest.raises(JobExecutionError, match="Spark has stopped the job's query"):
        client.get_job_execution_result().result()
