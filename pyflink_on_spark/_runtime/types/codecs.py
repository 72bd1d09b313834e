"""From type information to codecs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.java_hashes import java_hash
from pyflink_on_spark._runtime.types import basic, composite
from pyflink_on_spark._runtime.types.codec import Codec
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    basic_type_of,
    element_type_of,
    key_type_of,
    time_type_of,
    value_type_of,
    wrapped_type_of,
)

_MAX_TUPLE_FIELDS = 25

_BASIC: dict[BasicType, Callable[[], Codec]] = {
    BasicType.STRING: basic.string,
    BasicType.CHAR: basic.character,
    BasicType.BOOLEAN: basic.boolean,
    BasicType.BYTE: lambda: basic.integer("Byte", "b"),
    BasicType.SHORT: lambda: basic.integer("Short", "h"),
    BasicType.INT: lambda: basic.integer("Integer", "i"),
    BasicType.LONG: lambda: basic.integer("Long", "q"),
    BasicType.BIG_INT: basic.big_integer,
    BasicType.FLOAT: basic.single,
    BasicType.DOUBLE: basic.double,
    BasicType.BIG_DEC: basic.decimal,
    BasicType.INSTANT: lambda: basic.instant("Instant"),
}

_LOCAL_TIME: dict[LocalTimeTypeInfo.TimeType, Callable[[str], Codec]] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: basic.local_date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: basic.local_time,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: basic.local_date_time,
}

_PRIMITIVES = frozenset(
    (
        BasicType.BOOLEAN,
        BasicType.BYTE,
        BasicType.SHORT,
        BasicType.INT,
        BasicType.LONG,
        BasicType.FLOAT,
        BasicType.DOUBLE,
        BasicType.CHAR,
    )
)


def codec_of(type_info: object) -> Codec:
    """Return the codec of a declared type.

    Raises:
        TypeError: it is no type information, or an array of elements that cannot be in one.
        ValueError: a row's names do not go with its types, or a tuple has too many fields.
    """
    for kind, build in _BUILDERS.items():
        if isinstance(type_info, kind):
            return build(type_info)
    raise TypeError(f"Unsupported type_info {type_info!r}: use pyflink.common.Types")


def _basic(type_info: BasicTypeInfo) -> Codec:
    return _BASIC[basic_type_of(type_info)]()


def _is_byte(type_info: TypeInformation) -> bool:
    return isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) is BasicType.BYTE


def _array_of_basic(type_info: Any, allowed: frozenset[BasicType]) -> None:
    element = element_type_of(type_info)
    if not isinstance(element, BasicTypeInfo) or basic_type_of(element) not in allowed:
        raise TypeError(f"Invalid element type for a primitive array: {type_info}")


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> Codec:
    _array_of_basic(type_info, _PRIMITIVES)
    if _is_byte(element_type_of(type_info)):
        return composite.byte_string(str(type_info))
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=False)


def _basic_array(type_info: BasicArrayTypeInfo) -> Codec:
    _array_of_basic(type_info, _PRIMITIVES | {BasicType.STRING})
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=True)


def _object_array(type_info: ObjectArrayTypeInfo) -> Codec:
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=True)


def _list(type_info: ListTypeInfo) -> Codec:
    if _is_byte(type_info.elem_type):
        return composite.byte_string(str(type_info))
    return composite.plain_list(str(type_info), codec_of(type_info.elem_type))


def _map(type_info: MapTypeInfo) -> Codec:
    key, value = key_type_of(type_info), value_type_of(type_info)
    key_hash = java_hash(key).plain if isinstance(key, BasicTypeInfo) else None
    return composite.mapping(str(type_info), codec_of(key), codec_of(value), key_hash)


def _tuple(type_info: TupleTypeInfo) -> Codec:
    fields = type_info.get_field_types()
    if len(fields) > _MAX_TUPLE_FIELDS:
        raise ValueError(
            f"The tuple arity must be in [0, {_MAX_TUPLE_FIELDS}], and it is {len(fields)}: "
            "use Types.ROW for more fields"
        )
    return composite.tuples(str(type_info), [codec_of(field) for field in fields])


def _row(type_info: RowTypeInfo) -> Codec:
    names, fields = list(type_info.get_field_names()), type_info.get_field_types()
    if len(names) != len(fields):
        raise ValueError(
            f"Number of field types and names is different: {len(fields)} types, names {names}"
        )
    if len(set(names)) != len(names):
        raise ValueError(f"Field names are not unique: {names}")
    return composite.rows(str(type_info), names, [codec_of(field) for field in fields])


def _local_time(type_info: LocalTimeTypeInfo) -> Codec:
    return _LOCAL_TIME[time_type_of(type_info)](str(type_info))


_BUILDERS: dict[type, Callable[[Any], Codec]] = {
    BasicTypeInfo: _basic,
    TupleTypeInfo: _tuple,
    RowTypeInfo: _row,
    ListTypeInfo: _list,
    MapTypeInfo: _map,
    PrimitiveArrayTypeInfo: _primitive_array,
    BasicArrayTypeInfo: _basic_array,
    ObjectArrayTypeInfo: _object_array,
    DateTypeInfo: lambda type_info: basic.date(str(type_info)),
    TimeTypeInfo: lambda type_info: basic.time(str(type_info)),
    TimestampTypeInfo: lambda type_info: basic.timestamp(str(type_info)),
    LocalTimeTypeInfo: _local_time,
    PickledBytesTypeInfo: lambda type_info: composite.pickled(str(type_info)),
    ExternalTypeInfo: lambda type_info: codec_of(wrapped_type_of(type_info)),
}
