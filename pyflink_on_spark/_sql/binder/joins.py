"""Joins of two tables."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.overloads import invoke
from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Aggregate, Join, Node
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.queries import JoinKind


def join(left: Node, right: Node, kind: JoinKind, condition: Typed | None) -> Join:
    """Return the pairs of rows of two nodes for which a condition is TRUE.

    Args:
        left: the first one.
        right: the second one.
        kind: which rows without partners are kept.
        condition: over the columns of both; None for all pairs.
    """
    left_types, right_types = left.schema.types, right.schema.types
    if kind in {JoinKind.RIGHT, JoinKind.FULL}:
        left_types = tuple(each.with_nullable(True) for each in left_types)
    if kind in {JoinKind.LEFT, JoinKind.FULL}:
        right_types = tuple(each.with_nullable(True) for each in right_types)
    schema = Schema(
        unique_names((*left.schema.names, *right.schema.names)),
        tuple(each.plain() for each in (*left_types, *right_types)),
    )
    return Join(schema, left, right, kind, condition)


def distinct(node: Node) -> Node:
    """Return the rows of a node without doubles."""
    types = tuple(kind.plain() for kind in node.schema.types)
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    return Aggregate(Schema(node.schema.names, types), node, keys, ())


def semi_join(node: Node, binder: ExpressionBinder, part: syntax.Subquery, found: Node) -> Node:
    """Return the rows of a node whose values are among those of a query.

    Args:
        node: the node.
        binder: resolves the values.
        part: ``values IN (query)``.
        found: the query.

    Raises:
        ValidationError: there are not as many values as columns.
    """
    if len(part.operands) != len(found.schema):
        raise invalid("Values passed to IN operator must have compatible types", part.span)
    functions = builtin_functions().functions
    width = len(node.schema)
    condition: Typed | None = None
    for index, operand in enumerate(part.operands):
        other = InputRef(found.schema.types[index].plain(), width + index)
        equal = invoke(functions["="], [binder.bind(operand), other], span=part.span)
        condition = equal if condition is None else invoke(functions["AND"], [condition, equal])
    joined = join(node, distinct(found), JoinKind.INNER, condition)
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return project(joined, columns, node.schema.names)


def conjuncts(node: Any) -> list[Any]:
    """Return the parts that all have to be TRUE for a condition to be TRUE."""
    if isinstance(node, syntax.Call) and node.name == "AND":
        return [part for arg in node.args for part in conjuncts(arg)]
    return [node]
