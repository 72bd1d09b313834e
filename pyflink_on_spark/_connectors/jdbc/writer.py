"""Executes a statement for batches of rows in one subtask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker, Parameters
from pyflink_on_spark._runtime.connector import SinkWriter

_CHUNK = 4096


class JdbcWriter(SinkWriter):
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
        # With batches of one row no row waits for the interval.
        self._interval = execution.batch_interval if execution.batch_size != 1 else 0
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
        """Write the buffered rows when the interval is over."""
        if self._interval > 0 and now >= self._next_flush:
            self._flush()
            self._next_flush = now + self._interval

    def prepare_commit(self) -> list[Any]:
        self._flush()
        return []

    def close(self) -> None:
        """Write the buffered rows, as Flink does, unless the database has rejected a batch."""
        try:
            if not self._failed:
                self._flush()
        finally:
            self._client.close()

    def _flush(self) -> None:
        if not self._rows:
            return
        self._failed = True
        self._client.execute([self._rows])
        self._failed = False
        self._rows = []
