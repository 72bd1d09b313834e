"""Reads many records of CSV at once, column by column, where nothing is unusual about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from math import isfinite
from typing import Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.tables.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.tables.formats.csv.fields import field_reader
from pyflink_on_spark._sql.tables.formats.known_moments import Remembered, usual_moments
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import parse_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_NO_DECIMAL = re.compile(r"[^0-9eE.+-]")

Column = Callable[[list[str]], Sequence[Any]]


def column_rows(
    types: Sequence[LogicalType], kept: Sequence[int], dialect: CsvDialect
) -> Callable[[list[Any]], Iterator[tuple[Any, ...]]]:
    """Return what makes rows of records: texts, messages, which are bytes, or lists of fields.

    It raises ValueError or TypeError if one of them is not as most are. Then all are to be read one
    by one.

    Args:
        types: of all columns.
        kept: the positions of the columns that rows have.
        dialect: how the records are written.
    """
    width, delimiter = len(types), dialect.delimiter
    unusual = [
        "\r",
        "\ufeff",
        *filter(None, (dialect.quote, dialect.escape, "#" if dialect.comments else "")),
    ]
    columns = [(index, _column(types[index], dialect)) for index in kept]

    def rows(records: list[Any]) -> Iterator[tuple[Any, ...]]:
        if type(records[0]) is list:
            return rows_of_fields(records)
        if type(records[0]) is bytes:
            records = _texts(records)
        text = delimiter.join(records)
        if any(each in text for each in unusual):
            raise ValueError("there are quotes")
        if set(map(str.count, records, repeat(delimiter))) != {width - 1}:
            raise ValueError("a record has too few fields, or too many")
        if not columns:
            return repeat((), len(records))
        fields = text.split(delimiter)
        return zip(*[read(fields[index::width]) for index, read in columns])

    def rows_of_fields(records: list[list[str]]) -> Iterator[tuple[Any, ...]]:
        if set(map(len, records)) != {width}:
            raise ValueError("a record has too few fields, or too many")
        if not columns:
            return repeat((), len(records))
        fields = list(zip(*records))
        return zip(*[read(list(fields[index])) for index, read in columns])

    return rows


def _texts(messages: list[bytes]) -> list[str]:
    texts = b"\n".join(messages).decode().split("\n")
    if len(texts) != len(messages) or not all(messages):
        raise ValueError("a message has several lines, or none")
    return texts


def _column(kind: LogicalType, dialect: CsvDialect) -> Column:
    read, null = _not_null_column(kind, dialect), dialect.null
    if null is None:
        return read
    one = field_reader(kind, dialect)
    return lambda texts: [one(text) for text in texts] if null in texts else read(texts)


def _not_null_column(kind: LogicalType, dialect: CsvDialect) -> Column:
    if kind.root in logical.CHARACTERS:
        return lambda texts: texts
    bits = logical.INTEGER_BITS.get(kind.root)
    if bits is not None:
        return _integers(bits)
    if kind.root is Root.DOUBLE:
        return _doubles
    if kind.root is Root.FLOAT:
        return lambda texts: list(map(to_single, _doubles(texts)))
    if kind.root is Root.DECIMAL:
        return _decimals(kind.precision or 10, kind.scale or 0)
    if kind.root in logical.TIMESTAMPS:
        return usual_moments(kind.precision or 0, kind.root is Root.TIMESTAMP_LTZ)
    one = field_reader(kind, dialect)
    if kind.root is Root.BOOLEAN:
        return lambda texts: [each == "true" or (each != "false" and one(each)) for each in texts]
    if kind.root in {Root.DATE, Root.TIME}:
        return Remembered(one).all
    return lambda texts: list(map(one, texts))


def _check_digits(texts: list[str]) -> None:
    """Check that Python reads numbers of texts as Java does: no blanks beyond ASCII, no 1_0."""
    text = "".join(texts)
    if not text.isascii() or "_" in text:
        raise ValueError("there are other characters than in most numbers")


def _integers(bits: int) -> Column:
    half = 1 << (bits - 1)

    def read(texts: list[str]) -> list[int]:
        _check_digits(texts)
        numbers = list(map(int, texts))
        if min(numbers) < -half or max(numbers) >= half:
            raise ValueError(f"a number does not fit {bits} bits")
        return numbers

    return read


def _doubles(texts: list[str]) -> list[float]:
    _check_digits(texts)
    numbers = list(map(float, texts))
    if not isfinite(sum(numbers)):
        raise ValueError("a number may be no number for Java")
    return numbers


def _decimals(precision: int, scale: int) -> Column:
    def read(texts: list[str]) -> list[Any]:
        if _NO_DECIMAL.search("".join(texts)):
            raise ValueError("there are other characters than in most numbers")
        numbers = [parse_decimal(text, scale, precision) for text in texts]
        if None in numbers:
            raise ValueError("there is no number, or one with too many digits")
        return numbers

    return read
