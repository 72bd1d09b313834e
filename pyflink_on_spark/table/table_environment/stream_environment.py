"""The environment of a program over streams and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._sql.binder.expressions import invoke
from pyflink_on_spark._sql.binder.relations import with_computed, with_watermarks
from pyflink_on_spark._sql.binder.tables import TableDescription, fitted, resolve_schema
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import (
    AssignWatermarks,
    ChangeKinds,
    ExternalRows,
    ExternalScan,
    ExternalSink,
    Node,
    Project,
    project,
)
from pyflink_on_spark._sql.plan.nodes import Schema as RowSchema
from pyflink_on_spark._sql.plan.options import ResolvedSchema
from pyflink_on_spark._sql.planner.physical import GraphBuilder
from pyflink_on_spark._sql.planner.physical_planner import plan
from pyflink_on_spark._sql.runtime.rows import FromRecords, ToRecords
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.statements import ColumnDefinition, ColumnKind
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.external import fields_of, from_type_info, to_type_info
from pyflink_on_spark._sql.types.logical import Root, Time
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    wrapped_type_of,
)
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.datastream.data_stream.data_stream import Flow, flow_of
from pyflink_on_spark.table._inner import description_of, node_of, syntax_of
from pyflink_on_spark.table.changelog_mode import ChangelogMode
from pyflink_on_spark.table.environment_settings import EnvironmentSettings
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.table import Table
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_environment.environment import TableEnvironment
from pyflink_on_spark.table.table_environment.former_methods import former_config
from pyflink_on_spark.table.text_expressions import parse_expressions

_SINK = "*anonymous_datastream_sink$1*"


def data_stream(
    environment: StreamExecutionEnvironment, session: Session, node: Node
) -> DataStream:
    """Return the rows of a table that only grows.

    Elements of a stream of rows that is this table keep their timestamps, as in Flink.
    """
    straight = isinstance(node, ExternalScan) and _is_of_rows(node)
    return _stream(
        environment, session, node, ChangeKinds.INSERT, before=True, keeps_timestamps=straight
    )


def changelog_stream(
    environment: StreamExecutionEnvironment,
    session: Session,
    node: Node,
    description: TableDescription | None,
    mode: Any,
) -> DataStream:
    """Return the changes of a table, with the names and types of a schema."""
    if description is None:
        return _stream(environment, session, node, ChangeKinds.ALL, before=True)
    schema = resolve_schema(description, session.functions)
    metadata = _timestamp(schema)
    node = fitted(node, schema.sink, _SINK)
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    return _stream(
        environment,
        session,
        project(node, columns, schema.sink.names),
        None if mode is None else mode.changes,
        before=mode is None or mode.before,
        metadata=metadata,
        key=tuple(map(schema.sink.names.index, schema.primary_key or ())),
    )


def append_stream(
    environment: StreamExecutionEnvironment,
    session: Session,
    node: Node,
    type_info: TypeInformation,
) -> DataStream:
    """Return the rows of a table that only grows, of a type that the user has given."""
    _check_type(node, type_info)
    return _stream(environment, session, node, ChangeKinds.INSERT, before=True, type_info=type_info)


def retract_stream(
    environment: StreamExecutionEnvironment,
    session: Session,
    node: Node,
    type_info: TypeInformation,
) -> DataStream:
    """Return the changes of a table as pairs of a bool and a row."""
    _check_type(node, type_info)
    return _stream(
        environment, session, node, ChangeKinds.ALL, before=True, type_info=type_info, flagged=True
    )


def _stream(
    environment: StreamExecutionEnvironment,
    session: Session,
    node: Node,
    changes: ChangeKinds | None,
    *,
    before: bool,
    type_info: TypeInformation | None = None,
    flagged: bool = False,
    metadata: int | None = None,
    keeps_timestamps: bool = False,
    key: tuple[int, ...] = (),
) -> DataStream:
    fields = None
    if type_info is None:
        type_info = _named_rows(node.schema, metadata)
        fields = _fields(node.schema, metadata)
    settings = session.settings()
    sink = ExternalSink(node.schema, node, _SINK, changes, before, key)
    planned = plan([sink], settings)
    (stream,) = planned.streams
    emitted = Types.TUPLE([Types.BOOLEAN(), type_info]) if flagged else type_info
    records = ToRecords(
        node.schema,
        stream.changelog,
        _names(type_info),
        _rowtime(node) if metadata is None else metadata,
        metadata=metadata is not None,
        flagged=flagged,
        already_typed=emitted,
        keeps_timestamps=keeps_timestamps,
    )
    records.fields = fields
    builder = GraphBuilder(settings)
    (edge,) = builder.aligned("TableToDataStream", stream.edges, records)
    edge.upstream.type_info = emitted
    for transformation in (*planned.transformations, edge.upstream):
        environment._add(transformation)
    return DataStream(Flow(environment, (Edge(edge.upstream, emitted),), emitted))


def _is_of_rows(scan: ExternalScan) -> bool:
    return all(isinstance(edge.type_info, RowTypeInfo) for edge in scan.rows.edges)


def _fields(schema: RowSchema, left_out: int | None) -> RowSchema:
    columns = zip(schema.names, schema.types)
    kept = [column for index, column in enumerate(columns) if index != left_out]
    return RowSchema(tuple(name for name, _ in kept), tuple(kind.plain() for _, kind in kept))


def _named_rows(schema: RowSchema, left_out: int | None) -> TypeInformation:
    fields = [
        (name, to_type_info(kind))
        for index, (name, kind) in enumerate(zip(schema.names, schema.types))
        if index != left_out
    ]
    return ExternalTypeInfo(RowTypeInfo([kind for _, kind in fields], [name for name, _ in fields]))


def _timestamp(schema: ResolvedSchema) -> int | None:
    """Return the position of the column that becomes the timestamp, and no field of a record."""
    found = None
    for index, column in enumerate(column for column in schema.columns if column.persisted):
        if column.kind is not ColumnKind.METADATA:
            continue
        key = column.metadata_key or column.name
        if key != _ROWTIME:
            raise ValidationError(
                f"Invalid metadata key '{key}' in column '{column.name}' of table '{_SINK}'. The "
                "DynamicTableSink class 'ExternalDynamicSink' supports the following metadata keys "
                f"for writing:\n{_ROWTIME}"
            )
        if column.type.root not in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
            raise ValidationError(
                f"Invalid data type for metadata column '{column.name}' of table '{_SINK}'. The "
                f"column cannot be declared as '{column.type}' because the type must be castable "
                "to metadata type 'TIMESTAMP_LTZ(3)'."
            )
        found = index
    return found


def _names(type_info: TypeInformation) -> tuple[str, ...] | None:
    inner = wrapped_type_of(type_info) if isinstance(type_info, ExternalTypeInfo) else type_info
    return None if isinstance(inner, TupleTypeInfo) else fields_of(inner)[0]


def _rowtime(node: Node) -> int | None:
    found = [i for i, kind in enumerate(node.schema.types) if kind.time is Time.ROWTIME]
    if len(found) > 1:
        names = ", ".join(node.schema.names[index] for index in found)
        raise ValidationError(
            f"Found more than one rowtime field: [{names}] in the query when insert into the sink. "
            "Please select the rowtime field that should be used as event-time timestamp for the "
            "DataStream by casting all other fields to TIMESTAMP."
        )
    return found[0] if found else None


def _check_type(node: Node, type_info: TypeInformation) -> None:
    if not isinstance(type_info, RowTypeInfo | TupleTypeInfo):
        raise ValidationError(f"a table's rows are ROWs or TUPLEs, not {type_info}")
    names, types = fields_of(type_info)
    given = node.schema
    fits = len(names) == len(given) and all(
        wanted.root is kind.root or _readable(wanted, kind)
        for wanted, kind in zip(types, given.types)
    )
    if not fits:
        listed = ", ".join(f"{n}: {t}" for n, t in zip(given.names, given.types))
        wanted_list = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
        cause = "Incompatible types" if len(names) == len(given) else "Different number of columns"
        raise ValidationError(
            "Column types of query result and sink for 'null' do not match.\n"
            f"Cause: {cause}.\n\n"
            f"Query schema: [{listed}]\nSink schema:  [{wanted_list}]"
        )


def _readable(wanted: Any, kind: Any) -> bool:
    texts = {"CHAR", "VARCHAR"}
    return wanted.root.value in texts and kind.root.value in texts


class StreamTableEnvironment(TableEnvironment):
    """Plans and runs queries over tables and DataStreams.

    Args:
        j_tenv: use ``create``.
    """

    def __init__(self, j_tenv):
        super().__init__(j_tenv)

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment = None,
        environment_settings: EnvironmentSettings = None,
        table_config: TableConfig = None,
    ) -> StreamTableEnvironment:
        """Return a new environment.

        Args:
            stream_execution_environment: where its streams are; a new one if not given.
            environment_settings: its mode and options; those of the StreamExecutionEnvironment if
                not given. PyFlink 1.13 has a TableConfig in this place.
            table_config: options, as in PyFlink 1.13; not together with settings.

        Raises:
            ValueError: none was given, or options without a StreamExecutionEnvironment or
                together with settings.

        Example:
            >>> env = StreamExecutionEnvironment.get_execution_environment()
            >>> t_env = StreamTableEnvironment.create(env)
        """
        environment, settings = stream_execution_environment, environment_settings
        settings, config = former_config(settings, table_config, environment)
        if environment is None and settings is None:
            raise ValueError(
                "No argument found, the param 'stream_execution_environment' or "
                "'environment_settings' is required."
            )
        streaming_results = environment is not None
        if environment is None:
            environment = StreamExecutionEnvironment.get_execution_environment()
        if settings is None:
            settings = EnvironmentSettings.new_instance().build()
        return StreamTableEnvironment((environment, settings, streaming_results, *config))

    def from_data_stream(
        self, data_stream: DataStream, *fields_or_schema: Expression | Schema | str
    ) -> Table:
        """Return a stream as a table.

        Args:
            data_stream: its elements are rows that are added.
            fields_or_schema: the columns: expressions with names of the stream's fields, or new
                names by position; or a Schema; all fields if not given.

        Raises:
            ValidationError: the stream has no such fields.
        """
        table = Table(self._stream_node(data_stream, fields_or_schema), self)
        table._declared = declared_schema(self._session, data_stream, fields_or_schema)
        return table

    def from_changelog_stream(
        self, data_stream: DataStream, schema: Schema = None, changelog_mode: ChangelogMode = None
    ) -> Table:
        """Return a stream of Rows with kinds as a table.

        Args:
            data_stream: its elements are changes.
            schema: the columns; all fields if not given.
            changelog_mode: which changes there are; all if not given.
        """
        mode = ChangelogMode.all() if changelog_mode is None else changelog_mode
        fields = () if schema is None else (schema,)
        table = Table(stream_node(self._session, data_stream, fields, mode._mode), self)
        table._declared = declared_schema(self._session, data_stream, fields)
        return table

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table that only grows, as a stream of Rows with names.

        Raises:
            TableException: the table has other changes than new rows.
        """
        return self._configured(data_stream(self._environment, self._session, node_of(table)))

    def to_changelog_stream(
        self,
        table: Table,
        target_schema: Schema = None,
        changelog_mode: ChangelogMode = None,
    ) -> DataStream:
        """Return the changes of a table, as a stream of Rows with names and kinds.

        Args:
            table: the table.
            target_schema: the columns that are wanted; those of the table if not given.
            changelog_mode: which changes are wanted; all if not given.

        Raises:
            TableException: the table has other changes than these.
            ValidationError: rows may have the same primary key in the schema, though the table
                tells them apart.
        """
        mode = None if changelog_mode is None else changelog_mode._mode
        description = None if target_schema is None else description_of(target_schema)
        return self._configured(
            changelog_stream(self._environment, self._session, node_of(table), description, mode)
        )

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table that only grows, as a stream of some type.

        Args:
            table: the table.
            type_info: of rows or tuples; fields go by position.

        Raises:
            TableException: the table has other changes than new rows.
            ValidationError: the type does not fit the table.
        """
        stream = append_stream(self._environment, self._session, node_of(table), type_info)
        return self._configured(stream)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table, as pairs of a bool, whether a row is added, and the row.

        Args:
            table: the table.
            type_info: of the rows; fields go by position.

        Raises:
            ValidationError: the type does not fit the table.
        """
        stream = retract_stream(self._environment, self._session, node_of(table), type_info)
        return self._configured(stream)

    def _configured(self, stream: DataStream) -> DataStream:
        self._jobs.configure_environment()
        return stream

    def _stream_node(self, stream: DataStream, fields: tuple[Any, ...]) -> Node:
        return stream_node(self._session, stream, fields, ChangelogMode.insert_only()._mode)


