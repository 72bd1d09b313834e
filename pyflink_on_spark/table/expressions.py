"""What expressions begin with."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table._literals import literal
from pyflink_on_spark.table._types import logical_type
from pyflink_on_spark.table.expression import Expression, _call

__all__ = ["col", "lit", "null_of", "if_then_else", "and_", "or_", "not_", "array", "map_", "row"]


def col(name: str) -> Expression:
    """Return a column."""
    return Expression(name)


def lit(v: Any, data_type: DataType = None) -> Expression:
    """Return a constant.

    Args:
        v: its value.
        data_type: its type, which must not have NULL; that of the value if not given.
    """
    return Expression(literal(v, None if data_type is None else logical_type(data_type)))


def null_of(data_type: DataType) -> Expression:
    """Return NULL of a type."""
    return Expression(syntax.Literal(None, logical_type(data_type)))


def and_(predicate0: bool | Expression[bool], predicate1: bool | Expression[bool],
         *predicates: bool | Expression[bool]) -> Expression[bool]:  # fmt: skip
    """Tell whether all conditions hold."""
    joined = _call("AND", predicate0, predicate1)
    for predicate in predicates:
        joined = _call("AND", joined, predicate)
    return joined


def or_(predicate0: bool | Expression[bool], predicate1: bool | Expression[bool],
        *predicates: bool | Expression[bool]) -> Expression[bool]:  # fmt: skip
    """Tell whether any condition holds."""
    joined = _call("OR", predicate0, predicate1)
    for predicate in predicates:
        joined = _call("OR", joined, predicate)
    return joined


def not_(expression: Expression[bool]) -> Expression[bool]:
    """Tell whether a condition does not hold."""
    return _call("NOT", expression)


def if_then_else(condition: bool | Expression[bool], if_true, if_false) -> Expression:
    """Return one value where a condition is TRUE, and another one elsewhere."""
    return _call("IF", condition, if_true, if_false)


def array(head, *tail) -> Expression:
    """Return an array of some values."""
    return _call("ARRAY", head, *tail)


def map_(key, value, *tail) -> Expression:
    """Return a map of some keys and values, in turns."""
    return _call("MAP", key, value, *tail)


def row(head, *tail) -> Expression:
    """Return a row of some values."""
    return _call("ROW", head, *tail)


__getattr__ = missing_name(__name__)
