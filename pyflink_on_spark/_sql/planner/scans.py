"""The nodes that rows come from."""

from __future__ import annotations

from pyflink_on_spark._connectors.builtin.collection import CollectionSource
from pyflink_on_spark._graph.transformation import Edge
from pyflink_on_spark._sql.catalog.objects import ObjectPath
from pyflink_on_spark._sql.connectors.table import TableSource
from pyflink_on_spark._sql.operators.kinds import AsInserts
from pyflink_on_spark._sql.plan.external import ExternalRows
from pyflink_on_spark._sql.plan.nodes import Values as LogicalValues
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.planner.changes import ModifyKinds
from pyflink_on_spark._sql.planner.physical import PhysicalNode, Stream
from pyflink_on_spark._sql.planner.translation import Translation


class SourceScan(PhysicalNode):
    """Reads a table of a connector.

    Args:
        schema: the columns that are read.
        path: the table.
        source: the connector's.
        metadata: the keys of the metadata columns, which are the last ones.
    """

    name = "TableSourceScan"

    def __init__(
        self, schema: Schema, path: ObjectPath, source: TableSource, metadata: tuple[str, ...]
    ) -> None:
        super().__init__(schema)
        self.path, self.source, self.metadata = path, source, metadata

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """The connector says it."""
        return self.source.changes

    def can_give_before(self) -> bool:
        """The connector says it."""
        return self.source.before

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add the source and its format."""
        reading = self.source.reading(self.metadata)
        edges = translation.read(f"{self.path.name}[{self.name}]", reading.source)
        if reading.decoder is not None:
            edges = translation.aligned("Decode", edges, reading.decoder)
        return Stream(edges, self.changelog)

    def details(self) -> dict[str, str]:
        """Return the table and the columns."""
        return {"table": f"[{', '.join(self.path)}]", "fields": ", ".join(self.schema.names)}


class ExternalScan(PhysicalNode):
    """Reads rows of the program.

    Args:
        schema: their columns.
        rows: where they come from.
    """

    name = "DataStreamScan"

    def __init__(self, schema: Schema, rows: ExternalRows) -> None:
        super().__init__(schema)
        self.rows = rows

    def produces(self, inputs: tuple[ModifyKinds, ...]) -> ModifyKinds:
        """The rows say it."""
        return self.rows.changes

    def can_give_before(self) -> bool:
        """The rows say it."""
        return self.rows.before

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add what makes rows of the program's elements."""
        edges = translation.aligned(self.rows.name, self.rows.edges, self.rows.operator)
        return Stream(edges, self.changelog)

    def details(self) -> dict[str, str]:
        """Return what it is and the columns."""
        return {"table": f"[{self.rows.name}]", "fields": ", ".join(self.schema.names)}


class Values(PhysicalNode):
    """Gives rows of constants.

    Args:
        node: the logical one.
    """

    name = "Values"

    def __init__(self, node: LogicalValues) -> None:
        super().__init__(node.schema)
        self.rows = node.rows

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Add a source of the rows; it has one subtask."""
        return Stream(translation.read(self.name, CollectionSource(self.rows)), changelog=False)

    def details(self) -> dict[str, str]:
        """Return the rows."""
        rows = ", ".join(f"{{ {', '.join(map(str, row))} }}" for row in self.rows)
        return {"tuples": f"[{rows}]"}


class Union(PhysicalNode):
    """Gives the rows of several nodes."""

    name = "Union"

    def translate(self, inputs: tuple[Stream, ...], translation: Translation) -> Stream:
        """Unite the streams, all of pairs if one is."""
        edges: list[Edge] = []
        for node, stream in zip(self.inputs, inputs):
            if self.changelog and not node.changelog:
                edges += translation.aligned("AsInserts", stream.edges, AsInserts())
            else:
                edges += stream.edges
        return Stream(tuple(edges), self.changelog)

    def details(self) -> dict[str, str]:
        """Return that all rows are kept."""
        return {"all": "true", "union": ", ".join(self.schema.names)}
