"""The tables that statements name: FROM, the columns that INSERT has to fit, and unique keys."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions, Scope
from pyflink_on_spark._sql.errors import QuerySettings, TableError, ValidationError, invalid
from pyflink_on_spark._sql.parser.cursor import canonical_text
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    InputRef,
    Invocation,
    Typed,
    conjuncts,
)
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    AssignWatermarks,
    ExternalScan,
    Filter,
    Node,
    Over,
    Project,
    Schema,
    Sink,
    TableScan,
    project,
)
from pyflink_on_spark._sql.plan.options import (
    CatalogTable,
    Column,
    ObjectPath,
    ResolvedSchema,
    Watermark,
)
from pyflink_on_spark._sql.plan.ports import TableSink
from pyflink_on_spark._sql.syntax.expressions import Call, Expression, Name
from pyflink_on_spark._sql.syntax.statements import (
    ColumnDefinition,
    ColumnKind,
    PrimaryKey,
    WatermarkDefinition,
)
from pyflink_on_spark._sql.tables.connectors.registry import table_context, table_sink, with_hints
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import can_insert
from pyflink_on_spark._sql.types.logical import LogicalType, Time

_ROWTIME_DIGITS = 3
SOURCE_WATERMARK = "SOURCE_WATERMARK"
_NUMBER = "ROW_NUMBER"


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
        if not source.same_values(kind) and not can_insert(source, kind):
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


@dataclass(frozen=True)
class TableDescription:
    """The columns of a table as they were written, in SQL or with a Schema.

    Args:
        columns: the columns.
        watermarks: at most one.
        primary_key: the constraint, or None.
    """

    columns: tuple[ColumnDefinition, ...]
    watermarks: tuple[WatermarkDefinition, ...] = ()
    primary_key: PrimaryKey | None = None


def resolve_schema(description: TableDescription, functions: Functions) -> ResolvedSchema:
    """Return the columns of a table, with all types known.

    Raises:
        ValidationError: something in the description is wrong.
    """
    _check_names(description.columns)
    stored = [_stored(each) for each in description.columns if each.expression is None]
    scope = Scope.of(_schema(stored))
    binder = ExpressionBinder(scope, functions)
    by_name = {column.name: column for column in stored}
    columns = [
        by_name[each.name] if each.expression is None else _computed(each, binder)
        for each in description.columns
    ]
    watermark = None
    if description.watermarks:
        watermark, columns = _watermark(description.watermarks, columns, functions)
    key = description.primary_key
    names = None if key is None else _key_names(key, columns)
    if names is not None:
        columns = [
            replace(column, type=column.type.with_nullable(False))
            if column.name in names
            else column
            for column in columns
        ]
    return ResolvedSchema(tuple(columns), watermark, names, None if key is None else key.name)


def _check_names(columns: Sequence[ColumnDefinition]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            raise ValidationError(
                f"A regular Column named '{column.name}' already exists in the table."
            )
        seen.add(column.name)


def _schema(columns: Sequence[Column]) -> Schema:
    return Schema(
        tuple(column.name for column in columns), tuple(column.type for column in columns)
    )


def _stored(definition: ColumnDefinition) -> Column:
    assert definition.type is not None
    return Column(
        definition.name,
        definition.type,
        definition.kind,
        metadata_key=definition.metadata_key,
        virtual=definition.virtual,
        comment=definition.comment,
    )


def _computed(definition: ColumnDefinition, binder: ExpressionBinder) -> Column:
    assert definition.expression is not None
    bound = binder.bind(definition.expression)
    return Column(
        definition.name,
        bound.type,
        ColumnKind.COMPUTED,
        bound,
        _shown(definition.expression, bound),
        comment=definition.comment,
    )


def _watermark(
    definitions: Sequence[WatermarkDefinition], columns: list[Column], functions: Functions
) -> tuple[Watermark, list[Column]]:
    if len(definitions) > 1:
        raise ValidationError("Multiple WATERMARK statements is not supported yet.")
    definition = definitions[0]
    name = ".".join(definition.column.parts)
    index = next((i for i, column in enumerate(columns) if column.name == name), None)
    if index is None:
        place = definition.column.span
        where = "" if place is None else f", at {place.place()}"
        raise ValidationError(
            f"The rowtime attribute field '{name}' is not defined in the table schema{where}"
        )
    column = columns[index]
    kind = column.type
    if kind.root not in logical.TIMESTAMPS or (kind.precision or 0) > _ROWTIME_DIGITS:
        raise invalid(
            "Invalid data type of time field for watermark definition. The field must be of type "
            "TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the "
            f"time field type is {kind}",
            definition.column.span,
        )
    expression = definition.expression
    bound = None
    if not (isinstance(expression, Call) and expression.name.upper() == SOURCE_WATERMARK):
        bound = ExpressionBinder(Scope.of(_schema(columns)), functions).bind(expression)
        _check_watermark(bound.type, definition)
    text = _shown(expression, bound)
    columns = [*columns]
    columns[index] = replace(column, type=replace(kind, time=Time.ROWTIME))
    return Watermark(name, bound, text), columns


def _check_watermark(kind: LogicalType, definition: WatermarkDefinition) -> None:
    if kind.root not in logical.TIMESTAMPS:
        raise invalid(
            "Invalid data type of expression for watermark definition. It must be a TIMESTAMP or "
            f"TIMESTAMP_LTZ, but it is {kind}",
            definition.expression.span,
        )


def _key_names(key: PrimaryKey, columns: Sequence[Column]) -> tuple[str, ...]:
    physical = {column.name for column in columns if column.kind is ColumnKind.PHYSICAL}
    for column in key.columns:
        name = column.parts[0]
        if name not in physical:
            where = "" if column.span is None else f" at {column.span.place()}"
            raise ValidationError(
                f"Primary key column '{name}' is not defined in the schema{where}"
            )
    return tuple(column.parts[0] for column in key.columns)


def _shown(expression: Expression, bound: Typed | None) -> str:
    return str(bound) if expression.span is None else canonical_text(str(expression.span))


def unique_key(node: Node) -> frozenset[int] | None:
    """Return the positions of columns that identify a row of a node, or None."""
    if isinstance(node, TableScan):
        key = node.table.schema.primary_key
        names = node.schema.names
        if not key or not set(key) <= set(names):
            return None
        return frozenset(names.index(name) for name in key)
    if isinstance(node, ExternalScan):
        return frozenset(node.rows.key) if node.rows.key else None
    if isinstance(node, AssignWatermarks):
        return unique_key(node.input)
    if isinstance(node, Project):
        return _projected(node, unique_key(node.input))
    if isinstance(node, Filter):
        return _first_of_each(node) or unique_key(node.input)
    if isinstance(node, Aggregate):
        return frozenset(range(len(node.keys))) if node.keys and node.rows is None else None
    return None


def has_one_row(node: Node) -> bool:
    """True for a node with at most one row."""
    if isinstance(node, Project):
        return has_one_row(node.input)
    return isinstance(node, Aggregate) and not node.keys and node.rows is None


def _projected(node: Project, key: frozenset[int] | None) -> frozenset[int] | None:
    if key is None:
        return None
    places = {
        item.index: index
        for index, item in enumerate(node.expressions)
        if isinstance(item, InputRef)
    }
    return frozenset(places[index] for index in key) if key <= places.keys() else None


def _first_of_each(node: Filter) -> frozenset[int] | None:
    """Return the partition that a filter keeps one row of."""
    columns: tuple[Typed, ...] = tuple(
        InputRef(kind, index) for index, kind in enumerate(node.input.schema.types)
    )
    below = node.input
    while isinstance(below, Project):
        columns = tuple(
            below.expressions[item.index] if isinstance(item, InputRef) else item
            for item in columns
        )
        below = below.input
    if not isinstance(below, Over) or [call.function.name for call in below.calls] != [_NUMBER]:
        return None  # several rows may have the same rank
    if not all(isinstance(item, InputRef) for item in below.partition):
        return None
    rank = len(below.input.schema)
    one = any(_is_one(part, columns, rank) for part in conjuncts(node.condition))
    if not one:
        return None
    wanted = {item.index for item in below.partition if isinstance(item, InputRef)}
    found = {item.index: index for index, item in enumerate(columns) if isinstance(item, InputRef)}
    return frozenset(found[index] for index in wanted) if wanted <= found.keys() else None


def _is_one(part: Typed, columns: tuple[Typed, ...], rank: int) -> bool:
    """True for a condition that only rank 1 meets."""
    if not isinstance(part, Invocation) or part.function.name not in {"=", "<="}:
        return False
    one, two = (_plain(arg) for arg in part.args)
    if not isinstance(one, InputRef) or not isinstance(two, Constant) or two.value != 1:
        return False
    column = columns[one.index]
    return isinstance(column, InputRef) and column.index == rank


def _plain(expression: Typed) -> Typed:
    while isinstance(expression, Conversion):
        expression = expression.operand
    return expression
