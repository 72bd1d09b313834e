"""Values of declared types as PyFlink's Python workers write them into Flink's state."""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.moved_in.data_input import DataInput
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
)
from pyflink_on_spark.common.types import Row, RowKind

Read = Callable[[DataInput], Any]
Load = Callable[[bytes], Any]

_KIND_BITS = 2
_NO_LONG, _NO_INT = -(1 << 63), -(1 << 31)
_EPOCH = datetime.date(1970, 1, 1)
_MIDNIGHT = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone
_FLINKS, _OURS = "pyflink.", "pyflink_on_spark."


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(own_module(module), name)


def own_module(module: str) -> str:
    """Find the module of the mirror that has the name of one of PyFlink's."""
    return _OURS + module.removeprefix(_FLINKS) if module.startswith(_FLINKS) else module


def load(content: bytes) -> Any:
    """Load what a Python worker of PyFlink has pickled; this runs code of the job."""
    return _Unpickler(io.BytesIO(content)).load()


def reader_of(type_info: Any, load: Load = load) -> Read:
    """Make what reads values of a declared type.

    Args:
        type_info: the declared type; None for pickles.
        load: makes objects of pickles.

    Raises:
        TypeError: PyFlink cannot keep such values in a state.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return lambda data: load(_bytes(data))
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[type_info._basic_type]
    for kind, make in _MAKERS.items():
        if isinstance(type_info, kind):
            return make(type_info, load)
    raise TypeError(f"PyFlink has no state of the type {type_info}")


def _bytes(data: DataInput) -> bytes:
    return data.take(data.count("bytes"))


def _text(data: DataInput) -> str:
    begin = data.position
    try:
        return _bytes(data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise data.refused("a text is damaged", begin) from None


def _decimal(data: DataInput) -> decimal.Decimal:
    begin = data.position
    try:
        return decimal.Decimal(_text(data))
    except decimal.InvalidOperation:
        raise data.refused("a decimal number is damaged", begin) from None


def _instant(data: DataInput) -> Instant | None:
    seconds, nanos = data.long(), data.integer()
    return None if (seconds, nanos) == (_NO_LONG, _NO_INT) else Instant(seconds, nanos)


def _made(data: DataInput, begin: int, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (ValueError, OverflowError) as error:
        raise data.refused(f"a time is damaged: {error}", begin) from None


def _date(data: DataInput) -> Any:
    begin = data.position
    days = data.integer()
    return _made(data, begin, lambda: _EPOCH + datetime.timedelta(days))


def _at(milliseconds: int) -> datetime.datetime:
    return _MIDNIGHT + datetime.timedelta(milliseconds=milliseconds)


def _time(data: DataInput) -> Any:
    begin = data.position
    milliseconds = data.integer()
    return _made(data, begin, lambda: _at(milliseconds).time())


def _timestamp(data: DataInput) -> Any:
    begin = data.position
    milliseconds = data.long()
    return _made(data, begin, lambda: _at(milliseconds))


def _tuples(type_info: Any, load: Load) -> Read:
    fields = [reader_of(field, load) for field in type_info.get_field_types()]
    return lambda data: tuple([read(data) for read in fields])


def _rows(type_info: Any, load: Load) -> Read:
    names = list(type_info.get_field_names())
    fields = [reader_of(field, load) for field in type_info.get_field_types()]
    length = (len(fields) + _KIND_BITS + 7) // 8
    top = length * 8 - 1

    def read_row(data: DataInput) -> Row:
        mask = int.from_bytes(data.take(length), "big")
        values = [
            None if mask >> (top - _KIND_BITS - index) & 1 else read(data)
            for index, read in enumerate(fields)
        ]
        row = Row(*values)
        row.set_field_names(names)
        row.set_row_kind(RowKind((mask >> top & 1) + 2 * (mask >> (top - 1) & 1)))
        return row

    return read_row


def _arrays(element: Any, load: Load, nullable: bool) -> Read:
    basic = element._basic_type if isinstance(element, BasicTypeInfo) else None
    if not nullable and basic is BasicType.BYTE:
        return _bytes
    read = reader_of(element, load)

    def read_array(data: DataInput) -> list[Any]:
        size = data.count("elements")
        if not nullable:
            return [read(data) for _ in range(size)]
        return [read(data) if data.boolean() else None for _ in range(size)]

    return read_array


def _maps(type_info: Any, load: Load) -> Read:
    read_key = reader_of(type_info._key_type_info, load)
    read_value = reader_of(type_info._value_type_info, load)

    def read_map(data: DataInput) -> dict[Any, Any]:
        found = {}
        for _ in range(data.count("entries")):
            key = read_key(data)
            found[key] = None if data.boolean() else read_value(data)
        return found

    return read_map


_BASIC: dict[BasicType, Read] = {
    BasicType.STRING: _text,
    BasicType.CHAR: _text,
    BasicType.BOOLEAN: DataInput.boolean,
    BasicType.BYTE: DataInput.byte,
    BasicType.SHORT: DataInput.short,
    BasicType.INT: DataInput.integer,
    BasicType.LONG: DataInput.long,
    BasicType.BIG_INT: DataInput.long,
    BasicType.FLOAT: DataInput.single,
    BasicType.DOUBLE: DataInput.double,
    BasicType.BIG_DEC: _decimal,
    BasicType.INSTANT: _instant,
}
_MAKERS: dict[type, Callable[[Any, Load], Read]] = {
    TupleTypeInfo: _tuples,
    RowTypeInfo: _rows,
    ListTypeInfo: lambda found, load: _arrays(found.elem_type, load, nullable=True),
    PrimitiveArrayTypeInfo: lambda found, load: _arrays(found._element_type, load, nullable=False),
    BasicArrayTypeInfo: lambda found, load: _arrays(found._element_type, load, nullable=True),
    ObjectArrayTypeInfo: lambda found, load: _arrays(found._element_type, load, nullable=True),
    MapTypeInfo: _maps,
    DateTypeInfo: lambda _, __: _date,
    TimeTypeInfo: lambda _, __: _time,
    TimestampTypeInfo: lambda _, __: _timestamp,
    ExternalTypeInfo: lambda found, load: reader_of(found._type_info, load),
}
