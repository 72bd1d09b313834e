"""Keeps a table of a database as a query has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.batches import BatchWriter
from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._sql.plan.changes import DELETE, UPDATE_BEFORE
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class UpsertJdbcSink(Sink):
    """Writes the last row of each key, and removes the rows whose keys are gone.

    Args:
        upsert: the settings of the statement that adds or replaces a row.
        delete: the SQL that removes the row of a key.
        key: the positions of the columns of the key.
        changelog: whether elements are pairs of the kind and the row.
    """

    def __init__(
        self, upsert: JdbcSinkConfig, delete: str, key: tuple[int, ...], changelog: bool
    ) -> None:
        self._upsert, self._key, self._changelog = upsert, key, changelog
        names, types = upsert.row_type.get_field_names(), upsert.row_type.get_field_types()
        key_type = RowTypeInfo([types[i] for i in key], [names[i] for i in key])
        self._delete = replace(upsert, sql=delete, row_type=key_type)
        database = find_database(upsert.connection)
        database.translated(upsert.sql, len(types))
        database.column_converters(upsert.row_type)

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of a subtask."""
        return _UpsertWriter(
            self._upsert, self._delete, self._key, self._changelog, context.clock.now()
        )


class _UpsertWriter(BatchWriter):
    """Keeps the last row of each key until a batch is full, or its time is over."""

    def __init__(
        self,
        upsert: JdbcSinkConfig,
        delete: JdbcSinkConfig,
        key: tuple[int, ...],
        changelog: bool,
        now: int,
    ) -> None:
        database = find_database(upsert.connection)
        self._rows = ParameterMaker(database, upsert.row_type)
        self._keys = ParameterMaker(database, delete.row_type)
        self._upserts = JdbcClient(database, upsert)
        self._deletes = JdbcClient(database, delete)
        self._positions, self._changelog = key, changelog
        self._size = upsert.execution.batch_size
        self._waiting: dict[Any, Any] = {}
        super().__init__(upsert.execution.batch_interval, now, self._upserts, self._deletes)

    def write(self, elements: Iterator[Any]) -> None:
        """Keep rows, and write a batch when it is full."""
        waiting, size = self._waiting, self._size
        key_of = itemgetter(*self._positions)
        for element in elements:
            kind, row = element if self._changelog else (0, element)
            if kind == UPDATE_BEFORE:
                continue
            waiting[key_of(row)] = row, kind == DELETE
            if 0 < size <= len(waiting):
                self._flush()

    def _empty(self) -> bool:
        return not self._waiting

    def _execute(self) -> None:
        gone = [row for row, removed in self._waiting.values() if removed]
        kept = [row for row, removed in self._waiting.values() if not removed]
        if gone:
            keys = ([row[index] for index in self._positions] for row in gone)
            self._deletes.execute([self._keys.take(iter(keys), len(gone))])
        if kept:
            self._upserts.execute([self._rows.take(iter(kept), len(kept))])
        self._waiting.clear()
