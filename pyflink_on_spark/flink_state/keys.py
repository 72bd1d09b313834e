"""Keys as the engine has them, from those that Flink has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.elements.keys import wrap_key
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    ListTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from pyflink_on_spark.common.types import Row

ReadKey = Callable[[Any], Any]


def key_reader(key_type: Any, load: Callable[[bytes], Any]) -> ReadKey:
    """Make what turns keys of Flink, which are rows of one field, into keys of the engine.

    Args:
        key_type: the declared type of the keys; None if nobody knows, or there is none.
        load: makes objects of pickles.
    """
    untyped = key_type is None or isinstance(key_type, PickledBytesTypeInfo)

    def read_key(key: Any) -> Any:
        value = key[0] if isinstance(key, Row) and len(key) == 1 else key
        if untyped:
            return wrap_key(load(value) if isinstance(value, bytes) else value)
        return wrap_key(_as_declared(value, key_type))

    return read_key


def _as_declared(value: Any, type_info: Any) -> Any:
    """Give a value what Java does not keep: the names of a row's fields."""
    if isinstance(type_info, ExternalTypeInfo):
        return _as_declared(value, type_info._type_info)
    if isinstance(type_info, RowTypeInfo):
        fields = map(_as_declared, value, type_info.get_field_types())
        row = Row(*fields)
        row.set_field_names(list(type_info.get_field_names()))
        row.set_row_kind(value.get_row_kind())
        return row
    if isinstance(type_info, TupleTypeInfo):
        return tuple(map(_as_declared, value, type_info.get_field_types()))
    if isinstance(type_info, ListTypeInfo):
        return [_as_declared(part, type_info.elem_type) for part in value]
    return value
