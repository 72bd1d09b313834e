"""Jobs as queries of Structured Streaming: crashes, savepoints, and what their users see."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from random import Random

import pytest
from pyspark.sql.streaming import StreamingQueryListener

from pyflink_on_spark._compat.errors import JobCancelledError, JobExecutionError
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark.common import Configuration, Duration, Types, WatermarkStrategy
from pyflink_on_spark.common.serialization import Encoder
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from tests.spark.test_checkpoints import (
    KEYS,
    CountPerKey,
    Slow,
    check,
    count_job,
    environment,
    hosts,
    let_go,
    numbers,
    wait_for,
    written,
)
from tests.structured.restarting import MOST, restarted_queries

STRUCTURED = {"pyflink__on__spark_engine": "structured"}


@pytest.fixture(autouse=True)
def _session(spark):
    return spark


def structured(folder, parallelism=2, **settings):
    return environment(folder, parallelism, **STRUCTURED, **settings)


@pytest.fixture
def started(monkeypatch):
    """The queries that jobs have started."""
    queries, start = [], QueryJob._start
    monkeypatch.setattr(
        QueryJob, "_start", lambda *given: queries.append(start(*given)) or queries[-1]
    )
    return queries


def described_jobs(spark):
    """The descriptions of Spark's jobs, as its page shows them."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    found = [jobs.apply(index).description() for index in range(jobs.size())]
    return [text.get() for text in found if text.isDefined()]


class Listener(StreamingQueryListener):
    """Notes what Spark tells of the queries of its session."""

    def __init__(self):
        self.started, self.progress = [], []
        self.ended = threading.Event()

    def onQueryStarted(self, event):  # noqa: N802
        self.started.append(event.name)

    def onQueryProgress(self, event):  # noqa: N802
        self.progress.append(event.progress)

    def onQueryIdle(self, event):  # noqa: N802
        pass

    def onQueryTerminated(self, event):  # noqa: N802
        self.ended.set()


@pytest.fixture
def listener(spark):
    listener = Listener()
    spark.streams.addListener(listener)
    yield listener
    spark.streams.removeListener(listener)


def test_a_bounded_job_and_what_spark_shows_of_it(tmp_path, spark, started, listener):
    before = spark.conf.getAll
    env = count_job(structured(tmp_path), tmp_path, 2000, rolls=True)
    let_go(tmp_path)
    env.execute("seen")
    check(tmp_path, 2000)
    assert list((tmp_path / "checkpoints").glob("*")) == []
    seen = [progress.observedMetrics for progress in started[0].recentProgress]
    counts = [each["Map -> Writer"] for each in seen]
    assert max(row.records for row in counts) > 0
    assert max(row.state_entries for row in counts) == KEYS
    assert any(text.startswith("seen: ") for text in described_jobs(spark))
    assert listener.ended.wait(60)
    assert [name.partition(" #")[0] for name in listener.started] == ["seen"]
    told = [progress.observedMetrics["Map -> Writer"].records for progress in listener.progress]
    assert sum(told) == 2000
    assert spark.conf.getAll == before


@pytest.mark.timeout(600)
def test_a_killed_worker_does_no_harm(tmp_path):
    client = count_job(structured(tmp_path), tmp_path, 3000, rolls=True).execute_async()
    wait_for(lambda: written(tmp_path), 240)
    os.kill(hosts(tmp_path, 0)[0], signal.SIGKILL)
    let_go(tmp_path)
    client.get_job_execution_result().result()
    check(tmp_path, 3000)
    assert list((tmp_path / "out").rglob(".*.inprogress.*")) == []


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_attempts_that_tests_let_fail_change_no_result(tmp_path):
    """`--mode=restarted` of the tests of compatibility is about such attempts."""
    env = structured(tmp_path, pyflink__on__spark_checkpoint__elements="2")
    counted = env.from_collection(list(range(20))).key_by(lambda v: v % 3).map(CountPerKey())
    with restarted_queries(lambda: Random(1)) as restarts:
        found = sorted(counted.execute_and_collect(), key=lambda text: int(text.split(",")[1]))
    assert [*restarts.values()] == [MOST]
    assert found == [f"{v % KEYS},{v},{v // 3 + 1}" for v in range(20)]


