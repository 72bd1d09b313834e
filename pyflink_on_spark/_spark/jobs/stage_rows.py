"""A job's stages as one chain of RDDs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._cluster.transport.result_sender import ChannelAddress
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._spark.jobs.prepared import PREPARED
from pyflink_on_spark._spark.jobs.stage_function import Row, StageFunction
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


def run_stages(
    context: SparkContext,
    job: Job,
    address: ChannelAddress,
    attempt: int,
    dependencies: ShippedDependencies,
) -> RDD[Row]:
    """Return the rows that the last stage leaves for the driver; nothing runs before an action.

    Args:
        context: where the stages run.
        job: the job.
        address: how workers reach the driver.
        attempt: how often the job was restarted.
        dependencies: what the workers import from.
    """
    count = _subtasks_of(job.stages[0])
    rows: RDD[Any] = context.parallelize(range(count), count)
    for number, stage in enumerate(job.stages):
        if number > 0:
            rows = _exchanged(rows, stage)
        function = StageFunction(
            plan=pickle.dumps((stage, job.settings), 5),
            number=number,
            attempt=attempt,
            environment=WorkerEnvironment.of_driver(dependencies),
            address=address,
            channels={name: driver_channel(job, name) for name in (*channel_names(job), PREPARED)},
        )
        rows = rows.mapPartitions(function.__call__)
    return rows


def channel_names(job: Job) -> Iterable[str]:
    """Return the names of the channels through which a job's subtasks send to the driver."""
    return [*job.printers, *([job.collected] if job.collected else [])]


def driver_channel(job: Job, name: str) -> str:
    """Return the name that a job's channel has in the driver, where other jobs have theirs."""
    return f"{job.settings.job_id}/{name}"


def _exchanged(rows: RDD[Row], stage: StagePlan) -> RDD[Row]:
    """Bring each subtask's rows into a partition of their own, in the order of their channels."""
    first = min(vertex.first_subtask_id for vertex in stage.vertices)
    return rows.repartitionAndSortWithinPartitions(_subtasks_of(stage), lambda key: key[0] - first)


def _subtasks_of(stage: StagePlan) -> int:
    return sum(vertex.parallelism for vertex in stage.vertices)
