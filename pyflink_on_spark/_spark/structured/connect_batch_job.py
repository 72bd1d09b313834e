"""A job with BATCH semantics on a Spark Connect server: a chain of DataFrames."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import cloudpickle
from pyspark.sql import functions as F  # noqa: N812 - as everybody does

from pyflink_on_spark._job.attempts.restarts import check_may_be_saved
from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.diagnosis.failure import SubtaskFailure
from pyflink_on_spark._runtime.diagnosis.function_log import LOGS, install_function_log
from pyflink_on_spark._runtime.elements.clock import SystemClock
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.stage import DRIVER, START, StageRunner
from pyflink_on_spark._runtime.user_code.user_function import install_classes
from pyflink_on_spark._spark.jobs.stage_function import (
    FAILURE_BEGINS,
    FAILURE_ENDS,
    PreparedCommits,
)
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.structured.connect_job import ConnectJob
from pyflink_on_spark._spark.structured.server_batches import CommitsRecipe, recipe_of

_SCHEMA = "subtask INT, channel INT, seq LONG, payload BINARY"
_NAMES = ("subtask", "channel", "seq", "payload")
_MOST_BYTES = 8 << 20


class ConnectBatchJob(ConnectJob):
    """A job over bounded input; each stage is a ``mapInArrow``, each exchange a shuffle."""

    def _take_restored(self) -> None:
        """Do nothing: a job with BATCH semantics has no state to begin with."""

    def _run(self) -> None:
        self._attempts()

    def _clean_up(self) -> None:
        """Do nothing: nothing is committed before the end."""

    @property
    def _resumable(self) -> bool:
        return False

    def _attempt(self, number: int) -> None:
        self._session.addTag(self.job_id)
        rows = self._frame(number).collect()
        self._check_cancelled()
        for row in sorted(rows, key=lambda row: (row["channel"], row["seq"])):
            if row["channel"] < 0:
                self._deliver(*pickle.loads(row["payload"]))
        self._check_printers()
        prepared = [bytes(row["payload"]) for row in rows if row["channel"] >= 0]
        if self._job.sinks:
            recipe = cloudpickle.dumps(CommitsRecipe.of(self._job, ""), 5)
            late = self._call(functools.partial(_commit, recipe, prepared))
            if late is not None:
                raise CommitTimeoutError(late)

    def _frame(self, attempt: int) -> Any:
        stages = self._job.stages
        count = _subtasks_of(stages[0])
        rows: Any = self._session.range(0, count, 1, count).select(
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
            plan = pickle.dumps((stage, self._job.settings), 5)
            function = _Stage(plan, number, attempt, self._environment)
            rows = rows.mapInArrow(function.__call__, _SCHEMA)
        return rows

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        while not self._ended.is_set():
            self._session.interruptTag(self.job_id)
            self._ended.wait(0.5)

    def _request(self, request: Any) -> str:
        check_may_be_saved(self._job, "a savepoint")
        return ""


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

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
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
) -> Callable[[int], Callable[[str], Callable[[list[Any]], None]]]:
    """Return the channels of subtasks to the driver, as makers of rows."""
    counts: dict[int, int] = {}

    def of_subtask(number: int) -> Callable[[str], Callable[[list[Any]], None]]:
        def of_channel(channel: str) -> Callable[[list[Any]], None]:
            def send(things: list[Any]) -> None:
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


def _packed(rows: Iterator[ChannelRow]) -> Iterator[Any]:
    import pyarrow

    types = (pyarrow.int32(), pyarrow.int32(), pyarrow.int64(), pyarrow.binary())
    schema = pyarrow.schema(list(zip(_NAMES, types, strict=True)))

    def packed(some: list[ChannelRow]) -> Any:
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


def _commit(recipe: bytes, prepared: list[bytes]) -> str | None:
    """Commit what tasks have prepared; return why that takes too long, or None.

    An error would let Spark run the task again.
    """
    found = recipe_of(recipe)
    try:
        PreparedCommits(found.sinks, found.settings.configuration).commit(prepared)
    except CommitTimeoutError as error:
        return str(error)
    return None


def _subtasks_of(stage: StagePlan) -> int:
    return sum(vertex.parallelism for vertex in stage.vertices)
