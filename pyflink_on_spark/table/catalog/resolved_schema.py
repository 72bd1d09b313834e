"""The columns of tables with all types known."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._sql.plan import options
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.session.creation import (
    column_extras,
    column_line,
    key_line,
    resolved_text,
    watermark_line,
)
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types.external import to_data_type, to_logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.data_types import DataType, DataTypes
from pyflink_on_spark.table.resolved_expression import ResolvedExpression, TypedText
from pyflink_on_spark.table.schema import Schema as UnresolvedSchema


class Column(metaclass=ABCMeta):
    """A column.

    Args:
        j_column: use ``physical``, ``computed`` or ``metadata``.
    """

    def __init__(self, j_column):
        name = type(self).__name__
        self._column: options.Column = own_handle(j_column, options.Column, f"{name}(j_column)")

    def __eq__(self, other):
        return type(self) is type(other) and self._column == other._column

    def __hash__(self):
        return hash(self._column.name)

    def __str__(self):
        return column_line(self._column)

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column of the records themselves."""
        return PhysicalColumn(options.Column(name, to_logical(data_type)))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a column that is computed of others."""
        resolved = resolved_expression._resolved
        return ComputedColumn(
            options.Column(name, resolved.type, ColumnKind.COMPUTED, text=resolved.text)
        )

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """Return a column of what the connector knows besides the records."""
        return MetadataColumn(
            options.Column(
                name,
                to_logical(data_type),
                ColumnKind.METADATA,
                metadata_key=metadata_key,
                virtual=is_virtual,
            )
        )

    @abstractmethod
    def with_comment(self, comment: str | None):
        """Return the column with a comment."""

    @abstractmethod
    def is_physical(self) -> bool:
        """True for a column in the records themselves."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """True for a column that sinks write."""

    def get_data_type(self) -> DataType:
        """Return the type."""
        return to_data_type(self._column.type)

    def get_name(self):
        """Return the name."""
        return self._column.name

    def get_comment(self) -> str | None:
        """Return the comment; None if there is none."""
        return self._column.comment

    def as_summary_string(self) -> str:
        """Return the column as ``print_schema`` shows it."""
        return str(self)

    @abstractmethod
    def explain_extras(self) -> str | None:
        """Return the text after the type in explanations, or None."""

    @abstractmethod
    def copy(self, new_type: DataType) -> Column:
        """Return the column with another type."""

    @abstractmethod
    def rename(self, new_name: str) -> Column:
        """Return the column with another name."""

    def _with(self, **changes: Any) -> Self:
        return type(self)(replace(self._column, **changes))


class PhysicalColumn(Column):
    """A column of the records themselves.

    Args:
        j_physical_column: use ``Column.physical``.
    """

    def __init__(self, j_physical_column):
        super().__init__(j_physical_column)

    def with_comment(self, comment: str | None) -> PhysicalColumn:
        """Return the column with a comment."""
        return self._with(comment=comment)

    def is_physical(self) -> bool:
        """True: the column is in the records themselves."""
        return True

    def is_persisted(self) -> bool:
        """True: sinks write the column."""
        return True

    def explain_extras(self) -> str | None:
        """Return None: nothing follows the type."""
        return None

    def copy(self, new_data_type: DataType) -> Column:
        """Return the column with another type."""
        return self._with(type=to_logical(new_data_type))

    def rename(self, new_name: str) -> Column:
        """Return the column with another name."""
        return self._with(name=new_name)


class ComputedColumn(Column):
    """A column that is computed of others.

    Args:
        j_computed_column: use ``Column.computed``.
    """

    def __init__(self, j_computed_column):
        super().__init__(j_computed_column)

    def __eq__(self, other):
        return super().__eq__(other)

    def __hash__(self):
        return super().__hash__()

    def with_comment(self, comment: str | None) -> ComputedColumn:
        """Return the column with a comment."""
        return self._with(comment=comment)

    def is_physical(self) -> bool:
        """False: the column is not in the records."""
        return False

    def is_persisted(self) -> bool:
        """False: sinks do not write the column."""
        return False

    def get_expression(self) -> ResolvedExpression:
        """Return the expression that computes the column."""
        return ResolvedExpression(TypedText(self._column.text, self._column.type))

    def explain_extras(self) -> str | None:
        """Return ``AS`` with the expression."""
        return column_extras(self._column)

    def copy(self, new_data_type: DataType) -> Column:
        """Return the column with another type."""
        return self._with(type=to_logical(new_data_type))

    def rename(self, new_name: str) -> Column:
        """Return the column with another name."""
        return self._with(name=new_name)


class MetadataColumn(Column):
    """A column of what the connector knows besides the records.

    Args:
        j_metadata_column: use ``Column.metadata``.
    """

    def __init__(self, j_metadata_column):
        super().__init__(j_metadata_column)

    def __eq__(self, other):
        return super().__eq__(other)

    def __hash__(self):
        return super().__hash__()

    def is_virtual(self) -> bool:
        """True for a column that is only read."""
        return self._column.virtual

    def get_metadata_key(self) -> str | None:
        """Return the key of the metadata; None if the column is called like that."""
        return self._column.metadata_key

    def with_comment(self, comment: str | None) -> MetadataColumn:
        """Return the column with a comment."""
        return self._with(comment=comment)

    def is_physical(self) -> bool:
        """False: the column is not in the records."""
        return False

    def is_persisted(self) -> bool:
        """True unless the column is only read."""
        return not self._column.virtual

    def explain_extras(self) -> str | None:
        """Return ``METADATA`` with its key."""
        return column_extras(self._column)

    def copy(self, new_data_type: DataType) -> Column:
        """Return the column with another type."""
        return self._with(type=to_logical(new_data_type))

    def rename(self, new_name: str) -> Column:
        """Return the column with another name."""
        return self._with(name=new_name)


_CLASSES: dict[ColumnKind, Any] = {
    ColumnKind.PHYSICAL: PhysicalColumn,
    ColumnKind.COMPUTED: ComputedColumn,
    ColumnKind.METADATA: MetadataColumn,
}


def column_object(column: options.Column) -> Column:
    """Return the object for a column of a catalog."""
    made: Column = _CLASSES[column.kind](column)
    return made


@dataclass(frozen=True)
class _Watermark:
    column: str
    text: str
    type: LogicalType


@dataclass(frozen=True)
class _Key:
    name: str
    columns: tuple[str, ...]


class WatermarkSpec:
    """The watermark of a table.

    Args:
        j_watermark_spec: use ``of``.
    """

    def __init__(self, j_watermark_spec):
        self._watermark: _Watermark = own_handle(
            j_watermark_spec, _Watermark, "WatermarkSpec(j_watermark_spec)"
        )

    def __str__(self):
        mark = self._watermark
        return watermark_line(mark.column, mark.type, mark.text)

    def __eq__(self, other):
        return isinstance(other, WatermarkSpec) and self._watermark == other._watermark

    def __hash__(self):
        return hash(self._watermark)

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression):
        """Return the watermark of a column."""
        resolved = watermark_expression._resolved
        return WatermarkSpec(_Watermark(rowtime_attribute, resolved.text, resolved.type))

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column."""
        return self._watermark.column

    def get_watermark_expression(self) -> ResolvedExpression:
        """Return the expression that computes the watermark."""
        return ResolvedExpression(TypedText(self._watermark.text, self._watermark.type))

    def as_summary_string(self) -> str:
        """Return the watermark as ``print_schema`` shows it."""
        return str(self)


