"""The catalog of type ``iceberg``: databases and tables as pyiceberg finds them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.iceberg.client import (
    IcebergCatalogConfig,
    IcebergError,
    asking,
    open_catalog,
    package,
)
from pyflink_on_spark._sql.catalog import Annex, Catalog, Database, Relation
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import CatalogTable, ResolvedSchema
from pyflink_on_spark._sql.session.database_catalog import (
    ServerDatabase,
    ServerObjects,
    refuse_change,
)
from pyflink_on_spark._sql.tables.connectors.iceberg import (
    LINK,
    IcebergFactory,
    catalog_config,
    change_columns,
    change_properties,
    create_table,
    is_catalog_option,
    table_columns,
)

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as Opened
    from pyiceberg.table import Table

TYPE = "iceberg"
DEFAULT_DATABASE = "default-database"
_CONNECTOR = "connector"
_COMMENT = "comment"
_LINK = {option.key for option in LINK}


@dataclass(frozen=True)
class _Outside:
    """The catalog outside, which each statement asks again.

    Args:
        config: its settings.
        options: those of ``WITH``.
    """

    config: IcebergCatalogConfig
    options: Mapping[str, str]

    @contextlib.contextmanager
    def opened(self) -> Iterator[Opened]:
        """Open it for some questions.

        Raises:
            ValidationError: it cannot be reached, or refuses something.
        """
        try:
            with (
                contextlib.closing(open_catalog(self.config)) as catalog,
                asking(f"the Iceberg catalog {self.config.name}"),
            ):
                yield catalog
        except (IcebergError, ModuleNotFoundError, NotImplementedError, ValueError) as error:
            if isinstance(error, ValidationError):
                raise
            raise ValidationError(str(error)) from error

    def databases(self) -> list[str]:
        with self.opened() as catalog:
            return sorted(".".join(name) for name in catalog.list_namespaces())

    def database(self, name: str) -> Database | None:
        errors = package("pyiceberg.exceptions")
        with self.opened() as catalog:
            try:
                properties = dict(catalog.load_namespace_properties(name))
            except errors.NoSuchNamespaceError:
                return None
        properties.pop("exists", None)
        return _IcebergDatabase(self, name, properties)

    def tables(self, database: str) -> list[str]:
        with self.opened() as catalog:
            return sorted(name[-1] for name in catalog.list_tables(database))

    def table(self, database: str, name: str) -> CatalogTable | None:
        errors = package("pyiceberg.exceptions")
        with self.opened() as catalog:
            try:
                return self._described(database, name, catalog.load_table((database, name)))
            except errors.NoSuchTableError:
                return None

    def _described(self, database: str, name: str, table: Table) -> CatalogTable:
        schema = table.schema()
        keys = set(schema.identifier_field_names())
        columns = table_columns(schema)
        properties = dict(table.properties)
        comment = properties.pop(_COMMENT, None)
        options = {
            **properties,
            _CONNECTOR: IcebergFactory.identifier,
            **dict(zip((option.key for option in LINK), (self.config.name, database, name))),
            **self.options,
        }
        partitions = [
            schema.find_column_name(field.source_id)
            for field in table.spec().fields
            if str(field.transform) == "identity"
        ]
        return CatalogTable(
            ResolvedSchema(
                columns,
                primary_key=tuple(each.name for each in columns if each.name in keys) or None,
            ),
            options,
            tuple(name for name in partitions if name is not None),
            comment,
        )


class _Databases(ServerObjects[str, Database]):
    def __init__(self, outside: _Outside) -> None:
        super().__init__(TYPE, outside.databases, outside.database)
        self._outside = outside

    def __setitem__(self, name: str, value: Database) -> None:
        properties = dict(value.properties)
        if value.comment is not None:
            properties[_COMMENT] = value.comment
        with self._outside.opened() as catalog:
            catalog.create_namespace(name, properties)

    def __delitem__(self, name: str) -> None:
        with self._outside.opened() as catalog:
            for table in catalog.list_tables(name):
                catalog.purge_table(table)
            catalog.drop_namespace(name)


class _IcebergDatabase(ServerDatabase):
    def __init__(self, outside: _Outside, name: str, properties: dict[str, str]) -> None:
        comment = properties.pop(_COMMENT, None)
        super().__init__(TYPE, _Tables(outside, name), properties)
        self.comment = comment
        self._outside, self._name = outside, name

    def rename(self, name: str, new_name: str) -> None:
        """Give a table another name, with the rows that it has."""
        with self._outside.opened() as catalog:
            catalog.rename_table((self._name, name), (self._name, new_name))

    def annex(self, name: str) -> Annex:
        """Raise: the files of a table say which partitions the table has.

        Raises:
            ValidationError: always.
        """
        raise ValidationError(
            f"The table '{name}' is of Iceberg, whose rows say which partitions there are: ALTER "
            "TABLE adds and drops none."
        )


class _Tables(ServerObjects[str, Relation]):
    def __init__(self, outside: _Outside, database: str) -> None:
        super().__init__(
            TYPE, lambda: outside.tables(database), lambda name: outside.table(database, name)
        )
        self._outside, self._database = outside, database

    def __setitem__(self, name: str, value: Relation) -> None:
        if not isinstance(value, CatalogTable):
            refuse_change(TYPE)
        if value.distribution is not None:
            raise ValidationError(
                "A table of Iceberg has no buckets of DISTRIBUTED: write PARTITIONED BY instead"
            )
        before = self.get(name)
        if before is None:
            self._create(name, value)
            return
        assert isinstance(before, CatalogTable)
        with self._outside.opened() as catalog:
            table = catalog.load_table((self._database, name))
            if before.schema == value.schema:
                change_properties(table, _properties(before.options), _properties(value.options))
            else:
                change_columns(table, value)

    def __delitem__(self, name: str) -> None:
        with self._outside.opened() as catalog:
            catalog.purge_table((self._database, name))

    def _create(self, name: str, wanted: CatalogTable) -> None:
        connector = wanted.options.get(_CONNECTOR, IcebergFactory.identifier)
        if connector != IcebergFactory.identifier:
            raise ValidationError(
                f"All tables of the catalog '{self._outside.config.name}' are of Iceberg: make a "
                f"table of the connector '{connector}' with CREATE TEMPORARY TABLE, or in another "
                "catalog."
            )
        own = CatalogTable(
            wanted.schema, _properties(wanted.options), wanted.partition_by, wanted.comment
        )
        with self._outside.opened() as catalog:
            create_table(catalog, self._database, name, own)


def _properties(options: Mapping[str, str]) -> dict[str, str]:
    """The properties of a table among its options, which also say where it is."""
    return {
        key: value
        for key, value in options.items()
        if key != _CONNECTOR and key not in _LINK and not is_catalog_option(key)
    }


def check_options(name: str, options: Mapping[str, str]) -> None:
    """Check that a catalog can have some options.

    Raises:
        ValidationError: one of them is unknown, wrong or missing.
        UnsupportedFlinkFeature: pyiceberg has no such catalog.
    """
    catalog_config(name, _own(options))


def catalog_of(name: str, options: Mapping[str, str], comment: str | None = None) -> Catalog:
    """The catalog of Iceberg.

    Args:
        name: its name.
        options: those of ``WITH``.
        comment: describes the catalog, or None.

    Raises:
        ValidationError: it cannot be reached, or an option is wrong.
    """
    own = _own(options)
    outside = _Outside(catalog_config(name, own), own)
    default = options.get(DEFAULT_DATABASE, "default")
    with outside.opened() as catalog:
        # Flink makes the database that is current after USE CATALOG.
        catalog.create_namespace_if_not_exists(default)
    return Catalog(_Databases(outside), dict(options), comment, default)


def _own(options: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in options.items() if k not in ("type", DEFAULT_DATABASE)}
