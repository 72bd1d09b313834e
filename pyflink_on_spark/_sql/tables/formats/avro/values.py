"""Rows as Avro's records, and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

from pyflink_on_spark._sql.types.logical import LogicalType, Root

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime.fromisoformat("1970-01-01T00:00:00")
_MICRO = datetime.timedelta(microseconds=1)
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_DIGITS = 80
_MILLIS = 3


def record_reader(names: Sequence[str], kinds: Sequence[LogicalType]) -> Convert:
    """Return what makes a row of a record."""
    fields = [(name, _reader(kind)) for name, kind in zip(names, kinds)]

    def read(record: Any) -> Any:
        return tuple([convert(record.get(name)) for name, convert in fields])

    return read


def record_writer(names: Sequence[str], kinds: Sequence[LogicalType]) -> Convert:
    """Return what makes a record of a row."""
    fields = [(name, _writer(kind)) for name, kind in zip(names, kinds)]

    def write(row: Any) -> Any:
        return {name: convert(value) for (name, convert), value in zip(fields, row)}

    return write


def _reader(kind: LogicalType) -> Convert:
    root = kind.root
    if root is Root.DATE:
        return _unless_null(lambda day: day.toordinal() - _FIRST_DAY)
    if root is Root.TIME:
        return _unless_null(_time_micros)
    if root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return _unless_null(_micros)
    if root is Root.DECIMAL:
        return _unless_null(_unscaled(kind.scale or 0))
    if root is Root.ARRAY:
        element = _reader(kind.children[0])
        return _unless_null(lambda values: tuple(map(element, values)))
    if root is Root.ROW:
        return _unless_null(record_reader(kind.names, kind.children))
    if root is Root.MAP:
        value = _reader(kind.children[1])
        return _unless_null(lambda pairs: {key: value(one) for key, one in pairs.items()})
    return _same


def _writer(kind: LogicalType) -> Convert:
    root = kind.root
    if root is Root.TIME or (
        root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ} and (kind.precision or 0) <= _MILLIS
    ):
        return _unless_null(lambda micros: micros // 1000)
    if root is Root.DECIMAL:
        return _unless_null(_big_endian)
    if root is Root.ARRAY:
        element = _writer(kind.children[0])
        return _unless_null(lambda values: list(map(element, values)))
    if root is Root.ROW:
        return _unless_null(record_writer(kind.names, kind.children))
    if root is Root.MAP:
        value = _writer(kind.children[1])
        return _unless_null(lambda pairs: {key: value(one) for key, one in pairs.items()})
    return _same


def _same(value: Any) -> Any:
    return value


def _unless_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _time_micros(value: datetime.time) -> int:
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return seconds * 1_000_000 + value.microsecond


def _micros(value: datetime.datetime) -> int:
    return (value.replace(tzinfo=None) - _EPOCH) // _MICRO


def _unscaled(scale: int) -> Convert:
    def convert(value: Decimal) -> int:
        with localcontext() as context:
            context.prec = _DIGITS
            return int(value.scaleb(scale).to_integral_value())

    return convert


def _big_endian(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
