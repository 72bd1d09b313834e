"""SQL's types as the API's DataTypes, and back."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common import data_types as api

_make: Any = api  # the API's own classes say nothing of the types of their parameters

_SIMPLE: dict[type[api.DataType], LogicalType] = {
    api.NullType: logical.NULL,
    api.BooleanType: logical.BOOLEAN,
    api.TinyIntType: logical.TINYINT,
    api.SmallIntType: logical.SMALLINT,
    api.IntType: logical.INT,
    api.BigIntType: logical.BIGINT,
    api.FloatType: logical.FLOAT,
    api.DoubleType: logical.DOUBLE,
    api.DateType: logical.DATE,
    api.YearMonthIntervalType: logical.INTERVAL_MONTH,
    api.DayTimeIntervalType: logical.INTERVAL_SECOND,
}
_SIMPLE_BACK: dict[Root, Any] = {
    **{kind.root: made for made, kind in _SIMPLE.items()},
    Root.RAW: api.RawType,
    Root.INTERVAL_MONTH: lambda: api.DataTypes.INTERVAL(api.DataTypes.MONTH()),
    Root.INTERVAL_SECOND: lambda: api.DataTypes.INTERVAL(api.DataTypes.SECOND(3)),
}
_SIZED = {
    api.CharType: logical.char,
    api.VarCharType: logical.varchar,
    api.BinaryType: logical.binary,
    api.VarBinaryType: logical.varbinary,
}
_SIZED_BACK: dict[Root, Any] = {make(1).root: made for made, make in _SIZED.items()}
_FRACTIONS = {
    api.TimeType: logical.time,
    api.TimestampType: logical.timestamp,
    api.LocalZonedTimestampType: logical.timestamp_ltz,
}
_FRACTIONS_BACK: dict[Root, Any] = {make(0).root: made for made, make in _FRACTIONS.items()}


def to_logical(data_type: api.DataType) -> LogicalType:
    """Return SQL's type for one of the API's.

    Raises:
        ValidationError: SQL has none.
    """
    return _to_logical(data_type).with_nullable(data_type._nullable)


def _to_logical(data_type: api.DataType) -> LogicalType:
    kind = type(data_type)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(data_type, api.CharType | api.VarCharType | api.BinaryType | api.VarBinaryType):
        return _SIZED[kind](data_type.length)  # type: ignore[index]
    if isinstance(data_type, api.TimeType | api.TimestampType | api.LocalZonedTimestampType):
        return _FRACTIONS[kind](data_type.precision)  # type: ignore[index]
    if isinstance(data_type, api.DecimalType):
        return logical.decimal(data_type.precision, data_type.scale)
    if isinstance(data_type, api.ArrayType):
        return logical.array(to_logical(data_type.element_type))
    if isinstance(data_type, api.MultisetType):
        return logical.multiset(to_logical(data_type.element_type))
    if isinstance(data_type, api.MapType):
        return logical.mapping(to_logical(data_type.key_type), to_logical(data_type.value_type))
    if isinstance(data_type, api.RowType):
        types = tuple(to_logical(field.data_type) for field in data_type)
        return logical.row(tuple(data_type.names), types)
    raise ValidationError(f"a column cannot be of type {data_type!r}")


def to_data_type(kind: LogicalType) -> api.DataType:
    """Return the API's type for one of SQL's.

    Raises:
        TypeError: the API has none.
    """
    made = _to_data_type(kind)
    nullable: api.DataType = made if kind.nullable else made.not_null()
    return nullable


def _to_data_type(kind: LogicalType) -> Any:
    root = kind.root
    if root in _SIMPLE_BACK:
        return _SIMPLE_BACK[root]()
    if root in _SIZED_BACK:
        return _SIZED_BACK[root](kind.precision)
    if root in _FRACTIONS_BACK:
        return _FRACTIONS_BACK[root](kind.precision)
    inner = [to_data_type(child) for child in kind.children]
    if root is Root.DECIMAL:
        return _make.DecimalType(kind.precision, kind.scale)
    if root is Root.ARRAY:
        return _make.ArrayType(inner[0])
    if root is Root.MULTISET:
        return _make.MultisetType(inner[0])
    if root is Root.MAP:
        return _make.MapType(inner[0], inner[1])
    if root is Root.ROW:
        fields = [_make.RowField(name, child) for name, child in zip(kind.names, inner)]
        return _make.RowType(fields)
    raise TypeError(
        f"Unsupported type: {kind}, it is not supported yet in current python type system"
    )
