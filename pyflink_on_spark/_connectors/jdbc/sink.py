"""The sink that executes a statement for each row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient, ParameterMaker, Parameters
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class BatchWriter(SinkWriter):
    """Writes a batch when its interval is over, with each checkpoint, and at the end.

    Args:
        interval: from one batch to the next in ms; 0 for no limit.
        now: the processing time in ms.
        clients: what is closed at the end.
    """

    def __init__(self, interval: int, now: int, *clients: JdbcClient) -> None:
        self._interval, self._next_flush = interval, now + interval
        self._clients = clients
        self._failed = False

    def advance_processing_time(self, now: int) -> None:
        """Write the batch when the interval is over."""
        if self._interval > 0 and now >= self._next_flush:
            self._flush()
            self._next_flush = now + self._interval

    def prepare_commit(self) -> list[Any]:
        """Write the batch."""
        self._flush()
        return []

    def close(self) -> None:
        """Write the batch, as Flink does, unless the database has rejected one."""
        try:
            if not self._failed:
                self._flush()
        finally:
            for client in self._clients:
                client.close()

    def _flush(self) -> None:
        if not self._empty():
            self._failed = True
            self._execute()
            self._failed = False

    def _empty(self) -> bool:
        """True if there is nothing to write."""
        raise NotImplementedError

    def _execute(self) -> None:
        """Write the batch, and begin another."""
        raise NotImplementedError


_CHUNK = 4096


class JdbcWriter(BatchWriter):
    """Buffers rows, and executes the statement for a batch of them.

    Args:
        config: the settings of the sink.
        now: returns the processing time in ms.
        pause: waits some seconds between two attempts.
    """

    def __init__(
        self,
        config: JdbcSinkConfig,
        now: Callable[[], int],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        execution = config.execution
        database = find_database(config.connection)
        self._make = ParameterMaker(database, config.row_type)
        self._client = JdbcClient(database, config, pause)
        self._size = execution.batch_size
        self._rows: list[Parameters] = []
        # With batches of one row no row waits for the interval.
        interval = execution.batch_interval if execution.batch_size != 1 else 0
        super().__init__(interval, now(), self._client)

    def write(self, elements: Iterator[Any]) -> None:
        while True:
            room = self._size - len(self._rows) if self._size > 0 else _CHUNK
            taken = self._make.take(elements, room)
            self._rows += taken
            if 0 < self._size <= len(self._rows):
                self._flush()
            if len(taken) < room:
                return

    def _empty(self) -> bool:
        return not self._rows

    def _execute(self) -> None:
        self._client.execute([self._rows])
        self._rows = []


class StatementSink(Sink):
    """A sink for rows, each of which gives the parameters of a statement.

    Args:
        config: the settings of the sink.

    Raises:
        ValueError: there is no driver for the URL, the number of the statement's parameters is not
            the number of the rows' fields, or the database lacks a type.
    """

    def __init__(self, config: JdbcSinkConfig) -> None:
        self._config = config
        self._database = find_database(config.connection)
        fields = len(config.row_type.get_field_types())
        self._database.translated(config.sql, fields)
        self._database.column_converters(config.row_type)

    def with_input_type(self, type_info: Any) -> Sink:
        """Check that the stream consists of rows with the sink's number of fields.

        Raises:
            TypeError: the stream has another type.
        """
        expected = self._config.row_type
        if not isinstance(type_info, RowTypeInfo):
            raise TypeError(
                "a JDBC sink writes a stream of rows: declare its type with "
                f"output_type=Types.ROW(...); it is {type_info}"
            )
        if len(type_info.get_field_types()) != len(expected.get_field_types()):
            raise TypeError(f"the stream's type is {type_info}, the sink's is {expected}")
        return self


class BatchedJdbcSink(StatementSink):
    """Writes each row at least once, in batches."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return JdbcWriter(self._config, context.clock.now)
