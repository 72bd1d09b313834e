"""Reads tables of a catalog."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._sql.binder.projections import project
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.catalog_objects import CatalogTable, ObjectPath, ResolvedSchema
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef, Typed, substitute
from pyflink_on_spark._sql.plan.nodes import AssignWatermarks, Node, TableScan
from pyflink_on_spark._sql.plan.ports import TableSource
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.registry import table_context, table_source, with_hints


def scan(
    path: ObjectPath, table: CatalogTable, hints: Mapping[str, str], settings: QuerySettings
) -> Node:
    """Return the node that gives all columns of a table, with its watermarks.

    Raises:
        ValidationError: the connector refuses the table.
    """
    context = table_context(
        path, table, settings.configuration, settings.time_zone, batch=settings.batch
    )
    source = table_source(with_hints(context, hints))
    stored = _stored_schema(table.schema, source)
    read = TableScan(stored, path, table, source, tuple(sorted(hints.items())))
    return with_watermarks(with_computed(read, table.schema), table.schema)


def _stored_schema(schema: ResolvedSchema, source: TableSource) -> Schema:
    """Return the physical columns and, after them, the metadata columns as the source has them."""
    physical = schema.physical
    metadata = schema.of_kind(ColumnKind.METADATA)
    offered = source.metadata()
    types = []
    for column in metadata:
        key = column.metadata_key or column.name
        if key not in offered:
            listed = "\n".join(sorted(offered))
            raise ValidationError(
                f"Invalid metadata key '{key}' in column '{column.name}'.\n\n"
                f"The table supports the following metadata keys:\n{listed}"
            )
        types.append(offered[key])
    names = tuple(column.name for column in metadata)
    return Schema(physical.names + names, physical.types + tuple(types))


def with_computed(node: Node, schema: ResolvedSchema) -> Node:
    """Return the columns of a table in their order.

    Args:
        node: gives the physical and the metadata columns.
        schema: the table's.
    """
    stored = {
        name: InputRef(kind, index)
        for index, (name, kind) in enumerate(zip(node.schema.names, node.schema.types))
    }
    declared = [column for column in schema.columns if column.kind is not ColumnKind.COMPUTED]
    # A computed column is over the stored columns in the order of their declaration.
    order = tuple(_as_declared(stored[column.name], column.type) for column in declared)
    by_name = dict(zip((column.name for column in declared), order))
    columns = [
        by_name[column.name] if column.expression is None else substitute(column.expression, order)
        for column in schema.columns
    ]
    return project(node, columns, schema.row.names)


def _as_declared(column: InputRef, declared: object) -> Typed:
    kind = declared.plain()  # type: ignore[attr-defined]
    return column if column.type.same_values(kind) else Conversion(kind, column)


def with_watermarks(node: Node, schema: ResolvedSchema) -> Node:
    """Return a node with the watermarks of a table."""
    watermark = schema.watermark
    if watermark is None:
        return node
    index = schema.index(watermark.column)
    return AssignWatermarks(schema.row, node, index, watermark.expression)
