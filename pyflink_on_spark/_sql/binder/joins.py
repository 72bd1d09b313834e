"""Joins of two tables."""

from __future__ import annotations

from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Aggregate, Join, Node
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.plan.time_bounds import time_bounds
from pyflink_on_spark._sql.plan.window_columns import window_join
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
    types = (*left_types, *right_types)
    if not keeps_times(left, right, condition):
        types = tuple(each.plain() for each in types)
    schema = Schema(unique_names((*left.schema.names, *right.schema.names)), types)
    return Join(schema, left, right, kind, condition)


def keeps_times(left: Node, right: Node, condition: Typed | None) -> bool:
    """Tell whether the times of joined rows follow the watermark, so that they stay attributes."""
    if time_bounds(condition, len(left.schema)) is not None:
        return True
    return window_join(left, right, condition) is not None


def distinct(node: Node) -> Node:
    """Return the rows of a node without doubles."""
    types = tuple(kind.plain() for kind in node.schema.types)
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    return Aggregate(Schema(node.schema.names, types), node, keys, ())
