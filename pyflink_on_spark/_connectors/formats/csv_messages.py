"""CSV messages: rows read and written as Flink's schemas for messages do."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.csv_records import (
    CsvRowFormat,
    first_record,
    message_text,
    quoting,
)
from pyflink_on_spark._connectors.formats.file_format import excerpt, null_if_corrupt
from pyflink_on_spark._connectors.formats.row_types import (
    WHOLE_NUMBERS,
    refuse_field,
    whole_number_text,
)
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark._runtime.types.converters import codec_of
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
    TypeInformation,
    basic_type_of,
    element_type_of,
)
from pyflink_on_spark.common.types import Row, RowKind

Parse = Callable[[str], object]

_SQL_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_SQL_TIME = re.compile(r"(\d+):(\d+):(\d+)", re.ASCII)
_FRACTION = re.compile(r"(.*?)(?:\.(\d{1,9}))?", re.ASCII)
_MIDNIGHT = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone
Write = Callable[[Any], str]
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - instants are in UTC
_UNQUOTED = frozenset(BasicType) - {BasicType.STRING, BasicType.CHAR, BasicType.INSTANT}


def csv_row_reader(form: CsvRowFormat) -> Callable[[bytes], object]:
    """Return a function that makes a row of the first record of a message.

    Raises:
        ValueError: the returned function raises it for a message that cannot be read.
    """
    first, ignore_errors = first_record(form.dialect), form.ignore_errors
    convert = _Converters(form.array_delimiter, form.null, ignore_errors).record(form.row_type)

    def read(data: bytes) -> object:
        try:
            fields = first(message_text(data))
            if fields is None:
                raise ValueError("there is no record")
            return convert(fields)
        except ValueError as error:
            if ignore_errors:
                return None
            raise ValueError(f"Failed to deserialize CSV row {excerpt(data)}: {error}") from error

    return read


class _Converters:
    """Makes functions that convert texts to values of declared types."""

    def __init__(self, array_delimiter: str, null: str | None, ignore_errors: bool) -> None:
        self._array_delimiter = array_delimiter
        self._null = null
        self._ignore_errors = ignore_errors

    def record(self, row_type: RowTypeInfo) -> Callable[[list[str]], object]:
        convert = self._row(row_type)
        size = len(row_type.get_field_types())

        def convert_record(fields: list[str]) -> object:
            if len(fields) > size:
                if len(fields) > size + 1 or java_parsing.trimmed(fields[size]):
                    raise ValueError(
                        f"Too many entries: expected at most {size}, and there are {len(fields)}"
                    )
                fields = fields[:size]  # an empty field after a final delimiter
            return convert(fields)

        return convert_record

    def _row(self, row_type: RowTypeInfo) -> Callable[[Sequence[str]], object]:
        names = list(row_type.get_field_names())
        converters = [self._field(kind) for kind in row_type.get_field_types()]
        labelled = list(zip(names, converters))
        size = len(names)

        def convert(fields: Sequence[str]) -> object:
            if len(fields) != size and not self._ignore_errors:
                raise ValueError(
                    f"Row length mismatch. {size} fields expected but was {len(fields)}."
                )
            try:
                values = [one(text) for one, text in zip(converters, fields)]
            except ValueError:
                _explain(labelled, fields)
                raise
            values += [None] * (size - len(values))
            return new_row(names, values, RowKind.INSERT)

        return convert

    def _field(self, type_info: TypeInformation) -> Parse:
        """Return the converter of a field, which also handles the text for None."""
        parse, null = self._parser(type_info), self._null
        if self._ignore_errors:
            parse = null_if_corrupt(parse)
        if null is None:
            return parse
        return lambda text: None if text == null else parse(text)

    def _parser(self, type_info: TypeInformation) -> Parse:
        if isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) in _BASIC:
            return _BASIC[basic_type_of(type_info)]
        if isinstance(type_info, RowTypeInfo):
            return self._nested_row(type_info)
        if isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo)):
            return self._array(element_type_of(type_info))
        for kind, parse in _OTHERS.items():
            if isinstance(type_info, kind):
                return parse
        return refuse_field(type_info, "CSV")

    def _split(self, text: str) -> list[str]:
        return text.split(self._array_delimiter) if self._array_delimiter else [text]

    def _nested_row(self, type_info: RowTypeInfo) -> Parse:
        convert = self._row(type_info)
        return lambda text: convert(self._split(text)) if text else None

    def _array(self, element_type: TypeInformation) -> Parse:
        element = self._field(element_type)
        return lambda text: list(map(element, self._split(text))) if text else []


def _explain(converters: list[tuple[str, Parse]], fields: Sequence[str]) -> None:
    """Raise the error of the first field that cannot be read, with the field's name."""
    for (name, one), text in zip(converters, fields):
        try:
            one(text)
        except ValueError as error:
            raise ValueError(f"field {name!r}: {error}") from None


def _trimmed(parse: Parse) -> Parse:
    return lambda text: parse(java_parsing.trimmed(text))


