"""Checkpoints, restarts, savepoints."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark.common import Configuration, JobStatus, Types, WatermarkStrategy
from pyflink_on_spark.common.serialization import Encoder
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.extensions import job_progress, on_progress

KEYS = 7


def environment(folder, parallelism=2, **settings):
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "200 ms")
    configuration.set_string("execution.checkpointing.dir", (folder / "checkpoints").as_uri())
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "3")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    for key, value in settings.items():
        configuration.set_string(key.replace("__", "-").replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env


class CountPerKey(MapFunction):
    """Emits the key and how many elements it has had."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value % KEYS},{value},{count}"


class Slow(MapFunction):
    """Notes the process that it runs in; takes its time until it is released."""

    def __init__(self, folder):
        self.folder = str(folder)

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()
        Path(self.folder, f"{self.attempt}-{os.getpid()}").touch()
        self.free = Path(self.folder, "free")

    def map(self, value):
        if not self.free.exists():
            time.sleep(0.002)
        return value


def let_go(folder):
    Path(folder, "notes", "free").touch()


def numbers(env, count):
    source = NumberSequenceSource(1, count)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")


def count_job(env, folder, count, function=None, rolls=False):
    """Defines a job that counts numbers by key; its files roll at checkpoints if asked for."""
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    stream = numbers(env, count).map(function or Slow(notes)).uid("slow")
    counted = stream.key_by(lambda v: v % KEYS).map(CountPerKey(), Types.STRING()).uid("count")
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder())
    if rolls:
        sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    counted.sink_to(sink.build()).uid("sink")
    return env


def written(folder):
    lines = []
    for file in (folder / "out").rglob("part-*"):
        assert not file.name.startswith(".")
        lines += file.read_text().splitlines()
    return [tuple(map(int, line.split(","))) for line in lines]


def check(folder, count):
    """Nothing is lost, nothing is there twice, and no state was."""
    rows = written(folder)
    assert sorted(value for _, value, _ in rows) == list(range(1, count + 1))
    expected = Counter(value % KEYS for value in range(1, count + 1))
    for key in range(KEYS):
        counts = sorted(c for k, _, c in rows if k == key)
        assert counts == list(range(1, expected[key] + 1))


def hosts(folder, attempt):
    return [int(p.name.split("-")[1]) for p in (folder / "notes").glob(f"{attempt}-*")]


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def checkpoints(folder):
    found = (folder / "checkpoints").glob("*/chk-*/_metadata")
    return sorted(found, key=lambda path: path.stat().st_mtime)


def test_bounded_job_with_checkpoints(tmp_path):
    env = count_job(environment(tmp_path), tmp_path, 2000)
    let_go(tmp_path)
    env.execute()
    check(tmp_path, 2000)
    assert checkpoints(tmp_path) == []  # a finished job needs none


def test_a_killed_host_does_no_harm(tmp_path):
    client = count_job(environment(tmp_path), tmp_path, 4000).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    os.kill(hosts(tmp_path, 0)[0], signal.SIGKILL)
    let_go(tmp_path)
    client.get_job_execution_result().result()
    assert hosts(tmp_path, 1)
    check(tmp_path, 4000)


class FailsOnce(Slow):
    def map(self, value):
        if value == 1500 and self.attempt == 0:
            raise ValueError("just this once")
        return super().map(value)


def test_a_failing_function_is_started_again(tmp_path):
    (tmp_path / "notes").mkdir()
    function = FailsOnce(tmp_path / "notes")
    count_job(environment(tmp_path), tmp_path, 2000, function).execute()
    assert hosts(tmp_path, 1)
    check(tmp_path, 2000)


def test_a_function_that_always_fails_is_given_up(tmp_path):
    def fail(value):
        raise ValueError(f"no {value}")

    env = environment(tmp_path, restart__strategy_fixed__delay_attempts="1")
    numbers(env, 10).map(fail).print()
    with pytest.raises(JobExecutionError, match=r"(?s)^Traceback.*ValueError: no \d+\nin operator"):
        env.execute()


def test_cancel(tmp_path):
    env = environment(
        tmp_path,
        execution_checkpointing_externalized__checkpoint__retention="RETAIN_ON_CANCELLATION",
    )
    client = count_job(env, tmp_path, 10**9).execute_async()
    wait_for(lambda: len(checkpoints(tmp_path)) > 0)
    assert client.get_job_status().result() == JobStatus.RUNNING
    client.cancel().result()
    assert client.get_job_status().result() == JobStatus.CANCELED
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert len(checkpoints(tmp_path)) == 1


@pytest.mark.parametrize("parallelism", [1, 3])
def test_savepoint_with_another_parallelism(tmp_path, parallelism):
    total = 10_000
    client = count_job(environment(tmp_path), tmp_path, total).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert len(written(tmp_path)) < total  # the rest is in progress
    let_go(tmp_path)
    env = environment(tmp_path, parallelism, execution_state__recovery_path=path)
    count_job(env, tmp_path, total).execute()
    check(tmp_path, total)


