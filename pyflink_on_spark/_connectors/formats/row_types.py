"""Converts the data types of columns to type information and to Arrow's types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.data_types import (
    ArrayType,
    DataType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
)
from pyflink_on_spark.common.serialization import (
    ByteArraySchema,
    SerializationSchema,
    SimpleStringSchema,
)
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)


def row_type_info(row_type: RowType) -> RowTypeInfo:
    """Return the type information of rows."""
    types = [type_info_of(field.data_type) for field in row_type]
    return RowTypeInfo(types, [field.name for field in row_type])


def arrow_schema(row_type: RowType) -> pa.Schema:
    """Return Arrow's schema of rows.

    Raises:
        TypeError: Arrow has no type for a column.
    """
    return pa.schema([pa.field(field.name, arrow_type(field.data_type)) for field in row_type])


def type_info_of(data_type: DataType) -> TypeInformation:
    """Return the type information of a column.

    Raises:
        TypeError: columns do not support the type.
    """
    if isinstance(data_type, RowType):
        return row_type_info(data_type)
    if isinstance(data_type, ArrayType):
        return ObjectArrayTypeInfo(type_info_of(data_type.element_type))
    if isinstance(data_type, MapType):
        return MapTypeInfo(type_info_of(data_type.key_type), type_info_of(data_type.value_type))
    name = data_type.type_name()
    if isinstance(data_type, MultisetType):
        return MapTypeInfo(type_info_of(data_type.element_type), BasicTypeInfo.INT_TYPE_INFO())
    if name not in _TYPE_INFOS:
        raise TypeError(f"a column cannot be of type {data_type}")
    return _TYPE_INFOS[name]()


def arrow_type(data_type: DataType) -> pa.DataType:
    """Return Arrow's type of a column.

    Raises:
        TypeError: columns do not support the type.
    """
    if isinstance(data_type, RowType):
        return pa.struct(list(arrow_schema(data_type)))
    if isinstance(data_type, ArrayType):
        return pa.list_(arrow_type(data_type.element_type))
    if isinstance(data_type, MapType):
        return pa.map_(arrow_type(data_type.key_type), arrow_type(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return pa.map_(arrow_type(data_type.element_type), pa.int32())
    if isinstance(data_type, DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, TimestampType):
        return pa.timestamp("ms" if data_type.precision <= 3 else "us")
    if isinstance(data_type, LocalZonedTimestampType):
        return pa.timestamp("ms" if data_type.precision <= 3 else "us", "UTC")
    name = data_type.type_name()
    if name not in _ARROW_TYPES:
        raise TypeError(f"a column cannot be of type {data_type}")
    return _ARROW_TYPES[name]()


def _bytes_type_info() -> TypeInformation:
    return PrimitiveArrayTypeInfo(BasicTypeInfo.BYTE_TYPE_INFO())


def _local(kind: LocalTimeTypeInfo.TimeType) -> Callable[[], TypeInformation]:
    return lambda: LocalTimeTypeInfo(kind)


_TIME = LocalTimeTypeInfo.TimeType
_TYPE_INFOS: dict[str, Callable[[], TypeInformation]] = {
    "CHAR": BasicTypeInfo.STRING_TYPE_INFO,
    "VARCHAR": BasicTypeInfo.STRING_TYPE_INFO,
    "BOOLEAN": BasicTypeInfo.BOOLEAN_TYPE_INFO,
    "BINARY": _bytes_type_info,
    "VARBINARY": _bytes_type_info,
    "TINYINT": BasicTypeInfo.BYTE_TYPE_INFO,
    "SMALLINT": BasicTypeInfo.SHORT_TYPE_INFO,
    "INT": BasicTypeInfo.INT_TYPE_INFO,
    "BIGINT": BasicTypeInfo.LONG_TYPE_INFO,
    "FLOAT": BasicTypeInfo.FLOAT_TYPE_INFO,
    "DOUBLE": BasicTypeInfo.DOUBLE_TYPE_INFO,
    "DECIMAL": BasicTypeInfo.BIG_DEC_TYPE_INFO,
    "DATE": _local(_TIME.LOCAL_DATE),
    "TIME": _local(_TIME.LOCAL_TIME),
    "TIMESTAMP": _local(_TIME.LOCAL_DATE_TIME),
    "LOCALZONEDTIMESTAMP": BasicTypeInfo.INSTANT_TYPE_INFO,
}
_ARROW_TYPES: dict[str, Callable[[], pa.DataType]] = {
    "CHAR": pa.string,
    "VARCHAR": pa.string,
    "BOOLEAN": pa.bool_,
    "BINARY": pa.binary,
    "VARBINARY": pa.binary,
    "TINYINT": pa.int8,
    "SMALLINT": pa.int16,
    "INT": pa.int32,
    "BIGINT": pa.int64,
    "FLOAT": pa.float32,
    "DOUBLE": pa.float64,
    "DATE": pa.date32,
    "TIME": lambda: pa.time32("ms"),
}


WHOLE_NUMBERS = frozenset(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)
)


def whole_number_text(value: Any) -> str:
    """Return the text of an integer.

    Raises:
        TypeError: the value is not an integer.
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return int.__repr__(value)


def refuse_field(type_info: Any, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not support."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="the format has no such type here",
        instead="Declare it as a STRING, and convert it in a map().",
    )


_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def check_written(schema: SerializationSchema, type_info: Any) -> None:
    """Check that a schema can write a stream.

    In PyFlink a schema gets an element in the form of the stream's type in the JVM. An element of a
    stream without a declared type consists of pickled bytes there, which no schema can write.

    Args:
        schema: the serialization schema.
        type_info: the type of the stream.

    Raises:
        TypeError: the schema writes elements of another type.
    """
    found = type_info._type_info if isinstance(type_info, ExternalTypeInfo) else type_info
    if isinstance(schema, SimpleStringSchema):
        fits, wanted = found == Types.STRING(), "Types.STRING()"
    elif isinstance(schema, ByteArraySchema):
        fits, wanted = found == _BYTES, "Types.PRIMITIVE_ARRAY(Types.BYTE())"
    else:
        fits, wanted = isinstance(found, RowTypeInfo), "Types.ROW([...])"
    if not fits:
        raise TypeError(
            f"{type(schema).__name__} writes a stream of {wanted}, and this one is of {type_info}: "
            f"declare its type where it is made, for example .map(..., output_type={wanted})"
        )
