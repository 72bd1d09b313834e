"""Physical nodes for the inputs and outputs of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._connectors.builtin.collection import CollectionSource
from pyflink_on_spark._graph.stream_graph import Aligned, Edge
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.errors import Span, ValidationError
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, ExternalRows, Schema
from pyflink_on_spark._sql.plan.nodes import Values as LogicalValues
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.ports import TableSink, TableSource
from pyflink_on_spark._sql.planner.aggregates import GroupAggregate, keyed_edges
from pyflink_on_spark._sql.planner.calc import Calc
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    shortened,
    told_path,
)
from pyflink_on_spark._sql.runtime.rows import AsInserts, CheckNotNull

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
        keyed: whether the table has a primary key.
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
        keyed: bool = False,
    ) -> None:
        super().__init__(schema)
        self.path, self.source, self.metadata = path, source, metadata
        self.keyed = keyed
        self._places = places or {}

    def produces(self, inputs: tuple[ChangeKinds, ...]) -> ChangeKinds:
        """The connector says it."""
        return self.source.changes

    def can_emit_update_before(self) -> bool:
        """The connector says it."""
        return self.source.emits_update_before

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the source and its format."""
        reading = self.source.reading(self.metadata)
        counterpart = Counterpart((f"Source: {self.path.name}",))
        edges = builder.read(f"{self.path.name}[{self.name}]", reading.source, counterpart)
        if reading.decoder is not None:
            edges = builder.aligned("Decode", edges, reading.decoder)
        return RowStream(edges, self.changelog)

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

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add what makes rows of the program's elements."""
        edges = builder.aligned(self.rows.name, self.rows.edges, self.rows.operator)
        return RowStream(edges, self.changelog)

    def origins(self, inputs: tuple[Columns, ...]) -> Columns:
        """Return the columns by name and place."""
        stream = self.rows.edges[0].upstream
        return _by_place(f"stream {stream.uid or stream.name}", self.schema)

    def details(self) -> dict[str, str]:
        """Return the table and its columns."""
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


class Sink(PhysicalNode):
    """Writes to a table of a connector.

    Args:
        source: the input.
        path: the table.
        table: what the catalog has of it.
        sink: the connector's.
        span: where a SQL text names the table.
    """

    name = "Sink"

    def __init__(
        self,
        source: PhysicalNode,
        path: ObjectPath,
        table: CatalogTable,
        sink: TableSink,
        span: Span | None = None,
    ) -> None:
        super().__init__(source.schema, source)
        self.path, self.table, self.sink, self.span = path, table, sink, span

    def accepts(self, port: int) -> ChangeKinds:
        """The connector says it."""
        return self.sink.accepts

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """The connector says it."""
        return self.sink.needs_update_before

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the format and the sink."""
        (source,) = inputs
        target = self.table.schema.sink
        writing = self.sink.writing(target, source.changelog)
        edges = source.edges
        required = [
            (index, name)
            for index, (name, kind, given) in enumerate(
                zip(target.names, target.types, self.schema.types)
            )
            if given.nullable and not kind.nullable
        ]
        if required:
            check = CheckNotNull(required, source.changelog)
            edges = builder.aligned("ConstraintEnforcer", edges, check)
        name = f"{self.path.name}[{self.name}]"
        if writing.encoder is not None and writing.spread_by:
            keys = [InputRef(target.types[index], index) for index in writing.spread_by]
            rows = RowStream(edges, source.changelog)
            edges = keyed_edges(builder, rows, keys, len(target))
            settings = {} if writing.parallelism is None else {"parallelism": writing.parallelism}
            edges = builder.operator("Encode", edges, writing.encoder, **settings)
            builder.write(name, edges, writing.sink, aligned=Aligned.INPUT)
            return source
        if writing.encoder is not None:
            edges = builder.aligned("Encode", edges, writing.encoder)
        if writing.parallelism is None:
            builder.write(name, edges, writing.sink, aligned=Aligned.INPUT)
        else:
            builder.write(name, edges, writing.sink, parallelism=writing.parallelism)
        return source

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the table."""
        return {"kind": self.name, "table": told_path(self.path)}

    def details(self) -> dict[str, str]:
        """Return the table and the columns."""
        return {"table": ".".join(self.path), "fields": ", ".join(self.schema.names)}

    def describe_short(self) -> str:
        """Return the sink's name in messages."""
        return f"Table sink '{self.path}'"


