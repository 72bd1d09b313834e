"""Spark gives a Python process of its driver 10 s to start, which a loaded machine may exceed."""

from __future__ import annotations

import pytest

from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark._spark.structured.slow_start import TRIES, Waiting, once_started
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted

SLOW = RuntimeError("[STREAM_FAILED] Query terminated: Python worker failed to connect back.")


class Job(QueryJob):
    """Fails with some errors, one after the other."""

    def __init__(self, *errors):
        env = StreamExecutionEnvironment.get_execution_environment()
        super().__init__(submitted(env.from_collection([1])))
        self.errors, self.runs, self.gone = list(errors), [], []

    def _run_query(self, number):
        self.runs.append(number)
        if self.errors:
            raise self.errors.pop(0)

    def _let_slots_go(self, number):
        self.gone.append(number)


def test_a_query_begins_again_in_the_same_attempt():
    job = Job(SLOW, SLOW)
    job._attempt(1)
    assert (job.runs, job.gone) == ([1, 1, 1], [])


def test_it_does_not_begin_again_forever():
    job = Job(*[SLOW] * (TRIES + 1))
    with pytest.raises(RuntimeError, match="connect back"):
        job._attempt(0)
    assert (job.runs, job.gone) == ([0] * TRIES, [0])


def test_other_errors_are_for_the_restart_strategy():
    job = Job(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        job._attempt(0)
    assert (job.runs, job.gone) == ([0], [0])


def test_a_call_of_a_task_is_made_again():
    errors = [SLOW, SLOW]

    def call():
        if errors:
            raise errors.pop()
        return "done"

    assert once_started(call, "mine") == "done"


GONE = RuntimeError("""Job aborted due to stage failure: (TID 46): java.io.IOException: Broken pipe
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\tat org.apache.spark.api.python.PythonWorkerFactory.stopWorker(PythonWorkerFactory.scala:523)
\tat org.apache.spark.api.python.PythonWorkerFactory.create(PythonWorkerFactory.scala:174)
\tat org.apache.spark.SparkEnv.createPythonWorker(SparkEnv.scala:326)
""")
LOST = RuntimeError("Python worker exited unexpectedly (crashed)")


@pytest.mark.parametrize("error", [GONE, LOST])
def test_a_savepoint_survives_a_lost_process(error):
    """A soak killed the process that starts Python, just before the job was to stop."""
    errors = [error]

    def call():
        if errors:
            raise errors.pop()
        return "done"

    assert once_started(call, "mine", repeatable=True) == "done"


def test_a_worker_lost_in_the_users_code_is_for_the_restart_strategy():
    for error in (LOST, RuntimeError("java.io.IOException: Broken pipe\n\tat their.Socket.write")):
        with pytest.raises(RuntimeError, match=r"crashed|their\.Socket"):
            Job(error)._attempt(0)
    job = Job(GONE)
    job._attempt(0)
    assert job.runs == [0, 0]


def told_of(caplog, looks, *, active):
    """The lines that are logged if the job looks at these times at these micro-batches."""
    times = iter([0, *(time for time, _ in looks)])
    waiting = Waiting("mine", lambda: next(times))
    for _, last in looks:
        waiting.note(last, lambda: {"message": "is busy", "isTriggerActive": active})
    return [record.getMessage() for record in caplog.records]


def test_a_long_micro_batch_is_told_of_less_and_less_often(caplog):
    looks = [(59, None), (61, None), (90, None), (121, None), (123, None), (130, 4), (190, 4)]
    seconds = "has ended no micro-batch for {} s (the last one: {}); Spark says: is busy"
    assert told_of(caplog, looks, active=True) == [
        f"'mine' {seconds.format(61, None)}",
        f"'mine' {seconds.format(123, None)}",
        f"'mine' {seconds.format(60, 4)}",
    ]


def test_a_query_that_waits_for_its_next_trigger_is_not_told_of(caplog):
    assert told_of(caplog, [(1, 4), (99, 4), (999, 4)], active=False) == []
