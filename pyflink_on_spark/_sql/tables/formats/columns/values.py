"""Rows as columns of Arrow, and back: a column at a time, nested ones included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_SIMPLE: dict[Root, Callable[[], pa.DataType]] = {
    Root.BOOLEAN: pa.bool_,
    Root.TINYINT: pa.int8,
    Root.SMALLINT: pa.int16,
    Root.INT: pa.int32,
    Root.BIGINT: pa.int64,
    Root.FLOAT: pa.float32,
    Root.DOUBLE: pa.float64,
    Root.CHAR: pa.string,
    Root.VARCHAR: pa.string,
    Root.BINARY: pa.binary,
    Root.VARBINARY: pa.binary,
    Root.DATE: pa.date32,
    Root.TIME: lambda: pa.time32("ms"),
    Root.TIMESTAMP: lambda: pa.timestamp("us"),
    Root.TIMESTAMP_LTZ: lambda: pa.timestamp("us", "UTC"),
}
_KNOWN = {*_SIMPLE, Root.DECIMAL, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW}
_DECIMAL_BYTES = 16


def columns_schema(
    schema: Schema, identifier: str, missing: frozenset[Root] = frozenset()
) -> pa.Schema:
    """Return Arrow's schema for the columns of a table.

    Args:
        schema: the columns.
        identifier: the format, for the message.
        missing: the types that it does not have.

    Raises:
        ValidationError: the format has no such type.
    """

    def made(kind: LogicalType) -> pa.DataType:
        if kind.root in missing or kind.root not in _KNOWN:
            raise ValidationError(f"The format '{identifier}' has no type for {kind}.")
        return _arrow_type(kind, made)

    return pa.schema(list(map(pa.field, schema.names, map(made, schema.types))))


def _arrow_type(kind: LogicalType, made: Callable[[LogicalType], pa.DataType]) -> pa.DataType:
    if kind.root in _SIMPLE:
        return _SIMPLE[kind.root]()
    if kind.root is Root.DECIMAL:
        return pa.decimal128(kind.precision, kind.scale)
    inner = list(map(made, kind.children))
    if kind.root is Root.ARRAY:
        return pa.list_(inner[0])
    if kind.root is Root.MAP:
        return pa.map_(*inner)
    if kind.root is Root.MULTISET:
        return pa.map_(inner[0], pa.int32())
    return pa.struct(list(map(pa.field, kind.names, inner)))


# -- rows of columns -----------------------------------------------------------------------------


def rows_of(batch: pa.RecordBatch, kinds: Sequence[LogicalType]) -> list[tuple[Any, ...]]:
    """Return the rows of a batch.

    Args:
        batch: with the types of ``columns_schema``.
        kinds: the types of the columns.
    """
    if not kinds:
        return [()] * batch.num_rows
    return list(zip(*map(_values, batch.columns, kinds)))


def _values(column: pa.Array, kind: LogicalType) -> Sequence[Any]:
    read = _READERS.get(kind.root)
    values: Sequence[Any] = column.to_pylist() if read is None else read(column, kind)
    return values


def _days(column: pa.Array, _: LogicalType) -> Any:
    return column.view(pa.int32()).to_pylist()


def _time_micros(column: pa.Array, _: LogicalType) -> Any:
    times = column.view(pa.int32()).to_pylist()
    return [None if time is None else time * 1000 for time in times]


def _micros(column: pa.Array, _: LogicalType) -> Any:
    return column.view(pa.int64()).to_pylist()


def _unscaled(column: pa.Array, _: LogicalType) -> Any:
    raw = column.buffers()[1].to_pybytes()
    starts = range(
        column.offset * _DECIMAL_BYTES,
        (column.offset + len(column)) * _DECIMAL_BYTES,
        _DECIMAL_BYTES,
    )
    read = int.from_bytes
    numbers = [read(raw[at : at + _DECIMAL_BYTES], "little", signed=True) for at in starts]
    return _where_valid(column, numbers)


def _tuples(column: pa.Array, kind: LogicalType) -> Any:
    elements = _values(column.values, kind.children[0])
    ends = column.offsets.to_pylist()
    return _where_valid(column, [tuple(elements[a:b]) for a, b in pairwise(ends)])


def _dicts(column: pa.Array, kind: LogicalType) -> Any:
    keys = _values(column.keys, kind.children[0])
    items = column.items
    values = _values(items, kind.children[1]) if kind.root is Root.MAP else items.to_pylist()
    ends = column.offsets.to_pylist()
    found = [dict(zip(keys[a:b], values[a:b])) for a, b in pairwise(ends)]
    return _where_valid(column, found)


def _rows(column: pa.Array, kind: LogicalType) -> Any:
    fields = map(_values, column.flatten(), kind.children)
    return _where_valid(column, list(zip(*fields)))


def _where_valid(column: pa.Array, values: list[Any]) -> list[Any]:
    if not column.null_count:
        return values
    valid = column.is_valid().to_pylist()
    return [value if known else None for value, known in zip(values, valid)]


_READERS: dict[Root, Callable[[pa.Array, LogicalType], Any]] = {
    Root.DATE: _days,
    Root.TIME: _time_micros,
    Root.TIMESTAMP: _micros,
    Root.TIMESTAMP_LTZ: _micros,
    Root.DECIMAL: _unscaled,
    Root.ARRAY: _tuples,
    Root.MAP: _dicts,
    Root.MULTISET: _dicts,
    Root.ROW: _rows,
}


# -- columns of rows -----------------------------------------------------------------------------


def batch_of(
    rows: Sequence[Sequence[Any]], schema: pa.Schema, kinds: Sequence[LogicalType]
) -> pa.RecordBatch:
    """Return rows as a batch.

    Args:
        rows: at least one.
        schema: what ``columns_schema`` returned.
        kinds: the types of the columns.
    """
    columns = list(map(_column, zip(*rows), kinds, schema.types))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    write = _WRITERS.get(kind.root)
    return pa.array(values, wanted) if write is None else write(values, kind, wanted)


def _of_days(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int32()).view(wanted)


def _of_times(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    millis = [None if value is None else value // 1000 for value in values]
    return pa.array(millis, pa.int32()).view(wanted)


def _of_micros(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).view(wanted)


def _of_unscaled(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    raw = b"".join(
        [(value or 0).to_bytes(_DECIMAL_BYTES, "little", signed=True) for value in values]
    )
    buffers = [_validity(values), pa.py_buffer(raw)]
    return pa.Array.from_buffers(wanted, len(values), buffers)


def _of_tuples(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    elements = [element for value in values if value is not None for element in value]
    inner = _column(elements, kind.children[0], wanted.value_type)
    return pa.Array.from_buffers(
        wanted, len(values), [_validity(values), _ends(values)], children=[inner]
    )


def _of_dicts(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    pairs = [pair for value in values if value is not None for pair in value.items()]
    keys = _column([key for key, _ in pairs], kind.children[0], wanted.key_type)
    found = [value for _, value in pairs]
    if kind.root is Root.MAP:
        items = _column(found, kind.children[1], wanted.item_type)
    else:
        items = pa.array(found, wanted.item_type)
    entries = pa.StructArray.from_arrays(
        [keys, items], fields=[wanted.key_field, wanted.item_field]
    )
    return pa.Array.from_buffers(
        wanted, len(values), [_validity(values), _ends(values)], children=[entries]
    )


def _of_rows(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    nothing = (None,) * len(kind.children)
    rows = [nothing if value is None else value for value in values]
    types = [field.type for field in wanted]
    fields = list(map(_column, zip(*rows), kind.children, types)) if rows else None
    if fields is None:
        return pa.array([], wanted)
    return pa.Array.from_buffers(wanted, len(values), [_validity(values)], children=fields)


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    if None not in values:
        return None
    return pa.array([value is not None for value in values], pa.bool_()).buffers()[1]


def _ends(values: Sequence[Any]) -> pa.Buffer:
    sizes = [0 if value is None else len(value) for value in values]
    return pa.array(list(accumulate(sizes, initial=0)), pa.int32()).buffers()[1]


_WRITERS: dict[Root, Callable[[Sequence[Any], LogicalType, pa.DataType], pa.Array]] = {
    Root.DATE: _of_days,
    Root.TIME: _of_times,
    Root.TIMESTAMP: _of_micros,
    Root.TIMESTAMP_LTZ: _of_micros,
    Root.DECIMAL: _of_unscaled,
    Root.ARRAY: _of_tuples,
    Root.MAP: _of_dicts,
    Root.MULTISET: _of_dicts,
    Root.ROW: _of_rows,
}
