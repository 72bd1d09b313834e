"""Savepoints of queries: what Spark's state store has, as files that any engine can start from."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError, EnvironmentSetupError
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._options import checkpointing
from pyflink_on_spark._options.own import CHECKPOINT_KEY
from pyflink_on_spark._runtime.checkpoints.checkpoint import complete
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Folder,
    StateFile,
    folder,
    state_file,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._spark.session.dependencies import ship_own_package, spark_settings
from pyflink_on_spark._spark.session.session import obtain_session
from pyflink_on_spark._spark.session.spark_defaults import BUNDLE_SETTINGS
from pyflink_on_spark._spark.structured.batches import (
    QUERY,
    RUN,
    TAKEN_OVER,
    QueryRun,
    committed_batches,
    prepared_things,
)
from pyflink_on_spark._spark.structured.query_settings import UNIQUE_FILES, meanwhile
from pyflink_on_spark._spark.structured.slow_start import once_started
from pyflink_on_spark._spark.structured.state_log import LOG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class StoredState:
    """The slots of a query between two micro-batches, as those who save a job see its hosts.

    Args:
        session: has the settings of the query.
        home: the folder of the query.
        batch: the last micro-batch, which Spark has committed.
        levels: how many operators with state the query has.
        configuration: the job's.
    """

    def __init__(
        self,
        session: SparkSession,
        home: Folder,
        batch: int,
        levels: int,
        configuration: Mapping[str, str],
    ) -> None:
        self._session, self._home, self._batch = session, home, batch
        self._levels, self._configuration = levels, configuration

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
        files = write_slots(
            self._session,
            self._home,
            self._batch,
            self._levels,
            folder(where, self._configuration),
            self._configuration,
        )
        return {number: HostSnapshot(file, []) for number, file in enumerate(files)}

    def committables(self) -> list[object]:
        """Return nothing: all is committed."""
        return []

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Do nothing: slots are notified when they process the next micro-batch."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Do nothing: no slot takes part."""

    def end_sources(self) -> None:
        """Do nothing: a wish ends them."""


def is_query(place: Folder) -> bool:
    """True for a folder that is the home of a query."""
    return RUN in place.names()


def check_unsigned(configuration: Mapping[str, str]) -> None:
    """Raise if a job is to sign its checkpoints, which those of queries are not.

    Raises:
        EnvironmentSetupError: it is.
    """
    if CHECKPOINT_KEY.is_set(configuration):
        raise EnvironmentSetupError(
            f"the engine 'structured' keeps state in Spark's own files, which {CHECKPOINT_KEY.key} "
            "does not sign: use the engine 'hosts', or leave the key out"
        )


def from_query(job: Job, remote: SparkSession | None = None) -> Job:
    """Return a job that begins with a checkpoint, if it was to begin with the home of a query.

    Args:
        job: the job.
        remote: the session of a Spark Connect server that it runs on, if it does.
    """
    configuration = job.settings.configuration
    where = checkpointing.RESTORE_PATH.read(configuration)
    home = None if where is None or job.settings.batch else folder(where, configuration)
    if home is None or not is_query(home):
        return job
    check_unsigned(configuration)
    session = remote
    if session is None:
        session = obtain_session(spark_settings(configuration)).newSession()
        for key, value in BUNDLE_SETTINGS.items():
            session.conf.set(key, value)
        ship_own_package(session)
    home.write(TAKEN_OVER, b"")  # the query may still run, without its driver or its client
    place = home.inside("checkpoint")
    place.remove()
    checkpoint_of(session, home, place, configuration)
    changed = {**configuration, checkpointing.RESTORE_PATH.key: place.uri}
    return replace(job, settings=replace(job.settings, configuration=changed))


def checkpoint_of(
    session: SparkSession, home: Folder, place: Folder, configuration: Mapping[str, str]
) -> None:
    """Make a checkpoint of the state of a query that has ended.

    The next job takes over what this one has left: nobody may continue beside it.

    Args:
        session: any.
        home: the folder of the query.
        place: that of the checkpoint.
        configuration: the job's.

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
        savepoint=False,
        files=write_slots(session, home, batch, run.levels, place, configuration),
        committables=prepared_things(home, batch),
        meanings=run.state_meanings,
    )


def write_slots(
    session: SparkSession,
    home: Folder,
    batch: int,
    levels: int,
    place: Folder,
    configuration: Mapping[str, str],
) -> list[StateFile]:
    """Write the state of each slot after a micro-batch into a file, in tasks.

    Args:
        session: has the settings of queries.
        home: the folder of the query.
        batch: which micro-batch; Spark has committed it.
        levels: how many operators with state the query has.
        place: where the files are written.
        configuration: the job's; says how file systems are reached.
    """
    files: list[StateFile] = []
    name = QueryRun.of(home).name
    with meanwhile(session, UNIQUE_FILES):
        for level in range(levels):
            writer = _SlotWriter(level, place.uri, dict(configuration))
            logs = _logs(session, home.inside(QUERY).uri, batch, level)
            written = logs.mapInArrow(writer.__call__, "target INT, file BINARY")
            rows = once_started(written.collect, name, repeatable=True)
            found = sorted(rows, key=lambda row: row["target"])
            files += [pickle.loads(row["file"]) for row in found]
    return files


class _SlotWriter:
    """Writes the logs of slots into a file each, in a task.

    Args:
        level: that of the slots.
        place: the URI of the folder.
        configuration: the job's.
    """

    def __init__(self, level: int, place: str, configuration: dict[str, str]) -> None:
        self._level, self._place, self._configuration = level, place, configuration

    def __call__(self, batches: Iterable[object]) -> Iterator[object]:
        """Write the entries of logs, which follow each other; return the files."""
        import pyarrow

        place = folder(self._place, self._configuration)
        for target, entries in itertools.groupby(_entries(batches), lambda entry: entry[0]):
            with state_file(place, f"slot-{self._level}-{target}") as writer:
                for _, chunk in entries:
                    writer.write_bytes(chunk)
            file = pickle.dumps(writer.result(), 5)
            columns = [pyarrow.array([target], pyarrow.int32()), pyarrow.array([file])]
            yield pyarrow.RecordBatch.from_arrays(columns, ["target", "file"])


def _entries(batches: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        yield from zip(batch.column(0).to_pylist(), batch.column(2).to_pylist(), strict=True)


def _logs(session: SparkSession, path: str, batch: int, level: int) -> DataFrame:
    """Return the entries of the logs of all slots of a level, each log in its order."""
    return (
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
        .repartition("target")
        .sortWithinPartitions("target", "number")
    )
