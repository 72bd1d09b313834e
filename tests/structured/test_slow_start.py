"""Spark gives a Python process of its driver 10 s to start, which a loaded machine may exceed."""

from __future__ import annotations

import pytest

from pyflink_on_spark._spark.structured.query_job import QueryJob
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
    job = Job(*[SLOW] * 9)
    with pytest.raises(RuntimeError, match="connect back"):
        job._attempt(0)
    assert (job.runs, job.gone) == ([0] * 4, [0])


def test_other_errors_are_for_the_restart_strategy():
    job = Job(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        job._attempt(0)
    assert (job.runs, job.gone) == ([0], [0])
