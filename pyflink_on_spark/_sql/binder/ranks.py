"""ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import parts
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.plan.nodes import Node, Rank, SortKey
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import OverWindow
from pyflink_on_spark._sql.types import logical

RANK = "$rank"


def over_calls(items: Sequence[Any]) -> list[syntax.OverCall]:
    """Return the functions over windows of rows among expressions."""
    found: list[syntax.OverCall] = []
    for item in items:
        inner = item.operand if isinstance(item, syntax.Alias) else item
        if isinstance(inner, syntax.OverCall):
            found.append(inner)
        elif any(isinstance(part, syntax.OverCall) for part in _deep(inner)):
            not_yet("a function of OVER within an expression", inner.span, "Use a subquery.")
    return found


def _deep(node: Any) -> list[Any]:
    return [
        arg
        for part in parts(node)
        if isinstance(part, syntax.Call)
        for arg in part.args
        if isinstance(arg, syntax.OverCall)
    ]


def ranked(
    node: Node,
    binder: ExpressionBinder,
    call: syntax.OverCall,
    windows: dict[str, OverWindow],
) -> Rank:
    """Return the rows of a node with their number in an order.

    Args:
        node: the node.
        binder: resolves the columns.
        call: the function.
        windows: those of the query, by name.

    Raises:
        UnsupportedFlinkFeature: it is another function than ROW_NUMBER.
    """
    name = call.call.call.name.upper()
    if name != "ROW_NUMBER":
        not_yet(f"{name} OVER", call.span, "Aggregate in a KeyedProcessFunction.")
    window = windows[call.window] if isinstance(call.window, str) else call.window
    partition = tuple(binder.bind(item) for item in window.partition_by)
    keys = []
    for item in window.order_by:
        first = item.ascending if item.nulls_first is None else item.nulls_first
        keys.append(SortKey(binder.bind(item.expression), item.ascending, first))
    kind = logical.BIGINT.with_nullable(False)
    schema = Schema((*node.schema.names, RANK), (*node.schema.types, kind))
    return Rank(schema, node, partition, tuple(keys))
