"""SQL's types as type information of streams, and back."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.formats.row_types import type_info_of
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.data_types import to_data_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common import typeinfo as api

_PRIMITIVE = frozenset({Root.BOOLEAN, *logical.INTEGERS, *logical.APPROXIMATE})
_SQL_TIMES = {
    "DateTypeInfo": logical.DATE,
    "TimeTypeInfo": logical.time(0),
    "TimestampTypeInfo": logical.timestamp(3),
}
_BASIC = {
    api.BasicType.STRING: logical.STRING,
    api.BasicType.BYTE: logical.TINYINT,
    api.BasicType.BOOLEAN: logical.BOOLEAN,
    api.BasicType.SHORT: logical.SMALLINT,
    api.BasicType.INT: logical.INT,
    api.BasicType.LONG: logical.BIGINT,
    api.BasicType.FLOAT: logical.FLOAT,
    api.BasicType.DOUBLE: logical.DOUBLE,
    api.BasicType.CHAR: logical.char(1),
    api.BasicType.BIG_DEC: logical.decimal(38, 18),
    api.BasicType.INSTANT: logical.timestamp_ltz(9),
}
_LOCAL = {
    api.LocalTimeTypeInfo.TimeType.LOCAL_DATE: logical.DATE,
    api.LocalTimeTypeInfo.TimeType.LOCAL_TIME: logical.time(9),
    api.LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: logical.timestamp(9),
}


def to_type_info(kind: LogicalType) -> api.TypeInformation:
    """Return the type information for one of SQL's types.

    Raises:
        ValidationError: streams have no such values.
    """
    try:
        return type_info_of(to_data_type(kind))
    except TypeError:
        raise ValidationError(f"a stream has no values of type {kind}") from None


def from_type_info(type_info: Any) -> LogicalType:
    """Return SQL's type for what is known of a stream's elements; without a type it is RAW."""
    simple = _SQL_TIMES.get(type(type_info).__name__)
    if simple is not None:
        return simple
    if isinstance(type_info, api.ExternalTypeInfo):
        return from_type_info(type_info._type_info)
    if isinstance(type_info, api.BasicTypeInfo):
        return _BASIC.get(type_info._basic_type, logical.RAW)
    if isinstance(type_info, api.LocalTimeTypeInfo):
        return _LOCAL[type_info._time_type]
    if isinstance(type_info, api.RowTypeInfo | api.TupleTypeInfo):
        return logical.row(*fields_of(type_info))
    if isinstance(type_info, api.PrimitiveArrayTypeInfo):
        return _array(type_info._element_type, nullable=False)
    if isinstance(type_info, api.BasicArrayTypeInfo | api.ObjectArrayTypeInfo):
        return _array(type_info._element_type, nullable=True)
    if isinstance(type_info, api.ListTypeInfo):
        return logical.array(from_type_info(type_info.elem_type))
    if isinstance(type_info, api.MapTypeInfo):
        key = from_type_info(type_info._key_type_info)
        return logical.mapping(key, from_type_info(type_info._value_type_info))
    return logical.RAW


def fields_of(type_info: Any) -> tuple[tuple[str, ...], tuple[LogicalType, ...]]:
    """Return the names and types of the fields of a row or tuple."""
    types = tuple(map(from_type_info, type_info.get_field_types()))
    if isinstance(type_info, api.TupleTypeInfo):
        types = tuple(kind.with_nullable(kind.root not in _PRIMITIVE) for kind in types)
    names = getattr(type_info, "_field_names", None) or [f"f{i}" for i in range(len(types))]
    return tuple(names), types


def _array(element: Any, nullable: bool) -> LogicalType:
    if getattr(element, "_basic_type", None) is api.BasicType.BYTE and not nullable:
        return logical.BYTES
    return logical.array(from_type_info(element).with_nullable(nullable))
