"""A sink whose committables are much larger than the driver should hold."""

from __future__ import annotations

import os

from pyflink_on_spark._runtime.contract.connector import LargeCommittable, Sink, SinkWriter
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import Sink as Described
from tests.runtime.rounds import recording

MEGABYTE = 1024 * 1024


class LargeSink(Sink):
    """Prepares a megabyte for each element."""

    def writer(self, context):
        return LargeWriter()


class LargeWriter(SinkWriter):
    def __init__(self):
        self.frames = []

    def write(self, elements):
        self.frames += (bytes([n]) + os.urandom(MEGABYTE) for n in elements)

    def prepare_commit(self):
        frames, self.frames = self.frames, []
        return [LargeCommittable(tuple(frames))] if frames else []


def large_job(source, parallelism):
    """Return a job that writes the elements of a source to such a sink."""
    with recording() as recorder:
        settings = Configuration.from_dict({"execution.checkpointing.interval": "1 h"})
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(parallelism)
        elements = env._from_runtime_source(source, "elements", None)
        elements.rebalance().sink_to(Described(LargeSink()))
        env.execute()
    assert recorder.job is not None
    return recorder.job


def elements_of(committables):
    """Return the elements that committables stand for, in order."""
    return sorted(frame[0] for _, thing in committables for frame in thing.frames)
