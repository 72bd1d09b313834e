"""The history of a job."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import (
    COMPLETED,
    FAILED,
    IN_PROGRESS,
    JobHistory,
    JobListener,
)
from pyflink_on_spark.common import JobStatus
from tests.runtime.harness import FakeClock


class Listener(JobListener):
    def __init__(self):
        self.heard = []

    def status_changed(self, status, error):
        self.heard.append(status)

    def attempt_failed(self, failure, delay_ms):
        self.heard.append((failure.error, failure.attempt, delay_ms))

    def checkpoint_ended(self, checkpoint):
        self.heard.append((checkpoint.number, checkpoint.status))


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def history(clock):
    return JobHistory(clock)


def test_states_have_times(history, clock):
    clock.time = 5
    history.enter(JobStatus.RUNNING)
    clock.time = 9
    history.enter(JobStatus.FAILED, ValueError("bad"))
    assert history.times[JobStatus.RUNNING] == 5
    assert history.times[JobStatus.FAILED] == 9
    assert [(f.time, f.attempt, f.error) for f in history.failures] == [(9, 0, "bad")]


def test_a_cancelled_job_has_not_failed(history):
    history.enter(JobStatus.CANCELED, RuntimeError("Job was cancelled."))
    assert history.failures == []


def test_checkpoints(history, clock):
    with history.checkpoint(1, "a", savepoint=False) as record:
        assert history.checkpoints[0].status == IN_PROGRESS
        clock.time += 7
        record.size = 3
    with pytest.raises(KeyError), history.checkpoint(2, "b", savepoint=True):
        raise KeyError("b")
    first, second = history.checkpoints
    assert (first.status, first.ended - first.triggered, first.size) == (COMPLETED, 7, 3)
    assert (second.status, second.error) == (FAILED, "'b'")
    assert history.last_completed(savepoint=False) is first
    assert history.last_completed(savepoint=True) is None


def test_only_the_latest_are_kept_but_all_are_counted(history):
    for number in range(60):
        with history.checkpoint(number, None, savepoint=False):
            pass
    assert [c.number for c in history.checkpoints] == list(range(10, 60))
    assert history.counts.completed == 60


def test_listeners(history, caplog):
    class Broken(JobListener):
        def status_changed(self, status, error):
            raise RuntimeError("in the listener")

    listener = Listener()
    history.listen(Broken())
    history.listen(listener)
    history.enter(JobStatus.RUNNING)
    history.attempt_failed(ValueError("x"), 100)
    with history.checkpoint(1, None, savepoint=False):
        pass
    assert listener.heard == [JobStatus.RUNNING, ("x", 0, 100), (1, COMPLETED)]
    assert history.attempt == 1
    assert "in the listener" in caplog.text
