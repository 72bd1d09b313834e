"""The JDBC sink whose rows become visible with the checkpoint, once each."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import SinkWriter
from pyflink_on_spark._connectors.jdbc.database import JdbcError
from pyflink_on_spark._connectors.jdbc.execution import (
    Execution,
    ParameterMaker,
    Parameters,
)
from pyflink_on_spark._connectors.jdbc.options import JdbcStatement
from pyflink_on_spark._connectors.jdbc.placeholders import translate
from pyflink_on_spark._connectors.jdbc.sink import StatementSink

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_CHUNK = 4096
_DAY = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class RowsOfEpoch:
    """What one subtask wrote between two checkpoints; part of the second one.

    Args:
        number: what it is known by in the table of epochs; no other one has it.
        rows: the statement's parameters.
    """

    number: str
    rows: list[Parameters]


class ExactlyOnceJdbcSink(StatementSink):
    """Executes the statement for the rows of a checkpoint in one transaction.

    The same transaction notes in a table of the database which epochs it has, so that one that is
    committed again, after a failure, is left out.

    Args:
        statement: what it was told.
        epochs_table: the table's name, which is made if there is none.
        days: how long the table keeps an epoch.
    """

    def __init__(self, statement: JdbcStatement, epochs_table: str, days: int) -> None:
        super().__init__(statement)
        self._table, self._days = epochs_table, days

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return what gathers the rows of one subtask."""
        return _GatheringWriter(ParameterMaker(self._database, self._statement.row_type))

    def commit(self, committables: list[Any]) -> None:
        """Write what was gathered, unless the database has it."""
        if committables:
            with closing(Execution(self._database, self._statement)) as execution:
                _EpochsTable(self._table, self._translated).ensure(execution)
                _Commit(self._table, self._days, committables, self._translated).run(execution)

    def _translated(self, sql: str) -> str:
        return translate(sql, self._database.lexicon, self._database.placeholder)[0]


class _GatheringWriter(SinkWriter):
    def __init__(self, make: ParameterMaker) -> None:
        self._make = make
        self._rows: list[Parameters] = []

    def write(self, elements: Iterator[Any]) -> None:
        while taken := self._make.take(elements, _CHUNK):
            self._rows += taken

    def prepare_commit(self) -> list[RowsOfEpoch]:
        rows, self._rows = self._rows, []
        return [RowsOfEpoch(str(uuid.uuid4()), rows)] if rows else []


class _EpochsTable:
    def __init__(self, name: str, translated: Callable[[str], str]) -> None:
        columns = "epoch VARCHAR(36) PRIMARY KEY, committed_at BIGINT NOT NULL"
        self._look = translated(f"SELECT 1 FROM {name} WHERE 1 = 0")
        self._make = translated(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def ensure(self, execution: Execution) -> None:
        """Make the table if there is none; else no right to do so is needed."""
        try:
            execution.execute([], lambda cursor: cursor.execute(self._look))
        except JdbcError:
            execution.execute([], lambda cursor: cursor.execute(self._make))


class _Commit:
    def __init__(
        self, table: str, days: int, epochs: list[RowsOfEpoch], translated: Callable[[str], str]
    ) -> None:
        self._epochs = epochs
        self._until = time.time_ns() // 1_000_000 - days * _DAY
        self._find = translated(f"SELECT 1 FROM {table} WHERE epoch = ?")
        self._note = translated(f"INSERT INTO {table} (epoch, committed_at) VALUES (?, ?)")
        self._forget = translated(f"DELETE FROM {table} WHERE committed_at < ?")

    def run(self, execution: Execution) -> None:
        """Write in one transaction; which epochs are there is asked for in the same one."""
        rows: list[Parameters] = []

        def note_epochs(cursor: Any) -> None:
            rows.clear()
            cursor.execute(self._forget, (self._until,))
            for epoch in self._epochs:
                cursor.execute(self._find, (epoch.number,))
                if cursor.fetchone() is None:
                    cursor.execute(self._note, (epoch.number, time.time_ns() // 1_000_000))
                    rows.extend(epoch.rows)

        execution.execute(rows, note_epochs)
