"""Columns of tables: ranges of them, their names, and functions over whole rows."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.binder.aggregates import dsl_name
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.relations import correlate
from pyflink_on_spark._sql.errors import ValidationError, unresolved_field
from pyflink_on_spark._sql.functions.python.functions import AsyncFunction
from pyflink_on_spark._sql.plan.expressions import FieldAccess, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Correlate, Node, Schema, project
from pyflink_on_spark._sql.plan.signatures import TableFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.table._inner import syntax_of
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.parts import literal
from pyflink_on_spark.table.text_expressions import as_expression


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
        raise unresolved_field(name, schema.names)
    return schema.names.index(name)


def _flattened(operand: Any, binder: ExpressionBinder) -> list[object]:
    kind = binder.bind(operand).type
    if kind.root not in logical.ROWS:
        return [operand]
    return [syntax.Call("DOT", (operand, literal(name))) for name in kind.names]


def columns_of(node: Node) -> list[tuple[str, Typed]]:
    """Return the names of a node's columns, and the columns."""
    schema = node.schema
    return [
        (name, InputRef(kind, index))
        for index, (name, kind) in enumerate(zip(schema.names, schema.types))
    ]


def projected(node: Node, columns: list[tuple[str, Typed]]) -> Node:
    """Return a node with other columns."""
    return project(node, [column for _, column in columns], tuple(name for name, _ in columns))


def named(binder: ExpressionBinder, item: Any, position: int) -> tuple[str, Typed]:
    """Return the name of an expression, and the expression."""
    return dsl_name(item) or f"_c{position}", binder.bind(item)


def call_over(function: object, node: Node) -> tuple[Any, tuple[str, ...]]:
    """Return the call of a function, and the names of its columns.

    Args:
        function: a call, or a function that gets whole rows.
        node: the rows.

    Raises:
        TypeError: it is neither.
    """
    function = as_expression(function)
    if isinstance(function, Expression):
        found = syntax_of(function)
        if isinstance(found, syntax.Alias):
            return found.operand, found.names
        return found, ()
    if not hasattr(function, "_over_rows"):
        raise TypeError(f"a function of udf, udtf or udaf is needed, not {function!r}")
    called: tuple[Any, tuple[str, ...]] = function._over_rows(node.schema.names)
    return called


def mapped(node: Node, binder: ExpressionBinder, function: object) -> Node:
    """Return a row for each row; the fields of a ROW become columns.

    Raises:
        ValidationError: it is an asynchronous function.
    """
    call, names = call_over(function, node)
    if isinstance(call, syntax.Call) and isinstance(binder.function(call), AsyncFunction):
        raise ValidationError("Only a scalar function can be used in the map operator.")
    value = binder.bind(call)
    if value.type.root is not Root.ROW:
        return projected(node, [((names or ("_c0",))[0], value)])
    made = projected(node, [("$row", value)])
    row = InputRef(value.type, 0)
    fields = [
        (name, FieldAccess(kind.with_nullable(True), row, index))
        for index, (name, kind) in enumerate(zip(names or value.type.names, value.type.children))
    ]
    return projected(made, [(name, field) for name, field in fields])


def correlated(node: Node, binder: ExpressionBinder, function: object, *, left: bool) -> Correlate:
    """Return the rows of a node with those of a table function.

    Raises:
        ValidationError: it is no table function.
    """
    call, names = call_over(function, node)
    found = binder.function(call) if isinstance(call, syntax.Call) else None
    if not isinstance(found, TableFunction):
        raise ValidationError(
            "A lateral join only accepts an expression which defines a table function call"
        )
    args = tuple(binder.bind(arg) for arg in call.args)
    return correlate(node, found, args, names, left)


def flat_mapped(node: Node, binder: ExpressionBinder, function: object) -> Node:
    """Return the rows that a table function has for each row."""
    made = correlated(node, binder, function, left=False)
    width = len(node.schema)
    call, names = call_over(function, node)
    found = binder.function(call)
    own = found.columns([binder.bind(arg).type for arg in call.args])
    assert own is not None
    return projected(
        made,
        [
            (name, InputRef(kind, width + index))
            for index, (name, kind) in enumerate(zip(names or own[0], own[1]))
        ],
    )
