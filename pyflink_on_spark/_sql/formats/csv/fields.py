"""Reads single fields of CSV."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.compiler.conversions import cut_micros, to_single
from pyflink_on_spark._sql.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import parse_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import parse_date, parse_time, parse_timestamp

Read = Callable[[str], Any]


def field_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return what reads a field; None, which stands for one that lacks, is NULL."""
    read, null = not_null_reader(kind, dialect), dialect.null
    return lambda text: None if text is None or text == null else read(text)


def not_null_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return what reads a field that is not NULL; it raises ValueError where that is impossible."""
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        precision, scale = kind.precision or 10, kind.scale or 0
        return lambda text: _number(parse_decimal(text, scale, precision), text)
    if root is Root.TIME:
        digits = kind.precision or 0
        return lambda text: cut_micros(_number(parse_time(text), text), digits)
    if root in logical.TIMESTAMPS:
        digits = kind.precision or 0
        return lambda text: cut_micros(
            _number(parse_timestamp(text.removesuffix("Z")), text), digits
        )
    inner = [field_reader(child, dialect) for child in kind.children]
    separator = dialect.array_delimiter
    if root is Root.ARRAY:
        return lambda text: tuple(map(inner[0], text.split(separator))) if text else ()
    if root is Root.ROW:
        return lambda text: tuple([read(part) for read, part in zip(inner, text.split(separator))])
    raise ValueError(f"CSV has no {kind}")


def _number(value: int | None, text: str) -> int:
    if value is None:
        raise ValueError(f"{text!r} cannot be read")
    return value


def _integer(bits: int) -> Read:
    half = 1 << (bits - 1)

    def read(text: str) -> int:
        number = int(text)
        if not -half <= number < half:
            raise ValueError(f"{number} does not fit {bits} bits")
        return number

    return read


_SIMPLE: dict[Root, Read] = {
    Root.BOOLEAN: lambda text: text.strip().lower() == "true",
    **{root: _integer(bits) for root, bits in logical.INTEGER_BITS.items()},
    Root.FLOAT: lambda text: to_single(float(text)),
    Root.DOUBLE: float,
    Root.CHAR: str,
    Root.VARCHAR: str,
    Root.BINARY: base64.b64decode,
    Root.VARBINARY: base64.b64decode,
    Root.DATE: lambda text: _number(parse_date(text), text),
}
