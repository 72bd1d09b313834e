"""The methods of a TableEnvironment for catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.errors import CatalogError
from pyflink_on_spark._sql.parser.statements import parse_path
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView
from pyflink_on_spark._sql.session.creation import new_catalog
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark.table._inner import described_of, node_of
from pyflink_on_spark.table.catalog import Catalog, CatalogDescriptor
from pyflink_on_spark.table.catalog.catalog_class import Registered
from pyflink_on_spark.table.table_descriptor import TableDescriptor

if TYPE_CHECKING:
    from pyflink_on_spark.table.table import Table


class Catalogs:
    """The part of a TableEnvironment that looks at catalogs and changes them."""

    _session: Session

    def _described(self, descriptor: TableDescriptor) -> Any:
        raise NotImplementedError

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor):
        """Add a catalog: one in memory, of a database server, of Iceberg or of Hive.

        Args:
            catalog_name: its name.
            catalog_descriptor: its options, as CREATE CATALOG has them.

        Raises:
            CatalogException: there is one of that name.
            ValidationError: an option is unknown.
            UnsupportedFlinkFeature: they are those of a catalog of another kind.
        """
        self._check_no_catalog(catalog_name)
        described = described_of(catalog_descriptor)
        made = new_catalog(catalog_name, described.properties, described.comment)
        made.joined(self._session)
        self._session.catalog.catalogs[catalog_name] = made

    def register_catalog(self, catalog_name: str, catalog: Catalog):
        """Add a catalog that is there already under another name.

        Raises:
            CatalogException: there is one of that name.
        """
        self._check_no_catalog(catalog_name)
        found = catalog._registered.catalog
        found.joined(self._session)
        self._session.catalog.catalogs[catalog_name] = found

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """A catalog as an object; None if there is none of that name."""
        found = self._session.catalog.catalogs.get(catalog_name)
        return None if found is None else Catalog(Registered(self._session, catalog_name, found))

    def _check_no_catalog(self, name: str) -> None:
        if name in self._session.catalog.catalogs:
            raise CatalogError(f"Catalog {name} already exists.")

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._session.catalog.current_catalog

    def use_catalog(self, catalog_name: str):
        """Make a catalog the current one.

        Raises:
            CatalogException: it is not there.
        """
        self._session.catalog.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._session.catalog.current_database

    def use_database(self, database_name: str):
        """Make a database of the current catalog the current one.

        Raises:
            CatalogException: it is not there.
        """
        self._session.catalog.use_database((database_name,))

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return sorted(self._session.catalog.catalogs)

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        catalog = self._session.catalog
        return sorted(catalog.catalogs[catalog.current_catalog].databases)

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return list(self._session.catalog.relations())

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._session.catalog.views()

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialized tables: there are none."""
        return []

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database."""
        return sorted(path.name for path in self._temporary())

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        found = self._temporary().items()
        return sorted(path.name for path, each in found if isinstance(each, CatalogView))

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,
    ):
        """Add a table for this session.

        Args:
            path: its name.
            descriptor: what it is.
            ignoreIfExists: whether nothing happens if there is one of that name.

        Raises:
            ValidationError: there is one of that name, or the description is wrong.
        """
        self._create(path, descriptor, bool(ignoreIfExists), temporary=True)

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,
    ):
        """Add a table to a catalog.

        Args:
            path: its name.
            descriptor: what it is.
            ignoreIfExists: whether nothing happens if there is one of that name.

        Raises:
            ValidationError: there is one of that name, or the description is wrong.
        """
        self._create(path, descriptor, bool(ignoreIfExists), temporary=False)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool | None = False):
        """Give a table a name in a catalog.

        Args:
            view_path: the name.
            table: what it stands for.
            ignore_if_exists: whether nothing happens if there is one of that name.

        Raises:
            ValidationError: there is one of that name.

        On Spark: works; PyFlink 2.3 fails with an AttributeError.
        """
        qualified = self._session.catalog.qualify(parse_path(view_path))
        self._session.catalog.add(
            qualified,
            CatalogView(node_of(table)),
            temporary=False,
            if_not_exists=bool(ignore_if_exists),
        )

    def drop_temporary_table(self, table_path: str) -> bool:
        """Remove a temporary table; tell whether there was one."""
        return self._drop(table_path, CatalogTable, temporary=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a table; tell whether there was one."""
        return self._drop(table_path, CatalogTable, if_exists=bool(ignore_if_not_exists))

    def drop_temporary_view(self, view_path: str) -> bool:
        """Remove a temporary view; tell whether there was one."""
        return self._drop(view_path, CatalogView, temporary=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a view; tell whether there was one."""
        return self._drop(view_path, CatalogView, if_exists=bool(ignore_if_not_exists))

    def _temporary(self) -> dict[Any, object]:
        catalog = self._session.catalog
        place = (catalog.current_catalog, catalog.current_database)
        return {path: each for path, each in catalog.temporary.items() if path[:2] == place}

    def _create(
        self, path: str, descriptor: TableDescriptor, ignore: bool, *, temporary: bool
    ) -> None:
        qualified = self._session.catalog.qualify(parse_path(path))
        self._session.catalog.add(
            qualified, self._described(descriptor), temporary=temporary, if_not_exists=ignore
        )

    def _drop(
        self, path: str, kind: Any, *, temporary: bool = False, if_exists: bool = True
    ) -> bool:
        qualified = self._session.catalog.qualify(parse_path(path))
        return self._session.catalog.drop(qualified, kind, temporary=temporary, if_exists=if_exists)
