"""NULL as it is written in SQL: only some places know which type it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import Root

_TYPED_BY_OTHERS = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "COALESCE",
    "IFNULL", "NULLIF",
})  # fmt: skip
"""Operators and functions that take the type of NULL from the other operands."""
_OF_ANY_TYPE = frozenset({
    "IS NULL", "IS NOT NULL", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "TYPEOF", "JSON", "$JSON",
    "JSON_ARRAY", "JSON_OBJECT", "JSON_STRING", "JSON_QUOTE", "JSON_UNQUOTE", "BTRIM", "SPLIT",
    "REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_SUBSTR", "REGEXP_EXTRACT_ALL", "STARTSWITH", "ENDSWITH",
    "TRANSLATE3", "UNHEX", "URL_ENCODE", "URL_DECODE", "PRINTF", "INET_ATON", "INET_NTOA",
    "OBJECT_OF", "PERCENTILE", "JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL",
    "BITMAP_FROM_BYTES", "BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG",
})  # fmt: skip
_OF_ANY_TYPE_BUT_THE_FIRST = frozenset({
    "ELT", "ARRAY_APPEND", "ARRAY_CONTAINS", "ARRAY_JOIN", "ARRAY_POSITION", "ARRAY_PREPEND",
    "ARRAY_REMOVE", "ARRAY_SLICE", "ARRAY_SORT", "JSON_OBJECTAGG_NULL_ON_NULL",
    "JSON_OBJECTAGG_ABSENT_ON_NULL",
})  # fmt: skip
_OF_ONE_TYPE = frozenset({"GREATEST", "LEAST"})
_ONLY_NULL = "ELSE clause or at least one THEN clause must be non-NULL"
_PATTERNS = frozenset({"LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO"})


def is_null(item: syntax.Expression) -> bool:
    """True for a NULL in a statement; those of the Table API have types."""
    return isinstance(item, syntax.Literal) and item.value is None and item.span is not None


def check_no_null(items: Iterable[syntax.Expression]) -> None:
    """Refuse NULL where nothing says which type it has.

    Args:
        items: expressions of a statement.

    Raises:
        ValidationError: one of them is NULL, and nothing else.
    """
    for item in items:
        value = item.operand if isinstance(item, syntax.Alias) else item
        if is_null(value):
            raise invalid("Illegal use of 'NULL'", value.span)


def check_nulls_of_call(node: syntax.Call, function: Any) -> None:
    """Refuse NULL as an argument of functions that do not say which type it has.

    Args:
        node: the call.
        function: the called function; a user's names the types of its arguments.

    Raises:
        ValidationError: an argument is NULL, and the function refuses that.
    """
    name = node.name.upper()
    if name == "JSON_OBJECT":
        _check_keys(node.args[::2])
    if name in _OF_ANY_TYPE or not any(map(is_null, node.args)):
        return
    if builtin_functions().find(function.name) is not function:
        return
    if name in _TYPED_BY_OTHERS:
        _check_typed_by_others(name, node)
    elif name in {"ARRAY", "MAP"}:
        keys, items = (node.args[::2], node.args[1::2]) if name == "MAP" else (node.args, ())
        if all(map(is_null, keys)) or len(set(map(is_null, items))) > 1:
            raise invalid("Parameters must be of the same type", node.span)
    elif name in _OF_ONE_TYPE:
        raise invalid("Unsupported casting from NULL", node.span)
    elif name in _PATTERNS:
        raise invalid(f"Cannot apply '{name}' to arguments of type '{name}(<NULL>)'", node.span)
    else:
        check_no_null(node.args[:1] if name in _OF_ANY_TYPE_BUT_THE_FIRST else node.args)


def _check_typed_by_others(name: str, node: syntax.Call) -> None:
    if name in {"COALESCE", "IFNULL"} and all(map(is_null, node.args)):
        check_no_null(node.args)
    if name == "NULLIF" and is_null(node.args[0]):
        raise invalid(_ONLY_NULL, node.span)
    if name in {"IN", "NOT IN"} and all(map(is_null, node.args)):
        raise invalid("Values in expression list must have compatible types", node.span)


def _check_keys(keys: Iterable[syntax.Expression]) -> None:
    for key in keys:
        value = key
        while isinstance(value, syntax.Cast):
            value = value.operand
        if is_null(value):
            raise invalid(f"Argument to function '{key.span}' must not be NULL", key.span)


def check_case(node: syntax.Case, values: Sequence[Typed]) -> None:
    """Refuse a CASE of which all values are NULL.

    Raises:
        ValidationError: there is no other value.
    """
    if node.span is not None and all(value.type.root is Root.NULL for value in values):
        raise invalid(_ONLY_NULL, node.span)
