"""INSERT: the columns of a query have to fit those of a table."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.errors import TableError, ValidationError, invalid
from pyflink_on_spark._sql.plan.catalog_objects import CatalogTable, ObjectPath
from pyflink_on_spark._sql.plan.expressions import Constant, Conversion, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node, Schema, Sink
from pyflink_on_spark._sql.plan.ports import TableSink
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.tables.connectors.registry import table_context, table_sink, with_hints
from pyflink_on_spark._sql.types.coercion import can_insert
from pyflink_on_spark._sql.types.logical import LogicalType


def insert(
    node: Node,
    path: ObjectPath,
    table: CatalogTable,
    settings: QuerySettings,
    *,
    columns: Sequence[Name] = (),
    overwrite: bool = False,
    hints: Mapping[str, str] | None = None,
    fixed: Sequence[str] = (),
) -> Sink:
    """Return the node that writes rows to a table.

    Args:
        node: gives the rows.
        path: the table's name.
        table: what the catalog has of it.
        settings: the session's.
        columns: which columns the rows have; none for all.
        overwrite: whether what was there before goes.
        hints: options that the query gives for itself.
        fixed: the partition columns whose values the statement gives.

    Raises:
        ValidationError: the rows do not fit, or the connector refuses the table.
        TableError: the table has buckets, which no connector writes.
    """
    target = table.schema.sink
    if columns:
        node = _by_name(node, columns, target, path)
    sink = sink_of(path, table, settings, overwrite=overwrite, hints=hints, fixed=fixed)
    if table.distribution is not None:
        raise TableError(
            f"Table '{path}' is distributed into buckets, but the underlying DynamicTableSink "
            "doesn't implement the SupportsBucketing interface."
        )
    converted = fitted(node, target, str(path))
    return Sink(converted.schema, converted, path, table, sink)


def sink_of(
    path: ObjectPath,
    table: CatalogTable,
    settings: QuerySettings,
    *,
    overwrite: bool = False,
    hints: Mapping[str, str] | None = None,
    fixed: Sequence[str] = (),
) -> TableSink:
    """Return the sink of a table.

    Args:
        path: the table's name.
        table: what the catalog has of it.
        settings: the session's.
        overwrite: whether what was there before goes.
        hints: options that the query gives for itself.
        fixed: the partition columns whose values the statement gives.

    Raises:
        ValidationError: the connector refuses the table.
    """
    context = table_context(
        path, table, settings.configuration, settings.time_zone, batch=settings.batch
    )
    context = replace(with_hints(context, hints or {}), overwrite=overwrite, fixed=tuple(fixed))
    return table_sink(context)


def with_partition(
    node: Node, columns: Sequence[Name], values: Sequence[tuple[str, Typed]], table: CatalogTable
) -> tuple[Node, tuple[Name, ...]]:
    """Return rows with the values of ``PARTITION``, and which columns they have then.

    Args:
        node: gives the rows.
        columns: which columns the rows have; none for all others.
        values: the partition columns and their values.
        table: what is written.

    Raises:
        ValidationError: the table is not partitioned by a column.
    """
    named = [name for name, _ in values]
    for name in named:
        if name not in table.partition_by:
            has = list(table.partition_by)
            raise ValidationError(
                f"'{name}' is not a partition column of the table, which has {has}"
            )
    given = columns or [Name((name,)) for name in table.schema.sink.names if name not in named]
    own = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
    constants = [value for _, value in values]
    places = [f"EXPR${index}" for index in range(len(own) + len(constants))]
    added = project(node, [*own, *constants], tuple(places))
    return added, (*given, *[Name((name,)) for name in named])


def check_target_column(column: Name, target: Schema, assigned: Container[str]) -> None:
    """Check that a statement may assign to a column.

    Args:
        column: as written.
        target: the table's columns.
        assigned: the columns to the left of this one.

    Raises:
        ValidationError: there is no such column, or it has a value already.
    """
    name = column.parts[0]
    if name not in target.names:
        raise invalid(f"Unknown target column '{name}'", column.span)
    if name in assigned:
        raise invalid(f"Target column '{name}' is assigned more than once", column.span)


def _by_name(node: Node, columns: Sequence[Name], target: Schema, path: ObjectPath) -> Node:
    """Return rows with all columns of the table; those that are not given are NULL."""
    positions: dict[str, int] = {}
    for index, column in enumerate(columns):
        check_target_column(column, target, positions)
        positions[column.parts[0]] = index
    if len(columns) != len(node.schema):
        raise _mismatch(str(path), "Different number of columns.", node.schema, target)
    expressions: list[Typed] = []
    for name, kind in zip(target.names, target.types):
        if name in positions:
            index = positions[name]
            expressions.append(InputRef(node.schema.types[index], index))
        elif not kind.nullable:
            raise ValidationError(f"Column '{name}' has no default value and does not allow NULLs")
        else:
            expressions.append(Constant(kind.plain(), None))
    return project(node, expressions, target.names)


def fitted(node: Node, target: Schema, name: str) -> Node:
    """Return rows whose columns have the types of a target's, by position.

    Args:
        node: gives the rows.
        target: the columns that are wanted.
        name: of the target, for the message.

    Raises:
        ValidationError: they do not fit.
    """
    if len(node.schema) != len(target):
        raise _mismatch(name, "Different number of columns.", node.schema, target)
    expressions: list[Typed] = []
    for index, (source, kind) in enumerate(zip(node.schema.types, target.types)):
        if not can_insert(source, kind):
            column = f"'{target.names[index]}' at position {index + 1}"
            cause = f"Incompatible types for sink column {column}."
            raise _mismatch(name, cause, node.schema, target)
        expressions.append(_fitted(InputRef(source, index), kind))
    if all(isinstance(item, InputRef) for item in expressions):
        return node
    return project(node, expressions, target.names)


def _fitted(column: InputRef, kind: LogicalType) -> Typed:
    if column.type.same_values(kind):
        return column
    return Conversion(kind.with_nullable(column.type.nullable).plain(), column)


def _mismatch(name: str, cause: str, query: Schema, sink: Schema) -> ValidationError:
    return ValidationError(
        f"Column types of query result and sink for '{name}' do not match.\n"
        f"Cause: {cause}\n\n"
        f"Query schema: {_listed(query)}\n"
        f"Sink schema:  {_listed(sink)}"
    )


def _listed(schema: Schema) -> str:
    columns = (f"{name}: {kind}" for name, kind in zip(schema.names, schema.types))
    return f"[{', '.join(columns)}]"
