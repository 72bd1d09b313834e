"""Any Spark connector as a source or sink: DataFrames in and out of a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyflink_on_spark._compat import registry
from pyflink_on_spark._connectors.spark_rows.sink import StagedSink
from pyflink_on_spark._connectors.spark_rows.source import StagedRows
from pyflink_on_spark.common import WatermarkStrategy
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream import DataStream, DataStreamSink, StreamExecutionEnvironment


class _Connector:
    def __init__(self, *, source: object = None, sink: object = None) -> None:
        self._source, self._sink = source, sink


def from_spark(
    env: StreamExecutionEnvironment,
    frame: Any,
    type_info: TypeInformation | None = None,
    *,
    watermark_strategy: WatermarkStrategy | None = None,
    name: str = "Spark DataFrame",
    staging: str | None = None,
) -> DataStream:
    """Make a stream of the rows of a Spark DataFrame.

    A batch DataFrame is computed when the job starts, and the stream is bounded. The stream of a
    streaming DataFrame is unbounded; each of its micro-batches is read exactly once, also after a
    restart of the job. The rows are staged in files. If Spark's query fails, the job fails; the
    next attempt resumes the query where it stopped.

    A batch is removed from the folder when the oldest retained checkpoint
    (``execution.checkpointing.num-retained``) no longer needs it. Savepoints and the checkpoints of
    former runs retain nothing: restoring one whose batches are gone raises an error. Without
    checkpoints nothing is removed. The rows of a batch DataFrame are removed when the job has
    ended. They stay if the job leaves a checkpoint or savepoint and ``staging`` is given: a run
    that restores it does not read the DataFrame again.

    Args:
        env: the environment.
        frame: a batch or streaming DataFrame of the session that runs the job.
        type_info: a row type with a field for each column; derived from the columns if not given.
        watermark_strategy: how watermarks are made; none if not given.
        name: the operator's name.
        staging: a local folder for the files, which on a cluster all machines must see. A job that
            is to continue after its process has ended needs a permanent one, because a checkpoint
            refers to it. The folder of a streaming DataFrame belongs to this stream alone. The
            default is a temporary folder.

    Raises:
        TypeError: if it is not a DataFrame, or PyFlink lacks the type of a column.
    """
    frames = registry.load("frames")
    derived = frames.row_type_of(frame)
    folder = frames.temporary_staging() if staging is None else str(Path(staging).absolute())
    source = StagedRows(
        folder,
        staging is not None,
        type_info or derived,
        not frame.isStreaming,
        frames.staging(frame),
    )
    strategy = watermark_strategy or WatermarkStrategy.no_watermarks()
    return env.from_source(_Connector(source=source), strategy, name, type_info or derived)


def to_spark(
    stream: DataStream,
    write: Callable[[Any, int], object],
    *,
    name: str = "Spark DataFrame",
    staging: str | None = None,
) -> DataStreamSink:
    """Hand the elements of a stream over to Spark, as DataFrames.

    ``write(frame, checkpoint_id)`` is called in the driver: at each checkpoint with the elements
    since the one before, and at the end of the job; like the function of ``foreachBatch``. After a
    failure it may be called again with the same number and elements, and with no others.

    Args:
        stream: of a declared type: a row or tuple becomes columns, a basic type one column
            called ``value``.
        write: for example ``lambda frame, _: frame.write.mode("append").parquet(path)``.
        name: the operator's name.
        staging: a local path for files in between. On a cluster, one that all machines see. It has
            to stay for as long as a checkpoint or savepoint may be restored, which names files in
            it, and has notes of those that were handed over. By default a folder where checkpoints
            are kept, or else savepoints; a temporary one if neither is in local files. From that
            no savepoint can be made, and no job with checkpoints in files begins.

    Raises:
        TypeError: if the stream has no declared type, or a DataFrame cannot have such values.
    """
    frames = registry.load("frames")
    place = frames.staging_place if staging is None else frames.given_place(staging)
    return stream.sink_to(_Connector(sink=StagedSink(place, frames.handing_over(write))), name)
