"""Reads single fields of CSV."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.corrupt import null_if_corrupt
from pyflink_on_spark._connectors.formats.csv_reader import sql_date
from pyflink_on_spark._sql.tables.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import parse_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, cut_micros, parse_cast_timestamp

Read = Callable[[str], Any]

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{0,9})?", re.ASCII)


def field_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return what reads a field; None, which stands for one that lacks, is NULL."""
    read, null = not_null_reader(kind, dialect), dialect.null
    if kind.root in {Root.ARRAY, Root.ROW}:  # the text for NULL is that of an element
        return lambda text: None if text is None else read(text)
    return lambda text: None if text is None or text == null else read(text)


def not_null_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return what reads a field that is not NULL; it raises ValueError where that is impossible.

    A DECIMAL with too many digits, and a ROW of no text, are NULL all the same.
    """
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return partial(_decimal, kind.precision or 10, kind.scale or 0)
    if root is Root.TIME:
        return partial(_time, kind.precision or 0)
    if root in logical.TIMESTAMPS:
        return partial(_moment, kind.precision or 0, root is Root.TIMESTAMP_LTZ)
    inner = [field_reader(child, dialect) for child in kind.children]
    if dialect.lenient:
        inner = list(map(null_if_corrupt, inner))
    separator, lenient = dialect.array_delimiter, dialect.lenient
    if root is Root.ARRAY:
        return lambda text: tuple(map(inner[0], text.split(separator))) if text else ()
    if root is Root.ROW:
        return lambda text: _row(inner, text.split(separator), lenient) if text else None
    raise ValueError(f"CSV has no {kind}")


def _row(inner: list[Read], parts: list[Any], lenient: bool) -> tuple[Any, ...]:
    width, found = len(inner), len(parts)
    if found < width:
        if not lenient:
            raise ValueError(f"Row length mismatch. {width} fields expected but was {found}.")
        parts += [None] * (width - found)
    return tuple([read(part) for read, part in zip(inner, parts)])


def _decimal(precision: int, scale: int, text: str) -> int | None:
    java_parsing.decimal(text)
    return parse_decimal(text, scale, precision)


def _date(text: str) -> int:
    return sql_date(text).toordinal() - _EPOCH_DAY


def _time(digits: int, text: str) -> int:
    since_midnight, nanos = java_parsing.iso_time(text)
    micros = since_midnight // _MICROSECOND + nanos // 1000
    if micros >= MICROS_PER_DAY:
        raise ValueError(f"{text!r} is not a time of day")
    return cut_micros(micros, digits)


def _moment(digits: int, zone: bool, text: str) -> int:
    """Read a timestamp, which for a TIMESTAMP_LTZ has a Z at its end."""
    moment = java_parsing.trimmed(text)
    if moment.endswith("Z") is zone:
        moment = moment.removesuffix("Z")
        found = parse_cast_timestamp(moment) if _MOMENT.fullmatch(moment) else None
        if found is not None:
            return cut_micros(found, digits)
    example = "2020-01-31 12:34:56.789"
    raise ValueError(f"{text!r} is not a timestamp such as {example}{'Z' if zone else ''}")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_SIMPLE: dict[Root, Read] = {
    Root.BOOLEAN: lambda text: java_parsing.is_true(java_parsing.trimmed(text)),
    **{
        root: java_parsing.bounded_whole_number(bits) for root, bits in logical.INTEGER_BITS.items()
    },
    Root.FLOAT: java_parsing.single,
    Root.DOUBLE: java_parsing.double,
    Root.CHAR: str,
    Root.VARCHAR: str,
    Root.BINARY: _bytes,
    Root.VARBINARY: _bytes,
    Root.DATE: _date,
}
