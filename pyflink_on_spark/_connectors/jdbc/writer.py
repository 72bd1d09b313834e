"""Executes a statement for the rows of one subtask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker, Parameters
from pyflink_on_spark._runtime.connector import SinkWriter

if TYPE_CHECKING:
    pass


_CHUNK = 4096


class JdbcWriter(SinkWriter):
    """Gathers rows and executes the statement for many of them at a time.

    Args:
        statement: what to execute.
        now: the time in ms.
        pause: waits some seconds between two attempts.
    """

    def __init__(
        self,
        statement: JdbcSinkConfig,
        now: Callable[[], int],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        options = statement.execution
        database = find_database(statement.connection)
        self._make = ParameterMaker(database, statement.row_type)
        self._execution = JdbcClient(database, statement, pause)
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
