"""Python values as constants of expressions."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.syntax.expressions import Literal
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import from_decimal
from pyflink_on_spark._sql.types.external import from_python
from pyflink_on_spark._sql.types.logical import LogicalType


def literal(value: Any, kind: LogicalType | None = None) -> Literal:
    """Return the constant for a Python value.

    Args:
        value: the value.
        kind: its type; that of the value if not given.

    Raises:
        ValidationError: there are no constants of such a type.
    """
    if kind is None:
        kind = _type_of(value)
    if value is None:
        return Literal(None, kind)
    convert = from_python(kind)
    return Literal(value if convert is None else convert(value), kind)


def _type_of(value: Any) -> LogicalType:
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return simple if value is None else simple.with_nullable(False)
    if isinstance(value, int):
        kind = logical.INT if -(2**31) <= value < 2**31 else logical.BIGINT
        return kind.with_nullable(False)
    if isinstance(value, str):
        return logical.char(len(value)).with_nullable(False)
    if isinstance(value, decimal.Decimal):
        return _decimal_type(value).with_nullable(False)
    raise ValidationError(f"a {type(value).__name__} cannot be a constant: {value!r}")


def _decimal_type(value: decimal.Decimal) -> LogicalType:
    digits, exponent = value.as_tuple()[1:]
    if not isinstance(exponent, int):
        raise ValidationError(f"{value} cannot be a constant")
    scale = max(-exponent, 0)
    kind = logical.decimal(max(len(digits) + max(exponent, 0), scale), scale)
    assert from_decimal(value, kind) is not None
    return kind


_SIMPLE: dict[type, LogicalType] = {
    type(None): logical.NULL,
    bool: logical.BOOLEAN,
    float: logical.DOUBLE,
    datetime.date: logical.DATE,
    datetime.time: logical.time(0),
    datetime.datetime: logical.timestamp(3),
}
