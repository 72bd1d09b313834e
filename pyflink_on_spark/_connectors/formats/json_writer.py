"""Writes rows as JSON messages, as Flink's JsonRowSerializationSchema does."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.formats.field_types import (
    WHOLE_NUMBERS,
    refuse_field,
    whole_number_text,
)
from pyflink_on_spark._connectors.formats.json_text import string_bytes_text
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
)
from pyflink_on_spark.common.types import Row

Write = Callable[[Any], str]

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - instants are in UTC
_FRACTIONS = frozenset((BasicType.FLOAT, BasicType.DOUBLE))


def json_row_writer(row_type: RowTypeInfo) -> Callable[[Any], bytes]:
    """Return a function that writes the fields of a row by position as a JSON object.

    Args:
        row_type: the type of the row; the names of its fields become the keys of the object.

    Raises:
        TypeError: the returned function raises it for an element that is not a row.
        ValueError: the returned function raises it for a row that does not fit its type.
    """
    write = _row(row_type)

    def write_row(row: Any) -> bytes:
        if not isinstance(row, Row):
            raise TypeError(f"JSON is written of rows, not of {type(row).__name__}: {row!r}")
        try:
            return write(row).encode()
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"Could not serialize row '{row}'. Make sure that the schema matches the input: "
                f"{error}"
            ) from error

    return write_row


def _writer(type_info: Any) -> Write:
    for kind, make in _MAKERS.items():
        if isinstance(type_info, kind):
            return make(type_info)
    return refuse_field(type_info, "JSON")


def _object(names: Sequence[str], types: Sequence[Any]) -> Callable[[Sequence[Any]], str]:
    heads = [f"{string_bytes_text(name)}:" for name in names]
    writers = [_writer(kind) for kind in types]

    def write(values: Sequence[Any]) -> str:
        fields = [
            f"{head}null" if value is None else head + one(value)
            for head, one, value in zip(heads, writers, values, strict=True)
        ]
        return f"{{{','.join(fields)}}}"

    return write


def _row(type_info: RowTypeInfo) -> Write:
    write = _object(list(type_info.get_field_names()), type_info.get_field_types())
    return lambda row: write(row._values)


def _tuple(type_info: TupleTypeInfo) -> Write:
    types = type_info.get_field_types()
    size = len(types)
    names = [*(f"f{index}" for index in range(size)), "arity"]
    write = _object(names, [*types, BasicTypeInfo.INT_TYPE_INFO()])
    return lambda values: write((*values, size))


def _map(type_info: MapTypeInfo) -> Write:
    value = _writer(type_info._value_type_info)
    key_text = codec_of(type_info._key_type_info).text

    def write(items: dict[Any, Any]) -> str:
        fields = [
            f"{string_bytes_text(key_text(key))}:{'null' if item is None else value(item)}"
            for key, item in items.items()
        ]
        return f"{{{','.join(fields)}}}"

    return write


def _array(element_type: Any) -> Write:
    element = _writer(element_type)

    def write(items: Sequence[Any]) -> str:
        texts = ["null" if item is None else element(item) for item in items]
        return f"[{','.join(texts)}]"

    return write


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> Write:
    element_type = type_info._element_type
    if isinstance(element_type, BasicTypeInfo) and element_type._basic_type is BasicType.BYTE:
        return lambda data: f'"{base64.b64encode(bytes(data)).decode()}"'
    return _array(element_type)


def _basic(type_info: BasicTypeInfo) -> Write:
    basic = type_info._basic_type
    if basic in (BasicType.STRING, BasicType.CHAR):
        return string_bytes_text
    if basic is BasicType.BOOLEAN:
        return lambda value: "true" if value else "false"
    if basic is BasicType.INSTANT:
        return _instant
    text = codec_of(type_info).text
    if basic in _FRACTIONS:
        return _fraction(text)
    return whole_number_text if basic in WHOLE_NUMBERS else text


def _fraction(text: Write) -> Write:
    def write(value: Any) -> str:
        written = text(value)
        return written if written[-1] not in "Ny" else f'"{written}"'  # NaN and Infinity

    return write


def _instant(value: Instant) -> str:
    moment = _EPOCH + datetime.timedelta(
        seconds=value.seconds, milliseconds=value.nanos // 1_000_000
    )
    return f'"{_seconds_text(moment)}Z"'


def _seconds_text(moment: datetime.datetime) -> str:
    whole = moment.replace(microsecond=0).isoformat()
    if not moment.microsecond:
        return whole
    return f"{whole}.{moment.microsecond:06d}".rstrip("0")


_MAKERS: dict[type, Callable[[Any], Write]] = {
    BasicTypeInfo: _basic,
    RowTypeInfo: _row,
    TupleTypeInfo: _tuple,
    MapTypeInfo: _map,
    PrimitiveArrayTypeInfo: _primitive_array,
    BasicArrayTypeInfo: lambda type_info: _array(type_info._element_type),
    ObjectArrayTypeInfo: lambda type_info: _array(type_info._element_type),
    ListTypeInfo: lambda type_info: _array(type_info.elem_type),
    DateTypeInfo: lambda _: lambda value: f'"{value.isoformat()}"',
    TimeTypeInfo: lambda _: lambda value: f'"{value.isoformat("seconds")}Z"',
    TimestampTypeInfo: lambda _: lambda value: f'"{_seconds_text(value)}Z"',
}
