"""Converts Flink's types to Arrow's types and back."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    element_type_of,
    key_type_of,
    value_type_of,
    wrapped_type_of,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.types.codec import Convert


_ARRAYS = (ListTypeInfo, ObjectArrayTypeInfo, BasicArrayTypeInfo, PrimitiveArrayTypeInfo)
_BASIC: list[tuple[TypeInformation, pa.DataType]] = [
    (Types.STRING(), pa.string()),
    (Types.CHAR(), pa.string()),
    (Types.BOOLEAN(), pa.bool_()),
    (Types.BYTE(), pa.int8()),
    (Types.SHORT(), pa.int16()),
    (Types.INT(), pa.int32()),
    (Types.LONG(), pa.int64()),
    (Types.FLOAT(), pa.float32()),
    (Types.DOUBLE(), pa.float64()),
    (Types.BIG_INT(), pa.decimal128(38, 0)),
    (Types.BIG_DEC(), pa.decimal128(38, 18)),
    (Types.SQL_DATE(), pa.date32()),
    (Types.SQL_TIMESTAMP(), pa.timestamp("us")),
    (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE), pa.date32()),
    (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME), pa.timestamp("us")),
    (Types.INSTANT(), pa.timestamp("us", tz="UTC")),
]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def arrow_schema(type_info: TypeInformation) -> pa.Schema:
    """Return the columns of a stream: the fields of its rows or tuples, or a column ``value``.

    Raises:
        TypeError: a DataFrame does not support such values.
    """
    return pa.schema([pa.field(name, arrow_type(kind)) for name, kind in columns_of(type_info)])


def columns_of(type_info: TypeInformation) -> list[tuple[str, TypeInformation]]:
    """Return the names and types of the columns of a stream."""
    type_info = _unwrapped(type_info)
    if isinstance(type_info, RowTypeInfo):
        return list(zip(type_info.get_field_names(), type_info.get_field_types(), strict=True))
    if isinstance(type_info, TupleTypeInfo):
        types = type_info.get_field_types()
        return [(f"f{index}", kind) for index, kind in enumerate(types)]
    return [("value", type_info)]


def is_composite(type_info: TypeInformation) -> bool:
    """True if each field of a value has a column."""
    return isinstance(_unwrapped(type_info), RowTypeInfo | TupleTypeInfo)


def arrow_type(type_info: TypeInformation) -> pa.DataType:
    """Return the type of a column.

    Raises:
        TypeError: a DataFrame does not support such values.
    """
    type_info = _unwrapped(type_info)
    for ours, arrow in _BASIC:
        if type_info == ours:
            return arrow
    if isinstance(type_info, RowTypeInfo | TupleTypeInfo):
        return pa.struct([pa.field(n, arrow_type(kind)) for n, kind in columns_of(type_info)])
    if isinstance(type_info, PrimitiveArrayTypeInfo) and element_type_of(type_info) == Types.BYTE():
        return pa.binary()
    if isinstance(type_info, MapTypeInfo):
        return pa.map_(arrow_type(key_type_of(type_info)), arrow_type(value_type_of(type_info)))
    if isinstance(type_info, _ARRAYS):
        return pa.list_(arrow_type(_element_type(type_info)))
    raise TypeError(
        f"a DataFrame has no column for {type_info}: map the stream to basic types, rows, tuples, "
        "lists or maps first, and declare them"
    )


def to_arrow(type_info: TypeInformation) -> Convert:
    """Return a function that converts a value for Arrow."""
    type_info = _unwrapped(type_info)
    if type_info == Types.INSTANT():
        return _instant
    if isinstance(type_info, RowTypeInfo | TupleTypeInfo):
        names = [name for name, _ in columns_of(type_info)]
        fields = [to_arrow(kind) for _, kind in columns_of(type_info)]

        def convert(value: Any) -> object:
            if value is None:
                return None
            return {n: f(v) for n, f, v in zip(names, fields, value, strict=True)}

        return convert
    if isinstance(type_info, MapTypeInfo):
        key, entry = to_arrow(key_type_of(type_info)), to_arrow(value_type_of(type_info))
        return lambda value: (
            None if value is None else [(key(k), entry(v)) for k, v in value.items()]
        )
    if arrow_type(type_info) != pa.binary() and isinstance(type_info, _ARRAYS):
        element = to_arrow(_element_type(type_info))
        return lambda value: None if value is None else list(map(element, value))
    return _as_it_is


def type_of_schema(schema: pa.Schema) -> TypeInformation:
    """Return the type of the rows of a DataFrame.

    Raises:
        TypeError: PyFlink has no type for a column.
    """
    return Types.ROW_NAMED(schema.names, [_type_of(field.type) for field in schema])


def _type_of(arrow: pa.DataType) -> TypeInformation:
    if pa.types.is_struct(arrow):
        return Types.ROW_NAMED([f.name for f in arrow], [_type_of(f.type) for f in arrow])
    if pa.types.is_list(arrow):
        return Types.LIST(_type_of(arrow.value_type))
    if pa.types.is_map(arrow):
        return Types.MAP(_type_of(arrow.key_type), _type_of(arrow.item_type))
    if pa.types.is_decimal(arrow):
        return Types.BIG_DEC()
    if pa.types.is_timestamp(arrow):
        return Types.SQL_TIMESTAMP()
    if pa.types.is_binary(arrow):
        return Types.PRIMITIVE_ARRAY(Types.BYTE())
    for ours, known in _BASIC:
        if arrow == known:
            return ours
    raise TypeError(f"PyFlink has no type for a column of {arrow}: cast it in the DataFrame first")


def _element_type(type_info: TypeInformation) -> TypeInformation:
    for name in ("elem_type", "_element_type"):
        if hasattr(type_info, name):
            return getattr(type_info, name)  # type: ignore[no-any-return]
    raise TypeError(f"{type_info} has no element type")


def _unwrapped(type_info: TypeInformation) -> TypeInformation:
    while isinstance(type_info, ExternalTypeInfo):
        type_info = wrapped_type_of(type_info)
    return type_info


def _instant(value: Any) -> datetime.datetime | None:
    if value is None:
        return None
    return _EPOCH + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


def _as_it_is(value: object) -> object:
    return value
