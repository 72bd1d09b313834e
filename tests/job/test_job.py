"""The driver releases all resources of a job at its end."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import JobSettings


class Ending(Sink):
    """Counts its notifications."""

    def __init__(self, fails=False):
        self.fails, self.told = fails, 0

    def writer(self, context):
        raise NotImplementedError

    def job_ended(self):
        self.told += 1
        if self.fails:
            raise OSError("gone")


def test_all_sinks_are_told_though_one_fails():
    sinks = {1: Ending(), 2: Ending(fails=True), 3: Ending()}
    with pytest.raises(OSError, match="gone"):
        Job("job", JobSettings("j"), (), sinks).ended(resumable=False)
    assert [sink.told for sink in sinks.values()] == [1, 1, 1]
