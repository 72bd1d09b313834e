"""Watermarks of tables."""

from __future__ import annotations

from pyflink_on_spark._sql.compiler.rows import compile_value
from pyflink_on_spark._sql.operators.watermarks import WatermarkOperator
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.calc import shown_expression
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark.common._options.table import IDLE_TIMEOUT


class WatermarkAssigner(PhysicalNode):
    """Makes watermarks of a column.

    Args:
        schema: the columns.
        source: the input.
        column: the position of the rowtime attribute.
        watermark: what is computed for each row.
    """

    name = "WatermarkAssigner"

    def __init__(self, schema: Schema, source: PhysicalNode, column: int, watermark: Typed) -> None:
        super().__init__(schema, source)
        self.column, self.watermark = column, watermark

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the operator that makes the watermarks."""
        (source,) = inputs
        settings = translation.settings
        program = compile_value(self.watermark, len(self.schema), settings.time_zone)
        timeout = IDLE_TIMEOUT.read(settings.configuration)
        operator = WatermarkOperator(program, source.changelog, timeout or None)
        return Stream(translation.aligned(self.name, source.edges, operator), source.changelog)

    def details(self) -> dict[str, str]:
        """Return the column and the watermark."""
        names = self.schema.names
        return {
            "rowtime": names[self.column],
            "watermark": shown_expression(self.watermark, names),
        }
