"""The elements of from_elements: their types, and the rows that they become."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.plan.nodes import Node, Schema, Values
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.external import from_python, to_logical
from pyflink_on_spark._sql.types.logical import INTEGER_BITS, LogicalType, Root
from pyflink_on_spark.common.data_types import (
    ArrayType,
    DataType,
    DataTypes,
    MapType,
    MultisetType,
    RowType,
    UserDefinedType,
)
from pyflink_on_spark.common.types import Row

_PYTHON_TYPES: dict[Root, tuple[type, ...]] = {
    Root.BOOLEAN: (bool,),
    **dict.fromkeys(logical.INTEGERS, (int,)),
    Root.FLOAT: (float,),
    Root.DOUBLE: (float,),
    Root.DECIMAL: (decimal.Decimal,),
    **dict.fromkeys(logical.CHARACTERS, (str,)),
    **dict.fromkeys(logical.BYTES_LIKE, (bytearray,)),
    Root.DATE: (datetime.date,),
    Root.TIME: (datetime.time,),
    Root.TIMESTAMP: (datetime.datetime,),
    Root.TIMESTAMP_LTZ: (datetime.datetime,),
    Root.ARRAY: (list, tuple),
    Root.MAP: (dict,),
    Root.MULTISET: (dict,),
    Root.ROW: (tuple, list, dict, Row),
}


def verify(value: object, kind: LogicalType, name: str = "") -> None:
    """Check that a value is of a type.

    Args:
        value: the value.
        kind: the type.
        name: of the field that it is in, for the message.

    Raises:
        TypeError: it is not.
        ValueError: it is NULL where there must be none, or beyond the range.
    """
    prefix = f"{name}: " if name else ""
    if value is None:
        if not kind.nullable:
            raise ValueError(f"{prefix}This field is not nullable, but got None")
        return
    wanted = _PYTHON_TYPES.get(kind.root, (object,))
    confused = isinstance(value, bool) and bool not in wanted
    if confused or not isinstance(value, wanted):
        raise TypeError(f"{prefix}{kind} can not accept object {value!r} in type {type(value)}")
    if isinstance(value, int) and kind.root in INTEGER_BITS:
        half = 1 << (INTEGER_BITS[kind.root] - 1)
        if not -half <= value < half:
            raise ValueError(f"{prefix}object of {kind} out of range, got: {value}")
    elif kind.root is Root.ROW:
        _verify_row(value, kind, name)
    else:
        _verify_elements(value, kind, name)


def _verify_elements(value: Any, kind: LogicalType, name: str) -> None:
    if kind.root is Root.ARRAY:
        for item in value:
            verify(item, kind.children[0], f"element in array field {name}".rstrip())
    elif kind.root is Root.MAP:
        for key, item in value.items():
            verify(key, kind.children[0], f"key of map field {name}".rstrip())
            verify(item, kind.children[1], f"value of map field {name}".rstrip())


def _verify_row(value: Any, kind: LogicalType, name: str) -> None:
    if isinstance(value, dict):
        values = [value.get(field) for field in kind.names]
    elif isinstance(value, Row):
        values = value.get_fields_by_names(list(kind.names))
    else:
        values = list(value)
    if len(values) != len(kind.names):
        raise ValueError(
            f"Length of object ({len(values)}) does not match with length of fields "
            f"({len(kind.names)})"
        )
    for field, child, item in zip(kind.names, kind.children, values):
        verify(item, child, f"field {field} in {name}" if name else f"field {field}")


_TYPES: dict[type, LogicalType] = {
    bool: logical.BOOLEAN,
    int: logical.BIGINT,
    float: logical.DOUBLE,
    str: logical.STRING,
    bytearray: logical.BYTES,
    decimal.Decimal: logical.decimal(38, 18),
    datetime.date: logical.DATE,
    datetime.datetime: logical.timestamp_ltz(6),
    datetime.time: logical.TIME,
}


def rows_of_elements(
    elements: Sequence[Any], schema: DataType | Sequence[str] | None, verified: bool
) -> Node:
    """Return the plan that gives a program's own values.

    Args:
        elements: tuples, lists, dicts, Rows, or single values.
        schema: the type of the rows, or the names of the columns; found out if not given.
        verified: whether to check that values are of their types.

    Raises:
        TypeError: a value is not of its type, or the types of two rows do not fit.
        ValueError: the types cannot be found out.
    """
    if isinstance(schema, DataType):
        if not isinstance(schema, RowType):
            elements = [(element,) for element in elements]
            schema = DataTypes.ROW([DataTypes.FIELD("value", schema)])
        kind = to_logical(schema)
        if _has_objects(schema):
            elements = [_serialized(element, schema) for element in elements]
        if verified:
            for element in elements:
                verify(element, kind)
    else:
        if not elements:
            raise ValueError("can not infer schema from empty data")
        names = [schema] if isinstance(schema, str) else schema
        elements = [_own_serialized(element) for element in elements]
        kind = _found_out(elements, names)
    convert = from_python(kind)
    assert convert is not None
    rows = tuple(convert(_as_sequence(element)) for element in elements)
    return Values(Schema(kind.names, kind.children), rows)


def _has_objects(data_type: DataType) -> bool:
    """True if a type is, or has in it, one of a user's class."""
    return isinstance(data_type, UserDefinedType) or any(map(_has_objects, _parts(data_type)))


