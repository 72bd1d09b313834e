"""How a print table writes values: as Java's ``toString`` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, MICROS_PER_MINUTE, date_text
from pyflink_on_spark._sql.types.text import sql_text

Text = Callable[[Any], str]


def print_text(kind: LogicalType, time_zone: str = "UTC") -> Text:
    """Return what writes a value of a type, NULL too."""
    text = _writer(kind, time_zone)
    return lambda value: "null" if value is None else text(value)


def _writer(kind: LogicalType, zone: str) -> Text:
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
    if root is Root.ROW:
        return lambda row: f"+I[{', '.join([text(v) for text, v in zip(inner, row)])}]"
    if root is Root.ARRAY:
        return lambda array: f"[{', '.join(map(inner[0], array))}]"
    if root is Root.MAP:
        return lambda entries: _entries((inner[0](k), inner[1](v)) for k, v in entries.items())
    if root is Root.MULTISET:
        return lambda counts: _entries((inner[0](k), str(v)) for k, v in counts.items())
    return sql_text(kind, zone)


def _entries(pairs: Any) -> str:
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
