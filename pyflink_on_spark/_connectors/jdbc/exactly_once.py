"""The JDBC sink that writes the rows of a checkpoint when it is complete, each row once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import JdbcClient, ParameterMaker, Parameters
from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.database import JdbcError, translate
from pyflink_on_spark._connectors.jdbc.sink import StatementSink
from pyflink_on_spark._runtime.contract.connector import LargeCommittable, SinkWriter
from pyflink_on_spark._runtime.contract.connector.sink import pack, unpack

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_CHUNK = 4096
_DAY = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class RowsOfCheckpoint(LargeCommittable):
    """The rows that one subtask writes with one checkpoint: the committable of the sink.

    The frames contain the parameters of the statement in order.

    Args:
        number: the unique number of these rows in the table of commits.
    """

    number: str

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state of a pickle, in which earlier versions have a list of rows."""
        rows = state.pop("rows", None)
        self.__dict__.update(state if rows is None else {**state, "frames": tuple(pack(rows))})


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
        self._frames: list[bytes] = []
        self._open: list[Parameters] = []

    def write(self, elements: Iterator[Any]) -> None:
        while taken := self._make.take(elements, _CHUNK - len(self._open)):
            self._open += taken
            if len(self._open) == _CHUNK:
                self._pack()

    def prepare_commit(self) -> list[RowsOfCheckpoint]:
        if self._open:
            self._pack()
        frames, self._frames = self._frames, []
        return [RowsOfCheckpoint(tuple(frames), str(uuid.uuid4()))] if frames else []

    def _pack(self) -> None:
        self._frames += pack(self._open)
        self._open = []


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
        missing: list[RowsOfCheckpoint] = []

        def note_commits(cursor: Any) -> None:
            missing.clear()
            cursor.execute(self._forget, (self._until,))
            for committable in self._committables:
                cursor.execute(self._find, (committable.number,))
                if cursor.fetchone() is None:
                    cursor.execute(self._note, (committable.number, time.time_ns() // 1_000_000))
                    missing.append(committable)

        client.execute(_Batches(missing), note_commits)


class _Batches:
    """The rows of committables, a frame at a time, whenever somebody iterates over them."""

    def __init__(self, committables: list[RowsOfCheckpoint]) -> None:
        self._committables = committables

    def __iter__(self) -> Iterator[list[Parameters]]:
        for committable in self._committables:
            yield from map(unpack, committable.frames)
