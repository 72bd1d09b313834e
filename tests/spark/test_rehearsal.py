"""The job that a prepared driver of ``serve`` runs before its script."""

from __future__ import annotations

from pyflink_on_spark._job.job import installed_engine
from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark.tools.serve.rehearsal import rehearse


def test_a_rehearsal_runs_on_hosts_and_is_listed_nowhere(env, capfd):
    known, engine = DRIVER.jobs.all(), installed_engine()
    assert sorted(rehearse()) == [(number, (number + 1) // 2) for number in range(1, 11)]
    assert DRIVER.jobs.all() == known
    assert installed_engine() is engine
    assert capfd.readouterr().out == ""
