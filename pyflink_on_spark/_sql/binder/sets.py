"""The outer parts of queries: UNION, INTERSECT and EXCEPT; ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.binder.aggregates import sort_key
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, check_no_null, invoke
from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Typed,
    convert,
)
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    Correlate,
    Filter,
    Node,
    Schema,
    Sort,
    Union,
    project,
)
from pyflink_on_spark._sql.plan.signatures import TableFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.queries import SetOperator
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type, least_restrictive
from pyflink_on_spark._sql.types.logical import LogicalType, Time

_COUNT = logical.BIGINT.with_nullable(False)


_SIDE = logical.BOOLEAN.with_nullable(False)


_REPEAT = TableFunction(
    "REPLICATE_ROWS",
    lambda types: ((), ()),
    lambda site: f"(() for _ in range({site.source(0)}))",
)


@dataclass(frozen=True)
class _Sides:
    """Both inputs as one, with counts of the rows of each."""

    node: Aggregate
    left: Typed
    right: Typed


def set_operation(
    operator: SetOperator, left: Node, right: Node, *, every: bool, span: Span | None = None
) -> Node:
    """Return INTERSECT or EXCEPT of two nodes: rows are counted on both sides.

    With ALL a time attribute stays one, as in Flink.

    Args:
        operator: which of them.
        left: the first node.
        right: the second node.
        every: whether equal rows count for themselves.
        span: where it is, for messages.

    Raises:
        ValidationError: the columns do not fit.
    """
    written = f"{operator.value} ALL" if every else operator.value
    sides = _sides(left, right, span, written, keeps_times=every)
    functions = builtin_functions()
    zero = Constant(_COUNT, 0)
    columns = sides.node.schema
    width = len(columns) - 2
    if not every:
        wanted = "=" if operator is SetOperator.EXCEPT else ">"
        condition = invoke(
            functions["AND"],
            [
                invoke(functions[">"], [sides.left, zero]),
                invoke(functions[wanted], [sides.right, zero]),
            ],
        )
        return _columns(Filter(columns, sides.node, condition), width)
    if operator is SetOperator.EXCEPT:
        count = invoke(functions["-"], [sides.left, sides.right])
    else:
        count = invoke(functions["LEAST"], [sides.left, sides.right])
    return _columns(Correlate(columns, sides.node, _REPEAT, (count,)), width)


def _sides(
    left: Node, right: Node, span: Span | None, written: str, *, keeps_times: bool
) -> _Sides:
    marked = _marked(left, is_left=True), _marked(right, is_left=False)
    union = union_all(*marked, span, written)
    width = len(left.schema)
    types = union.schema.types[:width]
    if not keeps_times:
        types = tuple(kind.plain() for kind in types)
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    side = InputRef(_SIDE, width)
    functions = builtin_functions()
    count = functions["COUNT"]
    calls = tuple(
        AggregateInvocation(_COUNT, count, count.overloads[0], (), filter=condition)
        for condition in (side, invoke(functions["NOT"], [side]))
    )
    schema = Schema((*left.schema.names, "$left", "$right"), (*types, _COUNT, _COUNT))
    node = Aggregate(schema, union, keys, calls)
    return _Sides(node, InputRef(_COUNT, width), InputRef(_COUNT, width + 1))


def _marked(node: Node, *, is_left: bool) -> Node:
    columns: list[Typed] = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return project(node, [*columns, Constant(_SIDE, is_left)], (*node.schema.names, "$side"))


def _columns(node: Node, width: int) -> Node:
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types[:width])]
    return project(node, columns, node.schema.names[:width])


def union_all(left: Node, right: Node, span: Span | None, written: str = "UNION ALL") -> Node:
    """Return the rows of two nodes; columns get the type that both have in common.

    A column is a time attribute if that of the left node is one, as in Flink.

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
        common = _common_column(*pair)
        if common is None:
            raise invalid(f"Type mismatch in column {index} of {written}", span)
        types.append(common)
    schema = Schema(left.schema.names, tuple(types))
    union = Union(schema, (converted(left, schema), converted(right, schema)))
    if span is not None:
        return union
    # The Table API declares the type that SQL would have lost digits for.
    pairs = zip(schema.types, left.schema.types, right.schema.types)
    wider = [kind if kind.time else common_type(sides) or kind for kind, *sides in pairs]
    return converted(union, Schema(schema.names, tuple(wider)))


def _common_column(left: LogicalType, right: LogicalType) -> LogicalType | None:
    common = least_restrictive((left, right))
    if common is None:
        return None
    if left.time is Time.ROWTIME and right.time is not Time.PROCTIME:
        return left.with_nullable(common.nullable)
    if left.time is right.time is Time.PROCTIME:
        return left.with_nullable(common.nullable)
    return common


def converted(node: Node, schema: Schema) -> Node:
    """Return a node with its columns converted to others' types."""
    pairs = list(zip(node.schema.types, schema.types))
    if all(kind.same_values(wanted) for kind, wanted in pairs):
        return node
    columns = [convert(InputRef(kind, index), wanted) for index, (kind, wanted) in enumerate(pairs)]
    return project(node, columns, schema.names)


def sorted_node(node: Node, binder: ExpressionBinder, items: Sequence[syntax.SortItem]) -> Sort:
    """Return the rows of a node in an order.

    Args:
        node: the node.
        binder: resolves the items.
        items: what the order is made of.
    """
    check_no_null(item.expression for item in items)
    return Sort(node.schema, node, tuple(sort_key(binder, item) for item in items))


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
