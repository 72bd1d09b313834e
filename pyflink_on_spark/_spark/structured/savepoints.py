"""Savepoints of queries: what Spark's state store has, as files that any engine can start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.hosts import HostSnapshot
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._options import checkpointing
from pyflink_on_spark._runtime.checkpoints.checkpoint import complete
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Folder,
    StateFile,
    folder,
    state_file,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE
from pyflink_on_spark._runtime.elements.clock import SystemClock
from pyflink_on_spark._spark.session.dependencies import spark_settings
from pyflink_on_spark._spark.session.session import obtain_session
from pyflink_on_spark._spark.structured.batches import (
    QUERY,
    RUN,
    QueryRun,
    committed_batches,
    prepared_things,
)
from pyflink_on_spark._spark.structured.state_log import LOG

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


class StoredState:
    """The slots of a query between two micro-batches, as those who save a job see its hosts.

    Args:
        session: has the settings of the query.
        home: the folder of the query.
        batch: the last micro-batch, which Spark has committed.
    """

    def __init__(self, session: SparkSession, home: Folder, batch: int) -> None:
        self._session, self._home, self._batch = session, home, batch

    def snapshot(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str = WHOLE,
        *,
        halt: bool = False,
        timeout: float | None = None,
    ) -> dict[int, HostSnapshot]:
        """Copy the state of all slots into files; no timeout counts."""
        assert where is not None
        files = write_slots(self._session, self._home, self._batch, folder(where))
        return {number: HostSnapshot(file, []) for number, file in enumerate(files)}

    def committables(self) -> list[Any]:
        """Return nothing: all is committed."""
        return []

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Do nothing: slots are notified when they process the next micro-batch."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Do nothing: no slot takes part."""

    def end_sources(self) -> None:
        """Do nothing: a wish ends them."""


def is_query(place: Folder) -> bool:
    """Tell whether a folder is the home of a query."""
    return RUN in place.names()


def from_query(job: Job) -> Job:
    """Return a job that begins with a savepoint, if it was to begin with the home of a query."""
    configuration = job.settings.configuration
    where = checkpointing.RESTORE_PATH.read(configuration)
    home = None if where is None or job.settings.batch else folder(where, configuration)
    if home is None or not is_query(home):
        return job
    session = obtain_session(spark_settings(configuration))
    place = home.inside("savepoint")
    place.remove()
    savepoint_of(session, home, place)
    changed = {**configuration, checkpointing.RESTORE_PATH.key: place.uri}
    return replace(job, settings=replace(job.settings, configuration=changed))


def savepoint_of(session: SparkSession, home: Folder, place: Folder) -> None:
    """Make a savepoint of what a query that does not run any more has left.

    Args:
        session: any.
        home: the folder of the query.
        place: that of the savepoint.

    Raises:
        CheckpointError: Spark has committed no micro-batch.
    """
    run = QueryRun.of(home)
    batches = committed_batches(home)
    if not batches:
        raise CheckpointError(f"the query in {home.shown} has not come to its first checkpoint")
    batch = max(batches)
    complete(
        place,
        checkpoint_id=run.first + batch + 1,
        job_id=run.job_id,
        job_name=run.name,
        time=SystemClock().now(),
        savepoint=True,
        files=write_slots(session, home, batch, place),
        committables=prepared_things(home, batch),
        meanings=run.state_meanings,
    )


def write_slots(session: SparkSession, home: Folder, batch: int, place: Folder) -> list[StateFile]:
    """Write the state of each slot after a micro-batch into a file.

    Args:
        session: any.
        home: the folder of the query.
        batch: which micro-batch; Spark has committed it.
        place: where the files are written.
    """
    files: list[StateFile] = []
    for level in range(QueryRun.of(home).levels):
        chunks = _chunks(session, home.inside(QUERY).uri, batch, level)
        target = None
        row: Mapping[str, Any] | None = next(chunks, None)
        while row is not None:
            target = row["target"]
            with state_file(place, f"slot-{len(files)}") as writer:
                while row is not None and row["target"] == target:
                    writer.write_bytes(bytes(row["chunk"]))
                    row = next(chunks, None)
            files.append(writer.result())
    return files


def _chunks(session: SparkSession, path: str, batch: int, level: int) -> Iterator[Any]:
    """Yield the entries of the logs of all slots of a level, each log in its order."""
    frame = (
        session.read.format("statestore")
        .option("batchId", batch)
        .option("operatorId", level)
        .option("stateVarName", LOG)
        .load(path)
        .selectExpr(
            "key.target AS target",
            "user_map_key.number AS number",
            "user_map_value.chunk AS chunk",
        )
        .orderBy("target", "number")
    )
    return iter(frame.toLocalIterator())
