"""Table functions, for each row of an input."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.correlate import compile_correlate
from pyflink_on_spark._sql.plan.nodes import Correlate as LogicalCorrelate
from pyflink_on_spark._sql.planner.meanings import Columns, shortened, told
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.calc import CalcOperator


class Correlate(PhysicalNode):
    """Gives each row with those of a table function.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "Correlate"

    def __init__(self, source: PhysicalNode, node: LogicalCorrelate) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the compiled function."""
        (source,) = inputs
        node = self.node
        width = len(self.inputs[0].schema)
        program = compile_correlate(
            node.function,
            node.args,
            node.condition,
            width,
            len(self.schema) - width,
            translation.settings.time_zone,
            left=node.left,
            changelog=source.changelog,
        )
        edges = translation.aligned(self.name, source.edges, CalcOperator(program))
        return Stream(edges, source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then those of the function."""
        columns = inputs[0]
        args = ", ".join(told(arg, columns) for arg in self.node.args)
        call = shortened(f"{self.node.function.name}({args})")
        return (*columns, *(f"{call}.{name}" for name in self.schema.names[len(columns) :]))

    def details(self) -> dict[str, str]:
        """Return the function and the columns."""
        kind = "LEFT" if self.node.left else "INNER"
        args = ", ".join(map(str, self.node.args))
        return {
            "invocation": f"{self.node.function.name}({args})",
            "select": ", ".join(self.schema.names),
            "joinType": kind,
        }
