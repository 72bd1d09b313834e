"""The JDBC sink that writes the rows of a checkpoint when it is complete, each row once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.database import JdbcError
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker, Parameters
from pyflink_on_spark._connectors.jdbc.placeholders import translate
from pyflink_on_spark._connectors.jdbc.sink import StatementSink
from pyflink_on_spark._runtime.connector import SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_CHUNK = 4096
_DAY = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class RowsOfCheckpoint:
    """The rows that one subtask writes with one checkpoint: the committable of the sink.

    Args:
        number: the unique number of these rows in the table of commits.
        rows: the parameters of the statement.
    """

    number: str
    rows: list[Parameters]


class ExactlyOnceJdbcSink(StatementSink):
    """Executes the statement for the rows of a checkpoint in one transaction.

    The same transaction inserts the numbers of the committables into a table of the database. A
    commit that is repeated after a failure skips the committables that the table contains.

    Args:
        config: the settings of the sink.
        commits_table: the name of the table, which the sink creates if it does not exist.
        days: how many days the table keeps a number.
    """

    def __init__(self, config: JdbcSinkConfig, commits_table: str, days: int) -> None:
        super().__init__(config)
        self._table, self._days = commits_table, days

    def writer(self, context: OperatorContext) -> SinkWriter:
        return RowsOfCheckpointWriter(ParameterMaker(self._database, self._config.row_type))

    def commit(self, committables: list[Any]) -> None:
        """Write the rows of the committables that the table does not contain."""
        if committables:
            with closing(JdbcClient(self._database, self._config)) as client:
                _CommitsTable(self._table, self._translated).ensure(client)
                _Commit(self._table, self._days, committables, self._translated).run(client)

    def _translated(self, sql: str) -> str:
        return translate(sql, self._database.lexicon, self._database.placeholder)[0]


class RowsOfCheckpointWriter(SinkWriter):
    """Collects the rows of a checkpoint in its committable.

    Args:
        make: converts rows to parameters.
    """

    def __init__(self, make: ParameterMaker) -> None:
        self._make = make
        self._rows: list[Parameters] = []

    def write(self, elements: Iterator[Any]) -> None:
        while taken := self._make.take(elements, _CHUNK):
            self._rows += taken

    def prepare_commit(self) -> list[RowsOfCheckpoint]:
        rows, self._rows = self._rows, []
        return [RowsOfCheckpoint(str(uuid.uuid4()), rows)] if rows else []


class _CommitsTable:
    def __init__(self, name: str, translated: Callable[[str], str]) -> None:
        columns = "committable VARCHAR(36) PRIMARY KEY, committed_at BIGINT NOT NULL"
        self._look = translated(f"SELECT 1 FROM {name} WHERE 1 = 0")
        self._create = translated(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def ensure(self, client: JdbcClient) -> None:
        """Create the table if it does not exist; otherwise no right to do so is needed."""
        try:
            client.execute([], lambda cursor: cursor.execute(self._look))
        except JdbcError:
            client.execute([], lambda cursor: cursor.execute(self._create))


class _Commit:
    def __init__(
        self,
        table: str,
        days: int,
        committables: list[RowsOfCheckpoint],
        translated: Callable[[str], str],
    ) -> None:
        self._committables = committables
        self._until = time.time_ns() // 1_000_000 - days * _DAY
        self._find = translated(f"SELECT 1 FROM {table} WHERE committable = ?")
        self._note = translated(f"INSERT INTO {table} (committable, committed_at) VALUES (?, ?)")
        self._forget = translated(f"DELETE FROM {table} WHERE committed_at < ?")

    def run(self, client: JdbcClient) -> None:
        """Look up the numbers, and write the rows of the missing ones, in one transaction."""
        rows: list[Parameters] = []

        def note_commits(cursor: Any) -> None:
            rows.clear()
            cursor.execute(self._forget, (self._until,))
            for committable in self._committables:
                cursor.execute(self._find, (committable.number,))
                if cursor.fetchone() is None:
                    cursor.execute(self._note, (committable.number, time.time_ns() // 1_000_000))
                    rows.extend(committable.rows)

        client.execute(rows, note_commits)
