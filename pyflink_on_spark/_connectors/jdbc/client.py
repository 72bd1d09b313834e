"""Connections of JDBC sinks: their settings, and a statement for many rows in one transaction."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.databases import Database, JdbcError, one_line
from pyflink_on_spark._connectors.reachability import Reachability

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.databases import DatabaseConnection, DatabaseCursor
    from pyflink_on_spark.common.typeinfo import RowTypeInfo

Parameters = tuple[object, ...]
Also = Callable[["DatabaseCursor"], object]
Batches = Iterable[Sequence[Parameters]]
"""The parameters of many rows. Each attempt to write them iterates over all batches."""


class ParameterMaker:
    """Converts rows to parameters of a statement.

    Args:
        database: the database that gets the parameters.
        row_type: the type of the rows.
    """

    def __init__(self, database: Database, row_type: RowTypeInfo) -> None:
        self._names = row_type.get_field_names()
        self._converters = database.column_converters(row_type)
        self._as_they_are = not any(self._converters)

    def take(self, rows: Iterator[Any], count: int) -> list[Parameters]:
        """Return the parameters of the next rows.

        Raises:
            JdbcError: a value does not have the type of its field.
        """
        chosen = islice(rows, count)
        return list(map(tuple if self._as_they_are else self._parameters, chosen))

    def _parameters(self, row: Iterable[object]) -> Parameters:
        try:
            return tuple(
                value if convert is None or value is None else convert(value)
                for convert, value in zip(self._converters, row, strict=True)
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise JdbcError(f"a row does not have the sink's types: {row!r}: {error}") from error


class JdbcClient:
    """One connection to a database, on which the statement of a sink is executed.

    Args:
        database: the database.
        config: the settings of the sink.
        pause: waits some seconds.

    Raises:
        JdbcError: the database cannot be reached.
    """

    def __init__(
        self,
        database: Database,
        config: JdbcSinkConfig,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._database = database
        fields = len(config.row_type.get_field_types())
        self._sql = database.translated(config.sql, fields)
        self._retries = config.execution.max_retries
        self._pause = pause
        self._reachability = Reachability(database.place)
        # A driver raises the other errors for values that it cannot send.
        self._errors = database.driver().Error, TypeError, ValueError, OverflowError
        self._connection: DatabaseConnection | None = database.connect()

    def execute(self, batches: Batches, also: Also | None = None) -> None:
        """Execute the statement for all rows, or for none.

        Args:
            batches: the parameters.
            also: called with a cursor before the rows, in the same transaction.

        Raises:
            JdbcError: the statement fails, and all retries too. The message contains the row if a
                single row is the reason.
        """
        for attempt in range(self._retries + 1):
            try:
                self._transact(batches, also)
            except self._errors as error:
                self._roll_back()
                if not self._database.is_transient(error):
                    raise self._explained(batches, error) from error
                if attempt == self._retries:
                    raise JdbcError(
                        f"{self._database.place} failed {attempt + 1} times: {one_line(error)}"
                    ) from error
                self._reachability.lost(one_line(error))
                self._pause(attempt)
                self._disconnect()
            else:
                self._reachability.found()
                return

    def close(self) -> None:
        """Close the connection; the database rolls back uncommitted rows."""
        self._reachability.close()
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*self._errors):
                connection.close()

    def _transact(self, batches: Batches, also: Also | None) -> None:
        if self._connection is None:
            self._connection = self._database.open()
        cursor = self._connection.cursor()
        try:
            if also is not None:
                also(cursor)
            for rows in batches:
                cursor.executemany(self._sql, rows)
        finally:
            with contextlib.suppress(*self._errors):
                cursor.close()
        self._connection.commit()

    def _roll_back(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*self._errors):
                self._connection.rollback()

    def _explained(self, batches: Batches, error: Exception) -> JdbcError:
        """Return the error to raise, with the row that is the reason, if there is one."""
        if self._connection is None:
            return JdbcError(f"cannot connect to {self._database.place}: {one_line(error)}")
        row = None
        try:
            cursor = self._connection.cursor()
            for row in chain.from_iterable(batches):
                cursor.execute(self._sql, row)
        except self._errors as again:
            if row is not None and not self._database.is_transient(again):
                return JdbcError(
                    f"{self._database.place} refuses the row {row!r}: {one_line(again)} "
                    f"(statement: {self._sql})"
                )
        finally:
            self._roll_back()
        return JdbcError(f"{self._database.place}: {one_line(error)} (statement: {self._sql})")


@dataclass(frozen=True)
class JdbcConnection:
    """The connection to a database.

    Args:
        url: ``jdbc:<kind of database>://<host>:<port>/<database>``.
        driver_name: the Java class of a driver. It has no effect: the URL chooses the driver.
        user_name: the name of the user.
        password: the password of the user.
    """

    url: str = field(repr=False)
    driver_name: str | None = None
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class JdbcExecution:
    """The batches and retries of statements.

    Args:
        batch_size: the largest number of rows in a batch.
        batch_interval: the longest time until a row is written, in ms; 0 for no limit.
        max_retries: the number of retries after a transient failure.
    """

    batch_size: int = 5000
    batch_interval: int = 0
    max_retries: int = 3


@dataclass(frozen=True)
class JdbcSinkConfig:
    """The settings of a JDBC sink.

    Args:
        sql: the statement, with a question mark for each field of a row.
        row_type: the type of the rows, a RowTypeInfo.
        connection: how to connect to the database.
        execution: when the statement is executed.
    """

    sql: str
    row_type: RowTypeInfo
    connection: JdbcConnection
    execution: JdbcExecution
