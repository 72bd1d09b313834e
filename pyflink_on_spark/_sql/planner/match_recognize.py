"""Carries out MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._sql.codegen.match_recognize import MatchCompiler, depends_on_row_alone
from pyflink_on_spark._sql.codegen.rows import compile_sort_key
from pyflink_on_spark._sql.plan import match as logical
from pyflink_on_spark._sql.plan.changes import ChangeKinds
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed, rewrite
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.meanings import (
    Columns,
    Content,
    shortened,
    told,
    told_all,
    told_call,
    told_order,
    told_rows,
)
from pyflink_on_spark._sql.planner.physical import GraphBuilder, PhysicalNode, RowStream
from pyflink_on_spark._sql.runtime.match_recognize import (
    ArrivalMatchOperator,
    BatchMatchOperator,
    EventTimeMatchOperator,
    MatchOperator,
)
from pyflink_on_spark._sql.types.logical import Time


class Match(PhysicalNode):
    """Finds patterns among the rows of each key.

    Args:
        source: the input.
        node: the logical node.
        batch: whether rows come at the end.
    """

    name = "Match"

    def __init__(self, source: PhysicalNode, node: logical.Match, batch: bool) -> None:
        super().__init__(node.schema, source)
        self.node, self._batch = node, batch

    def accepts(self, port: int) -> ChangeKinds:
        """Rows are only added."""
        return ChangeKinds.INSERT

    def describe_short(self) -> str:
        """Return the operator's name in Flink."""
        return "Match Recognize"

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operators."""
        (source,) = inputs
        width, zone = len(self.inputs[0].schema), builder.settings.time_zone
        edges = keyed_edges(builder, source, self._keys(), width)
        parallelism = None if self.node.partition else 1
        operator = self._operator(width, zone)
        made = builder.operator(self.name, edges, operator, parallelism=parallelism)
        return RowStream(made, changelog=False)

    def _keys(self) -> tuple[InputRef, ...]:
        types = self.inputs[0].schema.types
        return tuple(InputRef(types[index], index) for index in self.node.partition)

    def _operator(self, width: int, zone: str) -> MatchOperator:
        node = self.node
        time = node.keys[0].value
        assert isinstance(time, InputRef)
        program = MatchCompiler(node, zone).program()
        alone = [
            depends_on_row_alone(condition, variable.name)
            for variable, condition in zip(node.pattern.variables, node.definitions)
        ]
        order = compile_sort_key(node.keys[1:], width, zone) if node.keys[1:] else None
        by_clock = time.type.time is Time.PROCTIME
        if self._batch:
            place = None if by_clock else time.index
            return BatchMatchOperator(program, node.pattern, alone, order, place)
        if by_clock:
            return ArrivalMatchOperator(program, node.pattern, alone, order)
        return EventTimeMatchOperator(program, node.pattern, alone, order, time.index)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns that rows are together by, then the measures."""
        columns = inputs[0]
        names = self.schema.names[len(self.node.partition) :]
        measures = (f"{self.name}.{name}" for name in names)
        return (*(columns[index] for index in self.node.partition), *measures)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the keys, the order, the pattern with its conditions, and the columns.

        The measures are computed when a match is found. They may change.
        """
        node, columns = self.node, inputs[0]
        time = node.keys[0].value.type.time
        details = node.details()
        pattern: Content = {
            key: details[key] for key in ("after", "pattern", "within") if key in details
        }
        return {
            "kind": self.name,
            "keys": told_all(self._keys(), columns),
            "order": told_order(node.keys, columns),
            "time": "" if time is None else time.value,
            **pattern,
            "define": [
                f"{variable.name} AS {told(_over(condition, columns), columns)}"
                for variable, condition in zip(node.pattern.variables, node.definitions)
            ],
            "columns": told_rows(self.inputs[0].schema, columns),
        }

    def details(self) -> dict[str, str]:
        """Return all of the pattern."""
        return self.node.details()


def _over(condition: Typed, columns: Columns) -> Typed:
    """Return a condition that shows what the columns of matched rows are made of."""

    def shown(part: Typed) -> Typed | None:
        if isinstance(part, logical.MatchedField):
            return replace(part, name=columns[part.column])
        if isinstance(part, logical.MatchedAggregate):
            return replace(part, text=shortened(f"{part.variable}.{told_call(part.call, columns)}"))
        return None

    return rewrite(condition, shown)
