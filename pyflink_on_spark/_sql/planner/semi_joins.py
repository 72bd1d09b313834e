"""Joins that give rows of the left input only."""

from __future__ import annotations

from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.joins import SemiJoin as LogicalSemiJoin
from pyflink_on_spark._sql.planner.calc import shown_expression
from pyflink_on_spark._sql.planner.joins import JoinParts, split_condition
from pyflink_on_spark._sql.planner.meanings import Columns, Content
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.batch_joins import BatchSemiJoinOperator
from pyflink_on_spark._sql.runtime.joins import SemiJoinOperator


class SemiJoin(PhysicalNode):
    """Gives the rows that have a partner, or those that have none.

    Args:
        left: the first input.
        right: the second input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Join"

    def __init__(
        self, left: PhysicalNode, right: PhysicalNode, node: LogicalSemiJoin, batch: bool
    ) -> None:
        super().__init__(node.schema, left, right)
        self.node, self._batch = node, batch

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows go when partners go, or come."""
        if self._batch:
            return ModifyKinds.INSERT
        left, right = inputs
        if right is ModifyKinds.INSERT and not self.node.anti:
            return left
        return left | right | ModifyKinds.DELETE

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        keys, rest = split_condition(self.node.condition, widths[0])
        parts = JoinParts(keys, rest, widths)
        condition, nulls = parts.programs(translation.settings.time_zone)
        operator: SemiJoinOperator | BatchSemiJoinOperator
        if self._batch:
            operator = BatchSemiJoinOperator(condition, widths, self.node.anti, nulls)
        else:
            changelogs = inputs[0].changelog, inputs[1].changelog
            operator = SemiJoinOperator(
                condition, widths, self.node.anti, changelogs, nulls, self.changelog,
                translation.settings.state_ttl,
            )  # fmt: skip
        edges = translation.operator(
            self.name, parts.edges(inputs, translation), operator, parallelism=parts.parallelism
        )
        return Stream(edges, self.changelog)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the kind, the condition and the columns of both sides."""
        widths = len(self.inputs[0].schema), len(self.inputs[1].schema)
        parts = JoinParts(*split_condition(self.node.condition, widths[0]), widths)
        kind = "ANTI" if self.node.anti else "SEMI"
        return {"kind": self.name, **parts.meaning(kind, self.inputs, inputs)}

    def details(self) -> dict[str, str]:
        """Return the kind and the condition."""
        condition = self.node.condition
        names = (*self.inputs[0].schema.names, *self.inputs[1].schema.names)
        shown = "true" if condition is None else shown_expression(condition, names)
        return {
            "joinType": "LeftAntiJoin" if self.node.anti else "LeftSemiJoin",
            "where": shown,
            "select": ", ".join(self.schema.names),
        }