class SlowerWhenStartedAgain(Slow):
    """Lets a micro-batch that is run again have fewer elements than before."""

    def map(self, value):
        time.sleep(0.02 if self.attempt == 1 else 0)
        return super().map(value)


class FailsTwice(MapFunction):
    """Fails in the first two attempts, after so many elements."""

    def open(self, runtime_context):
        self.left = {0: 300, 1: 60}.get(runtime_context.get_attempt_number(), 10**9)

    def map(self, value):
        self.left -= 1
        if self.left < 0:
            raise ValueError("not this time")
        return value


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_state_is_of_the_run_of_a_micro_batch_that_spark_has_committed(tmp_path):
    env, many = structured(tmp_path), 400
    (tmp_path / "notes").mkdir()
    stream = numbers(env, 3000).map(SlowerWhenStartedAgain(tmp_path / "notes"))
    counted = stream.key_by(lambda value: value % many).map(CountPerKey(), Types.STRING())
    lines = counted.rebalance().map(FailsTwice(), Types.STRING())
    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder())
    lines.sink_to(sink.build())
    client = env.execute_async()
    wait_for(lambda: hosts(tmp_path, 2), 240)
    let_go(tmp_path)
    client.get_job_execution_result().result()
    counts = {value: count for _, value, count in written(tmp_path)}
    found = [sorted(counts[v] for v in range(key, 3001, many)) for key in range(1, many + 1)]
    assert found == [list(range(1, len(each) + 1)) for each in found]
    assert len(written(tmp_path)) == 3000


def test_a_savepoint_of_a_job_that_runs_on(tmp_path):
    client = count_job(structured(tmp_path), tmp_path, 3000, rolls=True).execute_async()
    wait_for(lambda: written(tmp_path), 240)
    saved = client.trigger_savepoint(str(tmp_path / "saved")).result()
    assert Path(saved.removeprefix("file://"), "_metadata").exists()
    let_go(tmp_path)
    client.get_job_execution_result().result()
    check(tmp_path, 3000)


def test_a_query_that_is_stopped_in_spark_ends_its_job_and_keeps_its_state(tmp_path, started):
    client = count_job(structured(tmp_path), tmp_path, 3000, rolls=True).execute_async()
    wait_for(lambda: written(tmp_path), 240)
    started[0].stop()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert len(started) == 1
    (home,) = (tmp_path / "checkpoints").glob("*")
    again = structured(tmp_path, execution_state__recovery_path=home.as_uri())
    let_go(tmp_path)
    count_job(again, tmp_path, 3000, rolls=True).execute()
    check(tmp_path, 3000)


class FailsOnce(MapFunction):
    """Fails with the first line that says so, once."""

    def __init__(self, flag):
        self.flag = flag

    def map(self, value):
        if value == "fail" and not self.flag.exists():
            self.flag.touch()
            raise ValueError("not this time")
        return value


def test_collected_elements_come_once(tmp_path):
    """A restart brings no collected element again: each was committed with its micro-batch."""
    configuration = Configuration()
    for key, value in {
        "pyflink-on-spark.engine": "structured",
        "execution.checkpointing.interval": "100 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    folder = tmp_path / "lines"
    folder.mkdir()
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    files = files.monitor_continuously(Duration.of_millis(50)).build()
    lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "lines")
    mapped = lines.map(FailsOnce(tmp_path / "failed"), Types.STRING())
    seen = []
    with mapped.execute_and_collect() as results:
        for line in ("first", "fail", "last"):
            hidden = folder / f".{line}"
            hidden.write_text(line)
            hidden.rename(folder / line)
            seen.append(next(results))
    assert seen == ["first", "fail", "last"]
    assert (tmp_path / "failed").exists()


def test_a_failure_shows_the_users_traceback(tmp_path):
    env = structured(tmp_path, restart__strategy_type="none")
    env.from_collection([1, 0]).map(lambda value: 1 // value).print()
    with pytest.raises(JobExecutionError, match="ZeroDivisionError") as failure:
        env.execute()
    assert str(failure.value).lstrip().startswith("Traceback") or "1 // value" in str(failure.value)
