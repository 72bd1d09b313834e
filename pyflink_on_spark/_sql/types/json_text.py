"""Values as JSON, for formats and for the functions of JSON."""

from __future__ import annotations

import base64
import decimal
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any

from pyflink_on_spark._runtime.types.codec import double_text, float_text
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import to_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import date_text
from pyflink_on_spark._sql.types.text import number_text, trimmed_time_text
from pyflink_on_spark._sql.types.variants import variant_json

Write = Callable[[Any], str]


@dataclass(frozen=True)
class Style:
    """The style of values in JSON.

    Args:
        iso: whether there is a T between date and time.
        ignore_nulls: whether fields that are NULL are left out.
        exact: whether numbers keep the digits of their type: 100.00 of a DECIMAL, and a FLOAT as
            the DOUBLE that it is, with a sign before an exponent.
    """

    iso: bool
    ignore_nulls: bool = False
    exact: bool = False


def value_writer(kind: LogicalType) -> Write:
    """Return the writer of a JSON function's value, which may be NULL.

    It can be pickled.
    """
    return _ValueWriter(kind)


class _ValueWriter:
    def __init__(self, kind: LogicalType) -> None:
        self._kind = kind
        self._write = _writer(kind, Style(iso=True, exact=True))

    def __call__(self, value: object) -> str:
        return self._write(value)

    def __reduce__(self) -> tuple[object, ...]:
        return _ValueWriter, (self._kind,)


def _writer(kind: LogicalType, style: Style) -> Write:
    write = _not_null_writer(kind, style)
    return lambda value: "null" if value is None else write(value)


def _not_null_writer(kind: LogicalType, style: Style) -> Write:
    root = kind.root
    exact = _exact_writer(kind) if style.exact else None
    if exact is not None:
        return exact
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return number_text(kind.scale or 0)
    if root in {Root.TIME, *logical.TIMESTAMPS}:
        text = trimmed_time_text(kind, style.iso)
        return lambda value: f'"{text(value)}"'
    if root in logical.ROWS:
        return row_writer(kind, style)
    inner = [_writer(child, style) for child in kind.children]
    if root is Root.ARRAY:
        return lambda value: f"[{','.join(map(inner[0], value))}]"
    if root in {Root.MAP, Root.MULTISET}:
        item = inner[1] if root is Root.MAP else str
        return lambda value: _object(value.items(), item)
    raise ValueError(f"JSON has no {kind}")


def _exact_writer(kind: LogicalType) -> Write | None:
    scale = kind.scale or 0
    if kind.root is Root.DECIMAL:
        return lambda value: str(to_decimal(value, scale))
    return _digits_text if kind.root in logical.APPROXIMATE else None


def _digits_text(value: float) -> str:
    """Write a number as Java's BigDecimal does: 1.0E+20."""
    text = double_text(value)
    if value and math.isfinite(value):
        return str(decimal.Decimal(text))
    return _SPECIAL.get(text, text)


def row_writer(kind: LogicalType, style: Style) -> Write:
    fields = [
        (f"{encode_basestring(name)}:", _writer(child, style))
        for name, child in zip(kind.names, kind.children)
    ]

    def write(row: Any) -> str:
        parts = [name + text(value) for (name, text), value in zip(fields, row)]
        return "{" + ",".join(parts) + "}"

    def write_some(row: Any) -> str:
        parts = [n + text(v) for (n, text), v in zip(fields, row) if v is not None]
        return "{" + ",".join(parts) + "}"

    return write_some if style.ignore_nulls else write


def _object(items: Any, write: Write) -> str:
    return (
        "{" + ",".join([f"{encode_basestring(key)}:{write(value)}" for key, value in items]) + "}"
    )


def _bytes_text(value: bytes) -> str:
    return json.dumps(base64.b64encode(value).decode())


_SPECIAL = {
    "-0.0": "0.0",
    **{word: f'"{word}"' for word in ("NaN", "Infinity", "-Infinity")},
}


_SIMPLE: dict[Root, Write] = {
    Root.BOOLEAN: lambda value: "true" if value else "false",
    **dict.fromkeys(logical.INTEGERS, str),
    Root.FLOAT: float_text,
    Root.DOUBLE: double_text,
    **dict.fromkeys(logical.CHARACTERS, encode_basestring),
    **dict.fromkeys(logical.BYTES_LIKE, _bytes_text),
    Root.DATE: lambda value: f'"{date_text(value)}"',
    Root.VARIANT: variant_json,
}
