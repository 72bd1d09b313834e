"""Failures around a savepoint, a commit or a restart lose, double and hide nothing."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._connectors.jdbc import sink as jdbc
from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint import read_committables, read_metadata
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.diagnosis import FunctionLog
from pyflink_on_spark._spark.structured import batches, connect_job, query_job, slot
from pyflink_on_spark._spark.structured.batches import CONTROL, TAKEN_OVER
from pyflink_on_spark.common import Configuration, Row, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.jdbc import JdbcConnectionOptions
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from pyflink_on_spark.table import StreamTableEnvironment
from tests.structured.driver import Here, Remote
from tests.structured.jobs import executed, noted

pytestmark = pytest.mark.slow

LINE = Types.ROW_NAMED(["line"], [Types.STRING()])
COUNT = 240
BOTH = pytest.mark.parametrize("kind", [Here, Remote])


class Place:
    """A folder with a table that jobs write numbers to, each once."""

    def __init__(self, folder):
        self.folder, self.count = folder, COUNT
        self._run("CREATE TABLE lines (line TEXT)")

    def job(self, kind, **settings):
        configuration = Configuration()
        settings = {
            "execution.checkpointing.interval": "10 ms",
            "pyflink-on-spark.checkpoint-elements": "10",
            "execution.checkpointing.dir": f"file://{self.folder}/homes",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "3",
            "restart-strategy.fixed-delay.delay": "10 ms",
            **{name.replace("__", "-").replace("_", "."): v for name, v in settings.items()},
        }
        for name, value in settings.items():
            configuration.set_string(name, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(2)
        source = NumberSequenceSource(1, self.count)
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "n").uid("n")
        lines = numbers.key_by(lambda v: v % 5).map(str, Types.STRING()).map(Row, LINE)
        options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        options.with_url(f"jdbc:sqlite:{self.folder / 'lines.db'}")
        sink = jdbc_exactly_once_sink("INSERT INTO lines VALUES (?)", LINE, options.build())
        lines.sink_to(sink).uid("table")
        return kind(executed(env))

    @property
    def homes(self):
        return [*self.folder.glob("homes/*")]

    @property
    def target(self):
        return f"file://{self.folder}/saved"

    def lines(self):
        return [int(line) for (line,) in self._run("SELECT line FROM lines")]

    def begin(self, job, *, holds=True):
        """Starts a job, which has written something then, and waits for a stop if it holds."""
        job.holds_at = 2 if holds else None
        job.start()
        deadline = time.monotonic() + 20
        while len(self.lines()) < 20:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return job

    def check(self):
        assert sorted(self.lines()) == [*range(1, self.count + 1)]

    def _run(self, statement):
        with closing(sqlite3.connect(self.folder / "lines.db")) as connection, connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_STOP_SECONDS", 0.1)  # Spark's stop interrupts this waiting
    monkeypatch.setattr(connect_job, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(query_job, "_LOOK_SECONDS", 0.02)
    # Slots in the driver's process would send what the driver logs to the driver, to be logged.
    monkeypatch.setattr(slot, "install_function_log", lambda _: FunctionLog())
    return Place(tmp_path)


def once(error):
    """Raises an error, the first time."""
    errors = [error]

    def fail(*_):
        if errors:
            raise errors.pop()

    return fail


def wished(job):
    return any(name.startswith(("end-", "drain-")) for name in job._home.inside(CONTROL).names())


@BOTH
def test_a_stop_that_spark_cannot_commit_ends_no_job(place, kind):
    job = place.begin(place.job(kind))
    fail = once(RuntimeError("no space"))
    job.before_commit = lambda: wished(job) and fail()
    with pytest.raises(JobExecutionError, match="no space"):
        job.stop_with_savepoint(False, place.target)
    assert job.ended()
    assert job._error is None
    place.check()


@BOTH
def test_a_job_goes_on_if_the_savepoint_it_should_end_with_cannot_be_written(place, kind):
    job = place.begin(place.job(kind))
    job.before_savepoint = once(OSError("no space"))
    with pytest.raises(JobExecutionError, match="no space"):
        job.stop_with_savepoint(False, place.target)
    assert job.ended()
    assert job._error is None
    assert place.homes == []
    place.check()


@BOTH
def test_a_drained_job_keeps_its_state_if_the_savepoint_cannot_be_written(place, kind):
    job = place.begin(place.job(kind))
    job.before_savepoint = once(OSError("no space"))
    with pytest.raises(JobExecutionError, match="no space"):
        job.stop_with_savepoint(True, place.target)
    assert job.ended()
    assert len(place.homes) == 1


@BOTH
def test_a_job_that_went_on_after_a_failed_stop_keeps_nothing(place, kind):
    place.count = 2000
    job = place.begin(place.job(kind))
    fail = once(RuntimeError("no space"))
    job.before_commit = lambda: wished(job) and fail()
    with pytest.raises(JobExecutionError, match="no space"):
        job.stop_with_savepoint(True, place.target)
    written = len(place.lines())
    while len(place.lines()) < written + 60:
        time.sleep(0.02)
    job.cancel()
    assert job.ended()
    assert place.homes == []


def test_an_attempt_takes_no_end_of_another_for_its_own(place):
    place.count = 2000
    job = place.job(Remote)
    fetch, fail = job._fetch, once(RuntimeError("the connection is lost"))
    place.begin(job)
    job._fetch = lambda: (time.sleep(0.5), fail()) if wished(job) else fetch()
    with pytest.raises(JobExecutionError, match="the connection is lost"):
        job.stop_with_savepoint(False, place.target)
    written = len(place.lines())
    deadline = time.monotonic() + 20
    while len(place.lines()) < written + 60:
        assert time.monotonic() < deadline
        assert not job._ended.is_set()
        time.sleep(0.02)
    job.cancel()


def test_a_slow_client_gets_the_savepoint_of_a_job_that_has_ended_meanwhile(place):
    place.count = 600
    job = place.job(Remote)
    job.commit_seconds, job.call_seconds = 0.2, 0.4
    place.begin(job)
    path = job.stop_with_savepoint(False, place.target)
    written = len(place.lines())
    assert written < place.count
    again = place.job(Remote, execution_state__recovery_path=path)
    again.start()
    assert again.ended()
    assert len(place.lines()) > written
    place.check()


def test_a_stop_that_the_client_takes_for_failed_ends_no_later_attempt(place):
    job = place.job(Remote)
    fail, ask = once(RuntimeError("the answer is lost")), job._ask
    job._ask = lambda *given: (ask(*given), fail())
    place.begin(job)
    with pytest.raises(JobExecutionError, match="the answer is lost"):
        job.stop_with_savepoint(False, place.target)
    assert job.ended()
    place.check()


@BOTH
def test_no_attempt_follows_once_another_job_has_taken_over(place, kind):
    place.count = 2000
    job = place.begin(place.job(kind), holds=False)
    job._home.write(TAKEN_OVER, b"")
    assert job.ended()
    assert "another job has continued" in str(job._error)
    assert job._job.history.attempt == 0
    assert len(place.homes) == 1


def test_a_commit_that_takes_too_long_before_a_savepoint_ends_the_job(place, monkeypatch):
    job = place.begin(place.job(Here, pyflink__on__spark_commit__timeout="300 ms"))
    commit, slow, over = jdbc.ExactlyOnceJdbcSink.commit, threading.Event(), threading.Event()

    def wait(*given):
        if slow.is_set():
            over.wait(20)
        commit(*given)

    monkeypatch.setattr(jdbc.ExactlyOnceJdbcSink, "commit", wait)
    slow.set()
    with pytest.raises((CommitTimeoutError, JobExecutionError), match="to commit checkpoint"):
        job.trigger_savepoint(place.target)
    ended = job.ended()
    over.set()
    assert ended
    assert isinstance(job._error, JobExecutionError)
    assert len(place.homes) == 1


@BOTH
def test_a_savepoint_is_needed_no_more_once_a_micro_batch_is_committed(place, kind):
    job = place.begin(place.job(kind))
    path = job.stop_with_savepoint(False, place.target)
    again = place.job(kind, execution_state__recovery_path=path)
    written = len(place.lines())
    again.start()
    while len(place.lines()) < written + 20:
        time.sleep(0.02)
    shutil.rmtree(Path(path.removeprefix("file://")))
    again.before_commit = once(RuntimeError("an executor was lost"))
    assert again.ended()
    assert again._error is None
    place.check()


def test_what_a_job_began_with_is_committed_by_its_first_attempt_alone(place, monkeypatch):
    place.count = 300
    job = place.begin(place.job(Remote))
    path = job.stop_with_savepoint(False, place.target)
    takes = []
    again = place.job(Remote, execution_state__recovery_path=path)
    take = jdbc.ExactlyOnceJdbcSink.commit_again
    monkeypatch.setattr(
        jdbc.ExactlyOnceJdbcSink,
        "commit_again",
        lambda self, things: (takes.append(len(things)), take(self, things)),
    )
    again.before_commit = lambda: again.batch > 3 and fail()
    fail = once(RuntimeError("an executor was lost"))
    again.start()
    assert again.ended()
    assert again._job.history.attempt == 1
    assert len(takes) <= 2
    place.check()


@BOTH
def test_cancelling_ends_a_job_whose_savepoint_waits_for_a_hanging_micro_batch(place, kind):
    job = place.job(kind)
    hangs = threading.Event()

    def hang():
        if job.batch >= 3:
            hangs.set()
            job.killed.wait(20)

    job.before_commit = hang
    place.begin(job, holds=False)
    assert hangs.wait(20)

    def save():
        with suppress(CheckpointError, JobExecutionError, RuntimeError):
            job.trigger_savepoint(place.target)

    waiting = threading.Thread(target=save, daemon=True)
    waiting.start()
    time.sleep(0.3)
    begun = time.monotonic()
    job.cancel()
    assert time.monotonic() - begun < 10
    waiting.join(10)
    assert not waiting.is_alive()


def test_sources_hear_what_no_attempt_reads_again(place, monkeypatch):
    told = []

    def maintain(_, oldest):
        committed = job._home.inside("query").inside("commits").names()
        told.append(oldest)
        assert oldest == 0 or str(oldest - 1) in committed

    monkeypatch.setattr(Job, "maintain_sources", maintain)
    job = place.job(Here)
    place.begin(job, holds=False)
    assert job.ended()
    assert job._job.history.attempt == 0
    assert told == sorted(told)
    assert told[-1] > 5


def test_a_savepoint_has_what_sinks_hold_back(tmp_path, place):
    """Such as partitions of a table that are not due: the next run says when they are complete."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1\n2\n", encoding="utf-8")
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.interval", "20 ms")
    configuration.set_string("execution.checkpointing.dir", f"file://{tmp_path}/homes")
    tables = StreamTableEnvironment.create(
        StreamExecutionEnvironment.get_execution_environment(configuration)
    )
    files = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = 'file://{tmp_path}"
    tables.execute_sql(
        f"CREATE TABLE given (id INT) WITH ({files}/in', 'source.monitor-interval' = '100 ms')"
    )
    tables.execute_sql(
        f"CREATE TABLE parts (id INT, p INT) PARTITIONED BY (p) WITH ({files}/out',"
        "'sink.rolling-policy.rollover-interval' = '10 ms',"
        "'sink.rolling-policy.check-interval' = '10 ms',"
        "'sink.partition-commit.trigger' = 'process-time', 'sink.partition-commit.delay' = '1 h',"
        "'sink.partition-commit.policy.kind' = 'success-file')"
    )
    insert = "INSERT INTO parts SELECT id, id FROM given"
    job = Here(noted(lambda: tables.execute_sql(insert)))
    job.start()
    deadline = time.monotonic() + 20
    while len([*tmp_path.glob("out/*/[!.]*")]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    saved = folder(job.stop_with_savepoint(False, place.target))
    held = [thing for _, thing in read_committables(saved, read_metadata(saved))]
    assert sorted(thing.name for thing in held) == ["p=1", "p=2"]
