"""A job's levels as one DataFrame."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own habit

from pyflink_on_spark._compat.import_hook import is_installed
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.task.plan import StagePlan
from pyflink_on_spark._spark.jobs.level_function import LevelFunction
from pyflink_on_spark._spark.jobs.prepared import PREPARED
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.transport.arrow_rows import ROW_SCHEMA
from pyflink_on_spark._spark.transport.result_sender import ChannelAddress


def subtasks_of(level: StagePlan) -> int:
    """Return how many subtasks a level has."""
    return sum(region.parallelism for region in level.regions)


def run_levels(
    start: DataFrame,
    job: Job,
    address: ChannelAddress,
    attempt: int,
    dependencies: ShippedDependencies,
) -> DataFrame:
    """Return the rows that the last level leaves for the driver; nothing runs before an action.

    Args:
        start: one row with a ``LONG`` for each subtask of level 0, in a partition of its own.
        job: the job.
        address: how workers reach the driver.
        attempt: how often the job was restarted.
        dependencies: what the workers import from.
    """
    rows = start
    for number, level in enumerate(job.levels):
        if number > 0:
            rows = exchanged(rows, level)
        function = LevelFunction(
            plan=pickle.dumps((level, job.settings), 5),
            number=number,
            attempt=attempt,
            sys_path=tuple(sys.path),
            aliased=is_installed(),
            address=address,
            channels={name: driver_channel(job, name) for name in (*channel_names(job), PREPARED)},
            dependencies=dependencies,
        )
        rows = rows.mapInArrow(function.__call__, ROW_SCHEMA)
    return rows


def channel_names(job: Job) -> Iterable[str]:
    """Return the names of the channels through which a job's subtasks send to the driver."""
    return [*job.printers, *([job.collected] if job.collected else [])]


def driver_channel(job: Job, name: str) -> str:
    """Return the name that a job's channel has in the driver, where other jobs have theirs."""
    return f"{job.settings.job_id}/{name}"


def exchanged(rows: DataFrame, level: StagePlan) -> DataFrame:
    """Bring each subtask's rows into a partition of their own, in the order of their channels."""
    first = min(region.first_target for region in level.regions)
    count = subtasks_of(level)
    place = F.pmod(F.col("target") - F.lit(first), F.lit(count)).cast("int")
    return rows.repartitionById(count, place).sortWithinPartitions("target", "seq", "channel")