class ExternalSink(PhysicalNode):
    """Hands rows to the program.

    Args:
        source: the input.
        title: what messages call it.
        taken: which changes the program takes.
        wants_update_before: whether the program reads UPDATE_BEFORE rows.
    """

    name = "Sink"

    def __init__(
        self, source: PhysicalNode, title: str, taken: ChangeKinds, wants_update_before: bool
    ) -> None:
        super().__init__(source.schema, source)
        self.title, self._taken, self._wants_before = title, taken, wants_update_before

    def accepts(self, port: int) -> ChangeKinds:
        """The program says it."""
        return self._taken

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """The program says it."""
        return self._wants_before

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Leave the stream to the program."""
        return inputs[0]

    def details(self) -> dict[str, str]:
        """Return its name and the columns."""
        return {"table": self.title, "fields": ", ".join(self.schema.names)}

    def describe_short(self) -> str:
        """Return the sink's name in messages."""
        return f"Table sink '{self.title}'"


def check_upsert_key(sink: Sink) -> None:
    """Refuse updates by which groups would replace each other's rows in a table with a primary key.

    That is known of a GROUP BY over rows without a key. Of other queries nothing is said.

    Raises:
        ValidationError: several groups can have the same primary key.
    """
    (source,) = sink.inputs
    key = sink.table.schema.primary_key
    if not key or ChangeKinds.UPDATE not in source.changes:
        return
    columns = _columns_of_groups(source)
    names = sink.table.schema.sink.names
    primary = {names.index(name) for name in key}
    if columns is None or all(places & primary for places in columns):
        return
    shown = f"[{', '.join(names[min(places)] for places in columns)}]" if all(columns) else ""
    raise ValidationError(
        "The query has an upsert key that differs from the primary key of the sink table "
        f"'{'.'.join(sink.path)}'. Primary key: [{', '.join(key)}], upsert key: {shown}. Groups "
        "with the same primary key would replace and delete each other's rows. Group by the "
        "primary key alone, or write to a table whose primary key has all columns of GROUP BY, or "
        "to one without a primary key; ON CONFLICT is not supported yet."
    )


def _columns_of_groups(node: PhysicalNode) -> list[set[int]] | None:
    """Return the places of each column of GROUP BY; None if rows may have another key."""
    above: list[Calc] = []
    while isinstance(node, Calc):
        above.append(node)
        (node,) = node.inputs
    if not isinstance(node, GroupAggregate):
        return None
    below: list[Calc] = []
    (source,) = node.inputs
    while isinstance(source, Calc):
        below.append(source)
        (source,) = source.inputs
    if not _is_without_key(source) or any(map(_keeps_nulls_only, [*above, *below])):
        return None
    columns = [{i} for i, key in enumerate(node.keys) if not _is_constant(key, below)]
    for calc in reversed(above):
        if calc.projection is not None:
            origins = list(map(_origin_of, calc.projection))
            columns = [{i for i, at in enumerate(origins) if at in places} for places in columns]
    return columns


def _is_without_key(node: PhysicalNode) -> bool:
    if isinstance(node, SourceScan):
        return not node.keyed
    return isinstance(node, Values) or (isinstance(node, ExternalScan) and not node.rows.key)


def _is_constant(column: Typed, below: list[Calc]) -> bool:
    """True if all rows have one value in a column of the first of some nodes."""
    for calc in below:
        if isinstance(column, InputRef) and calc.projection is not None:
            column = calc.projection[column.index]
    return isinstance(column, Constant)


def _keeps_nulls_only(calc: Calc) -> bool:
    """True if a condition may leave only NULL in a column, which is no part of a key then."""
    parts = () if calc.condition is None else walk(calc.condition)
    return any(isinstance(part, Invocation) and part.function.name == "IS NULL" for part in parts)


def _origin_of(expression: Typed) -> int | None:
    """Return the column that an expression is, also in another type; else None."""
    while isinstance(expression, Conversion):
        expression = expression.operand
    return expression.index if isinstance(expression, InputRef) else None
