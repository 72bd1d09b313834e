"""The sink that executes a statement for each row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._connectors.jdbc.execution import (
    Execution,
    ParameterMaker,
    Parameters,
)
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.options import JdbcStatement
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_CHUNK = 4096


class StatementSink(Sink):
    """A sink for rows, each of which gives the parameters of a statement.

    Args:
        statement: what it was told.

    Raises:
        ValueError: the URL is of an unknown kind, the statement cannot be read or has another
            number of parameters than the rows have fields, or the database lacks a type.
    """

    def __init__(self, statement: JdbcStatement) -> None:
        self._statement = statement
        self._database = find_database(statement.connection)
        fields = len(statement.row_type.get_field_types())
        self._database.translated(statement.sql, fields)
        self._database.column_converters(statement.row_type)

    def with_input_type(self, type_info: Any) -> Sink:
        """Return the sink; raise TypeError if the stream is not of rows of its fields."""
        expected = self._statement.row_type
        if not isinstance(type_info, RowTypeInfo):
            raise TypeError(
                "a JDBC sink writes a stream of rows: declare its type with "
                f"output_type=Types.ROW(...); it is {type_info}"
            )
        if len(type_info.get_field_types()) != len(expected.get_field_types()):
            raise TypeError(f"the stream's type is {type_info}, the sink's is {expected}")
        return self


class JdbcSink(StatementSink):
    """Writes each row at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask, connected."""
        return JdbcWriter(self._statement, context.clock.now)


class JdbcWriter(SinkWriter):
    """Gathers rows and executes the statement for many of them at a time.

    Args:
        statement: what to execute.
        now: the time in ms.
        pause: waits some seconds between two attempts.
    """

    def __init__(
        self,
        statement: JdbcStatement,
        now: Callable[[], int],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        options = statement.execution
        database = find_database(statement.connection)
        self._make = ParameterMaker(database, statement.row_type)
        self._execution = Execution(database, statement, pause)
        self._size = options.batch_size
        # Each row at once leaves nothing for the interval to do.
        self._interval = options.batch_interval if options.batch_size != 1 else 0
        self._next_flush = now() + self._interval
        self._rows: list[Parameters] = []
        self._failed = False

    def write(self, elements: Iterator[Any]) -> None:
        while True:
            room = self._size - len(self._rows) if self._size > 0 else _CHUNK
            taken = self._make.take(elements, room)
            self._rows += taken
            if 0 < self._size <= len(self._rows):
                self._flush()
            if len(taken) < room:
                return

    def advance_processing_time(self, now: int) -> None:
        """Execute the statement for all that waits, if it is time; ``now`` in ms."""
        if self._interval > 0 and now >= self._next_flush:
            self._flush()
            self._next_flush = now + self._interval

    def prepare_commit(self) -> list[Any]:
        """Execute the statement for all that waits."""
        self._flush()
        return []

    def close(self) -> None:
        """Write what waits, as Flink does, unless the database has refused some of it before."""
        try:
            if not self._failed:
                self._flush()
        finally:
            self._execution.close()

    def _flush(self) -> None:
        if not self._rows:
            return
        self._failed = True
        self._execution.execute(self._rows)
        self._failed = False
        self._rows = []
