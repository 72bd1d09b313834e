"""``LATERAL`` with a query that may use the columns before it becomes a join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.binder.expressions import unique_names
from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.binder.relations import all_of, join
from pyflink_on_spark._sql.binder.subqueries import (
    BoundSubquery,
    correlated_keys,
    is_correlated,
    is_count,
    or_zero,
)
from pyflink_on_spark._sql.errors import Span, not_yet
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed, shifted
from pyflink_on_spark._sql.plan.nodes import Aggregate, Node, Schema
from pyflink_on_spark._sql.syntax.queries import JoinKind


@dataclass(frozen=True)
class LateralQuery:
    """A query after LATERAL, with its columns first.

    Args:
        node: the columns of the query, and after them those that its conditions need.
        names: the names of its columns.
        conditions: over the columns before LATERAL, followed by those of the node.
        counts: the positions of columns that count rows, of which there may be none.
    """

    node: Node
    names: tuple[str, ...]
    conditions: tuple[Typed, ...]
    counts: frozenset[int] = frozenset()

    def named(self, columns: Sequence[str]) -> LateralQuery:
        """Return the same with other names, if there are any."""
        return replace(self, names=tuple(columns)) if columns else self

    def after(self, node: Node, kind: JoinKind, condition: Typed | None) -> Node:
        """Return the rows of a node with those of the query.

        Args:
            node: the rows before it.
            kind: INNER, CROSS or LEFT.
            condition: of ON, over the columns of both; None for all pairs.
        """
        together = [*self.conditions, *([] if condition is None else [condition])]
        made = join(node, self.node, kind, all_of(together))
        before = len(node.schema)
        types = made.schema.types[: before + len(self.names)]
        columns: list[Typed] = [InputRef(each, index) for index, each in enumerate(types)]
        if kind is JoinKind.LEFT:
            for index in (before + each for each in self.counts):
                columns[index] = or_zero(columns[index])
        return project(made, columns, unique_names((*node.schema.names, *self.names)))

    @property
    def schema(self) -> Schema:
        """The columns of the query."""
        return Schema(self.names, self.node.schema.types[: len(self.names)])


def rows_of(
    found: BoundSubquery, names: tuple[str, ...], width: int, span: Span | None
) -> LateralQuery:
    """Return a query whose rows are chosen for each row before it.

    Args:
        found: the query.
        names: the names of its columns.
        width: how many columns there are before LATERAL.
        span: where the query is, for messages.
    """
    if any(map(is_correlated, found.values)):
        not_yet("LATERAL with a query that selects columns from before it", span, "Join the table.")
    kept = [InputRef(kind, index) for index, kind in enumerate(found.node.schema.types)]
    all_names = unique_names((*names, *found.node.schema.names))
    node = project(found.node, [*found.values, *kept], all_names)
    conditions = tuple(found.joined(item, width, len(names)) for item in found.correlated)
    return LateralQuery(node, names, conditions)


def aggregate_of(
    aggregate: Aggregate,
    values: Sequence[Typed],
    names: tuple[str, ...],
    correlated: tuple[Typed, ...],
    width: int,
    span: Span | None,
) -> LateralQuery:
    """Return a query that aggregates what belongs to each row before it.

    A row to which nothing belongs has no partner, as in Flink; after LEFT JOIN its counts are 0.

    Args:
        aggregate: of all rows that the query reads.
        values: its columns, over those of the aggregate.
        names: their names.
        correlated: which rows belong to a row before LATERAL.
        width: how many columns there are before LATERAL.
        span: where the query is, for messages.
    """
    keys = correlated_keys(aggregate, correlated, span)
    made = [shifted(value, len(keys.own)) for value in values]
    columns = [InputRef(kind, index) for index, kind in enumerate(keys.types)]
    node = project(keys.grouped, [*made, *columns], unique_names((*names, *keys.names)))
    counts = frozenset(index for index, value in enumerate(values) if is_count(value, aggregate))
    return LateralQuery(node, names, keys.conditions(width + len(names)), counts)
