"""Sinks: part files in folders that elements name, and rows in a database, once each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.files.bucket_naming import ElementBuckets
from pyflink_on_spark._connectors.jdbc.sink import ExactlyOnceJdbcSink
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common.typeinfo import RowTypeInfo
from pyflink_on_spark.datastream.connectors.file_system import BucketAssigner
from pyflink_on_spark.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)

_TABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")


class _ExactlyOnceSink:
    """The argument of ``sink_to`` for this sink.

    Args:
        sink: the engine's.
    """

    def __init__(self, sink: ExactlyOnceJdbcSink) -> None:
        self._sink = sink


def jdbc_exactly_once_sink(
    sql: str,
    type_info: RowTypeInfo,
    jdbc_connection_options: JdbcConnectionOptions,
    jdbc_execution_options: JdbcExecutionOptions | None = None,
    *,
    commits_table: str = "pyflink_on_spark_commits",
    days: int = 30,
) -> _ExactlyOnceSink:
    """Make a sink, for ``sink_to``, whose statement is executed once for each row.

    The rows between two checkpoints are part of the second checkpoint. When that checkpoint is
    complete, the driver writes them in one transaction; without checkpoints, at the end of the
    job. The same transaction records the commit in a table of the same database. The sink needs no
    prepared transactions and works with any table. Hosts, and without a folder of checkpoints the
    driver, need memory for the rows between two checkpoints.

    Args:
        sql: as for ``JdbcSink.sink``.
        type_info: the rows' type.
        jdbc_connection_options: where the statement is executed.
        jdbc_execution_options: how often it is tried again; batch size and interval are those of
            the checkpoints.
        commits_table: the table that records commits; created if it does not exist.
        days: how long records are kept. A job must not restore a checkpoint older than that.

    Raises:
        ValueError: as ``JdbcSink.sink``, or the name is not a valid name of a table.
    """
    if not _TABLE.fullmatch(commits_table):
        raise ValueError(f"{commits_table!r} is not the name of a table")
    if days < 1:
        raise ValueError(f"records are kept for a day at least, not {days}")
    plain = JdbcSink.sink(sql, type_info, jdbc_connection_options, jdbc_execution_options)
    return _ExactlyOnceSink(ExactlyOnceJdbcSink(plain._config, commits_table, days))


def bucket_assigner(bucket_of: Callable[[Any], str]) -> BucketAssigner:
    """Make a bucket assigner, for ``with_bucket_assigner`` of a FileSink or StreamingFileSink.

    Args:
        bucket_of: gets an element, returns the folder for it: a path below the sink's own, with
            slashes for sub-folders, or an empty text. Each subtask has a file open in each bucket,
            so they should not be many.

    Raises:
        TypeError: it cannot be called or pickled.
    """
    if not callable(bucket_of):
        raise TypeError(f"bucket_assigner needs a function of an element, not {bucket_of!r}")
    return BucketAssigner(ElementBuckets(UserFunction.of(PlainFunction("bucket_of", bucket_of))))
