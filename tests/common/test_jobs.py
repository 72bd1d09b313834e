"""Futures, clients and results of jobs."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future

import pytest

from pyflink_on_spark.common import (
    CompletableFuture,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
)
from pyflink_on_spark.common.job_execution_result import JobOutcome

JOB_ID = "92c6d64bcd331f388f98d46142992c64"


class Engine:
    """A job that ends on command."""

    job_id = JOB_ID

    def __init__(self):
        self.ended = threading.Event()
        self.error = None
        self.waits = 0

    def status(self):
        return JobStatus.FINISHED if self.ended.is_set() else JobStatus.RUNNING

    def accumulators(self):
        return {"n": 1}

    def result(self):
        self.waits += 1
        self.ended.wait()
        if self.error is not None:
            raise self.error
        return JobOutcome(JOB_ID, 12, {"n": 1})

    def cancel(self):
        self.error = RuntimeError("Job was cancelled.")
        self.ended.set()

    def trigger_savepoint(self, savepoint_directory):
        return f"{savepoint_directory}/savepoint-1"

    def stop_with_savepoint(self, advance_to_end_of_event_time, savepoint_directory):
        self.ended.set()
        return f"{savepoint_directory}/{advance_to_end_of_event_time}"


@pytest.fixture
def engine():
    job = Engine()
    yield job
    job.ended.set()


def test_a_future_follows_its_source():
    source = Future()
    future = CompletableFuture(source, str)
    assert (future.done(), future.cancelled(), future.exception()) == (False, False, None)
    assert str(future).endswith("[Not completed]")
    source.set_result(5)
    assert future.result() == "5"
    assert (future.done(), future.cancelled(), future.exception()) == (True, False, None)
    assert str(future).endswith("[Completed normally]")
    assert future.cancel() is False


def test_a_future_with_an_error():
    source = Future()
    future = CompletableFuture(source)
    source.set_exception(ValueError("boom"))
    assert isinstance(future.exception(), ValueError)
    assert not future.cancelled()
    assert str(future).endswith("[Completed exceptionally: ValueError: boom]")
    with pytest.raises(ValueError, match="boom"):
        future.result()


def test_a_cancelled_future_stays_cancelled_though_the_work_goes_on():
    source = Future()
    source.set_running_or_notify_cancel()
    future = CompletableFuture(source)
    assert future.cancel() is True
    source.set_result(5)
    assert (future.done(), future.cancelled()) == (True, True)
    assert isinstance(future.exception(), CancelledError)
    with pytest.raises(CancelledError):
        future.result()


def test_a_future_of_a_cancelled_source():
    source = Future()
    future = CompletableFuture(source)
    source.cancel()
    assert future.cancelled()


def test_a_client_of_a_running_job(engine):
    client = JobClient(engine)
    assert str(client.get_job_id()) == JOB_ID
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert client.get_accumulators().result() == {"n": 1}
    assert client.trigger_savepoint("d").result() == "d/savepoint-1"
    outcome, same = client.get_job_execution_result(), client.get_job_execution_result()
    assert not outcome.done()
    assert client.stop_with_savepoint(True, "d").result() == "d/True"
    assert outcome.result().get_net_runtime() == 12
    assert same.result().get_accumulator_result("n") == 1
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert engine.waits == 1


def test_a_cancelled_job(engine):
    client = JobClient(engine)
    outcome = client.get_job_execution_result()
    assert client.cancel().result() is None
    with pytest.raises(RuntimeError, match=r"Job was cancelled\."):
        outcome.result()
    assert not outcome.cancelled()


def test_what_the_engine_raises_comes_with_the_future(engine):
    def refuse():
        raise OSError("gone")

    engine.status = engine.trigger_savepoint = refuse
    client = JobClient(engine)
    assert isinstance(client.get_job_status().exception(), OSError)
    engine.trigger_savepoint = lambda directory: refuse()
    with pytest.raises(OSError, match="gone"):
        client.trigger_savepoint().result()


def test_a_client_needs_a_handle():
    with pytest.raises(TypeError, match="JobControl"):
        JobClient(object())


def test_a_result_in_words():
    bare = JobExecutionResult(JobOutcome(JOB_ID, 12))
    head = (
        f"Program execution finished\nJob with JobID {JOB_ID} has finished.\nJob Runtime: 12 ms\n"
    )
    assert str(bare) == head
    assert bare.get_all_accumulator_results() == {}
    assert bare.get_accumulator_result("n") is None
    assert str(bare.get_job_id()) == JOB_ID
    full = JobExecutionResult(JobOutcome(JOB_ID, 12, {"n": 5, "l": [1, 2]}))
    assert str(full) == head + "Accumulator Results: \n- n (int): 5\n- l (list) [2 elements]\n"


def test_a_job_id_is_a_text():
    assert str(JobID(JOB_ID)) == JOB_ID
    with pytest.raises(TypeError):
        JobID(5)


def test_terminal_states():
    terminal = {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}
    assert {status for status in JobStatus if status.is_globally_terminal_state()} == terminal
    assert {status for status in JobStatus if status.is_terminal_state()} == {
        *terminal,
        JobStatus.SUSPENDED,
    }
