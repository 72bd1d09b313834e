"""Reads a table of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.config import JdbcConnection
from pyflink_on_spark._connectors.jdbc.database import JdbcError, one_line
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


@dataclass(frozen=True)
class Ranges:
    """How a table is split: by ranges of a column.

    Args:
        count: how many there are.
        lower: the smallest value.
        upper: the largest value.
    """

    count: int
    lower: int
    upper: int

    def bounds(self) -> list[tuple[int, int]]:
        """Return the smallest and the largest value of each range."""
        total = self.upper - self.lower + 1
        count = max(1, min(self.count, total))
        small, larger = divmod(total, count)
        bounds = []
        start = self.lower
        for number in range(count):
            end = start + small + (number < larger) - 1
            bounds.append((start, end))
            start = end + 1
        return bounds


class JdbcSource(Source):
    """Gives the rows that a query returns. A split is the parameters of the query.

    Args:
        connection: how to connect to the database.
        sql: the query.
        ranges: how the table is split; None if one subtask reads it.
    """

    bounded = True
    timestamped = False

    def __init__(self, connection: JdbcConnection, sql: str, ranges: Ranges | None) -> None:
        self._connection, self._sql, self._ranges = connection, sql, ranges

    def splits(self, parallelism: int) -> list[tuple[int, ...]]:
        """Return the parameters of each range."""
        return [()] if self._ranges is None else list(self._ranges.bounds())

    def read(self, split: tuple[int, ...], context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a range.

        Raises:
            JdbcError: the database refuses the query, or it cannot be reached.
        """
        database = find_database(self._connection)
        sql = database.translated(self._sql, len(split))
        with closing(database.connect()) as connection, closing(connection.cursor()) as cursor:
            try:
                cursor.execute(sql, split)
                while rows := cursor.fetchmany(BUNDLE_SIZE):
                    yield Bundle(_tuples(rows))
            except database.driver().Error as error:
                raise JdbcError(
                    f"{database.place} refuses the query {sql}: {one_line(error)}"
                ) from error


def _tuples(rows: Any) -> list[Any]:
    return [tuple(row) for row in rows]
