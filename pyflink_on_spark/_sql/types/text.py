"""Values as text: CAST to STRING, TableResult.print, the print connector, and formats."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.types.codec import double_text, float_text
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import decimal_text, to_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_MINUTE,
    date_text,
    time_text,
    timestamp_text,
    to_local,
)
from pyflink_on_spark._sql.types.variants import bitmap_text, variant_json

if TYPE_CHECKING:
    from collections.abc import Iterable


Text = Callable[[Any], str]


class sql_text:  # noqa: N801 - a function that can be pickled
    """Writes values of a type.

    Args:
        kind: their type.
        time_zone: the session's, by name.
        null: how NULL looks inside of other values.
    """

    def __init__(self, kind: LogicalType, time_zone: str = "UTC", null: str = "NULL") -> None:
        self._arguments = kind, time_zone, null
        self._text = _writer(kind, time_zone, null)

    def __call__(self, value: object) -> str:
        return self._text(value)

    def __reduce__(self) -> tuple[object, ...]:
        return sql_text, self._arguments


def _writer(kind: LogicalType, zone: str, null: str) -> Text:
    simple = _SIMPLE.get(kind.root)
    if simple is not None:
        return simple
    if kind.root is Root.DECIMAL:
        scale = kind.scale or 0
        return lambda value: decimal_text(value, scale)
    if kind.root is Root.TIME:
        digits = kind.precision or 0
        return lambda value: time_text(value, digits)
    if kind.root in logical.TIMESTAMPS:
        return _timestamp_writer(kind, zone)
    inner = [_nullable(_writer(child, zone, null), null) for child in kind.children]
    if kind.root is Root.STRUCTURED:
        fields = list(zip(kind.names, inner))
        return lambda row: f"({', '.join([f'{n}={text(v)}' for (n, text), v in zip(fields, row)])})"
    if kind.root is Root.ROW:
        return lambda row: f"({', '.join([text(v) for text, v in zip(inner, row)])})"
    if kind.root is Root.ARRAY:
        return lambda array: f"[{', '.join(map(inner[0], array))}]"
    if kind.root is Root.MULTISET:
        return lambda counts: _entries((inner[0](k), str(v)) for k, v in counts.items())
    if kind.root is Root.MAP:
        return lambda items: _entries((inner[0](k), inner[1](v)) for k, v in items.items())
    return str


def _timestamp_writer(kind: LogicalType, zone: str) -> Text:
    digits = kind.precision or 0
    if kind.root is Root.TIMESTAMP:
        return lambda value: timestamp_text(value, digits)
    return lambda value: timestamp_text(to_local(value, zone), digits)


def _nullable(text: Text, null: str) -> Text:
    return lambda value: null if value is None else text(value)


def _entries(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join([f"{key}={value}" for key, value in pairs]) + "}"


def _boolean_text(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _bytes_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _interval_text(micros: int) -> str:
    sign, magnitude = ("-", -micros) if micros < 0 else ("+", micros)
    days, time = divmod(magnitude, MICROS_PER_DAY)
    return f"{sign}{days} {time_text(time, 3)}"


def _months_text(months: int) -> str:
    sign, magnitude = ("-", -months) if months < 0 else ("+", months)
    return f"{sign}{magnitude // 12}-{magnitude % 12:02d}"


_SIMPLE: dict[Root, Text] = {
    Root.BOOLEAN: _boolean_text,
    **dict.fromkeys(logical.INTEGERS, str),
    Root.FLOAT: float_text,
    Root.DOUBLE: double_text,
    **dict.fromkeys(logical.CHARACTERS, str),
    **dict.fromkeys(logical.BYTES_LIKE, _bytes_text),
    Root.DATE: date_text,
    Root.VARIANT: variant_json,
    Root.BITMAP: bitmap_text,
    Root.INTERVAL_SECOND: _interval_text,
    Root.INTERVAL_MONTH: _months_text,
}


def print_text(kind: LogicalType, time_zone: str = "UTC") -> Text:
    """Return the printer of a type's values, NULL included."""
    text = _print_writer(kind, time_zone)
    return lambda value: "null" if value is None else text(value)


def _print_writer(kind: LogicalType, zone: str) -> Text:
    root = kind.root
    if root is Root.BOOLEAN:
        return lambda value: "true" if value else "false"
    if root in logical.BYTES_LIKE:
        return lambda value: f"[{', '.join(str(byte - (byte & 128) * 2) for byte in value)}]"
    if root is Root.TIME:
        return _java_time
    if root is Root.TIMESTAMP:
        return _java_timestamp
    if root is Root.TIMESTAMP_LTZ:
        return lambda value: f"{_java_timestamp(value, seconds=True)}Z"
    inner = [print_text(child, zone) for child in kind.children]
    if root in logical.ROWS:
        return lambda row: f"+I[{', '.join([text(v) for text, v in zip(inner, row)])}]"
    if root is Root.ARRAY:
        return lambda array: f"[{', '.join(map(inner[0], array))}]"
    if root is Root.MAP:
        return lambda entries: _print_entries(
            (inner[0](k), inner[1](v)) for k, v in entries.items()
        )
    if root is Root.MULTISET:
        return lambda counts: _print_entries((inner[0](k), str(v)) for k, v in counts.items())
    return sql_text(kind, zone)


def _print_entries(pairs: Any) -> str:
    return "{" + ", ".join([f"{key}={value}" for key, value in pairs]) + "}"


def _java_timestamp(micros: int, seconds: bool = False) -> str:
    days, time = divmod(micros, MICROS_PER_DAY)
    return f"{date_text(days)}T{_java_time(time, seconds)}"


def _java_time(micros: int, seconds: bool = False) -> str:
    """Write a time of day; seconds and fractions only if there are any, in groups of three."""
    minutes, rest = divmod(micros, MICROS_PER_MINUTE)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    second, fraction = divmod(rest, 1_000_000)
    if not rest and not seconds:
        return text
    text += f":{second:02d}"
    if not fraction:
        return text
    return f"{text}.{fraction // 1000:03d}" if fraction % 1000 == 0 else f"{text}.{fraction:06d}"


def trimmed_time_text(kind: LogicalType, iso: bool = False) -> Callable[[int], str]:
    """Return the printer of a TIME, TIMESTAMP or TIMESTAMP_LTZ, without trailing zeros.

    Args:
        kind: which of them.
        iso: whether there is a T between date and time.
    """
    if kind.root is Root.TIME:
        return lambda value: _without_zeros(time_text(value, 6))
    separator = "T" if iso else " "
    zone = "Z" if kind.root is Root.TIMESTAMP_LTZ else ""
    return lambda value: _without_zeros(timestamp_text(value, 6, separator)) + zone


def _without_zeros(text: str) -> str:
    return text.rstrip("0").removesuffix(".")


_DIGITS = Context(prec=38)
"""As many as a DECIMAL has; Python's usual context rounds to 28."""


def number_text(scale: int) -> Callable[[int], str]:
    """Return the printer of a DECIMAL without trailing zeros: 100 is ``1E+2``.

    Args:
        scale: how many digits it has after the point.
    """
    return lambda value: str(to_decimal(value, scale).normalize(_DIGITS)) if value else "0"
