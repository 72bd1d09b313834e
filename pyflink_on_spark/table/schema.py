"""The columns of a table, as a program describes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.binder.tables import TableDescription
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.syntax.expressions import Expression as Written
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.syntax.statements import (
    ColumnDefinition,
    ColumnKind,
    PrimaryKey,
    WatermarkDefinition,
)
from pyflink_on_spark._sql.types.external import to_data_type
from pyflink_on_spark.common.data_types import DataType, RowType
from pyflink_on_spark.table._inner import described_of, syntax_of
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.parts import logical_type

if TYPE_CHECKING:
    from pyflink_on_spark._sql.plan.options import Column
    from pyflink_on_spark.table.catalog import ResolvedSchema

__all__ = ["Schema"]


@dataclass(frozen=True)
class _Description:
    columns: tuple[ColumnDefinition, ...] = ()
    watermarks: tuple[WatermarkDefinition, ...] = ()
    primary_key: PrimaryKey | None = None
    column_lines: tuple[str, ...] = ()
    watermark_lines: tuple[str, ...] = ()
    key_line: str | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The text of the schema, a line for each part."""
        key = () if self.key_line is None else (self.key_line,)
        return (*self.column_lines, *self.watermark_lines, *key)


class Schema:
    """The columns of a table, its watermarks and its primary key.

    Args:
        j_schema: use ``new_builder``.

    Example:
        >>> schema = Schema.new_builder().column("id", "INT").column("name", "STRING").build()
    """

    def __init__(self, j_schema):
        self._described: _Description = own_handle(j_schema, _Description, "Schema(j_schema)")

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder."""
        return Schema.Builder(_Description())

    def __str__(self):
        return "(\n" + ",\n".join(f"  {line}" for line in self._described.lines) + "\n)"

    def __eq__(self, other):
        return isinstance(other, Schema) and self._described.lines == described_of(other).lines

    def __hash__(self):
        return hash(self._described.lines)

    @property
    def _description(self) -> TableDescription:
        described = self._described
        return TableDescription(described.columns, described.watermarks, described.primary_key)

    class Builder:
        """Collects the columns; ``build`` returns the Schema.

        Args:
            j_builder: use ``Schema.new_builder``.
        """

        def __init__(self, j_builder):
            self._described: _Description = own_handle(
                j_builder, _Description, "Schema.Builder(j_builder)"
            )

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add all of another schema."""
            other = described_of(unresolved_schema)
            own = self._described
            self._described = replace(
                own,
                columns=own.columns + other.columns,
                watermarks=own.watermarks + other.watermarks,
                primary_key=other.primary_key or own.primary_key,
                column_lines=own.column_lines + other.column_lines,
                watermark_lines=own.watermark_lines + other.watermark_lines,
                key_line=other.key_line or own.key_line,
            )
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add the columns, watermark and primary key of a table."""
            for each in resolved_schema.get_columns():
                self._add(each._column)
            for mark in resolved_schema.get_watermark_specs():
                self.watermark(mark.get_rowtime_attribute(), str(mark.get_watermark_expression()))
            key = resolved_schema.get_primary_key()
            if key is not None:
                self.primary_key_named(key.get_name(), *key.get_columns())
            return self

        def _add(self, column: Column) -> None:
            if column.kind is ColumnKind.COMPUTED:
                self.column_by_expression(column.name, column.text)
            elif column.kind is ColumnKind.METADATA:
                kind = to_data_type(column.type)
                key = column.metadata_key
                self.column_by_metadata(column.name, kind, key, column.virtual)
            else:
                self.column(column.name, to_data_type(column.type))

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Add the fields of a row type as columns."""
            if not isinstance(data_type, RowType):
                raise TypeError(f"a row's type is needed, not {data_type!r}")
            return self.from_fields(data_type.names, data_type.field_types())

        def from_fields(
            self, field_names: list[str], field_data_types: list[DataType]
        ) -> Schema.Builder:
            """Add columns of some names and types."""
            for name, data_type in zip(field_names, field_data_types):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Add a column.

            Args:
                column_name: its name.
                data_type: its type, or the text of one.
            """
            kind = logical_type(data_type)
            definition = ColumnDefinition(column_name, ColumnKind.PHYSICAL, kind)
            return self._with(f"`{column_name}` {_type_text(data_type)}", definition)

        def column_by_expression(self, column_name: str, expr: str | Expression) -> Schema.Builder:
            """Add a column that is computed of others.

            Args:
                column_name: its name.
                expr: an expression, or the SQL text of one.
            """
            written, text = _unresolved(expr)
            definition = ColumnDefinition(column_name, ColumnKind.COMPUTED, expression=written)
            return self._with(f"`{column_name}` AS {text}", definition)

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a column of what the connector knows besides the columns.

            Args:
                column_name: its name.
                data_type: its type, or the text of one.
                metadata_key: which metadata, if it is not called as the column.
                is_virtual: whether it is not written.
            """
            kind = logical_type(data_type)
            definition = ColumnDefinition(
                column_name,
                ColumnKind.METADATA,
                kind,
                metadata_key=metadata_key,
                virtual=is_virtual,
            )
            source = "" if metadata_key is None else f" FROM '{metadata_key}'"
            virtual = " VIRTUAL" if is_virtual else ""
            line = f"`{column_name}` {_type_text(data_type)} METADATA{source}{virtual}"
            return self._with(line, definition)

        def watermark(self, column_name: str, watermark_expr: str | Expression) -> Schema.Builder:
            """Make a column the rowtime attribute.

            Args:
                column_name: a TIMESTAMP(3) or TIMESTAMP_LTZ(3).
                watermark_expr: an expression, or the SQL text of one.
            """
            written, text = _unresolved(watermark_expr)
            own = self._described
            definition = WatermarkDefinition(Name((column_name,)), written)
            self._described = replace(
                own,
                watermarks=(*own.watermarks, definition),
                watermark_lines=(
                    *own.watermark_lines,
                    f"WATERMARK FOR `{column_name}` AS {text}",
                ),
            )
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Say which columns together are different in each row."""
            name = f"PK_{'_'.join(column_names)}"
            return self.primary_key_named(name, *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Say which columns together are different in each row, and what that is called."""
            key = PrimaryKey(tuple(Name((name,)) for name in column_names), constraint_name)
            listed = ", ".join(f"`{name}`" for name in column_names)
            line = f"CONSTRAINT `{constraint_name}` PRIMARY KEY ({listed}) NOT ENFORCED"
            self._described = replace(self._described, primary_key=key, key_line=line)
            return self

        def build(self) -> Schema:
            """Return the Schema."""
            return Schema(self._described)

        def _with(self, line: str, definition: ColumnDefinition) -> Schema.Builder:
            own = self._described
            self._described = replace(
                own,
                columns=(*own.columns, definition),
                column_lines=(*own.column_lines, line),
            )
            return self


def _unresolved(given: str | Expression) -> tuple[Written, str]:
    if isinstance(given, Expression):
        return syntax_of(given), str(given)
    return parse_expression(given), f"[{given}]"


def _type_text(given: DataType | str) -> str:
    """The text of a type; one that was given as text stands in brackets, as it was written."""
    return f"[{given}]" if isinstance(given, str) else str(logical_type(given))


__getattr__ = missing_name(__name__)