_ROWTIME = "rowtime"
_TIMESTAMP = "timestamp of the element"


@dataclass(frozen=True)
class _Elements:
    """The elements of a stream as rows."""

    stream: DataStream
    schema: RowSchema
    atomic: bool
    mode: Any

    def scan(
        self,
        timestamps: bool,
        key: tuple[int, ...] | None = None,
        *,
        watermarks: bool = False,
    ) -> ExternalScan:
        """Return the node that gives the rows; with the timestamps as a last column.

        Args:
            timestamps: whether there is such a column.
            key: the positions of the primary key, or None.
            watermarks: whether a schema says how watermarks are made.
        """
        operator = FromRecords(
            self.schema,
            atomic=self.atomic,
            timestamp=timestamps,
            changelog=self.mode.changes is not ChangeKinds.INSERT,
        )
        flow = flow_of(self.stream)
        name = f"*anonymous_datastream_source${flow.edges[0].upstream.number}*"
        rows = ExternalRows(
            name,
            flow.edges,
            operator,
            self.mode.changes,
            self.mode.before,
            key,
            has_watermarks=watermarks,
        )
        schema = self.schema
        if timestamps:
            kind = logical.timestamp_ltz(3)
            schema = RowSchema((*schema.names, _TIMESTAMP), (*schema.types, kind))
        return ExternalScan(schema, rows)


