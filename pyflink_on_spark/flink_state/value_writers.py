"""Values of declared types as PyFlink's Python workers write them into Flink's state."""

from __future__ import annotations

import datetime
import decimal
import pickle
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.coders import integers, longs, sized
from pyflink_on_spark._runtime.java_hashes import as_flink_names
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    basic_type_of,
    element_type_of,
    key_type_of,
    value_type_of,
    wrapped_type_of,
)

if TYPE_CHECKING:
    from pyflink_on_spark.common.types import Row


Write = Callable[[Any], bytes]

_PROTOCOL = 4
_KIND_BITS = 2
_NO_LONG, _NO_INT = -(1 << 63), -(1 << 31)
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_MIDNIGHT = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone
_MILLISECOND = datetime.timedelta(milliseconds=1)


def writer_of(type_info: object) -> Write:
    """Make what writes values of a declared type.

    Args:
        type_info: the declared type; None for pickles.

    Raises:
        TypeError: PyFlink cannot keep such values in a state.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return lambda value: sized(as_flink_names(pickle.dumps(value, _PROTOCOL)))
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[basic_type_of(type_info)]
    for kind, make in _MAKERS.items():
        if isinstance(type_info, kind):
            return make(type_info)
    raise TypeError(f"PyFlink has no state of the type {type_info}")


def mask_of(values: list[object], kind: int) -> bytes:
    """Write which fields of a row are None, after the bits of its kind.

    Args:
        values: the fields.
        kind: the number of the row's kind.
    """
    length = (len(values) + _KIND_BITS + 7) // 8
    top = length * 8 - 1
    mask = (kind & 1) << top | (kind >> 1) << top - 1
    for index, value in enumerate(values):
        if value is None:
            mask |= 1 << top - _KIND_BITS - index
    return mask.to_bytes(length, "big")


def _packed(code: str) -> Write:
    return struct.Struct(f">{code}").pack


def _text(value: str) -> bytes:
    return sized(value.encode("utf-8", "surrogatepass"))


def _instant(value: Any) -> bytes:
    if value is None:
        return longs(_NO_LONG) + integers(_NO_INT)
    return longs(value.seconds) + integers(value.nanos)


def _time(value: datetime.time) -> bytes:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return integers(seconds * 1000 + value.microsecond // 1000)


def _tuples(type_info: TupleTypeInfo) -> Write:
    writes = [writer_of(field) for field in type_info.get_field_types()]
    return lambda value: b"".join([write(part) for write, part in zip(writes, value, strict=True)])


def _rows(type_info: RowTypeInfo) -> Write:
    names = list(type_info.get_field_names())
    writes = [writer_of(field) for field in type_info.get_field_types()]

    def write_row(row: Row) -> bytes:
        values = row.get_fields_by_names(names)
        fields = [
            write(value) for write, value in zip(writes, values, strict=True) if value is not None
        ]
        return mask_of(values, row.get_row_kind().value) + b"".join(fields)

    return write_row


def _arrays(element: object, nullable: bool) -> Write:
    basic = basic_type_of(element) if isinstance(element, BasicTypeInfo) else None
    if not nullable and basic is BasicType.BYTE:
        return sized
    write = writer_of(element)
    if not nullable:
        return lambda value: integers(len(value)) + b"".join(map(write, value))
    return lambda value: (
        integers(len(value))
        + b"".join([b"\0" if part is None else b"\1" + write(part) for part in value])
    )


def _maps(type_info: MapTypeInfo) -> Write:
    write_key = writer_of(key_type_of(type_info))
    write_value = writer_of(value_type_of(type_info))
    return lambda value: (
        integers(len(value))
        + b"".join(
            [
                write_key(key) + (b"\1" if part is None else b"\0" + write_value(part))
                for key, part in value.items()
            ]
        )
    )


_BASIC: dict[BasicType, Write] = {
    BasicType.STRING: _text,
    BasicType.CHAR: _text,
    BasicType.BOOLEAN: _packed("?"),
    BasicType.BYTE: _packed("b"),
    BasicType.SHORT: _packed("h"),
    BasicType.INT: _packed("i"),
    BasicType.LONG: _packed("q"),
    BasicType.BIG_INT: _packed("q"),
    BasicType.FLOAT: _packed("f"),
    BasicType.DOUBLE: _packed("d"),
    BasicType.BIG_DEC: lambda value: _text(str(decimal.Decimal(value))),
    BasicType.INSTANT: _instant,
}
_MAKERS: dict[type, Callable[[Any], Write]] = {
    TupleTypeInfo: _tuples,
    RowTypeInfo: _rows,
    ListTypeInfo: lambda found: _arrays(found.elem_type, nullable=True),
    PrimitiveArrayTypeInfo: lambda found: _arrays(element_type_of(found), nullable=False),
    BasicArrayTypeInfo: lambda found: _arrays(element_type_of(found), nullable=True),
    ObjectArrayTypeInfo: lambda found: _arrays(element_type_of(found), nullable=True),
    MapTypeInfo: _maps,
    DateTypeInfo: lambda _: lambda value: integers(value.toordinal() - _EPOCH),
    TimeTypeInfo: lambda _: _time,
    TimestampTypeInfo: lambda _: lambda value: longs((value - _MIDNIGHT) // _MILLISECOND),
    ExternalTypeInfo: lambda found: writer_of(wrapped_type_of(found)),
}
