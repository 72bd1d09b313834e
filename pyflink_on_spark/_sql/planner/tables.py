"""Physical nodes for the tables that a plan reads and writes, and their union."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyflink_on_spark._connectors.builtin import CollectionSource
from pyflink_on_spark._graph.stream_graph import Aligned, Edge
from pyflink_on_spark._options.flink import REQUIRE_ON_CONFLICT, UPSERT_MATERIALIZE
from pyflink_on_spark._runtime.contract.plan import HashPartitioner
from pyflink_on_spark._runtime.contract.state_meaning import Counterpart
from pyflink_on_spark._sql.codegen.aggregates import compile_key
from pyflink_on_spark._sql.errors import QuerySettings, Span, ValidationError
from pyflink_on_spark._sql.plan.expressions import InputRef
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, ExternalRows, Schema
from pyflink_on_spark._sql.plan.nodes import Values as LogicalValues
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.ports import TableSink, TableSource
from pyflink_on_spark._sql.planner.aggregates import keyed_edges
from pyflink_on_spark._sql.planner.physical import (
    Columns,
    Content,
    GraphBuilder,
    PhysicalNode,
    RowStream,
    shortened,
    told_changes,
    told_path,
    told_rows,
    walk,
)
from pyflink_on_spark._sql.planner.upsert_keys import (
    NO_KEYS,
    UpsertKeys,
    are_unique,
    one_key,
    shown_keys,
    smallest,
)
from pyflink_on_spark._sql.runtime.rows import (
    AsInserts,
    CheckNotNull,
    DropUpdateBefore,
    KeyRowsOperator,
)
from pyflink_on_spark._sql.runtime.sinks import (
    CompactingMaterializeOperator,
    MaterializeOperator,
    StampRowsOperator,
)
from pyflink_on_spark._sql.syntax.statements import ConflictStrategy

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


class KeyedSink(PhysicalNode):
    """Takes rows that may have a primary key.

    Args:
        source: the input.
        target: the name of what takes them.
        columns: their names there.
        key: the positions of the primary key, or nothing.
        conflict: what happens to rows with the same primary key, if the statement says it.
    """

    name = "Sink"
    default: ConflictStrategy | None = None
    """The strategy for rows that are only added, if the statement has none."""

    def __init__(
        self,
        source: PhysicalNode,
        target: str,
        columns: tuple[str, ...],
        key: tuple[int, ...],
        conflict: ConflictStrategy | None = None,
    ) -> None:
        super().__init__(source.schema, source)
        self.target, self._columns = target, columns
        self.key, self.conflict = key, conflict
        self.materializes = False
        """True if an operator chooses among rows with the same key; set by the planner."""

    def _takes(self) -> tuple[ChangeKinds, bool]:
        """Return which changes it takes of its input's, and whether UPDATE_BEFORE is always one."""
        raise NotImplementedError

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """True unless an update says by its key which row it is of."""
        if wanted or not self.key:
            return wanted
        return frozenset(self.key) not in (self.inputs[0].upsert_keys or ())

    def resolve_conflicts(self, settings: QuerySettings) -> None:
        """Decide whether rows are materialized; called when the changes of the input are known.

        Args:
            settings: the session's.

        Raises:
            ValidationError: rows with several upsert keys may have one primary key, and nothing
                says what happens then; or the sink cannot have ``ON CONFLICT``.
        """
        if settings.batch:
            return
        taken, retracts = self._takes()
        adds = taken is ChangeKinds.INSERT
        if self.conflict is not None:
            self._check_conflict(adds, retracts)
        mode = UPSERT_MATERIALIZE.read(settings.configuration)
        if mode == "NONE" or not self.key or retracts:
            return
        if mode == "FORCE":
            # A file of rows that are only added has the same rows, whatever kinds they are of.
            self.materializes = ChangeKinds.UPDATE in self.accepts(0)
            return
        source = self.inputs[0]
        keeps_last = (self.conflict or self.default) is ConflictStrategy.DEDUPLICATE
        if adds or (keeps_last and source.changes is ChangeKinds.INSERT):
            return
        self.materializes = not are_unique(source.upsert_keys, self.key)
        required = REQUIRE_ON_CONFLICT.read(settings.configuration)
        if self.materializes and required and self.conflict is None:
            raise ValidationError(self._unresolved())

    def _check_conflict(self, adds: bool, retracts: bool) -> None:
        assert self.conflict is not None
        if adds or retracts:
            why = (
                "it only accepts INSERT (append-only) changes"
                if adds
                else "it requires UPDATE_BEFORE (retract mode)"
            )
            raise ValidationError(
                f"ON CONFLICT clause is only allowed for upsert sinks. The sink '{self.target}' is "
                f"not an upsert sink because {why}."
            )
        if self.conflict is ConflictStrategy.DEDUPLICATE:
            return
        without = list(dict.fromkeys(_without_watermarks(self)))
        if without:
            raise ValidationError(
                f"ON CONFLICT DO {self.conflict.value} requires all source tables to define "
                f"watermarks, but the following source(s) do not: {', '.join(without)}. Please add "
                "a WATERMARK declaration to these tables."
            )

    def _unresolved(self) -> str:
        primary = ", ".join(self._columns[index] for index in self.key)
        return (
            "The query has an upsert key that differs from the primary key of the sink table "
            f"'{self.target}'. Primary key: [{primary}], upsert key: "
            f"{shown_keys(self.inputs[0].upsert_keys, self._columns)}. This can lead to "
            "non-deterministic results when multiple records with different upsert keys map to the "
            "same primary key. Please specify an ON CONFLICT clause to define how conflicts should "
            "be handled: ON CONFLICT DO DEDUPLICATE (update to the latest record, state intensive, "
            "since we need to keep the entire history), or ON CONFLICT DO ERROR (fail on "
            "conflict), or ON CONFLICT DO NOTHING (keep first record). "
            f"'{REQUIRE_ON_CONFLICT.key}' = 'false' takes the latest record without the clause."
        )

    def materialized(self, source: RowStream, builder: GraphBuilder) -> RowStream:
        """Return the rows that are left of those with the same primary key.

        Args:
            source: the rows.
            builder: adds operators.
        """
        if not self.materializes:
            return source
        ttl, width = builder.settings.state_ttl, len(self.schema)
        keys = [InputRef(self.schema.types[index], index) for index in self.key]
        upsert_key = smallest(self.inputs[0].upsert_keys)
        operator: MaterializeOperator | CompactingMaterializeOperator
        if self.conflict in {ConflictStrategy.NOTHING, ConflictStrategy.ERROR}:
            program = compile_key(keys, width, builder.settings.time_zone)
            made = KeyRowsOperator(program, source.changelog)
            pairs = builder.aligned("Exchange", source.edges, made)
            stamped = builder.aligned(
                "WatermarkTimestampAssigner", pairs, StampRowsOperator(source.changelog)
            )
            edges = builder.partitioned(stamped, HashPartitioner())
            operator = CompactingMaterializeOperator(
                upsert_key,
                [(index, self._columns[index]) for index in self.key],
                fails=self.conflict is ConflictStrategy.ERROR,
                ttl=ttl,
            )
        else:
            edges = keyed_edges(builder, source, keys, width)
            operator = MaterializeOperator(upsert_key, source.changelog, ttl)
        names = ", ".join(self._columns[index] for index in self.key)
        edges = builder.operator(f"SinkMaterializer(pk=[{names}])", edges, operator)
        return RowStream(edges, changelog=True)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the target, and, if rows are materialized, their columns and keys."""
        content: Content = {"kind": self.name, "table": self.target}
        if self.materializes:
            columns, strategy = inputs[0], self.conflict or ConflictStrategy.DEDUPLICATE
            content |= {
                "keys": [f"{columns[index]} {self.schema.types[index]}" for index in self.key],
                "upsert key": [columns[at] for at in smallest(self.inputs[0].upsert_keys)],
                "columns": told_rows(self.schema, columns),
                "rows": told_changes(self.inputs[0].changelog),
                "on conflict": strategy.value,
            }
        return content

    def details(self) -> dict[str, str]:
        """Return the target, the columns, and the strategy for conflicts."""
        details = {"table": self.target, "fields": ", ".join(self.schema.names)}
        if self.materializes:
            details["upsertMaterialize"] = "true"
        if self.conflict is not None:
            details["conflictStrategy"] = self.conflict.value
        return details

    def describe_short(self) -> str:
        """Return the sink's name in messages."""
        return f"Table sink '{self.target}'"