def test_a_drained_job_shows_all_that_it_has_written(tmp_path):
    total = 10_000
    client = count_job(environment(tmp_path), tmp_path, total).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    (tmp_path / "in the way").touch()
    with pytest.raises(CheckpointError, match="cannot write a savepoint"):
        client.stop_with_savepoint(True, str(tmp_path / "in the way")).result()
    path = client.stop_with_savepoint(True, str(tmp_path / "savepoints")).result()
    assert client.get_job_status().result() == JobStatus.FINISHED
    assert not list((tmp_path / "out").rglob(".*"))
    assert 0 < len(written(tmp_path)) < total
    let_go(tmp_path)
    count_job(environment(tmp_path, execution_state__recovery_path=path), tmp_path, total).execute()
    check(tmp_path, total)


def test_a_savepoint_while_the_job_goes_on(tmp_path):
    client = count_job(environment(tmp_path), tmp_path, 3000).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    path = client.trigger_savepoint(str(tmp_path / "savepoints")).result()
    assert Path(path.removeprefix("file://"), "_metadata").is_file()
    let_go(tmp_path)
    client.get_job_execution_result().result()
    check(tmp_path, 3000)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    client = count_job(environment(tmp_path), tmp_path, 10**9).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    state = Path(path.removeprefix("file://"), "slot-0")
    state.write_bytes(state.read_bytes()[:-1])
    env = environment(tmp_path, execution_state__recovery_path=path)
    with pytest.raises(CheckpointError, match="slot-0 is damaged"):
        count_job(env, tmp_path, 10).execute()
    env = environment(tmp_path, execution_state__recovery_path=str(tmp_path / "nowhere"))
    with pytest.raises(CheckpointError, match="no complete checkpoint"):
        count_job(env, tmp_path, 10).execute()


def test_state_of_an_operator_that_is_gone(tmp_path):
    client = count_job(environment(tmp_path), tmp_path, 10**9).execute_async()
    wait_for(lambda: checkpoints(tmp_path))
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    env = environment(tmp_path, execution_state__recovery_path=path)
    numbers(env, 10).print()
    with pytest.raises(CheckpointError, match=r"'count' .*, which this job has not"):
        env.execute()


def test_an_endless_job_can_be_collected(tmp_path):
    env = environment(tmp_path)
    stream = numbers(env, 10**12)
    with stream.execute_and_collect() as results:
        found = [next(results) for _ in range(5)]
    assert len(set(found)) == 5
    assert not [t for t in threading.enumerate() if t.name.startswith("job-")]


@pytest.mark.parametrize(
    "settings",
    [
        {"state_changelog_enabled": "true"},
        {"state_backend_type": "rocksdb", "execution_checkpointing_incremental": "true"},
    ],
    ids=["changelog", "rocksdb"],
)
def test_checkpoints_of_changes(tmp_path, settings):
    total = 6000
    client = count_job(environment(tmp_path, **settings), tmp_path, total).execute_async()
    shared = tmp_path / "checkpoints"
    wait_for(lambda: list(shared.glob("*/shared/delta-*")))
    os.kill(hosts(tmp_path, 0)[0], signal.SIGKILL)
    wait_for(lambda: hosts(tmp_path, 1))
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    assert sorted(p.name for p in Path(path.removeprefix("file://")).glob("slot-*"))
    assert not list(shared.rglob("*"))  # nothing needs them any more
    let_go(tmp_path)
    again = environment(tmp_path, 3, execution_state__recovery_path=path, **settings)
    count_job(again, tmp_path, total).execute()
    check(tmp_path, total)


def test_listeners_follow_a_job(tmp_path):
    reports = []
    env = environment(tmp_path)
    on_progress(env, reports.append)
    client = count_job(env, tmp_path, 3000).execute_async("followed")
    wait_for(lambda: any(report.checkpoint for report in reports))
    assert job_progress(client).job_name == "followed"
    let_go(tmp_path)
    client.get_job_execution_result().result()
    assert [task.subtasks for task in reports[-1].tasks] == [2, 2]
    assert [task.records for task in reports[-1].tasks] == [3000, 3000]
    assert all(one != other for one, other in pairwise(reports))


@pytest.mark.parametrize("wished", [1, 3])
def test_the_user_chooses_how_many_processes_a_job_has(tmp_path, wished):
    env = environment(tmp_path, 3, **{"pyflink-on-spark.hosts": str(wished)})
    (tmp_path / "notes").mkdir()
    let_go(tmp_path)
    count_job(env, tmp_path, 500).execute()
    assert len(hosts(tmp_path, 0)) == wished
    check(tmp_path, 500)
