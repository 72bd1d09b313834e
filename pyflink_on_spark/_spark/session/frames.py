"""DataFrames in and out of jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._connectors.spark_rows.arrow_types import type_of_schema
from pyflink_on_spark._connectors.spark_rows.sink import HandOver, StagingPlace
from pyflink_on_spark._connectors.spark_rows.source import BatchFolder, Stage, Staging
from pyflink_on_spark._filesystem.location import is_remote
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._spark.session.spark_defaults import scratch_subfolder

_LOG = "spark-checkpoint"
_ALL_OF_THEM = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}


def arrow_schema_of(frame: object) -> pa.Schema:
    """Return the columns of a DataFrame as Arrow has them.

    Raises:
        TypeError: if it is no DataFrame.
    """
    if not isinstance(frame, DataFrame):
        raise TypeError(f"from_spark needs a Spark DataFrame, not {frame!r}")
    return frame.sparkSession.createDataFrame([], frame.schema).toArrow().schema


def row_type_of(frame: object) -> object:
    """Return the type of the rows of a DataFrame."""
    return type_of_schema(arrow_schema_of(frame))


def staging(frame: DataFrame) -> Stage:
    """Return the function that makes Spark write a DataFrame into a folder."""
    return (
        (lambda folder: _follow(frame, folder))
        if frame.isStreaming
        else (lambda folder: _copy(frame, folder))
    )


def temporary_staging() -> str:
    """Return a folder for the time of this process."""
    return str(scratch_subfolder("staged"))


def staging_place(configuration: Mapping[str, str]) -> StagingPlace:
    """Return where a job stages rows for Spark: where its checkpoints or savepoints are."""
    settings = CheckpointSettings.of(configuration)
    for uri in (settings.directory, settings.savepoint_directory):
        if uri is not None and not is_remote(uri):
            return StagingPlace(f"{Folder(uri).path}/staged-for-spark", True)
    return StagingPlace(temporary_staging(), False)


def given_place(path: str) -> Callable[[Mapping[str, str]], StagingPlace]:
    """Return a function that always stages rows in the user's folder."""
    place = StagingPlace(str(Path(path).absolute()), True)
    return lambda _: place


def handing_over(write: Callable[[DataFrame, int], object]) -> HandOver:
    """Return the function that passes staged files to a function as a DataFrame."""

    def hand_over(files: list[str], checkpoint_id: int) -> None:
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        write(staged(session, files), checkpoint_id)

    return hand_over


def staged(session: SparkSession, files: list[str]) -> DataFrame:
    """Return the rows of staged files.

    Whatever the user's settings say about files, these are all read, or an error is raised.
    """
    return session.read.options(**_ALL_OF_THEM).parquet(*files)


def _copy(frame: DataFrame, folder: str) -> Staging:
    _write_batch(frame, BatchFolder(folder), 0)
    return _Copy()


def _follow(frame: DataFrame, folder: str) -> Staging:
    batches = BatchFolder(folder)
    return FollowingQuery(
        frame.writeStream.foreachBatch(lambda batch, number: _write_batch(batch, batches, number))
        .queryName(f"staging of {Path(folder).name}")
        .option("checkpointLocation", str(Path(folder, _LOG)))
        .start()
    )


class _Copy:
    """A batch DataFrame that is written."""

    def failure(self) -> BaseException | None:
        """Return None: all is there."""
        return None

    def end(self) -> None:
        """Do nothing: all is written."""


class FollowingQuery:
    """A query that writes one batch of a streaming DataFrame after the other.

    Args:
        query: which was started.
    """

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query

    def failure(self) -> BaseException | None:
        """Return the error of the query, or None while it runs; it never ends by itself."""
        if self._query.isActive:
            return None
        cause = self._query.exception()
        why = "its query was stopped" if cause is None else f"{cause}"
        error = EnvironmentSetupError(
            f"the streaming DataFrame that the job reads has ended: {why}"
        )
        error.__cause__ = cause
        return error

    def end(self) -> None:
        """Stop the query; its files remain."""
        self._query.stop()


def _write_batch(frame: DataFrame, folder: BatchFolder, number: int) -> None:
    """Write a batch so that it is there as a whole; one that is or was there stays as it is."""
    if folder.is_there(number) or number < folder.first:
        return
    target = folder.batch(number)
    temporary = target.with_name(f".{target.name}")
    frame.write.mode("overwrite").parquet(str(temporary))
    if not temporary.is_dir():
        raise EnvironmentSetupError(
            f"Spark has written the rows of from_spark() into {temporary} of another machine: give "
            "from_spark() a folder that this one sees as well (staging=...)"
        )
    temporary.rename(target)
