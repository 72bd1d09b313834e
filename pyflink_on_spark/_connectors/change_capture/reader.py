"""The source of a table's rows and then of their changes, and its reader."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.change_capture.config import (
    CaptureClient,
    CaptureConfig,
    Element,
    Kind,
    Position,
)
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_SECONDS_TO_WAIT = 0.05


class CaptureReader(SourceReader):
    """Reads one table.

    Args:
        config: the table.
        position: where it continues; None for the beginning.
        client: the connection to the database; a new one if not given.
        pause: waits some seconds.
    """

    def __init__(
        self,
        config: CaptureConfig,
        position: Position | None,
        client: CaptureClient | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = open_client(config) if client is None else client
        self._pause = pause
        self._kept: deque[tuple[int, Any]] = deque()
        rows: Iterator[Sequence[Element]]
        if position is None:
            log, rows = self._client.start()
            position = Position(log)
        else:
            rows = iter([position.rows])
        self._position = Position(position.log, position.skip)
        self._rows: Iterator[Element] | None = chain.from_iterable(rows)
        self._changes: Iterator[tuple[Element | None, Position]] | None = None

    def poll(self) -> Bundle | None:
        """Return the next rows, or changes."""
        if self._rows is not None:
            rows = list(islice(self._rows, self.limit))
            if rows:
                return Bundle(rows)
            self._rows = None
        if self._changes is None:
            self._changes = self._client.changes(self._position)
        found = list(islice(self._changes, self.limit))
        if not found:
            self._changes = None
            self._pause(_SECONDS_TO_WAIT)
            return None
        self._position = found[-1][1]
        elements = [element for element, _ in found if element is not None]
        return Bundle(elements) if elements else None

    def snapshot(self) -> list[Position]:
        """Return the position, with the rows that are left of the snapshot."""
        rows: tuple[Element, ...] = ()
        if self._rows is not None:
            rows = tuple(self._rows)
            self._rows = iter(rows)
        return [Position(self._position.log, self._position.skip, rows)]

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Keep the place that the database may forget what is before, once it is complete."""
        self._kept.append((checkpoint_id, self._position.log))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Let the database forget what no restart needs."""
        while self._kept and self._kept[0][0] <= checkpoint_id:
            number, log = self._kept.popleft()
            if number == checkpoint_id:
                self._client.release(log)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def open_client(config: CaptureConfig) -> CaptureClient:
    """Connect to the database of a table.

    Args:
        config: the table.

    Raises:
        CaptureError: it cannot be reached, or does not log its changes.
    """
    if config.kind is Kind.MYSQL:
        from pyflink_on_spark._connectors.change_capture.mysql_client import MySqlClient

        return MySqlClient(config)
    from pyflink_on_spark._connectors.change_capture.postgresql_client import PostgreSqlClient

    return PostgreSqlClient(config)


class CaptureSource(Source):
    """Reads the rows of a table, then their changes, in one subtask.

    A position is a place in the log of changes. While the rows are read that were there at the
    beginning, a checkpoint keeps those that are left: they cannot be read again as they were.

    Args:
        config: the table.
    """

    bounded = False
    timestamped = False
    parallel = False

    def __init__(self, config: CaptureConfig) -> None:
        self._config = config

    def splits(self, parallelism: int) -> list[CaptureConfig]:
        """Return the one split."""
        return [self._config]

    def reader(
        self, splits: Sequence[object], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader, which begins with the rows if it continues from nowhere."""
        return CaptureReader(self._config, restored[0] if restored else None)
