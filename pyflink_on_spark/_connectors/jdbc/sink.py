"""The sinks that execute a statement for each row: in batches, or exactly once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import (
    JdbcClient,
    JdbcSinkConfig,
    ParameterMaker,
    Parameters,
)
from pyflink_on_spark._connectors.jdbc.databases import JdbcError, find_database, translate
from pyflink_on_spark._runtime.contract.connector import (
    LargeCommittable,
    Sink,
    SinkWriter,
    pack,
    unpack,
)
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.databases import DatabaseCursor
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_CHUNK = 4096
_DAY = 24 * 60 * 60 * 1000


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

    def next_processing_time(self) -> int | None:
        """Return when the interval of a batch is over."""
        return None if self._interval <= 0 or self._empty() else self._next_flush

    def prepare_commit(self) -> list[object]:
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

    def write(self, elements: Iterator[object]) -> None:
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

    def with_input_type(self, type_info: TypeInformation | None) -> Sink:
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

    def write(self, elements: Iterator[object]) -> None:
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
        self._keep = translated(f"UPDATE {table} SET committed_at = ? WHERE committable = ?")
        self._forget = translated(f"DELETE FROM {table} WHERE committed_at < ?")

    def run(self, client: JdbcClient) -> None:
        """Look up the numbers, and write the rows of the missing ones, in one transaction."""
        missing: list[RowsOfCheckpoint] = []

        def note_commits(cursor: DatabaseCursor) -> None:
            missing.clear()
            for committable in self._committables:
                number, now = committable.number, time.time_ns() // 1_000_000
                cursor.execute(self._find, (number,))
                if cursor.fetchone() is None:
                    cursor.execute(self._note, (number, now))
                    missing.append(committable)
                else:  # the clock may have jumped since it was noted
                    cursor.execute(self._keep, (now, number))
            cursor.execute(self._forget, (self._until,))

        client.execute(_Batches(missing), note_commits)


class _Batches:
    """The rows of committables, a frame at a time, whenever somebody iterates over them."""

    def __init__(self, committables: list[RowsOfCheckpoint]) -> None:
        self._committables = committables

    def __iter__(self) -> Iterator[list[Parameters]]:
        for committable in self._committables:
            yield from map(unpack, committable.frames)
