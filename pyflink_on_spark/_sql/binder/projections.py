"""SELECT lists and ORDER BY: columns of names, and keys of orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    check_no_null,
    field_of,
    unique_names,
)
from pyflink_on_spark._sql.errors import ValidationError, invalid
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node, Project, Schema, Sort, SortKey
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical


def sql_projection(
    node: Node, binder: ExpressionBinder, items: Sequence[syntax.Expression]
) -> Project:
    """Return the projection of a SELECT; unnamed columns are called ``EXPR$0`` and so on."""
    check_no_null(items)
    names: list[str] = []
    columns: list[Typed] = []
    for item in items:
        if isinstance(item, syntax.Star):
            for name, column in _starred(binder, item):
                names.append(name)
                columns.append(column)
            continue
        columns.append(binder.bind(item))
        names.append(_name(item) or f"EXPR${len(names)}")
    return project(node, columns, unique_names(names))


def dsl_projection(
    node: Node, binder: ExpressionBinder, items: Sequence[syntax.Expression]
) -> Project:
    """Return the projection of ``select``; columns without a name are called ``_c0`` and so on.

    Raises:
        ValidationError: two columns have one name, or something in an expression is wrong.
    """
    names: list[str] = []
    columns: list[Typed] = []
    for item in items:
        if isinstance(item, syntax.Star):
            for name, starred in _starred(binder, item):
                names.append(name)
                columns.append(starred)
            continue
        column = binder.bind(item)
        columns.append(column)
        names.append(dsl_name(item) or f"_c{len(names)}")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise invalid(f"Ambiguous column name: {name}", None)
    return project(node, columns, tuple(names))


def dsl_name(item: syntax.Expression) -> str | None:
    """Return the name that an expression of the Table API gives its column, or None.

    One that is written in SQL gives none.
    """
    if item.span is not None:
        return None
    if isinstance(item, syntax.Cast) and not item.lenient:
        named = _plain_name(item.operand)
        return None if named is None else f"{named}-{item.type}"
    return _plain_name(item)


def _plain_name(item: syntax.Expression) -> str | None:
    if isinstance(item, syntax.Call) and item.name == "DOT":
        row, field = _plain_name(item.args[0]), item.args[1]
        assert isinstance(field, syntax.Literal)
        key = f"_{field.value}" if isinstance(field.value, int) else field.value
        return None if row is None else f"{row}${key}"
    return _name(item)


def project(node: Node, columns: Sequence[Typed], names: tuple[str, ...]) -> Project:
    """Return a node that computes columns."""
    return Project(Schema(names, tuple(column.type for column in columns)), node, tuple(columns))


def renamed(node: Node, names: tuple[str, ...]) -> Node:
    """Return a node whose columns have other names."""
    if names == node.schema.names:
        return node
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return project(node, columns, names)


def _starred(binder: ExpressionBinder, star: syntax.Star) -> Sequence[tuple[str, Typed]]:
    if not star.qualifier or binder.scope.has_table(star.qualifier):
        return list(binder.scope.columns(star.qualifier))
    try:
        row = binder.scope.resolve(syntax.Name(star.qualifier, span=star.span))
    except ValidationError:
        name = ".".join(star.qualifier)
        raise invalid(f"Unknown identifier '{name}'", star.span) from None
    if row.type.root not in logical.ROWS:
        text = "Not a record type. The '*' operator requires a record"
        raise invalid(text, star.span)
    return [(name, field_of(row, name)) for name in row.type.names]


def _name(item: syntax.Expression) -> str | None:
    if isinstance(item, syntax.Alias):
        return item.names[0]
    if isinstance(item, syntax.Name):
        return item.parts[-1]
    return None


def sorted_node(node: Node, binder: ExpressionBinder, items: Sequence[syntax.SortItem]) -> Sort:
    """Return the rows of a node in an order.

    Args:
        node: the node.
        binder: resolves the items.
        items: what the order is made of.
    """
    keys = []
    check_no_null(item.expression for item in items)
    for item in items:
        first = item.ascending if item.nulls_first is None else item.nulls_first
        keys.append(SortKey(binder.bind(item.expression), item.ascending, first))
    return Sort(node.schema, node, tuple(keys))


def limited(node: Node, offset: int, fetch: int | None) -> Sort:
    """Return some rows of a node.

    Args:
        node: the node.
        offset: how many rows are left out first.
        fetch: how many rows are kept; None for all.
    """
    if isinstance(node, Sort) and node.fetch is None:
        return replace(node, offset=node.offset + offset, fetch=fetch)
    return Sort(node.schema, node, (), offset, fetch)


def count_of(node: syntax.Expression | None, what: str) -> int | None:
    """Return the number of rows that LIMIT or OFFSET has.

    Raises:
        ValidationError: it is no constant.
    """
    if node is None:
        return None
    if isinstance(node, syntax.Literal) and isinstance(node.value, int):
        return node.value
    raise invalid(f"{what} has to be a whole number", node.span)
