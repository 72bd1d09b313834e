"""Watermarks of tables."""

from __future__ import annotations

from pyflink_on_spark._graph.transformation import Edge, Transformation
from pyflink_on_spark._options.table import IDLE_TIMEOUT
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.rows import compile_values
from pyflink_on_spark._sql.plan.expressions import Typed, substitute
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.planner.aggregates import ChangelogNormalize
from pyflink_on_spark._sql.planner.calc import Calc, calc, shown_expression
from pyflink_on_spark._sql.planner.physical import GraphBuilder, PhysicalNode, RowStream
from pyflink_on_spark._sql.planner.python_calls import PythonVectorized
from pyflink_on_spark._sql.planner.scans import SourceScan
from pyflink_on_spark._sql.runtime.watermarks import NoteTimes, RowWatermarks, WatermarkOperator


class WatermarkAssigner(PhysicalNode):
    """Makes watermarks of a column.

    Args:
        schema: the columns.
        source: the input.
        rowtime: the name of the rowtime attribute.
        watermark: what is computed for each row.
        whole_deletes: whether a row that is deleted has all its values, and not its key alone.
    """

    name = "WatermarkAssigner"

    def __init__(
        self,
        schema: Schema,
        source: PhysicalNode,
        rowtime: str,
        watermark: Typed,
        whole_deletes: bool = True,
    ) -> None:
        super().__init__(schema, source)
        self.rowtime, self.watermark, self._whole_deletes = rowtime, watermark, whole_deletes

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Let the source make the watermarks of its splits if it can; else add what makes them."""
        (source,) = inputs
        settings = builder.settings
        program = compile_values(self.watermark, len(self.schema), settings.time_zone)
        timeout = IDLE_TIMEOUT.read(settings.configuration) or None
        marks = RowWatermarks(program, source.changelog, self._whole_deletes)
        operator: Operator
        scan = _scan(self.inputs[0], source.edges)
        if scan is not None and scan.source is not None and scan.source.takes_noted_times:
            rule = WatermarkRule(0, timeout, noted=True)
            scan.source = scan.source.with_watermarks(rule)
            operator = NoteTimes(marks)
        else:
            operator = WatermarkOperator(marks, timeout)
        return RowStream(builder.aligned(self.name, source.edges, operator), source.changelog)

    def details(self) -> dict[str, str]:
        """Return the column and the watermark."""
        shown = shown_expression(self.watermark, self.schema.names)
        return {"rowtime": self.rowtime, "watermark": shown}


def watermark_assigner(
    schema: Schema, source: PhysicalNode, column: int, watermark: Typed
) -> PhysicalNode:
    """Return a node whose rows have watermarks.

    The watermarks of a table that only says what a row is now come of its rows as they are read,
    not of the changes to them.

    Args:
        schema: the columns.
        source: the input.
        column: the position of the rowtime attribute.
        watermark: what is computed for each row.
    """
    rowtime = schema.names[column]
    normalize, computed = source, None
    if isinstance(source, Calc) and source.condition is None:
        (normalize,), computed = source.inputs, source.projection
    if not isinstance(normalize, ChangelogNormalize):
        return WatermarkAssigner(schema, source, rowtime, watermark)
    if computed is not None:
        watermark = substitute(watermark, computed)
    (read,) = normalize.inputs
    assigner = WatermarkAssigner(read.schema, read, rowtime, watermark, whole_deletes=False)
    return calc(source.schema, ChangelogNormalize(assigner, normalize.key), None, computed)


def _scan(node: PhysicalNode, edges: tuple[Edge, ...]) -> Transformation | None:
    """Return the source of a stream if the same subtasks make the rows of it, one by one."""
    while isinstance(node, Calc | PythonVectorized):
        (node,) = node.inputs
    if not isinstance(node, SourceScan):
        return None
    (edge,) = edges
    while edge.upstream.source is None:
        (edge,) = edge.upstream.edges
    return edge.upstream
