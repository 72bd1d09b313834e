"""Executes a statement for batches of rows in one subtask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._connectors.jdbc.batches import BatchWriter
from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker, Parameters

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
