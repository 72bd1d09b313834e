"""The data types that are made of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark.common.data_types.atomic import DataType


class ArrayType(DataType):
    """Lists.

    Args:
        element_type: the elements' type.
        nullable: whether None is a value.
    """

    def __init__(self, element_type, nullable=True):
        _expect_type(element_type, "element_type")
        super().__init__(nullable)
        self.element_type = element_type

    def _arguments(self) -> tuple[Any, ...]:
        return (repr(self.element_type),)


class MapType(DataType):
    """Dicts.

    Args:
        key_type: the keys' type.
        value_type: the values' type.
        nullable: whether None is a value.
    """

    def __init__(self, key_type, value_type, nullable=True):
        _expect_type(key_type, "key_type")
        _expect_type(value_type, "value_type")
        super().__init__(nullable)
        self.key_type = key_type
        self.value_type = value_type

    def _arguments(self) -> tuple[Any, ...]:
        return repr(self.key_type), repr(self.value_type)


class MultisetType(DataType):
    """Multisets.

    Args:
        element_type: the elements' type.
        nullable: whether None is a value.
    """

    def __init__(self, element_type, nullable=True):
        _expect_type(element_type, "element_type")
        super().__init__(nullable)
        self.element_type = element_type

    def _arguments(self) -> tuple[Any, ...]:
        return (repr(self.element_type),)


class RowField:
    """One column.

    Args:
        name: its name.
        data_type: its type.
        description: what is in it.
    """

    def __init__(self, name, data_type, description=None):
        _expect_type(data_type, "data_type")
        assert isinstance(name, str), f"field name {name} should be string"
        self.name = name
        self.data_type = data_type
        self.description = "..." if description is None else description

    def __repr__(self):
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self):
        return f"RowField({self.name}, {self.data_type})"

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__


class RowType(DataType):
    """Rows; iterating gives the fields, and an index or name one of them.

    Args:
        fields: the columns.
        nullable: whether None is a value.
    """

    def __init__(self, fields=None, nullable=True):
        super().__init__(nullable)
        self.fields = fields or []
        assert all(isinstance(field, RowField) for field in self.fields), (
            "fields should be a list of RowField"
        )
        self.names = [field.name for field in self.fields]

    def add(self, field, data_type=None):
        """Add a field, or a name and a type, and return this type."""
        if not isinstance(field, RowField):
            if data_type is None:
                raise ValueError("Must specify DataType if passing name of row_field to create.")
            field = RowField(field, data_type)
        self.fields.append(field)
        self.names.append(field.name)
        return self

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"No RowField named {key}")
            return self.fields[self.names.index(key)]
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if not isinstance(key, int):
            raise TypeError("RowType keys should be strings, integers or slices")
        return self.fields[key]

    def __repr__(self):
        return f"RowType({','.join(map(repr, self.fields))})"

    def field_names(self):
        """Return the names of the columns."""
        return list(self.names)

    def field_types(self):
        """Return the types of the columns."""
        return [field.data_type for field in self.fields]


def _expect_type(value: Any, name: str) -> None:
    assert isinstance(value, DataType), f"{name} {value} should be an instance of {DataType}"
