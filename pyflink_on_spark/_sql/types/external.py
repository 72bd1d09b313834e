"""Values outside of a query: the Python objects that functions, streams and results have."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._runtime.types.java_numbers import float_text
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import from_decimal, to_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.types import Row

Convert = Callable[[Any], Any]

_COMPOSITE = frozenset({Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW})
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time
_EPOCH_DAY = _EPOCH.toordinal()
_MICRO = datetime.timedelta(microseconds=1)


def to_python(kind: LogicalType, zone: str | None = None) -> Convert | None:
    """Return the conversion of a value to its Python object; None if they are the same.

    Args:
        kind: the type of the values.
        zone: makes a TIMESTAMP_LTZ a datetime of this time zone, as Python functions get it in
            PyFlink: the date and time are those of UTC. An Instant without.

    Raises:
        TypeError: there is no such object, as in PyFlink.
    """
    root = kind.root
    if root in {Root.VARIANT, Root.BITMAP}:
        raise TypeError(
            f"Unsupported type: {kind}, it is not supported yet in current python type system"
        )
    if root is Root.TIMESTAMP_LTZ and zone is not None:
        return _in_zone(zone)
    simple = _OUT.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        scale = kind.scale or 0
        return lambda value: to_decimal(value, scale)
    if root in _COMPOSITE:
        return _composite_out(kind, zone)
    return None


def _composite_out(
    kind: LogicalType,
    zone: str | None,
    one: Callable[[LogicalType, str | None], Convert | None] = to_python,
) -> Convert:
    inner = [nullable(one(child, zone)) for child in kind.children]
    if kind.root is Root.ROW:
        names = list(kind.names) or None

        def made_row(value: Any) -> Row:
            row = Row(*[_apply(convert, item) for convert, item in zip(inner, value)])
            if names is not None:
                row.set_field_names(names)
            return row

        return made_row
    if kind.root is Root.ARRAY:
        element = inner[0]
        return list if element is None else lambda value: list(map(element, value))
    key = inner[0]
    item = inner[1] if kind.root is Root.MAP else None
    return lambda value: {_apply(key, k): _apply(item, v) for k, v in value.items()}


def to_collected(kind: LogicalType) -> Convert | None:
    """Return the conversion of a value to the Python object that ``TableResult.collect`` returns.

    Rows have no names there, byte strings can be changed, and a FLOAT is the number that its text
    says.
    """
    if kind.root in logical.BYTES_LIKE:
        return bytearray
    if kind.root in _COMPOSITE:
        return _composite_out(replace(kind, names=()), None, _nested_collected)
    return _collected_float if kind.root is Root.FLOAT else to_python(kind)


def _nested_collected(kind: LogicalType, _zone: str | None) -> Convert | None:
    return to_python(kind) if kind.root in logical.BYTES_LIKE else to_collected(kind)


def _collected_float(value: float) -> float:
    return float(float_text(value)) if math.isfinite(value) else value


def from_python(kind: LogicalType, *, local: bool = False) -> Convert | None:
    """Return the conversion of a Python object to a value; None if they are the same.

    Args:
        kind: the type of the values.
        local: whether the time zone of a datetime is passed over, as in PyFlink's functions.
    """
    root = kind.root
    if local and root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return _local_micros
    simple = _IN.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return lambda value: from_decimal(decimal.Decimal(value), kind)
    if root in _COMPOSITE:
        return _composite_in(kind, local)
    return None


def _composite_in(kind: LogicalType, local: bool) -> Convert:
    inner = [nullable(from_python(child, local=local)) for child in kind.children]
    if kind.root is Root.ROW:
        read = _fields_of(kind.names)
        return lambda value: tuple(
            [_apply(convert, item) for convert, item in zip(inner, read(value))]
        )
    if kind.root is Root.ARRAY:
        element = inner[0]
        return tuple if element is None else lambda value: tuple(map(element, value))
    key = inner[0]
    item = inner[1] if kind.root is Root.MAP else None
    return lambda value: {_apply(key, k): _apply(item, v) for k, v in value.items()}


def _fields_of(names: tuple[str, ...]) -> Callable[[Any], Iterable[Any]]:
    wanted = list(names)

    def fields(value: Any) -> Iterable[Any]:
        if isinstance(value, Row):
            return value.get_fields_by_names(wanted)
        return [value.get(name) for name in wanted] if isinstance(value, dict) else value

    return fields


def nullable(convert: Convert | None) -> Convert | None:
    """Return the same conversion, for None too."""
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _apply(convert: Convert | None, value: Any) -> Any:
    return value if convert is None else convert(value)


def row_converter(
    types: Sequence[LogicalType], one: Callable[[LogicalType], Convert | None]
) -> Callable[[Sequence[Any]], list[Any]]:
    """Return the conversion of a row to a list of converted values.

    Args:
        types: of the columns.
        one: ``to_python`` or ``from_python``.
    """
    converters = [(index, convert) for index, kind in enumerate(types) if (convert := one(kind))]
    if not converters:
        return list

    def converted(values: Sequence[Any]) -> list[Any]:
        result = list(values)
        for index, convert in converters:
            value = result[index]
            if value is not None:
                result[index] = convert(value)
        return result

    return converted


def _date(days: int) -> datetime.date:
    return datetime.date.fromordinal(days + _EPOCH_DAY)


def _time(micros: int) -> datetime.time:
    return (_EPOCH + datetime.timedelta(microseconds=micros)).time()


def _datetime(micros: int) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(microseconds=micros)


def _instant(micros: int) -> Instant:
    return Instant(micros // 1_000_000, micros % 1_000_000 * 1000)


def _in_zone(zone: str) -> Convert:
    epoch = _EPOCH.replace(tzinfo=ZoneInfo(zone))
    return lambda micros: epoch + datetime.timedelta(microseconds=micros)


def _local_micros(value: Any) -> int:
    if isinstance(value, Instant):
        return _micros_of_instant(value)
    micros: int = (value.replace(tzinfo=None) - _EPOCH) // _MICRO
    return micros


def _micros_of_datetime(value: datetime.datetime) -> int:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return (value - _EPOCH) // _MICRO


def _micros_of_instant(value: Any) -> int:
    if isinstance(value, Instant):
        return value.seconds * 1_000_000 + value.nanos // 1000
    return _micros_of_datetime(value)


def _days(value: datetime.date) -> int:
    return value.toordinal() - _EPOCH_DAY


def _micros_of_time(value: datetime.time) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (seconds * 1_000_000 + value.microsecond) % MICROS_PER_DAY


_OUT: dict[Root, Convert] = {
    Root.DATE: _date,
    Root.TIME: _time,
    Root.TIMESTAMP: _datetime,
    Root.TIMESTAMP_LTZ: _instant,
    Root.INTERVAL_SECOND: lambda micros: datetime.timedelta(microseconds=micros),
}
_IN: dict[Root, Convert] = {
    Root.DATE: _days,
    Root.TIME: _micros_of_time,
    Root.TIMESTAMP: _micros_of_datetime,
    Root.TIMESTAMP_LTZ: _micros_of_instant,
    Root.INTERVAL_SECOND: lambda value: value // _MICRO,
    Root.FLOAT: to_single,
    Root.DOUBLE: float,
    **dict.fromkeys(logical.BYTES_LIKE, bytes),
}
