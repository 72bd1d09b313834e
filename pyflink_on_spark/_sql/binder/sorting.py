"""ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.plan.nodes import Node, Sort, SortKey
from pyflink_on_spark._sql.syntax import expressions as syntax


def sorted_node(node: Node, binder: ExpressionBinder, items: Sequence[syntax.SortItem]) -> Sort:
    """Return the rows of a node in an order.

    Args:
        node: the node.
        binder: resolves the items.
        items: what the order is made of.
    """
    keys = []
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
