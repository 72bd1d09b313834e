"""The data types that are made of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark.common.data_types.atomic import DataType, expect_type
from pyflink_on_spark.common.types import Row, RowKind, _create_row


class _ElementsType(DataType):
    """Lists in Python, of elements of one type.

    Args:
        element_type: the elements' type.
        nullable: whether None is a value.
    """

    def __init__(self, element_type, nullable=True):
        expect_type(element_type, "element_type")
        super().__init__(nullable)
        self.element_type = element_type

    def need_conversion(self):
        """True if elements are converted between Python and SQL."""
        return self.element_type.need_conversion()

    def to_sql_type(self, obj):
        """Return the form that a list has in PyFlink's files."""
        return obj and [self.element_type.to_sql_type(value) for value in obj]

    def from_sql_type(self, obj):
        """Return the list for a value in the form of PyFlink's files."""
        return obj and [self.element_type.from_sql_type(value) for value in obj]

    def _arguments(self) -> tuple[object, ...]:
        return (repr(self.element_type),)


class ArrayType(_ElementsType):
    """Lists.

    Args:
        element_type: the elements' type.
        nullable: whether None is a value.
    """


class MapType(DataType):
    """Dicts.

    Args:
        key_type: the keys' type.
        value_type: the values' type.
        nullable: whether None is a value.
    """

    def __init__(self, key_type, value_type, nullable=True):
        expect_type(key_type, "key_type")
        expect_type(value_type, "value_type")
        super().__init__(nullable)
        self.key_type = key_type
        self.value_type = value_type

    def need_conversion(self):
        """True if keys or values are converted between Python and SQL."""
        return self.key_type.need_conversion() or self.value_type.need_conversion()

    def to_sql_type(self, obj):
        """Return the form that a dict has in PyFlink's files."""
        key, value = self.key_type.to_sql_type, self.value_type.to_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}

    def from_sql_type(self, obj):
        """Return the dict for a value in the form of PyFlink's files."""
        key, value = self.key_type.from_sql_type, self.value_type.from_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}

    def _arguments(self) -> tuple[object, ...]:
        return repr(self.key_type), repr(self.value_type)


class MultisetType(_ElementsType):
    """Multisets.

    Args:
        element_type: the elements' type.
        nullable: whether None is a value.
    """


class RowField:
    """One column.

    Args:
        name: its name.
        data_type: its type.
        description: what is in it.
    """

    def __init__(self, name, data_type, description=None):
        expect_type(data_type, "data_type")
        assert isinstance(name, str), f"field name {name} should be string"
        self.name = name
        self.data_type = data_type
        self.description = "..." if description is None else description

    def __repr__(self):
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self, *args, **kwargs):
        return f"RowField({self.name}, {self.data_type})"

    def need_conversion(self):
        """True if values are converted between Python and SQL."""
        return self.data_type.need_conversion()

    def to_sql_type(self, obj):
        """Return the form that a Python object has in PyFlink's files."""
        return self.data_type.to_sql_type(obj)

    def from_sql_type(self, obj):
        """Return the Python object for a value in the form of PyFlink's files."""
        return self.data_type.from_sql_type(obj)

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

    def need_conversion(self):
        """True: rows are converted between Python and SQL."""
        return True

    def to_sql_type(self, obj):
        """Return the row kind and the fields of a row, tuple, list, dict or object.

        Raises:
            ValueError: it is something else.
        """
        if obj is None:
            return None
        kind = obj.get_row_kind() if isinstance(obj, Row) else RowKind.INSERT
        values = self._values(obj)
        return (kind.value, *(f.to_sql_type(value) for f, value in zip(self.fields, values)))

    def from_sql_type(self, obj):
        """Return the Row for the values of its fields."""
        if obj is None or isinstance(obj, Row):
            return obj
        values = [f.from_sql_type(value) for f, value in zip(self.fields, obj)]
        return _create_row(self.names, values)

    def _values(self, obj: object) -> Iterable[Any]:
        if isinstance(obj, dict):
            return map(obj.get, self.names)
        if isinstance(obj, Row):
            return [obj[name] for name in self.names] if hasattr(obj, "_fields") else obj
        if isinstance(obj, tuple | list):
            return obj
        if hasattr(obj, "__dict__"):
            return map(vars(obj).get, self.names)
        raise ValueError(f"Unexpected tuple {obj!r} with RowType")
