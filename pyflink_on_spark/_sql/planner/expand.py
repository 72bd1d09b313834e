"""Rows once for each set of keys."""

from __future__ import annotations

from pyflink_on_spark._sql.codegen.rows import compile_expand
from pyflink_on_spark._sql.plan.expand import Expand as LogicalExpand
from pyflink_on_spark._sql.planner.meanings import Columns
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation
from pyflink_on_spark._sql.runtime.calc import CalcOperator


class Expand(PhysicalNode):
    """Gives each row once for each set of keys.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "Expand"

    def __init__(self, source: PhysicalNode, node: LogicalExpand) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def needs_before(self, port: int, wanted: bool) -> bool:
        """A row of each set is taken back where a row was."""
        return True

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the compiled function."""
        (source,) = inputs
        program = compile_expand(
            self.node.keys,
            self.node.sets,
            len(self.inputs[0].schema),
            translation.settings.time_zone,
            changelog=source.changelog,
        )
        edges = translation.aligned(self.name, source.edges, CalcOperator(program))
        return Stream(edges, source.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input, then which set a row is of."""
        columns = inputs[0]
        sets = self.details()["projects"]
        names = self.schema.names[len(columns) :]
        return (*columns, *(f"GROUPING SETS({sets}).{name}" for name in names))

    def details(self) -> dict[str, str]:
        """Return the sets."""
        return {"projects": ", ".join(str(sorted(each)) for each in self.node.sets)}
