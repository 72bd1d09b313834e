"""All catalogs of a session, and their objects."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._sql.errors import CatalogError, ValidationError, as_sentence, did_you_mean
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView, ObjectPath

Relation = CatalogTable | CatalogView


PartitionSpec = frozenset[tuple[str, str]]


@dataclass
class Partition:
    """A partition that a program has added to a table.

    Args:
        values: of the columns that partitions are made of, by name.
        properties: by name.
        comment: describes the partition, or None.
        statistics: its size, as the program has given it, or None.
        column_statistics: those of its columns, or None.
    """

    values: dict[str, str]
    properties: dict[str, str]
    comment: str | None = None
    statistics: Any = None
    column_statistics: Any = None


@dataclass
class Annex:
    """Facts about a table that no query reads.

    Args:
        partitions: by their values.
        statistics: the size of the table, as a program has given it, or None.
        column_statistics: those of its columns, or None.
    """

    partitions: MutableMapping[PartitionSpec, Partition] = field(default_factory=dict)
    statistics: Any = None
    column_statistics: Any = None


@dataclass
class Database:
    """Tables, views and functions.

    Args:
        relations: by name.
        properties: of ``WITH``.
        comment: what is in it, or None.
        functions: by name, in lower case.
        models: by name.
    """

    relations: MutableMapping[str, Relation] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    functions: MutableMapping[str, Any] = field(default_factory=dict)
    models: MutableMapping[str, object] = field(default_factory=dict)
    _annexes: dict[str, Annex] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """True if DROP DATABASE loses nothing."""
        return not (self.relations or self.functions or self.models)

    def views(self) -> list[str]:
        """The names of the views."""
        return [name for name, each in self.relations.items() if isinstance(each, CatalogView)]

    def annex(self, name: str) -> Annex:
        """The facts about a table or view beside its description."""
        return self._annexes.setdefault(name, Annex())

    def rename(self, name: str, new_name: str) -> None:
        """Give a table or view another name."""
        self.relations[new_name] = self.relations.pop(name)
        self._annexes[new_name] = self._annexes.pop(name, Annex())

    def remove(self, name: str) -> None:
        """Remove a table or view with all that is known about it."""
        del self.relations[name]
        self._annexes.pop(name, None)


@dataclass
class Catalog:
    """Databases.

    Args:
        databases: by name.
        properties: of ``WITH``; None for the catalog that a session begins with.
        comment: what is in it, or None.
        default: the name of the database that is current after USE CATALOG.
    """

    databases: MutableMapping[str, Database] = field(default_factory=dict)
    properties: dict[str, str] | None = None
    comment: str | None = None
    default: str = "default"

    def joined(self, session: Any) -> None:
        """Learn of the session in which the catalog is registered, whose functions tables use."""


class _Sorted(ChainMap[str, Relation]):
    """Tables and views in the order of their names; a server is asked for one when it is read."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


