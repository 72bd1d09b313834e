"""Joins of two tables."""

from __future__ import annotations

from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Join, Node
from pyflink_on_spark._sql.plan.schema import Schema
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