def stream_node(
    session: Session, stream: DataStream, fields_or_schema: Sequence[Any], mode: object
) -> Node:
    """Return the plan that reads a stream.

    Args:
        session: knows functions.
        stream: the stream.
        fields_or_schema: expressions, or one Schema, or nothing.
        mode: which changes there are.

    Raises:
        ValidationError: the stream has no such fields.
    """
    elements = _elements(stream, mode)
    if not fields_or_schema:
        return elements.scan(timestamps=False)
    if isinstance(fields_or_schema[0], Schema):
        return _by_schema(session, elements, description_of(fields_or_schema[0]))
    if len(fields_or_schema) == 1 and isinstance(fields_or_schema[0], str):
        fields_or_schema = parse_expressions(fields_or_schema[0])
    if not all(isinstance(field, Expression) for field in fields_or_schema):
        raise TypeError("the fields of a stream are Expressions, or they are one Schema")
    return _by_expressions(elements, [syntax_of(field) for field in fields_or_schema])


def _elements(stream: DataStream, mode: object) -> _Elements:
    type_info = stream.get_type()
    inner = wrapped_type_of(type_info) if isinstance(type_info, ExternalTypeInfo) else type_info
    if isinstance(inner, RowTypeInfo | TupleTypeInfo):
        return _Elements(stream, _of_table(stream) or RowSchema(*fields_of(inner)), False, mode)
    kind = from_type_info(inner)
    if kind.root is not Root.RAW and type(inner).__name__ in {"BasicTypeInfo", "InstantTypeInfo"}:
        kind = kind.with_nullable(False)
    return _Elements(stream, RowSchema(("f0",), (kind,)), True, mode)


