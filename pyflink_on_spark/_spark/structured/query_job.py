"""A job as one query of Structured Streaming, in which Spark does all there is to do."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody does
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._compat.errors import (
    CheckpointError,
    EnvironmentSetupError,
    JobCancelledError,
)
from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.progress_display import display_for
from pyflink_on_spark._job.progress_line import Progress
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress
from pyflink_on_spark._runtime.task.restored_key_groups import with_key_groups
from pyflink_on_spark._spark.jobs.description import description_of
from pyflink_on_spark._spark.jobs.running_job import RunningJob
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.scratch import scratch_subfolder
from pyflink_on_spark._spark.session.spark_defaults import is_local
from pyflink_on_spark._spark.structured.batches import Batches, QueryCommits
from pyflink_on_spark._spark.structured.levels import SCHEMA, TICK, Levels
from pyflink_on_spark._spark.structured.processor import SlotProcessor
from pyflink_on_spark._spark.structured.slot import Limits, level_plans
from pyflink_on_spark._spark.transport.result_channel import Channel
from pyflink_on_spark.common._options import own

_LOOK_SECONDS = 0.1
_COMMIT_SECONDS = 0.02
_POOL = "PYFLINK_ON_SPARK_POOL"
_numbers = itertools.count()
_NO_SAVEPOINTS = (
    "a job of the engine 'structured' cannot be saved yet: set pyflink-on-spark.engine to 'hosts'"
)
_STORE = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming."
    "state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
}


class Desk:
    """Gives channels that no process connects to: the driver puts in what micro-batches bring."""

    address = None

    def open_channel(
        self, name: str, callback: Callable[[list[Any]], None] | None = None, capacity: int = 64
    ) -> Channel:
        """Open a channel; for the arguments see ``ResultServer``."""
        return Channel(name, callback, capacity)

    def release(self, channel: Channel) -> None:
        """Close a channel."""
        channel.close()

    def forget(self, channel: Channel) -> None:
        """Do nothing: what waits in the channel can still be read."""


class QueryJob(RunningJob):
    """A job whose subtasks are groups of a streaming query, and whose state is in Spark's store.

    Args:
        job: what to run.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job, lambda *_: Desk())  # type: ignore[arg-type]
        self._long_running = not job.bounded
        self._interrupted = False
        setting = own.PROGRESS.read(job.settings.configuration)
        quiet = job.collected is not None and setting == "AUTO"
        self._progress = Progress(job.name, job.listeners, None if quiet else display_for(setting))
        self._settings = CheckpointSettings.of(job.settings.configuration)
        self._commits = QueryCommits.of(job, self._clock)
        self._delivered: dict[str, int] = {}

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            CheckpointError: if the checkpoint to begin with does not fit.
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
        """
        self._commits.restore_given()
        counts = self._commits.key_groups
        self._job = replace(self._job, stages=with_key_groups(self._job.stages, counts))
        self._levels: Levels | None = None
        super().start()

    @property
    def progress(self) -> JobProgress | None:
        """How far the job is; None before the first report."""
        return self._progress.latest

    @property
    def parts(self) -> Sequence[TaskProgress]:
        """How far each chain of each subtask is."""
        return self._progress.parts

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        self._join()

    def interrupt(self) -> None:
        """End the job as if its process was killed: what is in its folder stays."""
        self._interrupted = True
        self.cancel()

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint while the job runs; return its path."""
        raise CheckpointError(_NO_SAVEPOINTS)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path."""
        raise CheckpointError(_NO_SAVEPOINTS)

    def _run(self) -> None:
        self._home = self._home_folder()
        self._commits.open(self._home)
        try:
            self._attempts()
        finally:
            self._progress.ended()
        with contextlib.suppress(OSError):
            self._home.remove()

    def _clean_up(self) -> None:
        kept = self._interrupted or self._spark_gone
        if self._cancelled.is_set():
            kept = kept or self._settings.kept_when_cancelled
        else:
            kept = kept or self._settings.kept_when_failed
        if not kept or self._settings.directory is None:
            self._home.remove()

    def _home_folder(self) -> Folder:
        directory = self._settings.directory
        if directory is None:
            if not is_local(self._session.sparkContext.master):
                raise EnvironmentSetupError(
                    "the engine 'structured' keeps state in a folder that all machines share: set "
                    "execution.checkpointing.dir"
                )
            directory = scratch_subfolder("queries").as_uri()
        return folder(f"{directory}/{self.job_id}", self._settings.configuration)

    def _attempt(self, number: int) -> None:
        self._commits.attempt_begins()
        self._progress.attempt_begins()
        if self._levels is None:
            most = max(1, self._session.sparkContext.defaultParallelism)
            self._levels = Levels.of(self._job.stages, most)
        levels = self._levels
        slots = sum(len(level.targets) for level in levels.levels)
        batches = Batches(
            self._commits,
            slots,
            self._deliver,
            lambda checkpoint, parts: self._progress.update(number, checkpoint, parts),
        )
        with _pools.some(len(levels.levels)) as pools:
            query = self._start(levels, batches, number, pools)
            try:
                self._follow(query, batches)
            finally:
                query.stop()

    def _follow(self, query: StreamingQuery, batches: Batches) -> None:
        """Wait until the job has ended."""
        while not batches.ended.wait(_LOOK_SECONDS):
            self._check(query, batches)
            self._job.maintain_sources(self._commits.number_of(-1))
        committed = self._home.inside("query/commits")
        while str(batches.last) not in committed.names():
            self._check(query, batches)
            time.sleep(_COMMIT_SECONDS)
        batches.finish()

    def _check(self, query: StreamingQuery, batches: Batches) -> None:
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")
        self._check_printers()
        if not query.isActive:
            raise query.exception() or batches.error or RuntimeError("Spark has stopped the query")

    def _start(
        self, levels: Levels, batches: Batches, number: int, pools: list[int]
    ) -> StreamingQuery:
        session = self._session.newSession()
        for key, value in _STORE.items():
            session.conf.set(key, value)
        session.conf.set("spark.sql.shuffle.partitions", str(levels.partitions))
        first = levels.levels[0]
        frame: DataFrame = (
            session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", len(first.targets))
            .option("numPartitions", 1)
            .load()
        )
        count = len(first.targets)
        places = F.array(*map(F.lit, first.targets))
        frame = frame.select(
            F.element_at(places, (F.col("value") % count + 1).cast("int")).alias("target"),
            F.lit(-1).alias("subtask"),
            F.lit(TICK).alias("channel"),
            (F.col("value") / count).cast("long").alias("seq"),
            F.lit(None).cast("binary").alias("payload"),
        )
        environment = WorkerEnvironment.of_driver(self._dependencies)
        plans = level_plans(
            levels, self._job.settings, number, self._commits.restore, self._limits()
        )
        for plan in plans:
            processor = SlotProcessor(
                pickle.dumps(plan, 5), (number, plan.number), self._home.uri, environment
            )
            with _pools.made_in(pools[plan.number], session.sparkContext.environment):
                frame = frame.groupBy("target").transformWithState(
                    processor, SCHEMA, "append", "None"
                )
        writer = (
            frame.writeStream.foreachBatch(batches)
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", self._home.inside("query").uri)
        )
        interval = self._settings.interval
        if interval is not None and not self._job.bounded:
            writer = writer.trigger(processingTime=f"{interval} milliseconds")
        session.sparkContext.setJobDescription(description_of(self._job, number))
        return writer.start()

    def _limits(self) -> Limits:
        interval = self._settings.interval
        if self._job.bounded:
            seconds = 10.0 if interval is None else interval / 1000
            return Limits(seconds, idle=max(0.2, min(seconds, 10.0)), patient=True)
        return Limits()

    def _deliver(self, channel: str, things: list[Any]) -> None:
        """Hand over what a subtask has sent; who reads it may let this wait."""
        found = self._channels.get(channel)
        if found is not None and not self._cancelled.is_set():
            start = self._delivered.get(channel, 0)
            self._delivered[channel] = start + len(things)
            found.deliver("query", start, things)


class _WorkerPools:
    """Numbers that are each in use by one level of one running query."""

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._lock = threading.RLock()

    @contextlib.contextmanager
    def some(self, count: int) -> Iterator[list[int]]:
        """Give some of them, while the block runs."""
        with self._lock:
            free = (number for number in itertools.count() if number not in self._used)
            taken = list(itertools.islice(free, count))
            self._used.update(taken)
        try:
            yield taken
        finally:
            with self._lock:
                self._used.difference_update(taken)

    @contextlib.contextmanager
    def made_in(self, number: int, environment: dict[str, str]) -> Iterator[None]:
        """Let functions that are made in the block run in workers of their own.

        Spark gives a task any idle worker with the environment that it wants. Subtasks live on in
        their worker only if it is given to the same level again.

        Args:
            number: that of the pool.
            environment: what Spark's context gives to functions.
        """
        with self._lock:
            environment[_POOL] = str(number)
            try:
                yield
            finally:
                del environment[_POOL]


_pools = _WorkerPools()
