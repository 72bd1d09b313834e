"""Values outside of a query, as Python objects, and the types of the API."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._connectors.formats.row_types import type_info_of
from pyflink_on_spark._runtime.types.codec import float_text
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import from_decimal, to_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY
from pyflink_on_spark.common import data_types, typeinfo
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    basic_type_of,
    element_type_of,
    key_type_of,
    time_type_of,
    value_type_of,
    wrapped_type_of,
)
from pyflink_on_spark.common.types import Row

Convert = Callable[[Any], Any]

_COMPOSITE = frozenset({Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW})
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time
_EPOCH_DAY = _EPOCH.toordinal()
_MICRO = datetime.timedelta(microseconds=1)
_make: Any = data_types  # the API's own classes say nothing of the types of their parameters
_SIZED = {
    data_types.CharType: logical.char,
    data_types.VarCharType: logical.varchar,
    data_types.BinaryType: logical.binary,
    data_types.VarBinaryType: logical.varbinary,
}
_SIZED_BACK: dict[Root, Any] = {make(1).root: made for made, make in _SIZED.items()}
_FRACTIONS = {
    data_types.TimeType: logical.time,
    data_types.TimestampType: logical.timestamp,
    data_types.LocalZonedTimestampType: logical.timestamp_ltz,
}
_FRACTIONS_BACK: dict[Root, Any] = {make(0).root: made for made, make in _FRACTIONS.items()}
_PRIMITIVE = frozenset({Root.BOOLEAN, *logical.INTEGERS, *logical.APPROXIMATE})
_SQL_TIMES = {
    "DateTypeInfo": logical.DATE,
    "TimeTypeInfo": logical.time(0),
    "TimestampTypeInfo": logical.timestamp(3),
}
_LOCAL = {
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_DATE: logical.DATE,
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_TIME: logical.time(9),
    typeinfo.LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: logical.timestamp(9),
}


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
    if root is Root.STRUCTURED:
        raise TypeError(f"Unsupported row data type: {kind}")
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
        if kind.root in {Root.MAP, Root.MULTISET} and kind.children[0].root in logical.BYTES_LIKE:
            return _keyed_by_bytes(kind)
        return _composite_out(replace(kind, names=()), None, _nested_collected)
    return _collected_float if kind.root is Root.FLOAT else to_python(kind)


def _nested_collected(kind: LogicalType, _zone: str | None) -> Convert | None:
    return to_collected(kind)


def _keyed_by_bytes(kind: LogicalType) -> Convert:
    """Return the conversion of a map whose keys cannot be byte strings that change."""
    item = nullable(to_collected(kind.children[1])) if kind.root is Root.MAP else None
    return lambda value: {key: _apply(item, v) for key, v in value.items()}


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


def _fields_of(names: tuple[str, ...]) -> Callable[[Any], Iterable[object]]:
    wanted = list(names)

    def fields(value: Any) -> Iterable[object]:
        if isinstance(value, Row):
            return value.get_fields_by_names(wanted)
        return [value.get(name) for name in wanted] if isinstance(value, dict) else value

    return fields


def nullable(convert: Convert | None) -> Convert | None:
    """Return the same conversion, for None too."""
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _apply(convert: Convert | None, value: object) -> object:
    return value if convert is None else convert(value)


def row_converter(
    types: Sequence[LogicalType], one: Callable[[LogicalType], Convert | None]
) -> Callable[[Sequence[object]], list[object]]:
    """Return the conversion of a row to a list of converted values.

    Args:
        types: of the columns.
        one: ``to_python`` or ``from_python``.
    """
    converters = [(index, convert) for index, kind in enumerate(types) if (convert := one(kind))]
    if not converters:
        return list

    def converted(values: Sequence[object]) -> list[object]:
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


_SIMPLE: dict[type[data_types.DataType], LogicalType] = {
    data_types.NullType: logical.NULL,
    data_types.BooleanType: logical.BOOLEAN,
    data_types.TinyIntType: logical.TINYINT,
    data_types.SmallIntType: logical.SMALLINT,
    data_types.IntType: logical.INT,
    data_types.BigIntType: logical.BIGINT,
    data_types.FloatType: logical.FLOAT,
    data_types.DoubleType: logical.DOUBLE,
    data_types.DateType: logical.DATE,
    data_types.YearMonthIntervalType: logical.INTERVAL_MONTH,
    data_types.DayTimeIntervalType: logical.INTERVAL_SECOND,
}
_SIMPLE_BACK: dict[Root, Any] = {
    **{kind.root: made for made, kind in _SIMPLE.items()},
    Root.RAW: data_types.RawType,
    Root.INTERVAL_MONTH: lambda: data_types.DataTypes.INTERVAL(data_types.DataTypes.MONTH()),
    Root.INTERVAL_SECOND: lambda: data_types.DataTypes.INTERVAL(data_types.DataTypes.SECOND(3)),
}


def to_logical(data_type: data_types.DataType) -> LogicalType:
    """Return SQL's type for one of the API's.

    Raises:
        ValidationError: SQL has none.
    """
    return _to_logical(data_type).with_nullable(data_type._nullable)


def _to_logical(data_type: data_types.DataType) -> LogicalType:
    kind = type(data_type)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(
        data_type,
        data_types.CharType
        | data_types.VarCharType
        | data_types.BinaryType
        | data_types.VarBinaryType,
    ):
        return _SIZED[kind](data_type.length)  # type: ignore[index]
    if isinstance(
        data_type,
        data_types.TimeType | data_types.TimestampType | data_types.LocalZonedTimestampType,
    ):
        return _FRACTIONS[kind](data_type.precision)  # type: ignore[index]
    if isinstance(data_type, data_types.DecimalType):
        return logical.decimal(data_type.precision, data_type.scale)
    if isinstance(data_type, data_types.ArrayType):
        return logical.array(to_logical(data_type.element_type))
    if isinstance(data_type, data_types.MultisetType):
        return logical.multiset(to_logical(data_type.element_type))
    if isinstance(data_type, data_types.MapType):
        return logical.mapping(to_logical(data_type.key_type), to_logical(data_type.value_type))
    if isinstance(data_type, data_types.RowType):
        types = tuple(to_logical(field.data_type) for field in data_type)
        return logical.row(tuple(data_type.names), types)
    if isinstance(data_type, data_types.UserDefinedType):
        kept: Any = data_type
        return _to_logical(kept.sql_type())
    raise ValidationError(f"a column cannot be of type {data_type!r}")


def to_data_type(kind: LogicalType) -> data_types.DataType:
    """Return the API's type for one of SQL's.

    Raises:
        TypeError: the API has none.
    """
    made = _to_data_type(kind)
    nullable: data_types.DataType = made if kind.nullable else made.not_null()
    return nullable


def _to_data_type(kind: LogicalType) -> Any:
    root = kind.root
    if root in _SIMPLE_BACK:
        return _SIMPLE_BACK[root]()
    if root in _SIZED_BACK:
        return _SIZED_BACK[root](kind.precision)
    if root in _FRACTIONS_BACK:
        return _FRACTIONS_BACK[root](kind.precision)
    inner = [to_data_type(child) for child in kind.children]
    if root is Root.DECIMAL:
        return _make.DecimalType(kind.precision, kind.scale)
    if root is Root.ARRAY:
        return _make.ArrayType(inner[0])
    if root is Root.MULTISET:
        return _make.MultisetType(inner[0])
    if root is Root.MAP:
        return _make.MapType(inner[0], inner[1])
    if root is Root.ROW:
        fields = [_make.RowField(name, child) for name, child in zip(kind.names, inner)]
        return _make.RowType(fields)
    if root is Root.STRUCTURED:
        raise TypeError(f"Unsupported row data type: {kind}")
    raise TypeError(
        f"Unsupported type: {kind}, it is not supported yet in current python type system"
    )


_BASIC = {
    typeinfo.BasicType.STRING: logical.STRING,
    typeinfo.BasicType.BYTE: logical.TINYINT,
    typeinfo.BasicType.BOOLEAN: logical.BOOLEAN,
    typeinfo.BasicType.SHORT: logical.SMALLINT,
    typeinfo.BasicType.INT: logical.INT,
    typeinfo.BasicType.LONG: logical.BIGINT,
    typeinfo.BasicType.FLOAT: logical.FLOAT,
    typeinfo.BasicType.DOUBLE: logical.DOUBLE,
    typeinfo.BasicType.CHAR: logical.char(1),
    typeinfo.BasicType.BIG_DEC: logical.decimal(38, 18),
    typeinfo.BasicType.INSTANT: logical.timestamp_ltz(9),
}


def to_type_info(kind: LogicalType) -> typeinfo.TypeInformation:
    """Return the type information for one of SQL's types.

    Raises:
        ValidationError: streams have no such values.
    """
    try:
        return type_info_of(to_data_type(kind))
    except TypeError:
        raise ValidationError(f"a stream has no values of type {kind}") from None


def from_type_info(type_info: object) -> LogicalType:
    """Return SQL's type for the type information of a stream; without one it is RAW."""
    simple = _SQL_TIMES.get(type(type_info).__name__)
    if simple is not None:
        return simple
    if isinstance(type_info, typeinfo.ExternalTypeInfo):
        return from_type_info(wrapped_type_of(type_info))
    if isinstance(type_info, typeinfo.BasicTypeInfo):
        return _BASIC.get(basic_type_of(type_info), logical.RAW)
    if isinstance(type_info, typeinfo.LocalTimeTypeInfo):
        return _LOCAL[time_type_of(type_info)]
    if isinstance(type_info, typeinfo.RowTypeInfo | typeinfo.TupleTypeInfo):
        return logical.row(*fields_of(type_info))
    if isinstance(type_info, typeinfo.PrimitiveArrayTypeInfo):
        return _array(element_type_of(type_info), nullable=False)
    if isinstance(type_info, typeinfo.BasicArrayTypeInfo | typeinfo.ObjectArrayTypeInfo):
        return _array(element_type_of(type_info), nullable=True)
    if isinstance(type_info, typeinfo.ListTypeInfo):
        return logical.array(from_type_info(type_info.elem_type))
    if isinstance(type_info, typeinfo.MapTypeInfo):
        key = from_type_info(key_type_of(type_info))
        return logical.mapping(key, from_type_info(value_type_of(type_info)))
    return logical.RAW


def fields_of(type_info: Any) -> tuple[tuple[str, ...], tuple[LogicalType, ...]]:
    """Return the names and types of the fields of a row or tuple."""
    types = tuple(map(from_type_info, type_info.get_field_types()))
    if isinstance(type_info, typeinfo.TupleTypeInfo):
        types = tuple(kind.with_nullable(kind.root not in _PRIMITIVE) for kind in types)
    names = getattr(type_info, "_field_names", None) or [f"f{i}" for i in range(len(types))]
    return tuple(names), types


def _array(element: object, nullable: bool) -> LogicalType:
    if getattr(element, "_basic_type", None) is typeinfo.BasicType.BYTE and not nullable:
        return logical.BYTES
    return logical.array(from_type_info(element).with_nullable(nullable))
