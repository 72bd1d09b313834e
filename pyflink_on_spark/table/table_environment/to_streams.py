"""Tables become streams."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._graph.stream_graph import Edge
from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.binder.tables import TableDescription, fitted, resolve_schema
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import InputRef
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, ExternalScan, ExternalSink, Node, Schema
from pyflink_on_spark._sql.plan.options import ResolvedSchema
from pyflink_on_spark._sql.planner.physical import GraphBuilder
from pyflink_on_spark._sql.planner.physical_planner import plan
from pyflink_on_spark._sql.runtime.rows import ToRecords
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types.external import fields_of, to_type_info
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
from pyflink_on_spark.datastream.data_stream.flow import Flow

_SINK = "*anonymous_datastream_sink$1*"
_ROWTIME = "rowtime"


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


def _fields(schema: Schema, left_out: int | None) -> Schema:
    columns = zip(schema.names, schema.types)
    kept = [column for index, column in enumerate(columns) if index != left_out]
    return Schema(tuple(name for name, _ in kept), tuple(kind.plain() for _, kind in kept))


def _named_rows(schema: Schema, left_out: int | None) -> TypeInformation:
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
