"""Flink's own serializers for keys of declared types: their snapshots, and what they write."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.coders import integers, longs, sized, string, utf
from pyflink_on_spark._runtime.elements.immutability import unwrap_key
from pyflink_on_spark._runtime.java_hashes import flink_pickle
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    basic_type_of,
    element_type_of,
    wrapped_type_of,
)
from pyflink_on_spark.flink_state.value_writers import Write, mask_of, writer_of

_BASE = "org.apache.flink.api.common.typeutils.base."
_RUNTIME = "org.apache.flink.api.java.typeutils.runtime."
_VERSION, _COMPOSITE, _NESTED = 3, 911108, 1333245
_ROW_VERSION, _TUPLE_VERSION = 4, 2
_PICKLE = b"\x80"
_FIRST_INT_MARKS = {0: 1, 1: 2, 10: 3}
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone
_MILLISECOND = datetime.timedelta(milliseconds=1)


@dataclass(frozen=True)
class JavaType:
    """A serializer of Flink.

    Args:
        snapshot: the serializer, as savepoints describe it.
        write: writes a value.
    """

    snapshot: bytes
    write: Write


def simple(name: str) -> bytes:
    """Write the snapshot of a serializer without parts.

    Args:
        name: the class of the snapshot.
    """
    return utf(name) + integers(_VERSION)


def composite(name: str, version: int, outer: bytes, *parts: bytes) -> bytes:
    """Write the snapshot of a serializer with parts.

    Args:
        name: the class of the snapshot.
        version: of what the serializer says about itself.
        outer: what the serializer says about itself.
        parts: the snapshots of its parts.
    """
    nested = integers(_NESTED, 1, len(parts)) + b"".join(parts)
    return simple(name) + integers(_COMPOSITE, version) + outer + nested


BYTES = simple(f"{_BASE}array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot")


def key_serializer(key_type: object) -> JavaType:
    """Make the serializer of keys as the engine has them, which Flink has in rows of one field.

    Args:
        key_type: the declared type of the keys; None if there is none.

    Raises:
        TypeError: the serializer of such keys is not known.
    """
    inner = _java_type(key_type)

    def write(key: object) -> bytes:
        value = unwrap_key(key)
        return mask_of([value], 0) + (b"" if value is None else inner.write(value))

    return JavaType(_row_snapshot(inner.snapshot), write)


def _java_type(type_info: object) -> JavaType:
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return JavaType(BYTES, _pickle)
    if isinstance(type_info, ExternalTypeInfo):
        return _java_type(wrapped_type_of(type_info))
    if isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) in _BASIC:
        name, write = _BASIC[basic_type_of(type_info)]
        return _based(name, write or writer_of(type_info))
    for kind, (name, milliseconds) in _TIMES.items():
        if isinstance(type_info, kind):
            return _based(name, milliseconds)
    if isinstance(type_info, RowTypeInfo):
        return _rows(type_info)
    if isinstance(type_info, TupleTypeInfo):
        return _tuples(type_info)
    if isinstance(type_info, PrimitiveArrayTypeInfo) and str(element_type_of(type_info)) == "Byte":
        return JavaType(BYTES, lambda value: sized(bytes(value)))
    raise TypeError(f"keys of the type {type_info} cannot be written for Flink")


def _pickle(value: object) -> bytes:
    content = flink_pickle(value)
    if not content.startswith(_PICKLE):
        raise TypeError(
            f"the key {value!r} has a set in it, whose order is another in each process"
        )
    return sized(content)


def _based(name: str, write: Write) -> JavaType:
    return JavaType(simple(f"{_BASE}{name}Serializer${name}SerializerSnapshot"), write)


def _row_snapshot(*parts: bytes) -> bytes:
    name = f"{_RUNTIME}RowSerializer$RowSerializerSnapshot"
    return composite(name, _ROW_VERSION, b"\1", *parts)


def _rows(type_info: RowTypeInfo) -> JavaType:
    names = list(type_info.get_field_names())
    fields = [_java_type(field) for field in type_info.get_field_types()]

    def write(row: Any) -> bytes:
        values = row.get_fields_by_names(names)
        written = [f.write(v) for f, v in zip(fields, values, strict=True) if v is not None]
        return mask_of(values, row.get_row_kind().value) + b"".join(written)

    return JavaType(_row_snapshot(*(field.snapshot for field in fields)), write)


def _tuples(type_info: TupleTypeInfo) -> JavaType:
    fields = [_java_type(field) for field in type_info.get_field_types()]
    outer = utf(f"org.apache.flink.api.java.tuple.Tuple{len(fields)}")
    parts = [field.snapshot for field in fields]
    return JavaType(
        composite(f"{_RUNTIME}TupleSerializerSnapshot", _TUPLE_VERSION, outer, *parts),
        lambda value: b"".join([f.write(v) for f, v in zip(fields, value, strict=True)]),
    )


def _big_int(value: int) -> bytes:
    if value in _FIRST_INT_MARKS:
        return integers(_FIRST_INT_MARKS[value])
    bits = (value if value >= 0 else ~value).bit_length()
    content = value.to_bytes(bits // 8 + 1, "big", signed=True)
    return integers(len(content) + 4) + content


def _big_decimal(value: decimal.Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise TypeError(f"the key {value} is no number that Flink has")
    unscaled = int("".join(map(str, digits)) or "0")
    return _big_int(-unscaled if sign else unscaled) + integers(-exponent)


def _instant(value: Any) -> bytes:
    return longs(value.seconds) + integers(value.nanos)


def _milliseconds(value: datetime.datetime) -> bytes:
    return longs((value - _EPOCH) // _MILLISECOND)


def _timestamp(value: datetime.datetime) -> bytes:
    return _milliseconds(value) + integers(value.microsecond * 1000)


_BASIC: dict[BasicType, tuple[str, Write | None]] = {
    BasicType.STRING: ("String", string),
    BasicType.BOOLEAN: ("Boolean", None),
    BasicType.BYTE: ("Byte", None),
    BasicType.SHORT: ("Short", None),
    BasicType.INT: ("Int", None),
    BasicType.LONG: ("Long", None),
    BasicType.FLOAT: ("Float", None),
    BasicType.DOUBLE: ("Double", None),
    BasicType.BIG_INT: ("BigInt", _big_int),
    BasicType.BIG_DEC: ("BigDec", _big_decimal),
    BasicType.INSTANT: ("Instant", _instant),
}
_TIMES: dict[type, tuple[str, Callable[[Any], bytes]]] = {
    DateTypeInfo: (
        "SqlDate",
        lambda value: _milliseconds(datetime.datetime.combine(value, datetime.time())),
    ),
    TimeTypeInfo: (
        "SqlTime",
        lambda value: _milliseconds(datetime.datetime.combine(_EPOCH, value)),
    ),
    TimestampTypeInfo: ("SqlTimestamp", _timestamp),
}