def _parts(data_type: DataType) -> list[DataType]:
    if isinstance(data_type, RowType):
        return [field.data_type for field in data_type]
    if isinstance(data_type, ArrayType | MultisetType):
        return [data_type.element_type]
    if isinstance(data_type, MapType):
        return [data_type.key_type, data_type.value_type]
    return []


def _serialized(value: Any, data_type: object) -> object:
    """A value in which SQL's values stand for the objects of users' classes.

    Raises:
        ValueError: an object is not of the class that its type is of.
    """
    if value is None:
        return None
    if isinstance(data_type, UserDefinedType):
        if getattr(value, "__UDT__", None) != data_type:
            raise ValueError(f"{value!r} is not an instance of type {data_type!r}")
        user_type: Any = data_type
        return user_type.serialize(value)
    if isinstance(data_type, ArrayType):
        return [_serialized(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        return {
            _serialized(key, data_type.key_type): _serialized(item, data_type.value_type)
            for key, item in value.items()
        }
    if not isinstance(data_type, RowType) or not _has_objects(data_type):
        return value
    if isinstance(value, dict):
        return {
            field.name: _serialized(value.get(field.name), field.data_type) for field in data_type
        }
    named = isinstance(value, Row) and hasattr(value, "_fields")
    items = value.get_fields_by_names(list(data_type.names)) if named else value
    return tuple(
        _serialized(item, field.data_type) for item, field in zip(items, data_type, strict=True)
    )


def _own_serialized(value: Any) -> object:
    """The same of an object that says itself how it becomes one of SQL's values."""
    own = getattr(value, "__UDT__", None)
    if own is not None:
        return own.serialize(value)
    if type(value) in {list, tuple}:
        return type(value)(map(_own_serialized, value))
    return value


def _as_sequence(element: object) -> Any:
    return element if isinstance(element, list | tuple | dict | Row) else (element,)


def _found_out(elements: Sequence[object], names: Sequence[str] | None) -> LogicalType:
    found: LogicalType | None = None
    for element in elements:
        kind = _row_type(element, names)
        found = kind if found is None else _merged_rows(found, kind)
    assert found is not None
    for name, child in zip(found.names, found.children):
        if _has_null_type(child):
            raise ValueError(
                f"Some of column types cannot be determined after inferring: column {name}"
            )
    return found


def _row_type(element: object, names: Sequence[str] | None) -> LogicalType:
    if isinstance(element, dict):
        items = sorted(element.items())
        return logical.row(tuple(k for k, _ in items), tuple(type_of(v) for _, v in items))
    own = element._names if isinstance(element, Row) else None
    values = list(_as_sequence(element))
    used = list(own or names or [])
    used += [f"_{index + 1}" for index in range(len(used), len(values))]
    return logical.row(tuple(used[: len(values)]), tuple(map(type_of, values)))


def type_of(value: object) -> LogicalType:
    if value is None:
        return logical.NULL
    simple = _TYPES.get(type(value))
    if simple is not None:
        return simple
    if isinstance(value, dict):
        for key, item in value.items():
            if key is not None and item is not None:
                return logical.mapping(type_of(key), type_of(item))
        return logical.mapping(logical.NULL, logical.NULL)
    if isinstance(value, list):
        kinds = [type_of(item) for item in value if item is not None]
        return logical.array(kinds[0] if kinds else logical.NULL)
    if isinstance(value, tuple | Row):
        return _row_type(value, None)
    raise TypeError(f"not supported type: {type(value)}")


def _merged_rows(one: LogicalType, two: LogicalType) -> LogicalType:
    if one.names != two.names:
        names = one.names if len(one.names) >= len(two.names) else two.names
        kinds_one, kinds_two = (
            dict(zip(one.names, one.children)),
            dict(zip(two.names, two.children)),
        )
        pairs = [
            (kinds_one.get(name, logical.NULL), kinds_two.get(name, logical.NULL)) for name in names
        ]
    else:
        names = one.names
        pairs = list(zip(one.children, two.children))
    return logical.row(names, tuple(_merged(name, *pair) for name, pair in zip(names, pairs)))


def _merged(name: str, one: LogicalType, two: LogicalType) -> LogicalType:
    if one.root is Root.NULL:
        return two
    if two.root is Root.NULL or one == two:
        return one
    if one.root is two.root and one.children:
        found = common_type([one, two])
        if found is not None:
            return found
    raise TypeError(f"field {name}: Can not merge type {one} and {two}")


def _has_null_type(kind: LogicalType) -> bool:
    return kind.root is Root.NULL or any(map(_has_null_type, kind.children))
