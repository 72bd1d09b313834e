"""Finds unique keys: the columns that identify a row of a node."""

from __future__ import annotations

from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    AssignWatermarks,
    ExternalScan,
    Filter,
    Node,
    Over,
    Project,
    TableScan,
)

_NUMBER = "ROW_NUMBER"


def unique_key(node: Node) -> frozenset[int] | None:
    """Return the positions of columns that identify a row of a node, or None."""
    if isinstance(node, TableScan):
        key = node.table.schema.primary_key
        names = node.schema.names
        if not key or not set(key) <= set(names):
            return None
        return frozenset(names.index(name) for name in key)
    if isinstance(node, ExternalScan):
        return frozenset(node.rows.key) if node.rows.key else None
    if isinstance(node, AssignWatermarks):
        return unique_key(node.input)
    if isinstance(node, Project):
        return _projected(node, unique_key(node.input))
    if isinstance(node, Filter):
        return _first_of_each(node) or unique_key(node.input)
    if isinstance(node, Aggregate):
        return frozenset(range(len(node.keys))) if node.keys and node.rows is None else None
    return None


def has_one_row(node: Node) -> bool:
    """True for a node with at most one row."""
    if isinstance(node, Project):
        return has_one_row(node.input)
    return isinstance(node, Aggregate) and not node.keys and node.rows is None


def _projected(node: Project, key: frozenset[int] | None) -> frozenset[int] | None:
    if key is None:
        return None
    places = {
        item.index: index
        for index, item in enumerate(node.expressions)
        if isinstance(item, InputRef)
    }
    return frozenset(places[index] for index in key) if key <= places.keys() else None


def _first_of_each(node: Filter) -> frozenset[int] | None:
    """Return the partition that a filter keeps one row of."""
    columns: tuple[Typed, ...] = tuple(
        InputRef(kind, index) for index, kind in enumerate(node.input.schema.types)
    )
    below = node.input
    while isinstance(below, Project):
        columns = tuple(
            below.expressions[item.index] if isinstance(item, InputRef) else item
            for item in columns
        )
        below = below.input
    if not isinstance(below, Over) or [call.function.name for call in below.calls] != [_NUMBER]:
        return None  # several rows may have the same rank
    if not all(isinstance(item, InputRef) for item in below.partition):
        return None
    rank = len(below.input.schema)
    one = any(_is_one(part, columns, rank) for part in conjuncts(node.condition))
    if not one:
        return None
    wanted = {item.index for item in below.partition if isinstance(item, InputRef)}
    found = {item.index: index for index, item in enumerate(columns) if isinstance(item, InputRef)}
    return frozenset(found[index] for index in wanted) if wanted <= found.keys() else None


def _is_one(part: Typed, columns: tuple[Typed, ...], rank: int) -> bool:
    """True for a condition that only rank 1 meets."""
    if not isinstance(part, Invocation) or part.function.name not in {"=", "<="}:
        return False
    one, two = (_plain(arg) for arg in part.args)
    if not isinstance(one, InputRef) or not isinstance(two, Constant) or two.value != 1:
        return False
    column = columns[one.index]
    return isinstance(column, InputRef) and column.index == rank


def _plain(expression: Typed) -> Typed:
    while isinstance(expression, Conversion):
        expression = expression.operand
    return expression
