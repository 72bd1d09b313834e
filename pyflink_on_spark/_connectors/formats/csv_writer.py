"""Writes rows as CSV messages, as Flink's CsvRowSerializationSchema does."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.formats.csv_records import CsvRowFormat, quoting
from pyflink_on_spark._connectors.formats.row_types import (
    WHOLE_NUMBERS,
    refuse_field,
    whole_number_text,
)
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from pyflink_on_spark.common.types import Row

Write = Callable[[Any], str]

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - instants are in UTC
_UNQUOTED = frozenset(BasicType) - {BasicType.STRING, BasicType.CHAR, BasicType.INSTANT}


def csv_row_writer(form: CsvRowFormat) -> Callable[[Any], bytes]:
    """Return a function that writes the fields of a row by position.

    Raises:
        TypeError: the returned function raises it for an element that is not a row.
        ValueError: the returned function raises it for a row that does not fit its type.
    """
    quoted = quoting(form.field_delimiter, form.quote, form.escape)
    writers = [_column(kind, form, quoted) for kind in form.row_type.get_field_types()]
    delimiter, null, line_end = form.field_delimiter, form.null or "", form.line_delimiter

    def write(row: Any) -> bytes:
        if not isinstance(row, Row):
            raise TypeError(f"CSV is written of rows, not of {type(row).__name__}: {row!r}")
        try:
            fields = [
                null if value is None else one(value)
                for one, value in zip(writers, row._values, strict=True)
            ]
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"Could not serialize row '{row}': {error}") from error
        return f"{delimiter.join(fields)}{line_end}".encode()

    return write


def _column(type_info: Any, form: CsvRowFormat, quoted: Callable[[str], str]) -> Write:
    text = _text(type_info, form)
    if isinstance(type_info, BasicTypeInfo) and type_info._basic_type in _UNQUOTED:
        return text
    return lambda value: quoted(text(value))


def _text(type_info: Any, form: CsvRowFormat) -> Write:
    if isinstance(type_info, RowTypeInfo):
        return _nested_row(type_info, form)
    if isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo)):
        return _array(type_info._element_type, form)
    for kind, write in _OTHERS.items():
        if isinstance(type_info, kind):
            return write
    if not isinstance(type_info, BasicTypeInfo):
        return refuse_field(type_info, "CSV")
    if type_info._basic_type is BasicType.STRING:
        return _checked_text
    if type_info._basic_type in WHOLE_NUMBERS:
        return whole_number_text
    return _instant_text if type_info._basic_type is BasicType.INSTANT else codec_of(type_info).text


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a str")
    return value


def _join(form: CsvRowFormat, texts: Sequence[str]) -> str:
    if not form.array_delimiter:
        raise ValueError("arrays are not written without an array element delimiter")
    return form.array_delimiter.join(texts)


def _array(element_type: Any, form: CsvRowFormat) -> Write:
    element, null = _text(element_type, form), form.null or ""

    def write(items: Sequence[Any]) -> str:
        return _join(form, [null if item is None else element(item) for item in items])

    return write


def _nested_row(type_info: RowTypeInfo, form: CsvRowFormat) -> Write:
    fields, null = [_text(kind, form) for kind in type_info.get_field_types()], form.null or ""

    def write(row: Any) -> str:
        values = zip(fields, row._values, strict=True)
        return _join(form, [null if item is None else one(item) for one, item in values])

    return write


def _timestamp(value: datetime.datetime) -> str:
    fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
    return f"{value.isoformat(' ', 'seconds')}.{fraction}"


def _instant_text(value: Instant) -> str:
    moment = _EPOCH + datetime.timedelta(seconds=value.seconds)
    millis = value.nanos // 1_000_000
    fraction = f".{millis:03d}".rstrip("0") if millis else ""
    return f"{moment.isoformat(' ', 'seconds')}{fraction}Z"


_OTHERS: dict[type, Write] = {
    DateTypeInfo: datetime.date.isoformat,
    TimeTypeInfo: lambda value: value.isoformat("seconds"),
    TimestampTypeInfo: _timestamp,
    PrimitiveArrayTypeInfo: lambda value: base64.b64encode(bytes(value)).decode(),
}