def _of_table(stream: DataStream) -> RowSchema | None:
    """Return the columns of the table that a stream comes from without a change, if it does."""
    operators = [edge.upstream.operator for edge in flow_of(stream).edges]
    schemas = {op.fields if isinstance(op, ToRecords) else None for op in operators}
    return schemas.pop() if len(schemas) == 1 else None


# -- with a Schema -------------------------------------------------------------------------------


def declared_schema(
    session: Session, stream: DataStream, fields_or_schema: Sequence[Any]
) -> ResolvedSchema | None:
    """Return the columns that a Schema declares for a stream; None if there is no Schema.

    As in Flink a Schema with other columns than the stream's fields, or in another order, is a
    selection of columns: nobody knows any more how they are made, nor their watermark.
    """
    if not fields_or_schema or not isinstance(fields_or_schema[0], Schema):
        return None
    elements = _elements(stream, ChangelogMode.insert_only()._mode)
    description = description_of(fields_or_schema[0])
    if _selects(description, elements.schema.names):
        return None
    return _as_written(_resolved(session, elements, description)[0], description)


def _selects(description: TableDescription, fields: tuple[str, ...]) -> bool:
    """True if the columns differ from the stream's fields, followed by computed ones."""
    stored = [column for column in description.columns if column.kind is ColumnKind.PHYSICAL]
    others = [column.name for column in description.columns if column not in stored]
    names = [column.name for column in description.columns]
    return bool(stored) and names != [*fields, *others]


