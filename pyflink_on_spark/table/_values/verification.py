"""Checks that a program's values are of the types that it says."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import INTEGER_BITS, LogicalType, Root
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


def verify(value: Any, kind: LogicalType, name: str = "") -> None:
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
