"""A restart brings no element again that the program has collected."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted

FAILURE = JobExecutionError("no luck")


@pytest.fixture
def job(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(100)
    job = QueryJob(submitted(env.from_collection([1])))
    reader = SimpleNamespace(deliver=lambda producer, start, things: True)
    job._channels = {job._job.collected: reader, "print-0": reader}
    job._home = folder(str(tmp_path))
    job._home.inside("query").inside("commits").write("4", b"")
    return job


def collect(job, batch):
    job._batch = batch
    job._deliver(job._job.collected, [1])


def test_a_job_that_has_collected_nothing_may_restart(job):
    job._check_may_restart(FAILURE)


def test_a_job_may_restart_when_what_was_collected_is_committed(job):
    collect(job, 4)
    job._batch = 5
    job._deliver("print-0", [1])
    job._check_may_restart(FAILURE)


def test_a_job_may_not_restart_while_what_was_collected_is_not_committed(job):
    collect(job, 4)
    collect(job, 5)
    with pytest.raises(JobExecutionError, match=r"no luck\n\n.*elements of micro-batch 5,"):
        job._check_may_restart(FAILURE)


def test_spark_removes_old_commits(job):
    collect(job, 2)
    job._check_may_restart(FAILURE)


def test_a_store_that_cannot_be_read_hides_no_failure(job):
    job._home = SimpleNamespace(inside=unreadable)
    collect(job, 4)
    with pytest.raises(JobExecutionError, match="no luck"):
        job._check_may_restart(FAILURE)
    job._batch = 5  # it begins after Spark has committed the one before
    job._check_may_restart(FAILURE)


def unreadable(name):
    raise OSError("503")


def test_a_job_without_checkpoints_may_not_restart(job):
    job._job = replace(job._job, settings=replace(job._job.settings, checkpointed=False))
    with pytest.raises(JobExecutionError, match="Job restarted"):
        job._check_may_restart(FAILURE)