def _as_written(schema: ResolvedSchema, description: TableDescription) -> ResolvedSchema:
    """Return the same columns with their expressions in the program's own words."""
    spans = {
        column.name: column.expression.span
        for column in description.columns
        if column.expression is not None
    }
    columns = tuple(
        replace(column, text=str(span)) if (span := spans.get(column.name)) else column
        for column in schema.columns
    )
    mark = schema.watermark
    span = description.watermarks[0].expression.span if description.watermarks else None
    if mark is not None and span is not None:
        mark = replace(mark, text=str(span))
    return replace(schema, columns=columns, watermark=mark)


def _resolved(
    session: Session, elements: _Elements, description: TableDescription
) -> tuple[ResolvedSchema, ResolvedSchema]:
    """Return the columns of a table, without and with the stream's fields that are no columns."""
    physical = [c for c in description.columns if c.kind is ColumnKind.PHYSICAL]
    if not physical:
        own = tuple(
            ColumnDefinition(name, ColumnKind.PHYSICAL, kind)
            for name, kind in zip(elements.schema.names, elements.schema.types)
        )
        description = replace(description, columns=own + description.columns)
    # Computed columns may use fields of the stream that are no columns themselves.
    declared = {column.name for column in description.columns}
    hidden = tuple(
        ColumnDefinition(name, ColumnKind.PHYSICAL, kind)
        for name, kind in zip(elements.schema.names, elements.schema.types)
        if name not in declared
    )
    visible = len(description.columns)
    description = replace(description, columns=description.columns + hidden)
    resolved = resolve_schema(description, session.functions)
    return replace(resolved, columns=resolved.columns[:visible]), resolved


def _by_schema(session: Session, elements: _Elements, description: TableDescription) -> Node:
    declared, resolved = _resolved(session, elements, description)
    metadata = resolved.of_kind(ColumnKind.METADATA)
    for column in metadata:
        if (column.metadata_key or column.name) != _ROWTIME:
            raise ValidationError(
                f"Invalid metadata key '{column.metadata_key or column.name}' in column "
                f"'{column.name}': the metadata of a stream is called 'rowtime'."
            )
    stored = [_stored(column, elements) for column in resolved.of_kind(ColumnKind.PHYSICAL)]
    key = None
    if resolved.primary_key is not None:
        key = tuple(elements.schema.names.index(name) for name in resolved.primary_key)
    scan = elements.scan(bool(metadata), key, watermarks=resolved.watermark is not None)
    last = len(elements.schema)
    columns: list[Typed] = [*stored]
    columns += [InputRef(scan.schema.types[last], last) for _ in metadata]
    names = (*resolved.physical.names, *(column.name for column in metadata))
    table = with_computed(project(scan, columns, names), resolved)
    node = with_watermarks(_without_copies(table, scan), resolved)
    visible = len(declared.columns)
    if visible == len(resolved.columns):
        return node
    kept = [InputRef(kind, index) for index, kind in enumerate(node.schema.types[:visible])]
    return project(node, kept, node.schema.names[:visible])


