"""How many processes a job may have, by what Spark has room for."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from pyflink_on_spark._spark.session.spark_defaults import cores_of, is_local
from pyflink_on_spark.common._options.own import HOSTS


def hosts_for(session: SparkSession, slots: int, settings: Mapping[str, str]) -> int:
    """Return how many hosts run the slots of a job.

    Each host is a task of Spark's for as long as an attempt lasts. There is no use in more hosts
    than processors; and where others need task slots meanwhile, one is left to them.

    Args:
        session: Spark.
        slots: how many slots the job has.
        settings: the job's configuration.

    Raises:
        ValueError: if an option cannot be read.
    """
    wished = HOSTS.read(settings)
    if wished is not None:
        return min(wished, slots)
    context = session.sparkContext
    if is_local(context.master):
        free = cores_of(context.master or "") - 1
        return min(slots, max(1, min(cores_of("local[*]"), free)))
    return min(slots, max(1, _free(session) - 1))


def _free(session: SparkSession) -> int:
    """Return how many task slots are free."""
    context = session.sparkContext
    tracker = context.statusTracker()
    running = 0
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        running += 0 if info is None else info.numActiveTasks
    return context.defaultParallelism - running
