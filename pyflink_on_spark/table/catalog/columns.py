"""The columns of a table, as objects."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import replace
from typing import Any, Self

from pyflink_on_spark._sql.plan import catalog_objects
from pyflink_on_spark._sql.session.creation import column_extras, column_line
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.types.api_types import to_data_type, to_logical
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.resolved_expression import ResolvedExpression, TypedText


class Column(metaclass=ABCMeta):
    """A column.

    Args:
        j_column: use ``physical``, ``computed`` or ``metadata``.
    """

    def __init__(self, j_column):
        name = type(self).__name__
        self._column: catalog_objects.Column = own_handle(
            j_column, catalog_objects.Column, f"{name}(j_column)"
        )

    def __eq__(self, other):
        return type(self) is type(other) and self._column == other._column

    def __hash__(self):
        return hash(self._column.name)

    def __str__(self):
        return column_line(self._column)

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column of the records themselves."""
        return PhysicalColumn(catalog_objects.Column(name, to_logical(data_type)))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a column that is computed of others."""
        resolved = resolved_expression._resolved
        return ComputedColumn(
            catalog_objects.Column(name, resolved.type, ColumnKind.COMPUTED, text=resolved.text)
        )

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """Return a column of what the connector knows besides the records."""
        return MetadataColumn(
            catalog_objects.Column(
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
        """Tell whether it is in the records themselves."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Tell whether it is written."""

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
        """Return what follows the type; None if nothing does."""

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
        """Tell that it is in the records themselves."""
        return True

    def is_persisted(self) -> bool:
        """Tell that it is written."""
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
        """Tell that it is not in the records."""
        return False

    def is_persisted(self) -> bool:
        """Tell that it is not written."""
        return False

    def get_expression(self) -> ResolvedExpression:
        """Return what computes it."""
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
        """Tell whether it is only read."""
        return self._column.virtual

    def get_metadata_key(self) -> str | None:
        """Return the key of the metadata; None if the column is called like that."""
        return self._column.metadata_key

    def with_comment(self, comment: str | None) -> MetadataColumn:
        """Return the column with a comment."""
        return self._with(comment=comment)

    def is_physical(self) -> bool:
        """Tell that it is not in the records."""
        return False

    def is_persisted(self) -> bool:
        """Tell whether it is written."""
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


def column_object(column: catalog_objects.Column) -> Column:
    """Return the object for a column of a catalog."""
    made: Column = _CLASSES[column.kind](column)
    return made
