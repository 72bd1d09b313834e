"""The columns of a table, with their types."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.session.creation import column_text
from pyflink_on_spark._sql.types.external import to_data_type, to_logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.data_types import DataType, DataTypes

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of columns.

    Args:
        field_names: the names.
        data_types: the types.
        j_table_schema: not used.
    """

    def __init__(
        self,
        field_names: list[str] | None = None,
        data_types: list[DataType] | None = None,
        j_table_schema=None,
    ):
        self._names = list(field_names or [])
        self._kinds: list[DataType | LogicalType] = list(data_types or [])
        self._texts = [str(to_logical(kind)) for kind in data_types or []]

    @classmethod
    def _of(cls, schema: Schema) -> Self:
        made = cls(list(schema.names))
        made._kinds = list(schema.types)
        made._texts = list(map(column_text, schema.types))
        return made

    @cached_property
    def _types(self) -> list[DataType]:
        """The types; a TypeError if Python has none for a column."""
        return [to_data_type(k) if isinstance(k, LogicalType) else k for k in self._kinds]

    def get_field_data_types(self) -> list[DataType]:
        """Return the types.

        Raises:
            TypeError: Python has no type for a column, as of VARIANT.
        """
        return list(self._types)

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column, by its position or name; None if there is none."""
        if isinstance(field, str):
            return self._types[self._names.index(field)] if field in self._names else None
        return self._types[field] if 0 <= field < len(self._types) else None

    def get_field_count(self) -> int:
        """Return how many columns there are."""
        return len(self._names)

    def get_field_names(self) -> list[str]:
        """Return the names."""
        return list(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of a column by its position; None if there is none."""
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def to_row_data_type(self):
        """Return the type of rows with these columns."""
        fields = [DataTypes.FIELD(n, t) for n, t in zip(self._names, self._types)]
        return DataTypes.ROW(fields, nullable=False)

    def __repr__(self):
        lines = "".join(f" |-- {n}: {t}\n" for n, t in zip(self._names, self._texts))
        return f"root\n{lines}"

    def __eq__(self, other):
        return (
            isinstance(other, TableSchema)
            and self._names == other._names
            and self._types == other._types
        )

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(tuple(self._names))

    def copy(self) -> TableSchema:
        """Return the same columns as another object."""
        copied = TableSchema(self._names)
        copied._kinds, copied._texts = list(self._kinds), list(self._texts)
        return copied

    @classmethod
    def builder(cls):
        """Return a builder."""
        return TableSchema.Builder()

    class Builder:
        """Collects columns; ``build`` gives the schema."""

        def __init__(self):
            self._names: list[str] = []
            self._types: list[DataType] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Add a column."""
            assert name is not None
            assert data_type is not None
            self._names.append(name)
            self._types.append(data_type)
            return self

        def build(self) -> TableSchema:
            """Return the schema of the columns."""
            return TableSchema(self._names, self._types)


__getattr__ = missing_name(__name__)
