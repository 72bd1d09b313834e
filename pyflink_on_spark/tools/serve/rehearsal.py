"""A small job that a prepared driver runs before its script, so that the script's runs warm.

The first job of a process loads classes of Spark, modules and functions in the driver and in a
worker. That takes longer than the job itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._job.job import Job, install_engine, installed_engine
from pyflink_on_spark._spark.engine import SparkEngine
from pyflink_on_spark._spark.hosts.streaming_job import StreamingJob
from pyflink_on_spark.common import Configuration, Types, WatermarkStrategy
from pyflink_on_spark.datastream import (
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource
from pyflink_on_spark.datastream.state import ValueStateDescriptor

_LAST_NUMBER = 9
_INTERVAL_MS = 60_000


class _Unlisted:
    """Runs jobs on Spark that no list, log or page shows."""

    def __init__(self) -> None:
        self._engine = SparkEngine()

    def submit(self, job: Job) -> StreamingJob:
        handle = StreamingJob(job, self._engine.server)
        handle.start()
        return handle


class _Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(
        self, value: int, ctx: KeyedProcessFunction.Context
    ) -> Iterable[tuple[int, int]]:
        count = (self._seen.value() or 0) + 1
        self._seen.update(count)
        yield value, count


def rehearse() -> list[tuple[int, int]]:
    """Run a job with an exchange, state and checkpoints on hosts; return its results.

    The first query of a JVM takes seconds to load classes, and is part of the job.

    Raises:
        PyFlinkOnSparkError: hosts cannot run.
    """
    before = installed_engine()
    install_engine(_Unlisted())
    try:
        env = StreamExecutionEnvironment.get_execution_environment(Configuration())
        env.set_parallelism(1)
        env.enable_checkpointing(_INTERVAL_MS)
        numbers = NumberSequenceSource(0, _LAST_NUMBER)
        counts = (
            env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
            .map(lambda number: number + 1, Types.LONG())
            .key_by(lambda number: number % 2, Types.LONG())
            .process(_Count(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        )
        with counts.execute_and_collect("rehearsal") as results:
            return list(results)
    finally:
        install_engine(before)
