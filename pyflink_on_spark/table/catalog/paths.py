"""The names of the objects of a catalog."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._sql.errors import IllegalArgumentError
from pyflink_on_spark._sql.plan import options


class ObjectPath:
    """The name of a table, view or function in a database.

    Args:
        database_name: the database.
        object_name: the name in it.
        j_object_path: not used.
    """

    def __init__(self, database_name=None, object_name=None, j_object_path=None):
        for text, what in ((database_name, "databaseName"), (object_name, "objectName")):
            if not text or not text.strip():
                raise IllegalArgumentError(f"{what} cannot be null or empty")
        self._names: tuple[str, str] = (database_name, object_name)

    def __str__(self):
        return self.get_full_name()

    def __hash__(self):
        return hash(self._names)

    def __eq__(self, other):
        return isinstance(other, ObjectPath) and self._names == other._names

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._names[0]

    def get_object_name(self) -> str:
        """Return the name in the database."""
        return self._names[1]

    def get_full_name(self) -> str:
        """Return both names with a dot between them."""
        return ".".join(self._names)

    def compare_to(self, other: ObjectPath) -> int:
        """Return a number below, equal to or above 0, as the names are ordered."""
        mine, others = self.get_full_name(), other.get_full_name()
        return (mine > others) - (mine < others)

    def __lt__(self, other):
        return self._compared(other, lambda order: order < 0)

    def __le__(self, other):
        return self._compared(other, lambda order: order <= 0)

    def __gt__(self, other):
        return self._compared(other, lambda order: order > 0)

    def __ge__(self, other):
        return self._compared(other, lambda order: order >= 0)

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path for both names with a dot between them.

        Raises:
            IllegalArgumentError: there are not two names.
        """
        parts = full_name.split(".")
        if len(parts) != 2:
            raise IllegalArgumentError(
                f"Cannot get split '{full_name}' to get databaseName and objectName"
            )
        return ObjectPath(*parts)

    def _compared(self, other: Any, test: Any) -> object:
        if not isinstance(other, ObjectPath):
            return NotImplemented
        return test(self.compare_to(other))


class ObjectIdentifier:
    """The whole name of a table, view or function.

    Args:
        j_object_identifier: use ``of``.
    """

    def __init__(self, j_object_identifier):
        self._path: options.ObjectPath = own_handle(
            j_object_identifier, options.ObjectPath, "ObjectIdentifier(j_object_identifier)"
        )

    def __str__(self):
        return self.as_serializable_string()

    def __hash__(self):
        return hash(self._path)

    def __eq__(self, other):
        return isinstance(other, ObjectIdentifier) and self._path == other._path

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return the name of an object of a database of a catalog."""
        assert catalog_name is not None, "Catalog name must not be null."
        assert database_name is not None, "Database name must not be null."
        assert object_name is not None, "Object name must not be null."
        return ObjectIdentifier(options.ObjectPath(catalog_name, database_name, object_name))

    def get_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self._path.catalog

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._path.database

    def get_object_name(self) -> str:
        """Return the name in the database."""
        return self._path.name

    def to_object_path(self) -> ObjectPath:
        """Return the name without the catalog."""
        return ObjectPath(self._path.database, self._path.name)

    def to_list(self) -> list[str]:
        """Return the three names."""
        return list(self._path)

    def as_serializable_string(self) -> str:
        """Return the names with back-ticks, as SQL reads them."""
        return self._path.quoted

    def as_summary_string(self) -> str:
        """Return the names with dots between them."""
        return str(self._path)
