"""The options that say how a job is executed: its mode, parallelism, buffers and tasks."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import (
    at_least,
    boolean,
    choice,
    duration,
    integer,
    memory,
    text,
)
from pyflink_on_spark._options.option import recorded, works

BATCH, STREAMING, AUTOMATIC = "BATCH", "STREAMING", "AUTOMATIC"
_SPARK_SCHEDULES = recorded("Spark schedules and stops the tasks")
_BUFFERS = recorded(
    "a buffer is sent when it is full or its subtask is idle, or after about 100 ms"
)
_SPARK_SORTS = recorded("Spark sorts and exchanges the rows of a batch job")


def check_parallelism(parallelism: int) -> None:
    """Raise ValueError unless a parallelism is positive, or -1 for the default."""
    if parallelism < 1 and parallelism != -1:
        raise ValueError(
            "Parallelism must be at least one, or ExecutionConfig.PARALLELISM_DEFAULT "
            "(use system default)."
        )


RUNTIME_MODE = choice("execution.runtime-mode", (STREAMING, BATCH, AUTOMATIC), STREAMING)
PARALLELISM = integer(
    "parallelism.default",
    -1,
    effect=works("-1 is the number of cores of the driver's machine"),
    check=check_parallelism,
)

BUFFER_TIMEOUT = duration(
    "execution.buffer-timeout.interval",
    100,
    former=("execution.buffer-timeout",),
    effect=_BUFFERS,
)
BUFFER_TIMEOUT_ENABLED = boolean("execution.buffer-timeout.enabled", True, effect=_BUFFERS)

BATCH_SHUFFLE = text("execution.batch-shuffle-mode", "ALL_EXCHANGES_BLOCKING", effect=_SPARK_SORTS)
SORTED_INPUTS = boolean("execution.sorted-inputs.enabled", True, effect=_SPARK_SORTS)
SORTED_INPUTS_MEMORY = memory("execution.sorted-inputs.memory", 128 * 1024**2, effect=_SPARK_SORTS)
SORT_PARTITION_MEMORY = memory(
    "execution.sort-partition.memory", 128 * 1024**2, effect=_SPARK_SORTS
)
SORT_KEYED_PARTITION_MEMORY = memory(
    "execution.sort-keyed-partition.memory", 128 * 1024**2, effect=_SPARK_SORTS
)
BATCH_STATE_BACKEND = boolean(
    "execution.batch-state-backend.enabled",
    True,
    effect=recorded("a batch job keeps the state of one key at a time"),
)
TARGET = text(
    "execution.target", None, effect=recorded("jobs run on the Spark that spark.master names")
)
ATTACHED = boolean(
    "execution.attached", False, effect=recorded("execute() waits, execute_async() does not")
)

CANCELLATION_INTERVAL = duration(
    "task.cancellation.interval",
    30_000,
    former=("task.cancellation-interval",),
    effect=_SPARK_SCHEDULES,
)
CANCELLATION_TIMEOUT = duration(
    "task.cancellation.timeout",
    180_000,
    effect=_SPARK_SCHEDULES,
    check=at_least(0, "Timeout needs to be >= 0."),
)
LATENCY_INTERVAL = duration(
    "metrics.latency.interval", 0, effect=recorded("latencies are in the Spark UI")
)
