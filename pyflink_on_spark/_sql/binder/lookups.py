"""Joins with a table that is looked up, row by row."""

from __future__ import annotations

from collections.abc import Iterator

from pyflink_on_spark._sql.binder.conditions import all_of
from pyflink_on_spark._sql.binder.overloads import convert
from pyflink_on_spark._sql.binder.scope import unique_names
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.expressions import (
    InputRef,
    Invocation,
    Typed,
    conjuncts,
    input_refs,
    substitute,
)
from pyflink_on_spark._sql.plan.nodes import AssignWatermarks, Correlate, Node, Project, TableScan
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.runtime.lookups import lookup_function
from pyflink_on_spark._sql.syntax.queries import JoinKind


def looked_up(node: Node) -> TableScan | None:
    """Return the table that a node reads if rows of it can be looked up, or None."""
    while isinstance(node, Project | AssignWatermarks):
        node = node.input
    if not isinstance(node, TableScan) or node.source.lookup((0,)) is None:
        return None
    return node


def lookup_join(
    left: Node, right: Node, scan: TableScan, kind: JoinKind, condition: Typed | None
) -> Node:
    """Return the rows of a node with the rows that a table has for them at that moment.

    Args:
        left: the rows.
        right: the columns of the table.
        scan: what ``looked_up`` returned for the right node.
        kind: INNER or LEFT.
        condition: over the columns of both.

    Raises:
        TableError: no column of the table has to be equal to something.
    """
    width = len(left.schema)
    columns = _stored_columns(right)
    keys: dict[int, Typed] = {}
    rest = []
    for part in conjuncts(condition):
        key = next(_keys(part, width, columns), None)
        if key is None or key[0] in keys:
            rest.append(part)
        else:
            keys[key[0]] = key[1]
    if not keys:
        raise TableError(
            f"Temporal table join requires an equality condition on fields of table [{scan.path}]."
        )
    places = tuple(keys)
    lookup = scan.source.lookup(places)
    assert lookup is not None
    outer = kind is JoinKind.LEFT
    types = [each.plain() for each in right.schema.types]
    if outer:
        types = [each.with_nullable(True) for each in types]
    schema = Schema(
        unique_names((*left.schema.names, *right.schema.names)), (*left.schema.types, *types)
    )
    args = tuple(convert(keys[place], scan.schema.types[place]) for place in places)
    function = lookup_function(scan.path.name, lookup, columns, right.schema, len(scan.schema))
    return Correlate(schema, left, function, args, outer, all_of(rest))


def _stored_columns(node: Node) -> list[Typed]:
    """Return the columns of a node, over those that are stored."""
    if isinstance(node, Project):
        inner = tuple(_stored_columns(node.input))
        return [substitute(column, inner) for column in node.expressions]
    if isinstance(node, AssignWatermarks):
        return _stored_columns(node.input)
    return [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]


def _keys(part: Typed, width: int, columns: list[Typed]) -> Iterator[tuple[int, Typed]]:
    """Yield a stored column and what it has to be equal to, if a condition says so."""
    if not isinstance(part, Invocation) or part.function.name != "=":
        return
    for one, two in (part.args, part.args[::-1]):
        if isinstance(two, InputRef) and two.index >= width:
            stored = columns[two.index - width]
            if isinstance(stored, InputRef) and all(index < width for index in input_refs(one)):
                yield stored.index, one
