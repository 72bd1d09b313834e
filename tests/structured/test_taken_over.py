"""A query that another job continues from commits nothing any more."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.checkpoints.ownership import JobTakenOverError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._spark.structured.batches import TAKEN_OVER, QueryCommits, QueryRun
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from tests.structured.jobs import submitted


@pytest.fixture
def commits(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    found = QueryCommits.of(submitted(env.from_collection([1])), SystemClock())
    found.open(folder(str(tmp_path)), 2)
    return found


def test_a_query_that_is_taken_over(commits):
    commits.prepared(0, [])
    commits.committed(0)
    assert not commits.taken_over
    commits.home.write(TAKEN_OVER, b"")
    for step in (lambda: commits.prepared(1, []), lambda: commits.committed(0)):
        with pytest.raises(JobTakenOverError, match="another job has continued"):
            step()
    assert commits.over


def test_what_is_written_of_the_job(commits):
    run = QueryRun.of(commits.home)
    assert (run.job_id, run.levels, run.first) == (commits._job_id, 2, 0)
