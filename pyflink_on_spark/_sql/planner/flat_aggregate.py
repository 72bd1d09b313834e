"""Any number of rows for each group of rows."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.rows import compile_row
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.nodes import FlatAggregate as LogicalFlatAggregate
from pyflink_on_spark._sql.planner.aggregates import function_bundle, keyed_edges
from pyflink_on_spark._sql.planner.meanings import Columns, Content, grouped, told, told_all
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.flat_aggregate import FlatAggregateOperator


class FlatAggregate(PhysicalNode):
    """Replaces the rows of groups.

    Args:
        source: the input.
        node: the logical node.
        batch: whether results come at the end only.
    """

    name = "GroupTableAggregate"

    def __init__(self, source: PhysicalNode, node: LogicalFlatAggregate, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """Rows come and go."""
        if self._batch:
            return ModifyKinds.INSERT
        return ModifyKinds.INSERT | ModifyKinds.DELETE

    def needs_before(self, port: int, wanted: bool) -> bool:
        """An update takes the row back as it was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operators."""
        (source,) = inputs
        node, width = self.node, len(self.inputs[0].schema)
        zone = translation.settings.time_zone
        binding = node.function.binding([arg.type for arg in node.args], zone)
        operator = FlatAggregateOperator(
            binding,
            compile_row(node.args, width, zone),
            compile_row(node.keys, width, zone),
            source.changelog,
            None if self._batch else function_bundle(translation.settings),
            translation.settings.state_ttl,
        )
        edges = keyed_edges(translation, source, node.keys, width)
        parallelism = None if node.keys else 1
        return Stream(
            translation.operator(self.name, edges, operator, parallelism=parallelism),
            self.changelog,
        )

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the keys, and what the function gives."""
        node, columns = self.node, inputs[0]
        by = [told(key, columns) for key in node.keys]
        args = ", ".join(told(arg, columns) for arg in node.args)
        given = (f"{node.function.name}({args}).{name}" for name in node.schema.names[len(by) :])
        return (*by, *grouped(given, by))

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys and the function."""
        node, columns = self.node, inputs[0]
        args = ", ".join(told_all(node.args, columns))
        return {
            "kind": self.name,
            "keys": told_all(node.keys, columns),
            "function": f"{node.function.name}({args})",
            "gives": list(map(str, node.schema.types[len(node.keys) :])),
        }

    def details(self) -> dict[str, str]:
        """Return the keys and the function."""
        keys = ", ".join(map(str, self.node.keys))
        return {"groupBy": keys, "select": f"{self.node.function.name}(...)"}
