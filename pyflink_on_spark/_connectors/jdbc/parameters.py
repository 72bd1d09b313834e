"""Rows as parameters of a statement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._connectors.jdbc.database import Database, JdbcError

Parameters = tuple[Any, ...]


class ParameterMaker:
    """Converts rows to parameters of a statement.

    Args:
        database: the database that gets the parameters.
        row_type: the type of the rows.
    """

    def __init__(self, database: Database, row_type: Any) -> None:
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

    def _parameters(self, row: Any) -> Parameters:
        try:
            return tuple(
                value if convert is None or value is None else convert(value)
                for convert, value in zip(self._converters, row, strict=True)
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise JdbcError(f"a row does not have the sink's types: {row!r}: {error}") from error
