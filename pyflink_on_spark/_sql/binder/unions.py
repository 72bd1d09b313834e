"""UNION ALL."""

from __future__ import annotations

from pyflink_on_spark._sql.binder.overloads import convert
from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.plan.expressions import InputRef
from pyflink_on_spark._sql.plan.nodes import Node, Union
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types.coercion import common_type


def union_all(left: Node, right: Node, span: Span | None, written: str = "UNION ALL") -> Node:
    """Return the rows of two nodes; columns get the type that both have in common.

    Args:
        left: the first node.
        right: the second node.
        span: where the second one is, for messages.
        written: the operator, for messages.

    Raises:
        ValidationError: the columns do not fit.
    """
    if len(left.schema) != len(right.schema):
        raise invalid(f"Column count mismatch in {written}", span)
    types = []
    for index, pair in enumerate(zip(left.schema.types, right.schema.types), 1):
        common = common_type(pair)
        if common is None:
            raise invalid(f"Type mismatch in column {index} of {written}", span)
        types.append(common)
    schema = Schema(left.schema.names, tuple(types))
    return Union(schema, (converted(left, schema), converted(right, schema)))


def converted(node: Node, schema: Schema) -> Node:
    """Return a node with its columns converted to others' types."""
    pairs = list(zip(node.schema.types, schema.types))
    if all(kind.same_values(wanted) for kind, wanted in pairs):
        return node
    columns = [convert(InputRef(kind, index), wanted) for index, (kind, wanted) in enumerate(pairs)]
    return project(node, columns, schema.names)