def sql_date(text: str) -> datetime.date:
    """Parse a date as ``java.sql.Date.valueOf`` does: 2020-02-30 is the first of March."""
    match = _SQL_DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date such as 2020-01-31")
    year, month, day = map(int, match.groups())
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError(f"{text!r} is not a date such as 2020-01-31")
    return datetime.date(year, month, 1) + datetime.timedelta(days=day - 1)


def sql_time(text: str) -> datetime.time:
    """Parse a time of day as ``java.sql.Time.valueOf`` does."""
    return (_MIDNIGHT + _since_midnight(text)).time()


def sql_timestamp(text: str) -> datetime.datetime:
    """Parse date and time as ``java.sql.Timestamp.valueOf`` does, up to milliseconds."""
    day, separator, rest = java_parsing.trimmed(text).partition(" ")
    match = _FRACTION.fullmatch(rest)
    if not separator or match is None:
        raise ValueError("Timestamp format must be yyyy-mm-dd hh:mm:ss[.fffffffff]")
    midnight = datetime.datetime.combine(sql_date(day), datetime.time())
    millis = int((match.group(2) or "").ljust(9, "0")) // 1_000_000
    return midnight + _since_midnight(match.group(1)) + datetime.timedelta(milliseconds=millis)


def _since_midnight(text: str) -> datetime.timedelta:
    match = _SQL_TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 12:34:56")
    hours, minutes, seconds = map(int, match.groups())
    return datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _instant(text: str) -> Instant:
    """Parse a point in time such as 2020-01-31 12:34:56.789Z."""
    day, separator, time = text.partition(" ")
    if not separator or not time.endswith("Z"):
        raise ValueError(f"{text!r} is not a point in time such as 2020-01-31 12:34:56Z")
    return java_parsing.iso_instant(f"{day}T{time}")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_BASIC: dict[BasicType, Parse] = {
    BasicType.STRING: lambda text: text,
    BasicType.BOOLEAN: _trimmed(java_parsing.is_true),
    BasicType.BYTE: java_parsing.bounded_whole_number(8),
    BasicType.SHORT: java_parsing.bounded_whole_number(16),
    BasicType.INT: java_parsing.bounded_whole_number(32),
    BasicType.LONG: java_parsing.bounded_whole_number(64),
    BasicType.FLOAT: java_parsing.single,
    BasicType.DOUBLE: java_parsing.double,
    BasicType.BIG_INT: _trimmed(java_parsing.whole_number),
    BasicType.BIG_DEC: _trimmed(java_parsing.decimal),
    BasicType.INSTANT: _instant,
}
_OTHERS: dict[type, Parse] = {
    DateTypeInfo: sql_date,
    TimeTypeInfo: sql_time,
    TimestampTypeInfo: sql_timestamp,
    PrimitiveArrayTypeInfo: _bytes,
}


def csv_row_writer(form: CsvRowFormat) -> Callable[[object], bytes]:
    """Return a function that writes the fields of a row by position.

    Raises:
        TypeError: the returned function raises it for an element that is not a row.
        ValueError: the returned function raises it for a row that does not fit its type.
    """
    quoted = quoting(form.field_delimiter, form.quote, form.escape)
    writers = [_column(kind, form, quoted) for kind in form.row_type.get_field_types()]
    delimiter, null, line_end = form.field_delimiter, form.null or "", form.line_delimiter

    def write(row: object) -> bytes:
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


def _column(type_info: TypeInformation, form: CsvRowFormat, quoted: Callable[[str], str]) -> Write:
    text = _text(type_info, form)
    if isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) in _UNQUOTED:
        return text
    return lambda value: quoted(text(value))


def _text(type_info: TypeInformation, form: CsvRowFormat) -> Write:
    if isinstance(type_info, RowTypeInfo):
        return _nested_row(type_info, form)
    if isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo)):
        return _array(element_type_of(type_info), form)
    for kind, write in _OTHER_WRITERS.items():
        if isinstance(type_info, kind):
            return write
    if not isinstance(type_info, BasicTypeInfo):
        return refuse_field(type_info, "CSV")
    if basic_type_of(type_info) is BasicType.STRING:
        return _checked_text
    if basic_type_of(type_info) in WHOLE_NUMBERS:
        return whole_number_text
    return (
        _instant_text if basic_type_of(type_info) is BasicType.INSTANT else codec_of(type_info).text
    )


def _checked_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a str")
    return value


def _join(form: CsvRowFormat, texts: Sequence[str]) -> str:
    if not form.array_delimiter:
        raise ValueError("arrays are not written without an array element delimiter")
    return form.array_delimiter.join(texts)


def _array(element_type: TypeInformation, form: CsvRowFormat) -> Write:
    element, null = _text(element_type, form), form.null or ""

    def write(items: Sequence[object]) -> str:
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


_OTHER_WRITERS: dict[type, Write] = {
    DateTypeInfo: datetime.date.isoformat,
    TimeTypeInfo: lambda value: value.isoformat("seconds"),
    TimestampTypeInfo: _timestamp,
    PrimitiveArrayTypeInfo: lambda value: base64.b64encode(bytes(value)).decode(),
}
