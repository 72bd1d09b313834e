"""Rows and tuples: a fixed number of fields, each of its own type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflink_on_spark.common.typeinfo.information import TypeInformation
from pyflink_on_spark.common.types import Row, RowKind


class _FieldConversion:
    """Converts the fields of one record, touching only those that need it."""

    def __init__(self, field_types: list[TypeInformation]) -> None:
        self._types = field_types
        self._needed = [
            isinstance(kind, TypeInformation) and kind.need_conversion() for kind in field_types
        ]
        self._any = any(self._needed)

    def to_internal(self, values: Iterable[Any]) -> tuple:
        if not self._any:
            return tuple(values)
        columns = zip(self._types, values, self._needed)
        return tuple(
            kind.to_internal_type(value) if needed else value for kind, value, needed in columns
        )

    def from_internal(self, values: Iterable[Any]) -> tuple:
        if not self._any:
            return tuple(values)
        columns = zip(self._types, values, self._needed)
        return tuple(
            kind.from_internal_type(value) if needed else value for kind, value, needed in columns
        )


class RowTypeInfo(TypeInformation):
    """Rows with these fields.

    Args:
        field_types: the types of the fields.
        field_names: their names; ``f0``, ``f1`` and so on when left out.
    """

    def __init__(
        self, field_types: list[TypeInformation], field_names: list[str] | None = None
    ) -> None:
        self._field_types = field_types
        self._field_names = field_names
        self._conversion = _FieldConversion(field_types)

    def get_field_names(self) -> list[str]:
        """Return the names; from the first call on they belong to the type's text."""
        if not self._field_names:
            self._field_names = [f"f{index}" for index in range(len(self._field_types))]
        return self._field_names

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field, or -1 when the fields were given no names.

        Raises:
            ValueError: there is no such field.
        """
        return self._field_names.index(field_name) if self._field_names else -1

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowTypeInfo) and self._field_types == other._field_types

    def __repr__(self) -> str:
        if not self._field_names:
            return f"RowTypeInfo({', '.join(map(str, self._field_types))})"
        fields = zip(self._field_names, self._field_types)
        return f"RowTypeInfo({', '.join([f'{name}: {kind}' for name, kind in fields])})"

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple | None:
        if obj is None:
            return None
        kind = RowKind.INSERT
        values: Iterable[Any]
        if isinstance(obj, dict):
            values = map(obj.get, self.get_field_names())
        elif isinstance(obj, Row):
            kind = obj.get_row_kind()
            named = obj._names is not None
            values = [obj[name] for name in self.get_field_names()] if named else obj
        elif isinstance(obj, (tuple, list)):
            values = obj
        elif hasattr(obj, "__dict__"):
            values = map(obj.__dict__.get, self.get_field_names())
        else:
            raise ValueError(f"Unexpected tuple {obj!r} with RowTypeInfo")
        return (kind.value, *self._conversion.to_internal(values))

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return self._conversion.from_internal(obj)


class TupleTypeInfo(TypeInformation):
    """Tuples with these fields.

    Args:
        field_types: the types of the fields.
    """

    def __init__(self, field_types: list[TypeInformation]) -> None:
        self._field_types = field_types
        self._conversion = _FieldConversion(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple | None:
        if obj is None:
            return None
        if isinstance(obj, (list, tuple, Row)):
            return self._conversion.to_internal(obj)
        raise ValueError(f"Unexpected tuple {obj!r} with TupleTypeInfo")

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return self._conversion.from_internal(obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleTypeInfo) and self._field_types == other._field_types

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"
