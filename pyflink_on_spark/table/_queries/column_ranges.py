"""Columns that the DSL names together."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.table._expressions.literals import literal


def expanded(items: list[Any], schema: Schema, binder: ExpressionBinder) -> list[Any]:
    """Return expressions with single columns in place of ranges and of flattened rows.

    Args:
        items: the expressions.
        schema: the columns that there are.
        binder: resolves expressions.
    """
    found: list[Any] = []
    for item in items:
        if isinstance(item, syntax.Call) and item.name == "WITH_COLUMNS":
            found += map(_name, _names(item.args, schema))
        elif isinstance(item, syntax.Call) and item.name == "WITHOUT_COLUMNS":
            gone = _names(item.args, schema)
            found += [_name(name) for name in schema.names if name not in gone]
        elif isinstance(item, syntax.Name) and item.parts == ("*",):
            found += map(_name, schema.names)
        elif isinstance(item, syntax.Alias) and not item.names:
            found += _flattened(item.operand, binder)
        else:
            found.append(item)
    return found


def _name(name: str) -> syntax.Name:
    return syntax.Name((name,))


def _names(args: tuple[Any, ...], schema: Schema) -> list[str]:
    names: list[str] = []
    for arg in args:
        if isinstance(arg, syntax.Call) and arg.name == "RANGE":
            start, end = (_position(each, schema) for each in arg.args)
            names += schema.names[start : end + 1]
        else:
            names.append(schema.names[_position(arg, schema)])
    return names


def _position(item: Any, schema: Schema) -> int:
    if isinstance(item, syntax.Literal) and isinstance(item.value, int):
        return item.value - 1
    name = item.value if isinstance(item, syntax.Literal) else item.parts[-1]
    if name not in schema.names:
        listed = ", ".join(schema.names)
        raise ValidationError(f"Cannot resolve field [{name}], input field list:[{listed}].")
    return schema.names.index(name)


def _flattened(operand: Any, binder: ExpressionBinder) -> list[Any]:
    kind = binder.bind(operand).type
    if kind.root is not Root.ROW:
        return [operand]
    prefix = operand.parts[-1] if isinstance(operand, syntax.Name) else str(operand)
    return [
        syntax.Alias(syntax.Call("DOT", (operand, literal(name))), (f"{prefix}${name}",))
        for name in kind.names
    ]
