"""When a job begins again and when it does not, and who is notified; without Spark."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._job.checkpoints.ownership import JobTakenOverError
from pyflink_on_spark._job.display import Progress
from pyflink_on_spark._job.restarts import SavepointRequests
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress
from pyflink_on_spark._spark.hosts.streaming_job import StreamingJob
from pyflink_on_spark.common import JobStatus
from tests.runtime.rounds import CutSource, job_of

RESTARTS = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1",
    "restart-strategy.fixed-delay.delay": "0 ms",
}


class Asked(SavepointRequests):
    """Requests, that one can wait for."""

    def __init__(self):
        super().__init__()
        self.there = threading.Event()

    def append(self, request):
        super().append(request)
        self.there.set()

    def take(self):
        while not self:
            assert self.there.wait(10)
            self.there.clear()
        return self.pop(0)


class Context:
    """The SparkContext of a session."""

    def __init__(self, stopped=False, died=False):
        self._jsc, self._stopped, self._died = self, stopped, died

    def sc(self):
        if self._died:
            raise ConnectionRefusedError
        return self

    def isStopped(self):  # noqa: N802 - the name in Java
        return self._stopped


def stopped_in_python():
    context = Context()
    context._jsc = None
    return context


class Acted(StreamingJob):
    """A job whose attempts do what the test says, one after the other."""

    def __init__(self, *attempts, context=None, **settings):
        settings = {**RESTARTS, "execution.checkpointing.interval": "1 s", **settings}
        job = job_of(lambda stream: stream.map(str), CutSource([1]), configuration=settings)
        job.printers.clear()
        super().__init__(job, lambda session, ports: None)
        self._session = SimpleNamespace(sparkContext=context or Context())
        self.attempts, self._requests = list(attempts), Asked()
        self._thread.start()

    def _attempt(self, number):
        self.attempts.pop(0)(self)


def fails(job):
    raise SubtaskFailure("close failed")


def ends(job):
    job._coordinator.over = True


def fails_at_its_end(job):
    ends(job)
    fails(job)


def status_of(job):
    job._join()
    return job.status()


def test_a_job_that_fails_begins_again():
    job = Acted(fails, ends)
    assert status_of(job) == JobStatus.FINISHED


def test_but_not_once_all_is_committed():
    job = Acted(fails_at_its_end, ends)
    assert status_of(job) == JobStatus.FAILED
    assert len(job.attempts) == 1
    with pytest.raises(JobExecutionError, match="close failed"):
        job.result()


@pytest.mark.parametrize(
    ("context", "why"),
    [
        (Context(died=True), "Spark's Java process has ended"),
        (Context(stopped=True), "its SparkContext was stopped"),
        (stopped_in_python(), "its SparkContext was stopped"),
    ],
)
def test_nor_without_spark(context, why):
    job = Acted(fails, ends, context=context)
    assert status_of(job) == JobStatus.FAILED
    assert len(job.attempts) == 1
    with pytest.raises(JobExecutionError, match=rf"{why}.*run the program again") as failure:
        job.result()
    assert "close failed" in str(failure.value.__cause__)


def taken_over(job):
    job._coordinator.over = True
    raise JobTakenOverError("the job b has continued")


def test_nor_when_another_run_has_continued_the_job():
    job = Acted(taken_over, ends)
    assert status_of(job) == JobStatus.FAILED
    assert len(job.attempts) == 1
    with pytest.raises(JobTakenOverError, match="the job b has continued"):
        job.result()


def fails_in_a_savepoint(job):
    job._requests.take().path.set_exception(TimeoutError("too slow"))
    fails(job)


def stops_with_a_savepoint(job):
    job._requests.take().path.set_result("there")
    ends(job)


def stops_with_a_savepoint_and_fails(job):
    stops_with_a_savepoint(job)
    fails(job)


def test_who_waits_for_a_savepoint_does_not_wait_for_the_next_attempt():
    let_go = threading.Event()
    job = Acted(fails_in_a_savepoint, lambda job: let_go.wait(10))
    with pytest.raises(TimeoutError, match="too slow"):
        job.stop_with_savepoint(True, None)
    let_go.set()
    assert status_of(job) == JobStatus.FINISHED


LONG = {"restart-strategy.fixed-delay.delay": "1 h"}
REFUSED = (
    r"'Flink Streaming Job' is RESTARTING, because of close failed: .* Ask again when it is "
    "RUNNING, or cancel it; it has no checkpoint on disk"
)


def waits_for_its_restart(job):
    while job.status() != JobStatus.RESTARTING:
        assert not job._ended.wait(0.01)


def test_a_job_that_waits_for_its_restart_refuses_savepoints_and_is_cancelled_at_once():
    job = Acted(fails, ends, **LONG)
    waits_for_its_restart(job)
    for call in (job.trigger_savepoint, partial(job.stop_with_savepoint, False)):
        with pytest.raises(CheckpointError, match=REFUSED):
            call(None)
    with pytest.raises(CheckpointError, match=REFUSED):
        job.trigger_checkpoint()
    job.cancel()
    assert job.status() == JobStatus.CANCELED
    assert len(job.attempts) == 1


def test_a_request_that_an_attempt_has_not_begun_does_not_wait_for_the_restart_either():
    asked = threading.Event()

    def fails_when_asked(job):
        assert job._requests.there.wait(10)
        fails(job)

    job = Acted(fails_when_asked, lambda job: asked.wait(10), **LONG)
    with pytest.raises(CheckpointError, match=REFUSED):
        job.stop_with_savepoint(False, None)
    job.cancel()
    assert job.status() == JobStatus.CANCELED


def test_after_the_delay_savepoints_are_made_again():
    job = Acted(fails, stops_with_a_savepoint)
    while job.status() != JobStatus.RESTARTING:
        assert not job._ended.wait(0.001)
    while True:
        with suppress(CheckpointError):
            assert job.stop_with_savepoint(False, None) == "there"
            break
    assert job.status() == JobStatus.FINISHED


class Reports:
    """Hosts that report 100 records, and then more when the test says so."""

    def __init__(self):
        self.records = 100

    def progress(self):
        return [TaskProgress("map", 1, self.records, None, 0, None)]


def rate_of(job):
    return sum(part.records_per_second for part in job.parts)


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_rates_are_true_while_the_thread_of_the_job_waits_for_a_commit():
    seconds, committed, reports = [10.0], threading.Event(), Reports()

    def waits_for_a_commit(job):
        job._progress = Progress("job", [], None, lambda: seconds[0])
        job._pool = reports
        assert committed.wait(20)
        job._pool = None
        ends(job)

    job = Acted(waits_for_a_commit)
    wait_for(lambda: job.parts)
    seconds[0], reports.records = 12.0, 300
    wait_for(lambda: rate_of(job) == 150)
    seconds[0] = 14.0
    wait_for(lambda: rate_of(job) == 75)
    seconds[0] = 20.0
    wait_for(lambda: rate_of(job) == 0)
    committed.set()
    assert status_of(job) == JobStatus.FINISHED


def test_rates_are_0_while_a_job_waits_for_its_restart():
    def fails_quickly(job):
        job._progress.update(0, None, Reports().progress())
        job._progress.parts = [replace(job.parts[0], records_per_second=9.0)]
        fails(job)

    job = Acted(fails_quickly, **LONG)
    waits_for_its_restart(job)
    wait_for(lambda: rate_of(job) == 0)
    assert job.parts[0].records == 100
    assert job.progress.tasks[0].records_per_second == 0
    job.cancel()


def test_a_job_stops_with_a_savepoint():
    job = Acted(stops_with_a_savepoint)
    assert job.stop_with_savepoint(False, None) == "there"
    assert job.status() == JobStatus.FINISHED


def test_a_job_that_fails_behind_its_savepoint_is_not_begun_again():
    job = Acted(stops_with_a_savepoint_and_fails, ends)
    with pytest.raises(CheckpointError, match=r"a savepoint in there.*close failed"):
        job.stop_with_savepoint(False, None)
    assert job.status() == JobStatus.FAILED
    assert len(job.attempts) == 1


def test_a_job_that_is_over_has_nothing_to_save():
    job = Acted(ends)
    job._join()
    job._thread.join()
    with pytest.raises(RuntimeError, match="the job is FINISHED"):
        job.trigger_savepoint(None)
