"""Reads rows of JSON messages, as Flink's JsonRowDeserializationSchema does."""

from __future__ import annotations

import base64
import datetime
import json
import math
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, NoReturn

from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.corrupt import excerpt, null_if_corrupt
from pyflink_on_spark._connectors.formats.field_types import refuse_field
from pyflink_on_spark._connectors.formats.json_text import node_text, scalar_text
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from pyflink_on_spark.common.types import RowKind

Convert = Callable[[Any], Any]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_JSON_BLANK = " \t\n\r"


def json_row_reader(
    row_type: RowTypeInfo, fail_on_missing_field: bool, ignore_errors: bool
) -> Callable[[bytes], Any]:
    """Return a function that makes a row of a JSON object, and None of ``null``.

    Args:
        row_type: the type of the row; the names of its fields are the keys of the object.
        fail_on_missing_field: whether the object must have all keys.
        ignore_errors: whether a field or a message that cannot be read becomes None.

    Raises:
        ValueError: the returned function raises it for a message that cannot be read.
    """
    convert = _Converters(fail_on_missing_field, ignore_errors).row(row_type)
    decoder = json.JSONDecoder(
        parse_float=_exact_decimal if _has_decimal(row_type) else None, parse_constant=_no_constant
    )

    def read(data: bytes) -> Any:
        try:
            node = _parse(decoder, data)
            return None if node is None else convert(node)
        except (ValueError, RecursionError) as error:
            if ignore_errors:
                return None
            raise ValueError(f"Failed to deserialize JSON {excerpt(data)}: {error}") from error

    return read


def _parse(decoder: json.JSONDecoder, data: bytes) -> Any:
    """Return the first value of a message; as in Flink, the rest is ignored."""
    plain = data[:1] == b"{" and data[1:2] != b"\0"
    text = data.decode() if plain else data.decode(json.detect_encoding(data)).lstrip(_JSON_BLANK)
    return decoder.raw_decode(text)[0]


def _exact_decimal(text: str) -> Decimal:
    return _EXACT.normalize(Decimal(text))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _has_decimal(type_info: Any) -> bool:
    if isinstance(type_info, BasicTypeInfo):
        return type_info._basic_type is BasicType.BIG_DEC
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return any(map(_has_decimal, type_info.get_field_types()))
    if isinstance(type_info, MapTypeInfo):
        return _has_decimal(type_info._value_type_info)
    element_type = _element_type(type_info)
    return element_type is not None and _has_decimal(element_type)


def _element_type(type_info: Any) -> Any:
    if isinstance(type_info, ListTypeInfo):
        return type_info.elem_type
    return getattr(type_info, "_element_type", None)


class _Converters:
    """Makes functions that convert parsed JSON, but not None, to values of declared types."""

    def __init__(self, fail_on_missing_field: bool, ignore_errors: bool) -> None:
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_errors = ignore_errors

    def row(self, row_type: RowTypeInfo) -> Convert:
        names = list(row_type.get_field_names())
        fields = [(name, self._field(kind)) for name, kind in _fields(row_type)]
        strict = self._fail_on_missing_field

        def convert(node: Any) -> Any:
            if type(node) is not dict:
                raise ValueError(f"{_shown(node)} is not an object")
            values = []
            for name, one in fields:
                value = node.get(name)
                if value is not None:
                    try:
                        value = one(value)
                    except ValueError as error:
                        raise ValueError(f"field {name!r}: {error}") from error
                elif strict and name not in node:
                    raise ValueError(f"Could not find field with name '{name}'.")
                values.append(value)
            return new_row(names, values, RowKind.INSERT)

        return convert

    def _field(self, type_info: TypeInformation) -> Convert:
        """Return the converter of a field; it returns None after an error that is ignored."""
        convert = self._converter(type_info)
        return null_if_corrupt(convert) if self._ignore_errors else convert

    def _converter(self, type_info: Any) -> Convert:
        if isinstance(type_info, RowTypeInfo):
            return self.row(type_info)
        if isinstance(type_info, TupleTypeInfo):
            return self._tuple(type_info)
        if isinstance(type_info, MapTypeInfo):
            return self._map(type_info)
        if isinstance(type_info, PrimitiveArrayTypeInfo):
            return self._primitive_array(type_info)
        if isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo, ListTypeInfo)):
            return self._list(_element_type(type_info))
        if isinstance(type_info, BasicTypeInfo) and type_info._basic_type in _BASIC:
            return _BASIC[type_info._basic_type]
        for kind, convert in _TEMPORAL.items():
            if isinstance(type_info, kind):
                return convert
        return refuse_field(type_info, "JSON")

    def _tuple(self, type_info: TupleTypeInfo) -> Convert:
        fields = [
            (f"f{index}", self._field(kind))
            for index, kind in enumerate(type_info.get_field_types())
        ]

        def convert(node: Any) -> tuple[Any, ...]:
            if type(node) is not dict:
                raise ValueError(f"{_shown(node)} is not an object with f0, f1, ...")
            items = ((node.get(name), one) for name, one in fields)
            return tuple([None if item is None else one(item) for item, one in items])

        return convert

    def _map(self, type_info: MapTypeInfo) -> Convert:
        key = self._field(type_info._key_type_info)
        value = self._field(type_info._value_type_info)

        def convert(node: Any) -> dict[Any, Any]:
            if type(node) is not dict:  # as in Flink, any other value is an empty map
                return {}
            return {key(name): None if item is None else value(item) for name, item in node.items()}

        return convert

    def _list(self, element_type: TypeInformation) -> Convert:
        element = self._field(element_type)

        def convert(node: Any) -> list[Any]:
            if type(node) is not list:
                raise ValueError(f"{_shown(node)} is not an array")
            return [None if item is None else element(item) for item in node]

        return convert

    def _primitive_array(self, type_info: PrimitiveArrayTypeInfo) -> Convert:
        element_type = type_info._element_type
        if isinstance(element_type, BasicTypeInfo) and element_type._basic_type is BasicType.BYTE:
            return _bytes
        of_nullable = self._list(element_type)
        zero = False if element_type == _BOOLEAN else 0

        def convert(node: Any) -> list[Any]:
            return [zero if item is None else item for item in of_nullable(node)]

        return convert


