"""Physical nodes for the inputs of a plan, and their union."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._connectors.builtin import CollectionSource
from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, ExternalRows, Schema
from pyflink_on_spark._sql.plan.nodes import Values as LogicalValues
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.ports import TableSource
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    shortened,
    told_path,
)
from pyflink_on_spark._sql.planner.upsert_keys import NO_KEYS, UpsertKeys, one_key
from pyflink_on_spark._sql.runtime.rows import AsInserts, DropUpdateBefore

_BY_PLACE = frozenset({"csv"})
"""The formats of records without names of columns."""


class SourceScan(PhysicalNode):
    """Reads a table of a connector.

    Args:
        schema: the columns that are read.
        path: the table.
        source: the connector's.
        metadata: the keys of the metadata columns, which are the last ones.
        places: the places of columns in records that have no names of columns.
        key: the positions of the primary key, or nothing.
        has_watermarks: whether the table says how its watermarks are made.
    """

    name = "TableSourceScan"

    def __init__(
        self,
        schema: Schema,
        path: ObjectPath,
        source: TableSource,
        metadata: tuple[str, ...],
        places: Mapping[str, int] | None = None,
        *,
        key: tuple[int, ...] = (),
        has_watermarks: bool = False,
    ) -> None:
        super().__init__(schema)
        self.path, self.source, self.metadata = path, source, metadata
        self.key, self.has_watermarks = key, has_watermarks
        self._places = places or {}

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """The connector says it."""
        return self.source.changes

    def can_emit_update_before(self) -> bool:
        """The connector says it."""
        return self.source.emits_update_before

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the primary key."""
        return one_key(self.key) if self.key else None

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the source and its format."""
        reading = self.source.reading(self.metadata)
        counterpart = Counterpart((f"Source: {self.path.name}",))
        edges = builder.read(f"{self.path.name}[{self.name}]", reading.source, counterpart)
        if reading.decoder is not None:
            edges = builder.aligned("Decode", edges, reading.decoder)
        return _without_unneeded(self, edges, self.source.emits_update_before, builder)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of the table, by name, and by place if records have no names."""
        table, names = told_path(self.path), self.schema.names
        width = len(names) - len(self.metadata)
        return (
            *(
                f"{table}.{name}" + (f"#{self._places[name]}" if name in self._places else "")
                for name in names[:width]
            ),
            *(f"{table}.METADATA({key})" for key in self.metadata),
        )

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the table: how far it was read does not depend on the columns."""
        return {"kind": self.name, "table": told_path(self.path)}

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

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """The rows say it."""
        return self.rows.changes

    def can_emit_update_before(self) -> bool:
        """The rows say it."""
        return self.rows.emits_update_before

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return the primary key that the program has declared."""
        return one_key(self.rows.key) if self.rows.key else None

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add what makes rows of the program's elements."""
        edges = builder.aligned(self.rows.name, self.rows.edges, self.rows.operator)
        return _without_unneeded(self, edges, self.rows.emits_update_before, builder)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns by name and place."""
        stream = self.rows.edges[0].upstream
        return _by_place(f"stream {stream.uid or stream.name}", self.schema)

    def details(self) -> dict[str, str]:
        """Return the table and its columns."""
        return {"table": f"[{self.rows.name}]", "fields": ", ".join(self.schema.names)}


def _without_unneeded(
    node: PhysicalNode, edges: tuple[Edge, ...], before: bool, builder: GraphBuilder
) -> RowStream:
    """Return the rows of a source without UPDATE_BEFORE rows that nobody needs.

    Args:
        node: the source.
        edges: its rows.
        before: whether each update has an UPDATE_BEFORE row.
        builder: adds operators.
    """
    if before and ChangeKinds.UPDATE in node.changes and not node.emits_update_before:
        edges = builder.aligned("DropUpdateBefore", edges, DropUpdateBefore())
    return RowStream(edges, node.changelog)


class Values(PhysicalNode):
    """Gives rows of constants.

    Args:
        node: the logical one.
    """

    name = "Values"
    is_filtered_early = True

    def __init__(self, node: LogicalValues) -> None:
        super().__init__(node.schema)
        self.rows = node.rows

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add a source of the rows; it has one subtask."""
        return RowStream(builder.read(self.name, CollectionSource(self.rows)), changelog=False)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns by name and place."""
        return _by_place("values", self.schema)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the columns: which rows there are does not matter."""
        return {"kind": self.name, "columns": list(self.origins(()))}

    def details(self) -> dict[str, str]:
        """Return the rows."""
        rows = ", ".join(f"{{ {', '.join(map(str, row))} }}" for row in self.rows)
        return {"tuples": f"[{rows}]"}


class Union(PhysicalNode):
    """Gives the rows of several nodes."""

    name = "Union"

    def derive_upsert_keys(self, inputs: tuple[UpsertKeys, ...]) -> UpsertKeys:
        """Return none: rows of several tables may have the same key."""
        return NO_KEYS

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Unite the streams, all of pairs if one is."""
        edges: list[Edge] = []
        for node, stream in zip(self.inputs, inputs):
            if self.changelog and not node.changelog:
                edges += builder.aligned("AsInserts", stream.edges, AsInserts())
            else:
                edges += stream.edges
        return RowStream(tuple(edges), self.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns of all inputs, or of one if they are the same."""
        return tuple(
            each[0] if len(set(each)) == 1 else shortened(f"UNION({', '.join(each)})")
            for each in zip(*inputs)
        )

    def details(self) -> dict[str, str]:
        """Return the columns of the union."""
        return {"all": "true", "union": ", ".join(self.schema.names)}


def places_of(table: CatalogTable) -> Mapping[str, int]:
    """Return the places of a table's columns in records that have no names of columns."""
    formats = {value for key, value in table.options.items() if key.endswith("format")}
    if _BY_PLACE.isdisjoint(formats):
        return {}
    return {name: place for place, name in enumerate(table.schema.physical.names, 1)}


def _by_place(what: str, schema: Schema) -> Columns:
    return tuple(f"{what}.{name}#{place}" for place, name in enumerate(schema.names, 1))