def _without_copies(node: Node, scan: ExternalScan) -> Node:
    """Return the columns of a stream; if they are just its fields, what reads the stream."""
    below = node
    while isinstance(below, Project) and _is_copy(below):
        below = below.input
    return replace(scan, schema=node.schema) if below is scan else node


def _is_copy(node: Project) -> bool:
    below = node.input.schema
    return node.schema.names == below.names and all(
        isinstance(column, InputRef) and column.index == place
        for place, column in enumerate(node.expressions)
    )


def _stored(column: Any, elements: _Elements) -> Typed:
    schema = elements.schema
    if column.name not in schema.names:
        raise ValidationError(
            f"Unable to find a field named '{column.name}' in the physical data type derived from "
            f"the given type information for schema declaration. Make sure that the type "
            f"information is not a generic raw type. Currently available fields are: "
            f"[{', '.join(schema.names)}]"
        )
    index = schema.names.index(column.name)
    kind = schema.types[index]
    wanted = column.type.plain()
    if not _same_values(kind, wanted):
        raise ValidationError(
            f"column '{column.name}' is declared as {wanted}, but the stream's field is {kind}"
        )
    return InputRef(replace(wanted, time=None), index)


def _same_values(kind: Any, wanted: Any) -> bool:
    if kind.root is not wanted.root:
        return kind.root in logical.CHARACTERS and wanted.root in logical.CHARACTERS
    if kind.root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.TIME, Root.VARCHAR, Root.VARBINARY}:
        return True
    return kind.children != () or kind.same_values(wanted)


# -- with expressions ----------------------------------------------------------------------------


def _by_expressions(elements: _Elements, fields: list[syntax.Expression]) -> Node:
    schema = elements.schema
    parts = [_field(field) for field in fields]
    by_name = any(source in schema.names for source, _, time in parts if time is None)
    scan = elements.scan(timestamps=any(time is Time.ROWTIME for _, _, time in parts))
    columns: list[Typed] = []
    position = 0
    for source, _, time in parts:
        if time is Time.ROWTIME:
            kind = replace(logical.timestamp(3), time=Time.ROWTIME)
            columns.append(InputRef(kind, len(schema)))
        elif time is Time.PROCTIME:
            columns.append(invoke(builtin_functions()["PROCTIME"], []))
        else:
            index = _index(schema, source, position, by_name)
            columns.append(InputRef(schema.types[index].with_nullable(True), index))
            position += 1
    names = tuple(name for _, name, _ in parts)
    node: Node = project(scan, columns, names)
    for index, (_, _, time) in enumerate(parts):
        if time is Time.ROWTIME:
            node = AssignWatermarks(node.schema, node, index, None)
    return node


def _field(field: syntax.Expression) -> tuple[str, str, Time | None]:
    """Return the field of the stream, the name of the column, and which time it is."""
    name = None
    if isinstance(field, syntax.Alias):
        name, field = field.names[0], field.operand
    if isinstance(field, syntax.Call) and field.name in {"ROWTIME", "PROCTIME"}:
        source, _, _ = _field(field.args[0])
        return source, name or source, Time(field.name)
    if not isinstance(field, syntax.Name):
        raise ValidationError("Field reference expression expected for the columns of a stream.")
    return field.parts[0], name or field.parts[0], None


def _index(schema: RowSchema, source: str, position: int, by_name: bool) -> int:
    if by_name:
        if source not in schema.names:
            raise ValidationError(
                f"{source} is not a field of type {', '.join(schema.names)}. Expected: one of these"
            )
        return schema.names.index(source)
    if position >= len(schema):
        raise ValidationError(
            f"there are more columns than fields of the stream, which has {len(schema)}"
        )
    return position