def _without_watermarks(node: PhysicalNode) -> Iterator[str]:
    for each in walk(node):
        if isinstance(each, SourceScan) and not each.has_watermarks:
            yield ".".join(each.path)
        if isinstance(each, ExternalScan) and not each.rows.has_watermarks:
            yield each.rows.name


class Sink(KeyedSink):
    """Writes to a table of a connector.

    Args:
        source: the input.
        path: the table.
        table: what the catalog has of it.
        sink: the connector's.
        span: where a SQL text names the table.
        conflict: what happens to rows with the same primary key, if the statement says it.
    """

    # As in all versions of Flink before ON CONFLICT; the table keeps the last row by itself.
    default = ConflictStrategy.DEDUPLICATE

    def __init__(
        self,
        source: PhysicalNode,
        path: ObjectPath,
        table: CatalogTable,
        sink: TableSink,
        span: Span | None = None,
        conflict: ConflictStrategy | None = None,
    ) -> None:
        names = table.schema.sink.names
        key = tuple(map(names.index, table.schema.primary_key or ()))
        super().__init__(source, ".".join(path), names, key, conflict)
        self.path, self.table, self.sink, self.span = path, table, sink, span

    def accepts(self, port: int) -> ChangeKinds:
        """The connector says it."""
        return self.sink.accepts

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """The connector says it, or the keys do."""
        return super().needs_update_before(port, self.sink.needs_update_before)

    def _takes(self) -> tuple[ChangeKinds, bool]:
        if self.sink.takes_what_comes:
            return self.inputs[0].changes, False
        return self.sink.accepts, self.sink.needs_update_before

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Add the format and the sink."""
        (source,) = inputs
        target = self.table.schema.sink
        rows = self.materialized(
            RowStream(self._checked(source, builder), source.changelog), builder
        )
        edges = rows.edges
        writing = self.sink.writing(target, rows.changelog)
        name = f"{self.path.name}[{self.name}]"
        if writing.encoder is not None and writing.spread_by:
            keys = [InputRef(target.types[index], index) for index in writing.spread_by]
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

    def _checked(self, source: RowStream, builder: GraphBuilder) -> tuple[Edge, ...]:
        """Return the rows, less those with NULL where the table has none."""
        target = self.table.schema.sink
        required = [
            (index, name)
            for index, (name, kind, given) in enumerate(
                zip(target.names, target.types, self.schema.types)
            )
            if given.nullable and not kind.nullable
        ]
        if not required:
            return source.edges
        check = CheckNotNull(required, source.changelog)
        return builder.aligned("ConstraintEnforcer", source.edges, check)

    def meaning(self, inputs: tuple[Columns, ...], time_zone: str) -> Content:
        """Return the table, and, if rows are materialized, their columns and keys."""
        return {**super().meaning(inputs, time_zone), "table": told_path(self.path)}


class ExternalSink(KeyedSink):
    """Hands rows to the program.

    Args:
        source: the input.
        title: what messages call it.
        taken: which changes the program takes; None for those that come.
        wants_update_before: whether the program reads UPDATE_BEFORE rows.
        key: the positions of the primary key, or nothing.
    """

    def __init__(
        self,
        source: PhysicalNode,
        title: str,
        taken: ChangeKinds | None,
        wants_update_before: bool,
        key: tuple[int, ...] = (),
    ) -> None:
        super().__init__(source, title, source.schema.names, key)
        self._taken, self._wants_before = taken, wants_update_before

    def accepts(self, port: int) -> ChangeKinds:
        """The program says it."""
        return ChangeKinds.ALL if self._taken is None else self._taken

    def needs_update_before(self, port: int, wanted: bool) -> bool:
        """The program says it, or the keys do."""
        return super().needs_update_before(port, self._wants_before)

    def _takes(self) -> tuple[ChangeKinds, bool]:
        if self._taken is None:
            return self.inputs[0].changes, False
        return self._taken, self._wants_before

    def translate(self, inputs: tuple[RowStream, ...], builder: GraphBuilder) -> RowStream:
        """Leave the stream to the program."""
        return self.materialized(inputs[0], builder)
