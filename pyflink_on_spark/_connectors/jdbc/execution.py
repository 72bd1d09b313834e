"""Executes a statement for many rows, in one transaction."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from pyflink_on_spark._connectors.jdbc.database import Database, JdbcError, one_line
from pyflink_on_spark._connectors.jdbc.options import JdbcStatement

_log = logging.getLogger(__name__)

Parameters = tuple[Any, ...]
Also = Callable[[Any], None]


class ParameterMaker:
    """Makes a statement's parameters of rows.

    Args:
        database: what takes them.
        row_type: the rows' type.
    """

    def __init__(self, database: Database, row_type: Any) -> None:
        self._names = row_type.get_field_names()
        self._converters = database.column_converters(row_type)
        self._as_they_are = not any(self._converters)

    def take(self, rows: Iterator[Any], count: int) -> list[Parameters]:
        """Return the parameters of the next rows.

        Raises:
            JdbcError: a value is not of its field's type.
        """
        chosen = islice(rows, count)
        return list(map(tuple if self._as_they_are else self._parameters, chosen))

    def _parameters(self, row: Any) -> Parameters:
        try:
            return tuple(
                value if convert is None or value is None else convert(value)
                for convert, value in zip(self._converters, row, strict=True)
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise JdbcError(f"a row does not have the sink's types: {row!r}: {error}") from error


class Execution:
    """One connection, on which a statement is executed.

    Args:
        database: where.
        statement: what.
        pause: waits some seconds.

    Raises:
        JdbcError: the database cannot be reached.
    """

    def __init__(
        self,
        database: Database,
        statement: JdbcStatement,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._database = database
        fields = len(statement.row_type.get_field_types())
        self._sql = database.translated(statement.sql, fields)
        self._retries = statement.execution.max_retries
        self._pause = pause
        # The others are about values that a driver cannot send.
        self._errors = database.driver().Error, TypeError, ValueError, OverflowError
        self._connection: Any = database.connect()

    def execute(self, rows: Sequence[Parameters], also: Also | None = None) -> None:
        """Execute the statement for all rows, or for none.

        Args:
            rows: the parameters.
            also: what belongs to the same transaction; gets a cursor, before the rows.

        Raises:
            JdbcError: it fails, also when tried again; names the row if it is one row's fault.
        """
        for attempt in range(self._retries + 1):
            try:
                self._transact(rows, also)
            except self._errors as error:
                self._undo()
                if not self._database.passes(error):
                    raise self._explained(rows, error) from error
                if attempt == self._retries:
                    raise JdbcError(
                        f"{self._database.place} failed {attempt + 1} times: {one_line(error)}"
                    ) from error
                _log.warning("%s failed, trying again: %s", self._database.place, one_line(error))
                self._pause(attempt)
                self.close()
            else:
                return

    def close(self) -> None:
        """Close the connection; what is not committed is undone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*self._errors):
                connection.close()

    def _transact(self, rows: Sequence[Parameters], also: Also | None) -> None:
        if self._connection is None:
            self._connection = self._database.open()
        cursor = self._connection.cursor()
        try:
            if also is not None:
                also(cursor)
            if rows:
                cursor.executemany(self._sql, rows)
        finally:
            with contextlib.suppress(*self._errors):
                cursor.close()
        self._connection.commit()

    def _undo(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*self._errors):
                self._connection.rollback()

    def _explained(self, rows: Sequence[Parameters], error: Exception) -> JdbcError:
        """Return the error to raise, with the row that is the reason, if one is."""
        if self._connection is None:
            return JdbcError(f"cannot connect to {self._database.place}: {one_line(error)}")
        row = None
        try:
            cursor = self._connection.cursor()
            for row in rows:
                cursor.execute(self._sql, row)
        except self._errors as again:
            if row is not None and not self._database.passes(again):
                return JdbcError(
                    f"{self._database.place} refuses the row {row!r}: {one_line(again)} "
                    f"(statement: {self._sql})"
                )
        finally:
            self._undo()
        return JdbcError(f"{self._database.place}: {one_line(error)} (statement: {self._sql})")
