"""The API's types of columns and of streams, and the logical types that they stand for."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.formats.row_types import type_info_of
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common import data_types, typeinfo

_make: Any = data_types  # the API's own classes say nothing of the types of their parameters

_SIMPLE: dict[type[data_types.DataType], LogicalType] = {
    data_types.NullType: logical.NULL,
    data_types.BooleanType: logical.BOOLEAN,
    data_types.TinyIntType: logical.TINYINT,
    data_types.SmallIntType: logical.SMALLINT,
    data_types.IntType: logical.INT,
    data_types.BigIntType: logical.BIGINT,
    data_types.FloatType: logical.FLOAT,
    data_types.DoubleType: logical.DOUBLE,
    data_types.DateType: logical.DATE,
    data_types.YearMonthIntervalType: logical.INTERVAL_MONTH,
    data_types.DayTimeIntervalType: logical.INTERVAL_SECOND,
}
_SIMPLE_BACK: dict[Root, Any] = {
    **{kind.root: made for made, kind in _SIMPLE.items()},
    Root.RAW: data_types.RawType,
    Root.INTERVAL_MONTH: lambda: data_types.DataTypes.INTERVAL(data_types.DataTypes.MONTH()),
    Root.INTERVAL_SECOND: lambda: data_types.DataTypes.INTERVAL(data_types.DataTypes.SECOND(3)),
}
_SIZED = {
    data_types.CharType: logical.char,
    data_types.VarCharType: logical.varchar,
    data_types.BinaryType: logical.binary,
    data_types.VarBinaryType: logical.varbinary,
}
_SIZED_BACK: dict[Root, Any] = {make(1).root: made for made, make in _SIZED.items()}
_FRACTIONS = {
    data_types.TimeType: logical.time,
    data_types.TimestampType: logical.timestamp,
    data_types.LocalZonedTimestampType: logical.timestamp_ltz,
}
_FRACTIONS_BACK: dict[Root, Any] = {make(0).root: made for made, make in _FRACTIONS.items()}


def to_logical(data_type: data_types.DataType) -> LogicalType:
    """Return SQL's type for one of the API's.

    Raises:
        ValidationError: SQL has none.
    """
    return _to_logical(data_type).with_nullable(data_type._nullable)


def _to_logical(data_type: data_types.DataType) -> LogicalType:
    kind = type(data_type)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(
        data_type,
        data_types.CharType
        | data_types.VarCharType
        | data_types.BinaryType
        | data_types.VarBinaryType,
    ):
        return _SIZED[kind](data_type.length)  # type: ignore[index]
    if isinstance(
        data_type,
        data_types.TimeType | data_types.TimestampType | data_types.LocalZonedTimestampType,
    ):
        return _FRACTIONS[kind](data_type.precision)  # type: ignore[index]
    if isinstance(data_type, data_types.DecimalType):
        return logical.decimal(data_type.precision, data_type.scale)
    if isinstance(data_type, data_types.ArrayType):
        return logical.array(to_logical(data_type.element_type))
    if isinstance(data_type, data_types.MultisetType):
        return logical.multiset(to_logical(data_type.element_type))
    if isinstance(data_type, data_types.MapType):
        return logical.mapping(to_logical(data_type.key_type), to_logical(data_type.value_type))
    if isinstance(data_type, data_types.RowType):
        types = tuple(to_logical(field.data_type) for field in data_type)
        return logical.row(tuple(data_type.names), types)
    if isinstance(data_type, data_types.UserDefinedType):
        kept: Any = data_type
        return _to_logical(kept.sql_type())
    raise ValidationError(f"a column cannot be of type {data_type!r}")


def to_data_type(kind: LogicalType) -> data_types.DataType:
    """Return the API's type for one of SQL's.

    Raises:
        TypeError: the API has none.
    """
    made = _to_data_type(kind)
    nullable: data_types.DataType = made if kind.nullable else made.not_null()
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


_PRIMITIVE = frozenset({Root.BOOLEAN, *logical.INTEGERS, *logical.APPROXIMATE})
_SQL_TIMES = {
    "DateTypeInfo": logical.DATE,
    "TimeTypeInfo": logical.time(0),
    "TimestampTypeInfo": logical.timestamp(3),
}
_BASIC = {
    typeinfo.BasicType.STRING: logical.STRING,
    typeinfo.BasicType.BYTE: logical.TINYINT,
    typeinfo.BasicType.BOOLEAN: logical.BOOLEAN,
    typeinfo.BasicType.SHORT: logical.SMALLINT,
    typeinfo.BasicType.INT: logical.INT,
    typeinfo.BasicType.LONG: logical.BIGINT,
    typeinfo.BasicType.FLOAT: logical.FLOAT,
    typeinfo.BasicType.DOUBLE: logical.DOUBLE,
    typeinfo.BasicType.CHAR: logical.char(1),
    typeinfo.BasicType.BIG_DEC: logical.decimal(38, 18),
    typeinfo.BasicType.INSTANT: logical.timestamp_ltz(9),
}
_LOCAL = {
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_DATE: logical.DATE,
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_TIME: logical.time(9),
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: logical.timestamp(9),
}


def to_type_info(kind: LogicalType) -> typeinfo.TypeInformation:
    """Return the type information for one of SQL's types.

    Raises:
        ValidationError: streams have no such values.
    """
    try:
        return type_info_of(to_data_type(kind))
    except TypeError:
        raise ValidationError(f"a stream has no values of type {kind}") from None


def from_type_info(type_info: Any) -> LogicalType:
    """Return SQL's type for the type information of a stream; without one it is RAW."""
    simple = _SQL_TIMES.get(type(type_info).__name__)
    if simple is not None:
        return simple
    if isinstance(type_info, typeinfo.ExternalTypeInfo):
        return from_type_info(type_info._type_info)
    if isinstance(type_info, typeinfo.BasicTypeInfo):
        return _BASIC.get(type_info._basic_type, logical.RAW)
    if isinstance(type_info, typeinfo.LocalTimeTypeInfo):
        return _LOCAL[type_info._time_type]
    if isinstance(type_info, typeinfo.RowTypeInfo | typeinfo.TupleTypeInfo):
        return logical.row(*fields_of(type_info))
    if isinstance(type_info, typeinfo.PrimitiveArrayTypeInfo):
        return _array(type_info._element_type, nullable=False)
    if isinstance(type_info, typeinfo.BasicArrayTypeInfo | typeinfo.ObjectArrayTypeInfo):
        return _array(type_info._element_type, nullable=True)
    if isinstance(type_info, typeinfo.ListTypeInfo):
        return logical.array(from_type_info(type_info.elem_type))
    if isinstance(type_info, typeinfo.MapTypeInfo):
        key = from_type_info(type_info._key_type_info)
        return logical.mapping(key, from_type_info(type_info._value_type_info))
    return logical.RAW


def fields_of(type_info: Any) -> tuple[tuple[str, ...], tuple[LogicalType, ...]]:
    """Return the names and types of the fields of a row or tuple."""
    types = tuple(map(from_type_info, type_info.get_field_types()))
    if isinstance(type_info, typeinfo.TupleTypeInfo):
        types = tuple(kind.with_nullable(kind.root not in _PRIMITIVE) for kind in types)
    names = getattr(type_info, "_field_names", None) or [f"f{i}" for i in range(len(types))]
    return tuple(names), types


def _array(element: Any, nullable: bool) -> LogicalType:
    if getattr(element, "_basic_type", None) is typeinfo.BasicType.BYTE and not nullable:
        return logical.BYTES
    return logical.array(from_type_info(element).with_nullable(nullable))