def _fields(row_type: RowTypeInfo) -> list[tuple[str, TypeInformation]]:
    return list(zip(row_type.get_field_names(), row_type.get_field_types()))


def _shown(node: Any) -> str:
    text = node_text(node)
    return text if len(text) <= 50 else f"{text[:50]}..."


def _trimmed_text(node: Any) -> str:
    return java_parsing.trimmed(scalar_text(node))


def _string(node: Any) -> str:
    if type(node) is str:
        return node
    return node_text(node) if isinstance(node, (list, dict)) else scalar_text(node)


def _boolean(node: Any) -> bool:
    return node if type(node) is bool else java_parsing.is_true(_trimmed_text(node))


def _small_integer(bits: int) -> Convert:
    parse = java_parsing.bounded_whole_number(bits)
    return lambda node: parse(scalar_text(node))


def _integer(bits: int) -> Convert:
    """Return a converter that truncates numbers to integers, and parses texts exactly."""
    parse = java_parsing.bounded_whole_number(bits)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def convert(node: Any) -> int:
        kind = type(node)
        if kind is int and low <= node <= high:
            return int(node)
        if kind in (float, Decimal) and low <= node <= high:
            return int(node)
        return parse(scalar_text(node))

    return convert


def _double(node: Any) -> float:
    return node if type(node) is float else java_parsing.double(scalar_text(node))


def _single(node: Any) -> float:
    return java_parsing.to_single(_double(node))


def _decimal(node: Any) -> Decimal:
    return node if type(node) is Decimal else java_parsing.decimal(_trimmed_text(node))


def _character(node: Any) -> str | None:
    if type(node) is str and len(node) <= 1:
        return node or None
    if type(node) is int and 0 <= node <= 0xFFFF:
        return chr(node)
    raise ValueError(f"{_shown(node)} is not a character")


def _bytes(node: Any) -> bytes | None:
    if type(node) is not str:
        return None  # as in Flink
    return base64.b64decode(node.rstrip(), validate=True)


def _date(node: Any) -> datetime.date:
    return java_parsing.iso_date(scalar_text(node))


def _without_zone(node: Any, form: str) -> str:
    text = scalar_text(node)
    if not text.endswith("Z") or text.count(":") != 2:
        raise ValueError(f"{text!r} is not a time in UTC such as {form}")
    return text[:-1]


def _time(node: Any) -> datetime.time:
    since_midnight, nanos = java_parsing.iso_time(_without_zone(node, "12:34:56Z"))
    if nanos:
        raise ValueError(
            "Invalid time format. Only a time in UTC timezone without milliseconds is supported "
            "yet."
        )
    return java_parsing.time_of_day(since_midnight)


def _timestamp(node: Any) -> datetime.datetime:
    moment, nanos = java_parsing.iso_timestamp(_without_zone(node, "2020-01-31T12:34:56Z"))
    return moment.replace(microsecond=nanos // 1_000_000 * 1000)


def _instant(node: Any) -> Instant:
    if type(node) is str:
        return java_parsing.iso_instant(node)
    if isinstance(node, (int, float, Decimal)) and not isinstance(node, bool):
        seconds = Decimal(scalar_text(node))
        whole = math.floor(seconds)
        return Instant(whole, int((seconds - whole) * 1_000_000_000))
    raise ValueError(f"{_shown(node)} is not a point in time")


_BOOLEAN = BasicTypeInfo.BOOLEAN_TYPE_INFO()
_BASIC: dict[BasicType, Convert] = {
    BasicType.STRING: _string,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _small_integer(8),
    BasicType.SHORT: _small_integer(16),
    BasicType.INT: _integer(32),
    BasicType.LONG: _integer(64),
    BasicType.BIG_INT: lambda node: java_parsing.whole_number(_trimmed_text(node)),
    BasicType.FLOAT: _single,
    BasicType.DOUBLE: _double,
    BasicType.BIG_DEC: _decimal,
    BasicType.CHAR: _character,
    BasicType.INSTANT: _instant,
}
_TEMPORAL: dict[type, Convert] = {
    DateTypeInfo: _date,
    TimeTypeInfo: _time,
    TimestampTypeInfo: _timestamp,
}
