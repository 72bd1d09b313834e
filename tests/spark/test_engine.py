"""The end of a job that cannot begin; without Spark."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._spark.engine import SparkEngine
from tests.runtime.rounds import CutSource, job_of


def test_sources_let_go_of_what_they_have_begun_for_a_job_that_is_refused(tmp_path):
    settings = {"execution.state-recovery.path": str(tmp_path / "nowhere")}
    job = job_of(lambda stream: stream.map(str), CutSource([1]), configuration=settings)
    told = []
    object.__setattr__(job, "ended", lambda **how: told.append(how))
    with pytest.raises(CheckpointError, match="nowhere"):
        SparkEngine().submit(job)
    assert told == [{"resumable": False}]
