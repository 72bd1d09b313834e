"""Rows and their change kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported

__all__ = ["Row", "RowKind"]


def _to_j_row_kind(self: RowKind) -> object:
    """Give Flink's Java constant for this kind. On Spark: raises, there is no Flink JVM."""


_to_j_row_kind.__qualname__ = "RowKind.to_j_row_kind"


class RowKind(Enum):
    """The kind of a row in a changelog: an insertion, either half of an update, or a deletion."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _SHORT_KIND[self._value_]

    to_j_row_kind = unsupported(
        _to_j_row_kind,
        kind=Gap.NEVER,
        reason="it returns a Java object",
        instead="Use the RowKind itself",
    )


_INSERT = RowKind.INSERT  # to look up a member of an enum takes longer
_SHORT_KIND = ("+I", "-U", "+U", "-D")


def _create_row(
    fields: list[str] | None, values: Iterable[Any], row_kind: RowKind | None = None
) -> Row:
    row = Row(*values)
    row._names = fields
    if row_kind is not None:
        row._row_kind = row_kind
    return row


class Row:
    """A record with fields by position and, when it has names, by name.

    ``Row(1, "a")`` has positions only, ``Row(id=1, name="a")`` has names in the order given, and
    ``Person = Row("id", "name")`` can be called: ``Person(1, "a")`` has these names.

    Args:
        args: the values, or the names when the row is to be called.
        kwargs: the values by name.

    Raises:
        ValueError: both positional and named values were given.

    Example:
        >>> row = Row(name="a", count=1)
        >>> row.name, row["count"], tuple(row)
        ('a', 1, ('a', 1))
        >>> Row("a", 1) == Row("a", 1)
        True
    """

    # ``_names`` is None when there are none; PyFlink's ``_fields`` is then not there at all.
    # The slots also make an assignment to any other attribute an AttributeError.
    __slots__ = ("_names", "_values", "_row_kind", "__weakref__")

    _names: list[str] | None
    _values: list[Any]
    _row_kind: RowKind

    def __init__(self, *args: object, **kwargs: object) -> None:
        if kwargs:
            if args:
                raise ValueError("Can not use both args and kwargs to create Row")
            self._names = [*kwargs]
            self._values = [*kwargs.values()]
        else:
            self._names = None
            self._values = [*args]
        self._row_kind = _INSERT

    @property
    def _fields(self) -> list[str]:
        if self._names is None:
            raise AttributeError("_fields")
        return self._names

    @_fields.setter
    def _fields(self, names: list[str]) -> None:
        self._names = names

    def as_dict(self, recursive: bool = False) -> dict:
        """Return the fields as a dict by name.

        Args:
            recursive: whether rows in fields, and in lists and dicts there, become dicts, too.

        Raises:
            TypeError: the row has no names.
        """
        if self._names is None:
            raise TypeError("A Row without field names has no dict form")
        values = [_row_as_dict(value) for value in self._values] if recursive else self._values
        return dict(zip(self._names, values))

    def get_row_kind(self) -> RowKind:
        """Return the change kind."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the change kind."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: list) -> None:
        """Name the fields, in order of position."""
        self._names = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values in the order of the given names; all values if the row has no names.

        Raises:
            Exception: a name is not among the row's names.
        """
        own_names = self._names
        if own_names is None or names == own_names:
            return self._values
        missing = list(set(names).difference(own_names))
        if missing:
            raise Exception(f"Field names {missing} not exist in {own_names}.")
        return [self._values[own_names.index(name)] for name in names]

    @staticmethod
    def of_kind(row_kind: RowKind, *args: object, **kwargs: object) -> Row:
        """Create a row of a change kind, its values given as for ``Row``."""
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def __contains__(self, item: object) -> bool:
        """True if there is a field of this name; in a row without names, a field of this value."""
        return item in (self._values if self._names is None else self._names)

    def __call__(self, *args: object) -> Row:
        """Create a row whose names are the values of this one.

        Raises:
            ValueError: there are more values than names.
        """
        if len(args) > len(self):
            raise ValueError(
                f"Can not create Row with fields {self}, expected {len(self)} values but got {args}"
            )
        return _create_row(self._values, args, self._row_kind)

    def __getitem__(self, item: Any) -> Any:
        if type(item) is int or isinstance(item, (int, slice)):
            return self._values[item]
        try:
            return self._values[self._fields.index(item)]
        except IndexError:
            raise KeyError(item) from None
        except ValueError:
            raise ValueError(item) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, (int, slice)):
            self._values[key] = value
            return
        try:
            self._values[self._fields.index(key)] = value
        except (IndexError, AttributeError):
            raise KeyError(key) from None
        except ValueError:
            raise ValueError(value) from None

    def __getattr__(self, item: str) -> Any:
        if item[:1] == "_":
            raise AttributeError(item)
        names = self._names
        if names is None:
            raise AttributeError("_fields")
        try:
            value = self._values[names.index(item)]
        except (IndexError, ValueError):
            raise AttributeError(item) from None
        _read_by_property(item)
        return value

    def __reduce__(self) -> Any:
        return _create_row, (self._names, tuple(self._values), self._row_kind)

    def __repr__(self) -> str:
        if self._names is not None:
            pairs = zip(self._names, self._values)
            return f"Row({', '.join([f'{name}={value!r}' for name, value in pairs])})"
        return f"<Row({', '.join(map(repr, self._values))})>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self.__class__ != other.__class__:
            return False
        if self._row_kind != other._row_kind:
            return False
        own_names, other_names = self._names, other._names
        if own_names == other_names:
            return self._values == other._values
        if own_names is None or other_names is None:
            return False
        names = sorted(own_names)
        if names != sorted(other_names):
            return False
        return all(
            self._values[own_names.index(name)] == other._values[other_names.index(name)]
            for name in names
        )

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


_MOST_PROPERTIES = 10_000
_read: set[str] = set()
"""The names of fields that are properties of ``Row``."""


def _read_by_property(name: str) -> None:
    """Let rows find a field as a property from now on.

    ``__getattr__`` comes after a search that has failed, which takes five times as long.
    """
    if name in _read or len(_read) == _MOST_PROPERTIES:
        return

    def value(row: Row) -> Any:
        # Without names, and where this fails, Python asks ``__getattr__``.
        try:
            return row._values[row._names.index(name)]  # type: ignore[union-attr]
        except (IndexError, ValueError):
            raise AttributeError(name) from None

    _read.add(name)
    setattr(Row, name, property(value))


def is_field_name(name: str) -> bool:
    """True for the name of an attribute of rows that can only be a field."""
    return name[:1] != "_" and (name in _read or not hasattr(Row, name))


def _row_as_dict(value: object) -> object:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_row_as_dict(item) for item in value]
    if isinstance(value, dict):
        return {key: _row_as_dict(item) for key, item in value.items()}
    return value


__getattr__ = missing_name(__name__)
