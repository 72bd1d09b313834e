"""The types of Iceberg, and rows as batches of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import pyarrow as pa

from pyflink_on_spark._connectors.iceberg.client import BatchRows, package
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Column
from pyflink_on_spark._sql.tables.formats.columnar import batch_of, columns_schema, rows_of
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_SIMPLE = {
    Root.BOOLEAN: "BooleanType",
    Root.TINYINT: "IntegerType",
    Root.SMALLINT: "IntegerType",
    Root.INT: "IntegerType",
    Root.BIGINT: "LongType",
    Root.FLOAT: "FloatType",
    Root.DOUBLE: "DoubleType",
    Root.CHAR: "StringType",
    Root.VARCHAR: "StringType",
    Root.VARBINARY: "BinaryType",
    Root.DATE: "DateType",
    Root.TIME: "TimeType",
    Root.TIMESTAMP: "TimestampType",
    Root.TIMESTAMP_LTZ: "TimestamptzType",
}
_MICROS, _NANOS, _UUID_BYTES = 6, 9, 16
_BACK: dict[str, LogicalType] = {
    "BooleanType": logical.BOOLEAN,
    "IntegerType": logical.INT,
    "LongType": logical.BIGINT,
    "FloatType": logical.FLOAT,
    "DoubleType": logical.DOUBLE,
    "StringType": logical.STRING,
    "BinaryType": logical.BYTES,
    "DateType": logical.DATE,
    "TimeType": logical.time(0),
    "TimestampType": logical.timestamp(_MICROS),
    "TimestamptzType": logical.timestamp_ltz(_MICROS),
    "TimestampNanoType": logical.timestamp(_NANOS),
    "TimestamptzNanoType": logical.timestamp_ltz(_NANOS),
    "UUIDType": logical.binary(_UUID_BYTES),
}


def iceberg_schema(columns: Iterable[Column], key: Sequence[str]) -> Any:
    """Return the schema of a new table.

    Args:
        columns: the columns.
        key: the names of those that are the primary key.

    Raises:
        ValidationError: Iceberg lacks a type.
    """
    of, schema = package("pyiceberg.types"), package("pyiceberg.schema")
    numbers = count(1)
    fields = [
        of.NestedField(
            next(numbers),
            column.name,
            iceberg_type(column.type, numbers),
            required=not column.type.nullable,
            doc=column.comment,
        )
        for column in columns
    ]
    places = {field.name: field.field_id for field in fields}
    return schema.Schema(*fields, identifier_field_ids=[places[name] for name in key])


def iceberg_type(kind: LogicalType, numbers: Iterator[int]) -> object:
    """Return the type of Iceberg for one of tables.

    Args:
        kind: the type.
        numbers: gives the numbers of nested fields.

    Raises:
        ValidationError: there is none.
    """
    of = package("pyiceberg.types")

    def inner(part: LogicalType) -> Any:
        return iceberg_type(part, numbers)

    if kind.root in _SIMPLE:
        return getattr(of, _SIMPLE[kind.root])()
    if kind.root is Root.DECIMAL:
        return of.DecimalType(kind.precision, kind.scale)
    if kind.root is Root.BINARY:
        return of.FixedType(kind.precision)
    if kind.root is Root.ARRAY:
        element = kind.children[0]
        return of.ListType(next(numbers), inner(element), element_required=not element.nullable)
    if kind.root in (Root.MAP, Root.MULTISET):
        key = kind.children[0]
        value = kind.children[1] if kind.root is Root.MAP else logical.INT.with_nullable(False)
        return of.MapType(
            next(numbers), inner(key), next(numbers), inner(value),
            value_required=not value.nullable,
        )  # fmt: skip
    if kind.root is Root.ROW:
        pairs = zip(kind.names, kind.children, strict=True)
        return of.StructType(
            *[
                of.NestedField(next(numbers), name, inner(part), required=not part.nullable)
                for name, part in pairs
            ]
        )
    raise ValidationError(f"Iceberg has no type for {kind}.")


def table_type(found: object, required: bool) -> LogicalType:
    """Return the type of tables for one of Iceberg.

    Args:
        found: the type of Iceberg.
        required: whether there is always a value.

    Raises:
        ValidationError: there is none.
    """
    return _table_type(found).with_nullable(not required)


def _table_type(found: Any) -> LogicalType:
    name = type(found).__name__
    if name in _BACK:
        return _BACK[name]
    if name == "DecimalType":
        return logical.decimal(found.precision, found.scale)
    if name == "FixedType":
        return logical.binary(len(found))
    if name == "ListType":
        return logical.array(table_type(found.element_type, found.element_required))
    if name == "MapType":
        value = table_type(found.value_type, found.value_required)
        return logical.mapping(table_type(found.key_type, required=True), value)
    if name == "StructType":
        fields = found.fields
        kinds = tuple(table_type(each.field_type, each.required) for each in fields)
        return logical.row(tuple(each.name for each in fields), kinds)
    raise ValidationError(f"No type of tables stands for Iceberg's {found}.")


def table_columns(schema: Any) -> tuple[Column, ...]:
    """Return the columns of a table of Iceberg."""
    return tuple(
        Column(each.name, table_type(each.field_type, each.required), comment=each.doc)
        for each in schema.fields
    )


class TableBatchRows(BatchRows):
    """Converts rows of tables.

    Args:
        schema: the columns.

    Raises:
        ValidationError: Iceberg lacks a type.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, "iceberg")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._schema.names)

    def rows(self, batch: pa.RecordBatch) -> list[Any]:
        """Return the rows of a batch."""
        columns = list(map(_cast, batch.columns, self._arrow.types))
        if not columns:
            return [()] * batch.num_rows
        cast = pa.RecordBatch.from_arrays(columns, schema=self._arrow)
        return rows_of(cast, self._schema.types)

    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Return rows as a batch."""
        found = batch_of(rows, self._arrow, self._schema.types)
        # Iceberg's times are in microseconds, and its smallest numbers have four bytes.
        wider = [pa.field(field.name, _wider(field.type)) for field in self._arrow]
        return found.cast(pa.schema(wider))


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if column.type == wanted:
        return column
    # Times of tables have milliseconds only.
    return column.cast(wanted, safe=not pa.types.is_time(wanted))


_WIDER: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_time, pa.time64("us")),
    (pa.types.is_int8, pa.int32()),
    (pa.types.is_int16, pa.int32()),
)


def _wider(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_wider(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_wider(kind.key_type), _wider(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _wider(field.type)) for field in kind])
    return next((wide for test, wide in _WIDER if test(kind)), kind)
