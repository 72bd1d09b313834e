"""Nodes that make rows of changes, and changes of rows."""

from __future__ import annotations

from pyflink_on_spark._sql.plan.changes import DELETE, INSERT, ChangeKinds
from pyflink_on_spark._sql.plan.nodes import FromChangelog, ToChangelog
from pyflink_on_spark._sql.planner.meanings import Columns
from pyflink_on_spark._sql.planner.physical import GraphBuilder, PhysicalNode, RowStream
from pyflink_on_spark._sql.runtime.rows import ChangesFromRowsOperator, ChangesToRowsOperator

_KINDS = {INSERT: ChangeKinds.INSERT, DELETE: ChangeKinds.DELETE}


class ChangesToRows(PhysicalNode):
    """Gives each change as a row.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "ProcessTableFunction"

    def __init__(self, source: PhysicalNode, node: ToChangelog) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Rows are inserted only."""
        return ChangeKinds.INSERT

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """Each change is a row."""
        return True

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        codes = {kind: code for code, kind in self.node.codes}
        operator = ChangesToRowsOperator(codes, source.changelog)
        return RowStream(builder.aligned(self.name, source.edges, operator), changelog=False)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input after that of the kind."""
        return (f"TO_CHANGELOG({self.node.codes})", *inputs[0])

    def details(self) -> dict[str, str]:
        """Return the codes and the columns."""
        codes = ", ".join(code for code, _ in self.node.codes)
        return {"invocation": f"TO_CHANGELOG({codes})", "select": ", ".join(self.schema.names)}


class ChangesFromRows(PhysicalNode):
    """Gives the change that each row stands for.

    Args:
        source: the input.
        node: the logical node.
    """

    name = "ProcessTableFunction"

    def __init__(self, source: PhysicalNode, node: FromChangelog) -> None:
        super().__init__(node.schema, source)
        self.node = node

    def accepts(self, port: int) -> ChangeKinds:
        """Rows that are inserted."""
        return ChangeKinds.INSERT

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """Return the kinds that there are codes for."""
        found = ChangeKinds.INSERT
        for _, kind in self.node.codes:
            found |= _KINDS.get(kind, ChangeKinds.UPDATE)
        return found

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the operator."""
        (source,) = inputs
        operator = ChangesFromRowsOperator(
            self.node.column,
            dict(self.node.codes),
            changelog=self.changelog,
            before=self.emits_update_before,
        )
        return RowStream(builder.aligned(self.name, source.edges, operator), self.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the input without that of the kind."""
        columns = inputs[0]
        return (*columns[: self.node.column], *columns[self.node.column + 1 :])

    def details(self) -> dict[str, str]:
        """Return the codes and the columns."""
        codes = ", ".join(code for code, _ in self.node.codes)
        return {"invocation": f"FROM_CHANGELOG({codes})", "select": ", ".join(self.schema.names)}
