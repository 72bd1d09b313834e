"""Rows as a table of text, as Flink prints results."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.text import sql_text

_KINDS = ("+I", "-U", "+U", "-D")
_WIDEST = 30
_CUT = "..."
_NULL = "<NULL>"
_WIDTHS = {
    Root.TINYINT: 4,
    Root.SMALLINT: 6,
    Root.INT: 11,
    Root.BIGINT: 20,
    Root.BOOLEAN: 5,
    Root.DATE: 10,
}


def printed(
    schema: Schema, changes: Iterable[tuple[int, Sequence[Any]]], time_zone: str, *, kinds: bool
) -> Iterator[str]:
    """Yield the lines of a result, as its rows come; widths go by the types of columns.

    Args:
        schema: the columns.
        changes: pairs of the kind and the row.
        time_zone: the session's, by name.
        kinds: whether there is a first column with kinds.
    """
    names = (["op"] if kinds else []) + list(schema.names)
    widths = ([2] if kinds else []) + [
        max(_type_width(kind), len(_NULL), _width(name))
        for name, kind in zip(schema.names, schema.types)
    ]
    texts = cell_texts(schema, time_zone)
    count = 0
    for kind, row in changes:
        if not count:
            yield from _head(names, widths)
        count += 1
        cells = [_NULL if v is None else text(v) for text, v in zip(texts, row)]
        yield _line(([_KINDS[kind]] if kinds else []) + cells, widths)
    yield from _foot(count, widths)


def printed_listing(schema: Schema, rows: Sequence[Sequence[Any]], time_zone: str) -> Iterator[str]:
    """Yield the lines of a short result, which is there as a whole; widths go by the values."""
    texts = cell_texts(schema, time_zone)
    cells = [["" if v is None else text(v) for text, v in zip(texts, row)] for row in rows]
    widths = [max(map(_width, column)) for column in zip(schema.names, *cells)]
    if rows:
        yield from _head(list(schema.names), widths)
        for row in cells:
            yield _line(row, widths, cut=False)
    yield from _foot(len(rows), widths)


def cell_texts(schema: Schema, time_zone: str) -> list[Callable[[Any], str]]:
    """Return the writers of the values of each column, NULL aside."""
    return [_text(kind, time_zone) for kind in schema.types]


def _text(kind: LogicalType, time_zone: str) -> Callable[[Any], str]:
    if kind.root in logical.BYTES_LIKE:
        return lambda value: f"x'{value.hex()}'"
    return sql_text(kind, time_zone)


def _head(names: list[str], widths: list[int]) -> Iterator[str]:
    yield _rule(widths)
    yield _line(names, widths)
    yield _rule(widths)


def _foot(count: int, widths: list[int]) -> Iterator[str]:
    if not count:
        yield "Empty set"
        return
    yield _rule(widths)
    yield f"{count} row{'' if count == 1 else 's'} in set"


def _rule(widths: list[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def _line(cells: Sequence[str], widths: list[int], cut: bool = True) -> str:
    padded = [
        _padded(_shortened(cell, width) if cut else cell, width)
        for cell, width in zip(cells, widths)
    ]
    return "| " + " | ".join(padded) + " |"


def _padded(text: str, width: int) -> str:
    return " " * (width - _width(text)) + text


def _shortened(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    room = width - len(_CUT)
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > room:
            break
        kept.append(character)
    return "".join(kept) + _CUT


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _type_width(kind: LogicalType) -> int:
    digits = kind.precision or 0
    if kind.root in _WIDTHS:
        return _WIDTHS[kind.root]
    if kind.root is Root.DECIMAL:
        return digits + 2
    fraction = digits + 1 if digits else 0
    if kind.root is Root.TIME:
        return 8 + fraction
    return 19 + fraction if kind.root in logical.TIMESTAMPS else _WIDEST
