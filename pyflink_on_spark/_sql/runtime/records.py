"""Rows of a query become the elements of a DataStream, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.types.external import from_python, nullable, row_converter, to_python
from pyflink_on_spark.common.types import Row, RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

KINDS = (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
_MICROS_PER_MILLI = 1000


class ToRecords(Operator):
    """Makes Python objects of rows.

    Args:
        schema: the columns.
        changelog: whether elements are pairs of the kind and the row.
        names: the names of a Row's fields; None for tuples.
        rowtime: the position of the column that becomes the timestamp, or None for no timestamps.
        metadata: whether that column is only the timestamp, and no field of the object.
        flagged: whether elements become pairs of a bool, whether the row is added, and the row.
        already_typed: the type information of the objects.
        keeps_timestamps: whether objects have the timestamps that the rows came with.
    """

    fields: Schema | None = None
    """The fields of the objects with the types of SQL, where no type information was asked for."""

    def __init__(
        self,
        schema: Schema,
        changelog: bool,
        names: tuple[str, ...] | None,
        rowtime: int | None,
        *,
        metadata: bool = False,
        flagged: bool = False,
        already_typed: TypeInformation | None = None,
        keeps_timestamps: bool = False,
    ) -> None:
        self._schema, self._changelog, self._names = schema, changelog, names
        self._rowtime, self._flagged = rowtime, flagged
        self._metadata = metadata
        self._keeps_timestamps = keeps_timestamps
        self.already_typed = already_typed
        self.emits_timestamps = rowtime is not None

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._cursor = context.cursor
        self._convert = row_converter(self._fields(self._schema.types), to_python)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the objects."""
        if self._changelog or self._flagged:
            return self._of_changes(elements)
        return self._of_rows(elements)

    def _of_rows(self, rows: Iterator[Any]) -> Iterator[Any]:
        make, cursor = self._maker(), self._cursor
        rowtime, keeps = self._rowtime, self._keeps_timestamps
        for row in rows:
            record = make(row)
            received = cursor.timestamp
            if rowtime is not None:
                cursor.timestamp = row[rowtime] // _MICROS_PER_MILLI
            elif not keeps:
                cursor.timestamp = None
            yield record
            cursor.timestamp = received

    def _of_changes(self, elements: Iterator[Any]) -> Iterator[Any]:
        make, cursor, rowtime = self._maker(), self._cursor, self._rowtime
        changelog, flagged = self._changelog, self._flagged
        for element in elements:
            kind, row = element if changelog else (0, element)
            record = make(row)
            if kind and self._names is not None:
                record.set_row_kind(KINDS[kind])
            received = cursor.timestamp
            cursor.timestamp = None if rowtime is None else row[rowtime] // _MICROS_PER_MILLI
            yield (kind & 1 == 0, record) if flagged else record
            cursor.timestamp = received

    def _fields(self, row: Any) -> Any:
        """Return the physical fields of a row, or of its types."""
        place = self._rowtime
        return row if place is None or not self._metadata else row[:place] + row[place + 1 :]

    def _maker(self) -> Callable[[Any], Any]:
        convert = self._convert
        if self._metadata:
            place, of_row = self._rowtime, convert

            def convert(row: Any) -> Any:
                if row[place] is None:
                    raise ValueError("The metadata column 'rowtime' of a row must not be NULL.")
                return of_row(self._fields(row))

        if self._names is None:
            return lambda row: tuple(convert(row))
        names = list(self._names)

        def make(row: Any) -> Row:
            record = Row(*convert(row))
            record.set_field_names(names)
            return record

        return make


class FromRecords(Operator):
    """Makes rows of Python objects.

    Args:
        schema: the columns of the objects, as their type has them.
        atomic: whether an object is the value of the only column.
        timestamp: whether a column with the timestamp of the element follows.
        changelog: whether objects have a kind, so that pairs of the kind and the row come out.
    """

    emits_immutable = True

    def __init__(
        self,
        schema: Schema,
        *,
        atomic: bool = False,
        timestamp: bool = False,
        changelog: bool = False,
    ) -> None:
        self._schema, self._atomic = schema, atomic
        self._timestamp, self._changelog = timestamp, changelog

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._cursor = context.cursor
        self._convert = row_converter(self._schema.types, from_python)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        rows = self._of_atoms(elements) if self._atomic else self._of_rows(elements)
        if self._timestamp:
            rows = self._with_timestamps(rows)
        return rows

    def _of_atoms(self, elements: Iterator[Any]) -> Iterator[Any]:
        convert = nullable(from_python(self._schema.types[0]))
        if convert is None:
            return zip(elements)
        return ((convert(value),) for value in elements)

    def _of_rows(self, elements: Iterator[Any]) -> Iterator[Any]:
        convert = self._convert
        if not self._changelog:
            return (
                tuple(convert(record._values if type(record) is Row else record))
                for record in elements
            )
        return ((record._row_kind.value, tuple(convert(record._values))) for record in elements)

    def _with_timestamps(self, rows: Iterator[Any]) -> Iterator[Any]:
        cursor, changelog = self._cursor, self._changelog
        for row in rows:
            timestamp = cursor.timestamp
            if timestamp is None:
                raise ValueError(
                    "Rowtime timestamp is not defined. Please make sure that a proper "
                    "TimestampAssigner is defined and the stream environment uses the EventTime "
                    "time characteristic."
                )
            column = (timestamp * _MICROS_PER_MILLI,)
            yield (row[0], row[1] + column) if changelog else row + column
