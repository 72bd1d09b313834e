"""Resolves the description of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.errors import ValidationError, invalid
from pyflink_on_spark._sql.parser.cursor import canonical_text
from pyflink_on_spark._sql.plan.catalog_objects import Column, ResolvedSchema, Watermark
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.syntax.expressions import Call, Expression
from pyflink_on_spark._sql.syntax.statements import (
    ColumnDefinition,
    ColumnKind,
    PrimaryKey,
    WatermarkDefinition,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Time

_ROWTIME_DIGITS = 3
SOURCE_WATERMARK = "SOURCE_WATERMARK"


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
