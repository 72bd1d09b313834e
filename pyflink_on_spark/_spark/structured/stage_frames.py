"""A job with BATCH semantics as a chain of DataFrames, in which nothing is sent but by Spark."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody does

from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.diagnosis import LOGS, SubtaskFailure, install_function_log
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.stage import DRIVER, START, StageRunner
from pyflink_on_spark._runtime.user_code import install_classes
from pyflink_on_spark._spark.jobs.batch_job import BatchJob
from pyflink_on_spark._spark.jobs.worker_environment import (
    FAILURE_BEGINS,
    FAILURE_ENDS,
    WorkerEnvironment,
)
from pyflink_on_spark._spark.session.spark_defaults import BUNDLE_SETTINGS

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels, SendItems


_SCHEMA = "subtask INT, channel INT, seq LONG, payload BINARY"
_NAMES = ("subtask", "channel", "seq", "payload")
_MOST_BYTES = 8 << 20


class FramesJob(BatchJob):
    """A job over bounded input on a classic Spark whose tasks open no sockets.

    What is printed or collected reaches the program when all of the job is done.
    """

    def _payloads(self, attempt: int) -> list[bytes]:
        session = self._session.newSession()
        for key, value in BUNDLE_SETTINGS.items():
            session.conf.set(key, value)
        environment = WorkerEnvironment.of_driver(self._dependencies)
        rows = frame_of(session, self._job, attempt, environment).collect()
        self._check_cancelled()
        sent, prepared = divided(rows)
        delivered: Counter[str] = Counter()
        for channel, things in sent:
            self._channels[channel].deliver("frames", delivered[channel], things)
            delivered[channel] += len(things)
        return prepared


def frame_of(
    session: SparkSession, job: Job, attempt: int, environment: WorkerEnvironment
) -> DataFrame:
    """Return the rows that the stages of a job leave for the driver.

    Args:
        session: with the settings for bundles.
        job: what runs.
        attempt: how often the job was restarted.
        environment: of the user's functions.
    """
    stages = job.stages
    count = _subtasks_of(stages[0])
    rows: Any = session.range(0, count, 1, count).select(
        F.col("id").cast("int").alias("subtask"),
        F.lit(START).alias("channel"),
        F.lit(0).cast("long").alias("seq"),
        F.lit(b"").alias("payload"),
    )
    for number, stage in enumerate(stages):
        if number > 0:
            first = min(vertex.first_subtask_id for vertex in stage.vertices)
            last = _subtasks_of(stage) - 1
            place = F.greatest(F.lit(0), F.least(F.lit(last), F.col("subtask") - first))
            rows = rows.repartitionById(last + 1, place)
            rows = rows.sortWithinPartitions("subtask", "seq", "channel")
        plan = pickle.dumps((stage, job.settings), 5)
        function = _Stage(plan, number, attempt, environment)
        rows = rows.mapInArrow(function.__call__, _SCHEMA)
    frame: DataFrame = rows
    return frame


def divided(rows: Iterable[Row]) -> tuple[list[tuple[str, list[object]]], list[bytes]]:
    """Return the messages of subtasks, by channel and in order, and the committables of sinks."""
    ordered = sorted(rows, key=lambda row: (row["channel"], row["seq"]))
    sent = [pickle.loads(row["payload"]) for row in ordered if row["channel"] < 0]
    return sent, [bytes(row["payload"]) for row in ordered if row["channel"] >= 0]


class _Stage:
    """Runs one stage in a task, from Arrow batches to Arrow batches.

    Args:
        plan: the pickled StagePlan and JobSettings.
        number: which stage it is.
        attempt: how often the job was restarted.
        environment: of the user's functions.
    """

    def __init__(
        self, plan: bytes, number: int, attempt: int, environment: WorkerEnvironment
    ) -> None:
        self._plan, self._number, self._attempt = plan, number, attempt
        self._environment = environment

    def __call__(self, batches: Iterable[object]) -> Iterator[object]:
        """Turn the rows of one partition into those that leave it."""
        with self._environment.active():
            try:
                yield from _packed(self._run(_unpacked(batches)))
            except SubtaskFailure as failure:
                raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None

    def _run(self, rows: Iterator[ChannelRow]) -> Iterator[ChannelRow]:
        stage, job = pickle.loads(self._plan)
        install_classes(job.classes)
        log = install_function_log(job.configuration)
        sent: list[ChannelRow] = []
        runner = StageRunner(stage, self._number, job, SystemClock(), _drivers(sent), self._attempt)
        for row in runner.run(rows):
            yield row
            yield from sent
            sent.clear()
        if entries := log.take():
            _drivers(sent)(0)(LOGS)(entries)
        yield from sent


def _drivers(
    sent: list[ChannelRow],
) -> Callable[[int], DriverChannels]:
    """Return the channels of subtasks to the driver, as makers of rows."""
    counts: dict[int, int] = {}

    def of_subtask(number: int) -> DriverChannels:
        def of_channel(channel: str) -> SendItems:
            def send(things: list[object]) -> None:
                counts[number] = counts.get(number, 0) + 1
                sent.append(
                    ChannelRow(DRIVER, -1 - number, counts[number], serialize((channel, things)))
                )

            return send

        return of_channel

    return of_subtask


def _unpacked(batches: Iterable[Any]) -> Iterator[ChannelRow]:
    for batch in batches:
        columns = [batch.column(index).to_pylist() for index in range(4)]
        yield from map(ChannelRow, *columns)


def _packed(rows: Iterator[ChannelRow]) -> Iterator[object]:
    import pyarrow

    types = (pyarrow.int32(), pyarrow.int32(), pyarrow.int64(), pyarrow.binary())
    schema = pyarrow.schema(list(zip(_NAMES, types, strict=True)))

    def packed(some: list[ChannelRow]) -> object:
        return pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(c, t) for c, t in zip(zip(*some, strict=True), types, strict=True)],
            schema=schema,
        )

    some: list[ChannelRow] = []
    size = 0
    for row in rows:
        some.append(row)
        size += len(row.payload)  # type: ignore[arg-type]
        if size >= _MOST_BYTES:
            yield packed(some)
            some, size = [], 0
    if some:
        yield packed(some)


def _subtasks_of(stage: StagePlan) -> int:
    return sum(vertex.parallelism for vertex in stage.vertices)
