"""The job that a harness runs: what is under test, between feeds and a recorder of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyflink_on_spark._graph.transformation import Aligned
from pyflink_on_spark._job.submission.job import Job, install_engine, installed_engine
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream import DataStream, KeyedStream, StreamExecutionEnvironment
from pyflink_on_spark.testing.feed import Feed, FeedSource
from pyflink_on_spark.testing.output import CaptureOperator


def harness_job(
    define: Callable[..., DataStream],
    feeds: Sequence[Feed],
    input_types: Sequence[TypeInformation | None],
    parallelism: int,
    max_parallelism: int,
    configuration: Configuration | None,
) -> Job:
    """Translate what is under test.

    Args:
        define: makes a stream of the input streams.
        feeds: what the inputs read.
        input_types: the type of each input; None for untyped.
        parallelism: of all operators that set none of their own.
        max_parallelism: the number of key groups.
        configuration: the environment's.
    """
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    env.set_max_parallelism(max_parallelism)
    inputs = [
        env._from_runtime_source(FeedSource(feed), f"input {number}", type_info)
        for number, (feed, type_info) in enumerate(zip(feeds, input_types, strict=True), 1)
    ]
    result = define(*inputs)
    if not isinstance(result, DataStream):
        raise TypeError(f"the definition has to return a DataStream, not {result!r}")
    plain = result._values() if isinstance(result, KeyedStream) else result
    untyped = Types.PICKLED_BYTE_ARRAY()
    plain._then("results", CaptureOperator(), untyped, python=False, aligned=Aligned.INPUT)
    return _translated(env)


def _translated(env: StreamExecutionEnvironment) -> Job:
    recorder, before = _Recorder(), installed_engine()
    install_engine(recorder)
    try:
        env.execute("harness")
    finally:
        install_engine(before)
    return recorder.jobs[0]


class _Recorder:
    """An engine that keeps jobs, and runs none; each is its own handle."""

    job_id = ""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> _Recorder:
        self.jobs.append(job)
        return self

    def collected(self) -> Iterator[Any]:
        return iter(())

    def result(self) -> None:
        return None