class Constraint:
    """Something that holds for all rows of a table.

    Args:
        j_constraint: use ``UniqueConstraint.primary_key``.
    """

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    def __init__(self, j_constraint):
        self._key: _Key = own_handle(j_constraint, _Key, "Constraint(j_constraint)")

    def get_name(self) -> str:
        """Return the name."""
        return self._key.name

    def is_enforced(self) -> bool:
        """False: tables never check their constraints."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return the kind of the constraint."""
        return self.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        """Return the constraint as ``print_schema`` shows it."""
        return key_line(self._key.name, self._key.columns)


class UniqueConstraint(Constraint):
    """Some columns together are different in each row.

    Args:
        j_unique_constraint: use ``primary_key``.
    """

    def __init__(self, j_unique_constraint=None):
        super().__init__(j_unique_constraint)

    @staticmethod
    def primary_key(name: str, columns: list[str]) -> UniqueConstraint:
        """Return the primary key of some columns.

        On Spark: works; PyFlink 2.3 refuses the list.
        """
        return UniqueConstraint(_Key(name, tuple(columns)))

    def get_columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._key.columns)

    def get_type_string(self) -> str:
        """Return SQL's words for it."""
        return "PRIMARY KEY"


class ResolvedSchema:
    """The columns of a table with all types known, its watermark and its primary key.

    Args:
        columns: the columns.
        watermark_specs: how the table makes watermarks; none, or one.
        primary_key: the primary key, or None.
        j_resolved_schema: not used.
    """

    def __init__(
        self,
        columns: list[Column] | None = None,
        watermark_specs: list[WatermarkSpec] | None = None,
        primary_key: UniqueConstraint | None = None,
        j_resolved_schema=None,
    ):
        assert columns is not None, "columns must be given"
        assert watermark_specs is not None, "watermark_specs must be given"
        self._columns = list(columns)
        self._watermarks = list(watermark_specs)
        self._key = primary_key

    @classmethod
    def _of_rows(cls, schema: Schema) -> ResolvedSchema:
        """Return the columns of a query."""
        found = zip(schema.names, schema.types)
        return cls([column_object(options.Column(n, kind)) for n, kind in found], [])

    @classmethod
    def _of_table(cls, schema: options.ResolvedSchema) -> ResolvedSchema:
        """Return the columns of a table of a catalog."""
        mark, key = schema.watermark, None
        specs = []
        if mark is not None:
            kind = schema.row.types[schema.index(mark.column)].plain()
            specs = [WatermarkSpec(_Watermark(mark.column, mark.text, kind))]
        if schema.primary_key is not None:
            name = schema.key_name or f"PK_{'_'.join(schema.primary_key)}"
            key = UniqueConstraint(_Key(name, schema.primary_key))
        return cls([column_object(column) for column in schema.columns], specs, key)

    def __str__(self):
        marks = [str(mark) for mark in self._watermarks]
        key = [] if self._key is None else [self._key.as_summary_string()]
        return resolved_text([*map(str, self._columns), *marks, *key])

    def __eq__(self, other):
        return isinstance(other, ResolvedSchema) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    @staticmethod
    def of(columns: list[Column]) -> ResolvedSchema:
        """Return the schema of some columns, without watermark and primary key."""
        return ResolvedSchema(columns, [])

    @staticmethod
    def physical(column_names: list[str], column_data_types: list[DataType]) -> ResolvedSchema:
        """Return the schema of columns with some names and types."""
        return ResolvedSchema.of(list(map(Column.physical, column_names, column_data_types)))

    def get_column_count(self) -> int:
        """Return how many columns there are."""
        return len(self._columns)

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return list(self._columns)

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.get_name() for column in self._columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.get_data_type() for column in self._columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by its position or name; None if there is none."""
        wanted = column_index_or_name
        if isinstance(wanted, str):
            return next((each for each in self._columns if each.get_name() == wanted), None)
        return self._columns[wanted] if 0 <= wanted < len(self._columns) else None

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return how the table makes watermarks: none, or one."""
        return list(self._watermarks)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key; None if there is none."""
        return self._key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the positions of the columns of the primary key."""
        names = self.get_column_names()
        return [] if self._key is None else list(map(names.index, self._key.get_columns()))

    def to_source_row_data_type(self) -> DataType:
        """Return the type of rows of all columns."""
        return self._row_type(self._columns)

    def to_physical_row_data_type(self) -> DataType:
        """Return the type of the records themselves."""
        return self._row_type([column for column in self._columns if column.is_physical()])

    def to_sink_row_data_type(self):
        """Return the type of the written rows."""
        return self._row_type([column for column in self._columns if column.is_persisted()])

    @staticmethod
    def _row_type(columns: list[Column]) -> DataType:
        return DataTypes.ROW(
            [DataTypes.FIELD(column.get_name(), column.get_data_type()) for column in columns]
        )


def unresolved_schema(schema: options.ResolvedSchema | Schema) -> UnresolvedSchema:
    """The columns, the watermark and the primary key of a table as a program describes them."""
    if isinstance(schema, Schema):
        resolved = ResolvedSchema._of_rows(schema)
    else:
        resolved = ResolvedSchema._of_table(schema)
    return UnresolvedSchema.new_builder().from_resolved_schema(resolved).build()