class CatalogManager:
    """The catalogs of a session, its temporary tables, and which database is the current one.

    Args:
        catalog: the name of the first catalog.
        database: the name of the first database.
    """

    def __init__(
        self, catalog: str = "default_catalog", database: str = "default_database"
    ) -> None:
        self.catalogs = {catalog: Catalog({database: Database()}, default=database)}
        self.temporary: dict[ObjectPath, Relation] = {}
        self.current_catalog, self.current_database = catalog, database

    def qualify(self, parts: Sequence[str]) -> ObjectPath:
        """Return the whole name of an object that is called by some parts of it.

        Raises:
            ValidationError: there are too many parts.
        """
        if len(parts) > 3:
            raise ValidationError(f"'{'.'.join(parts)}' is no name: it has more than three parts")
        missing = (self.current_catalog, self.current_database)[: 3 - len(parts)]
        return ObjectPath(*missing, *parts)

    def find(self, path: ObjectPath) -> Relation | None:
        """Return a table or view, a temporary one first, or None."""
        found = self.temporary.get(path)
        if found is not None:
            return found
        catalog = self.catalogs.get(path.catalog)
        database = None if catalog is None else catalog.databases.get(path.database)
        return None if database is None else database.relations.get(path.name)

    def similar(self, path: ObjectPath) -> str:
        """Return the end of a message, with the most similar name of a table; or nothing."""
        catalog = self.catalogs.get(path.catalog)
        if catalog is None:
            return did_you_mean(path.catalog, self.catalogs)
        if path.database not in catalog.databases:
            return did_you_mean(path.database, catalog.databases)
        return did_you_mean(path.name, self.relations(*path[:2]))

    def database(self, path: Sequence[str]) -> Database:
        """Return a database.

        Args:
            path: a catalog's and a database's name.

        Raises:
            CatalogError: it is not there.
        """
        catalog = self.catalogs.get(path[0])
        if catalog is None:
            raise CatalogError(f"A catalog with name [{path[0]}] does not exist.")
        if path[1] not in catalog.databases:
            raise CatalogError(
                f"A database with name [{path[1]}] does not exist in the catalog: [{path[0]}]."
            )
        return catalog.databases[path[1]]

    def add(
        self, path: ObjectPath, relation: Relation, *, temporary: bool, if_not_exists: bool = False
    ) -> None:
        """Add a table or view.

        Raises:
            ValidationError: there is one of that name, or no such database.
        """
        if temporary:
            if path in self.temporary and not if_not_exists:
                raise ValidationError(f"Temporary table '{path.quoted}' already exists")
            self.temporary.setdefault(path, relation)
            return
        try:
            relations = self.database(path).relations
        except CatalogError as error:
            raise ValidationError(f"Could not create {path.quoted}: {error}") from None
        if path.name in relations and not if_not_exists:
            raise ValidationError(
                f"Could not create {path.quoted}: Table (or view) {path.database}.{path.name} "
                f"already exists in Catalog {path.catalog}."
            )
        relations.setdefault(path.name, relation)

    def drop(
        self, path: ObjectPath, kind: type[Relation], *, temporary: bool, if_exists: bool
    ) -> bool:
        """Remove a table or view; tell whether there was one.

        Args:
            path: its name.
            kind: which of them it has to be.
            temporary: whether it has to be a temporary one.
            if_exists: whether it may be missing.

        Raises:
            ValidationError: it is missing, or a temporary one hides it.
        """
        word = "Table" if kind is CatalogTable else "View"
        if temporary:
            if isinstance(self.temporary.get(path), kind):
                del self.temporary[path]
                return True
            word = f"Temporary {word.lower()}"
        elif isinstance(self.temporary.get(path), kind):
            raise ValidationError(
                f"Temporary {word.lower()} with identifier '{path.quoted}' exists. Drop it first "
                f"before removing the permanent {word.lower()}."
            )
        else:
            catalog = self.catalogs.get(path.catalog)
            database = None if catalog is None else catalog.databases.get(path.database)
            if database is not None and isinstance(database.relations.get(path.name), kind):
                database.remove(path.name)
                return True
        if not if_exists:
            hint = as_sentence(self.similar(path))
            raise ValidationError(f"{word} with identifier '{path}' does not exist.{hint}")
        return False

    def relations(
        self, catalog: str | None = None, database: str | None = None
    ) -> Mapping[str, Relation]:
        """Return the tables and views of a database, the current one if not given, by name.

        Raises:
            CatalogError: there is no such database.
        """
        place = catalog or self.current_catalog, database or self.current_database
        return _Sorted(self._temporary(place), self.database(place).relations)

    def views(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """Return the names of the views of a database, the current one if not given.

        Raises:
            CatalogError: there is no such database.
        """
        place = catalog or self.current_catalog, database or self.current_database
        temporary = self._temporary(place)
        kept = [name for name in self.database(place).views() if name not in temporary]
        found = [name for name, each in temporary.items() if isinstance(each, CatalogView)]
        return sorted([*kept, *found])

    def _temporary(self, place: tuple[str, str]) -> dict[str, Relation]:
        return {path.name: each for path, each in self.temporary.items() if path[:2] == place}

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one, and its first database.

        Raises:
            CatalogError: it is not there.
        """
        if name not in self.catalogs:
            hint = as_sentence(did_you_mean(name, self.catalogs))
            raise CatalogError(f"A catalog with name [{name}] does not exist.{hint}")
        self.current_catalog = name
        self.current_database = self.catalogs[name].default

    def use_database(self, parts: Sequence[str]) -> None:
        """Make a database the current one.

        Raises:
            CatalogError: it is not there.
        """
        path = parts if len(parts) == 2 else (self.current_catalog, *parts)
        self.database(path)
        self.current_catalog, self.current_database = path
