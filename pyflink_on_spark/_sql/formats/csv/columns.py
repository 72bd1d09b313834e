"""Reads many lines of CSV at once, column by column, where nothing is unusual about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any

from pyflink_on_spark._sql.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.formats.csv.fields import field_reader
from pyflink_on_spark._sql.formats.known_moments import usual_moments
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

Column = Callable[[list[str]], Sequence[Any]]


def column_rows(
    types: Sequence[LogicalType], kept: Sequence[int], dialect: CsvDialect
) -> Callable[[list[Any]], Iterator[tuple[Any, ...]]]:
    """Return what makes rows of lines, which are texts, or of messages, which are bytes.

    It raises ValueError if one of them is not as most are. Then all are to be read one by one.

    Args:
        types: of all columns.
        kept: the positions of the columns that rows have.
        dialect: how the lines are written.
    """
    width, delimiter = len(types), dialect.delimiter
    unusual = [
        "\r",
        *filter(None, (dialect.quote, dialect.escape, "#" if dialect.comments else "")),
    ]
    columns = [(index, _column(types[index], dialect)) for index in kept]

    def rows(lines: list[Any]) -> Iterator[tuple[Any, ...]]:
        if type(lines[0]) is bytes:
            lines = _texts(lines)
        text = delimiter.join(lines)
        if any(each in text for each in unusual) or (width == 1 and "" in lines):
            raise ValueError("there are quotes")
        if set(map(str.count, lines, repeat(delimiter))) != {width - 1}:
            raise ValueError("a line has too few fields, or too many")
        if not columns:
            return repeat((), len(lines))
        fields = text.split(delimiter)
        return zip(*[read(fields[index::width]) for index, read in columns])

    return rows


def _texts(messages: list[bytes]) -> list[str]:
    texts = b"\n".join(messages).decode().split("\n")
    if len(texts) != len(messages):
        raise ValueError("a message has several lines")
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
        return lambda texts: list(map(float, texts))
    if kind.root in logical.TIMESTAMPS:
        return usual_moments(kind.precision or 0)
    one = field_reader(kind, dialect)
    return lambda texts: list(map(one, texts))


def _integers(bits: int) -> Column:
    half = 1 << (bits - 1)

    def read(texts: list[str]) -> list[int]:
        numbers = list(map(int, texts))
        if min(numbers) < -half or max(numbers) >= half:
            raise ValueError(f"a number does not fit {bits} bits")
        return numbers

    return read
