"""When the batches of a JDBC sink are written."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._runtime.contract.connector import SinkWriter


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
        """Whether there is nothing to write."""
        raise NotImplementedError

    def _execute(self) -> None:
        """Write the batch, and begin another."""
        raise NotImplementedError
