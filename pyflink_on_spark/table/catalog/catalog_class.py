"""Catalogs as objects."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import NoReturn

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._sql import catalog as contents
from pyflink_on_spark._sql.errors import IllegalArgumentError, UnsupportedOperationError
from pyflink_on_spark._sql.functions.catalog import PythonFunction
from pyflink_on_spark._sql.plan.nodes import Node, renamed
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView
from pyflink_on_spark._sql.session.creation import new_catalog
from pyflink_on_spark._sql.session.database_catalog import TYPE, refuse_change
from pyflink_on_spark._sql.session.hive_catalog import TYPE as HIVE
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark.table._inner import described_of, description_of
from pyflink_on_spark.table.catalog.contents import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Described,
    DescribedTable,
    FunctionLanguage,
    Procedure,
)
from pyflink_on_spark.table.catalog.paths import ObjectPath
from pyflink_on_spark.table.catalog.resolved_schema import unresolved_schema
from pyflink_on_spark.util import exceptions
from pyflink_on_spark.util.exceptions import JavaException

__all__ = ["Catalog"]


@dataclass(frozen=True)
class Registered:
    """A catalog under its name, of a session if it is registered there."""

    session: Session | None
    name: str
    catalog: contents.Catalog


def _raised(kind: type[JavaException], message: str) -> JavaException:
    return kind(f"org.apache.flink.table.catalog.exceptions.{kind.__name__}: {message}")


class Catalog:
    """Databases, tables, views and functions, as an object.

    Args:
        j_catalog: use ``TableEnvironment.get_catalog``.

    Example:
        >>> t_env.get_catalog("default_catalog").list_databases()
        ['default_database']
    """

    def __init__(self, j_catalog):
        self._registered: Registered = own_handle(j_catalog, Registered, "Catalog(j_catalog)")

    # -- databases -------------------------------------------------------------------------------

    def get_default_database(self) -> str:
        """The name of the database that is current after USE CATALOG."""
        return self._registered.catalog.default

    def list_databases(self) -> list[str]:
        """The names of all databases."""
        return list(self._databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        """A database.

        Raises:
            DatabaseNotExistException: it is not there.
        """
        database = self._database(database_name)
        return CatalogDatabase(Described(dict(database.properties), database.comment))

    def database_exists(self, database_name: str) -> bool:
        """True if there is a database of a name."""
        return database_name in self._databases

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool):
        """Add a database.

        Args:
            name: its name.
            database: its properties and its comment.
            ignore_if_exists: whether nothing happens if there is one of that name.

        Raises:
            DatabaseAlreadyExistException: there is one of that name.
        """
        if name not in self._databases:
            described = described_of(database)
            self._databases[name] = contents.Database(
                {}, dict(described.properties), described.comment
            )
        elif not ignore_if_exists:
            raise _raised(
                exceptions.DatabaseAlreadyExistException,
                f"Database {name} already exists in Catalog {self._name}.",
            )

    def drop_database(self, name: str, ignore_if_exists: bool):
        """Remove a database without tables and functions.

        Args:
            name: its name.
            ignore_if_exists: whether nothing happens if there is none of that name.

        Raises:
            DatabaseNotExistException: there is none of that name.
            DatabaseNotEmptyException: something is in it.
        """
        if name not in self._databases and ignore_if_exists:
            return
        if not self._database(name).is_empty:
            raise _raised(
                exceptions.DatabaseNotEmptyException,
                f"Database {name} in catalog {self._name} is not empty.",
            )
        del self._databases[name]

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool):
        """Give a database other properties and another comment.

        Raises:
            DatabaseNotExistException: there is none of that name.
        """
        if name not in self._databases and ignore_if_not_exists:
            return
        database, described = self._database(name), described_of(new_database)
        database.properties = dict(described.properties)
        database.comment = described.comment

    # -- tables and views ------------------------------------------------------------------------

    def list_tables(self, database_name: str) -> list[str]:
        """The names of the tables and views of a database.

        Raises:
            DatabaseNotExistException: there is no such database.
        """
        return list(self._database(database_name).relations)

    def list_views(self, database_name: str) -> list[str]:
        """The names of the views of a database.

        Raises:
            DatabaseNotExistException: there is no such database.
        """
        return self._database(database_name).views()

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """The names of the materialized tables of a database: there are none.

        Raises:
            DatabaseNotExistException: there is no such database.
        """
        self._database(database_name)
        return []

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """A table or view.

        Raises:
            TableNotExistException: it is not there.
        """
        found = self._table(table_path)
        if isinstance(found, CatalogView):
            schema = found.declared or found.plan.schema
            described = DescribedTable(
                unresolved_schema(schema),
                dict(found.options),
                found.comment,
                query=found.text,
                is_view=True,
            )
        else:
            described = DescribedTable(
                unresolved_schema(found.schema),
                dict(found.options),
                found.comment or "",
                found.partition_by,
            )
        return CatalogBaseTable(described)

    def table_exists(self, table_path: ObjectPath) -> bool:
        """True if there is a table or view of a name."""
        return self._find(table_path) is not None

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool):
        """Remove a table or view.

        Raises:
            TableNotExistException: it is not there.
        """
        if not (ignore_if_not_exists and self._find(table_path) is None):
            self._table(table_path)
            self._place(table_path).remove(table_path.get_object_name())

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool):
        """Give a table or view another name in its database.

        Raises:
            TableNotExistException: it is not there.
            TableAlreadyExistException: there is one of the new name.
        """
        if ignore_if_not_exists and self._find(table_path) is None:
            return
        self._table(table_path)
        new = ObjectPath(table_path.get_database_name(), new_table_name)
        self._check_absent(new)
        self._place(table_path).rename(table_path.get_object_name(), new_table_name)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool):
        """Add a table or view.

        Args:
            table_path: its name.
            table: what it is.
            ignore_if_exists: whether nothing happens if there is one of that name.

        Raises:
            DatabaseNotExistException: there is no such database.
            TableAlreadyExistException: there is one of that name.
            ValidationError: something in the description is wrong.
        """
        relations = self._database(table_path.get_database_name()).relations
        if ignore_if_exists and table_path.get_object_name() in relations:
            return
        self._check_absent(table_path)
        relations[table_path.get_object_name()] = self._relation(table)

    def alter_table(
        self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists
    ):
        """Put another table in the place of a table, or another view in that of a view.

        Raises:
            TableNotExistException: it is not there.
            CatalogException: one is a table, the other one a view.
            ValidationError: something in the description is wrong.
        """
        if ignore_if_not_exists and self._find(table_path) is None:
            return
        words = {True: "VIEW", False: "TABLE"}
        old = words[isinstance(self._table(table_path), CatalogView)]
        new = words[described_of(new_table).is_view]
        if old != new:
            raise _raised(
                exceptions.CatalogException,
                f"Table types don't match. Existing table is '{old}' and new table is '{new}'.",
            )
        relations = self._place(table_path).relations
        relations[table_path.get_object_name()] = self._relation(new_table)

    # -- partitions ------------------------------------------------------------------------------

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """The partitions of a table.

        Args:
            table_path: the table's name.
            partition_spec: values that they have to have.

        Raises:
            TableNotExistException: the table is not there.
            TableNotPartitionedException: it has no partitions.
        """
        if partition_spec is None:
            self._table(table_path)
        self._check_partitioned(table_path)
        wanted = {} if partition_spec is None else partition_spec.get_partition_spec()
        partitions = self._annex(table_path).partitions.values()
        return [
            CatalogPartitionSpec(each.values)
            for each in partitions
            if wanted.items() <= each.values.items()
        ]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        """A partition.

        Raises:
            PartitionNotExistException: it is not there.
        """
        found = self._partition(table_path, partition_spec)
        return CatalogPartition(Described(found.properties, found.comment))

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool:
        """True if a table has a partition."""
        return self._find_partition(table_path, partition_spec) is not None

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ):
        """Add a partition to a table.

        Args:
            table_path: the table's name.
            partition_spec: the values of the columns that partitions are made of.
            partition: its properties and its comment.
            ignore_if_exists: whether a partition of these values is replaced.

        Raises:
            TableNotExistException: the table is not there.
            TableNotPartitionedException: it has no partitions.
            PartitionSpecInvalidException: the values are those of other columns.
            PartitionAlreadyExistsException: the partition is there.
        """
        keys = self._check_partitioned(table_path, self._table(table_path))
        values, described = partition_spec.get_partition_spec(), described_of(partition)
        name, catalog = table_path.get_full_name(), self._name
        if values.keys() != set(keys):
            raise _raised(
                exceptions.PartitionSpecInvalidException,
                f"PartitionSpec {partition_spec} does not match partition keys "
                f"[{', '.join(keys)}] of table {name} in catalog {catalog}.",
            )
        if self.partition_exists(table_path, partition_spec) and not ignore_if_exists:
            raise _raised(
                exceptions.PartitionAlreadyExistsException,
                f"Partition {partition_spec} of table {name} in catalog {catalog} already exists.",
            )
        self._annex(table_path).partitions[frozenset(values.items())] = contents.Partition(
            values, described.properties, described.comment
        )

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ):
        """Remove a partition from a table; its files stay.

        Raises:
            PartitionNotExistException: it is not there.
        """
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        values = self._partition(table_path, partition_spec).values
        del self._annex(table_path).partitions[frozenset(values.items())]

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ):
        """Give a partition other properties and another comment.

        Raises:
            PartitionNotExistException: it is not there.
        """
        if ignore_if_not_exists and not self.partition_exists(table_path, partition_spec):
            return
        found, described = self._partition(table_path, partition_spec), described_of(new_partition)
        found.properties, found.comment = described.properties, described.comment

    # -- functions -------------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        """The names of the functions of a database, in lower case.

        Raises:
            DatabaseNotExistException: there is no such database.
        """
        return list(self._database(database_name).functions)

    def list_procedures(self, database_name: str) -> list[str]:
        """Raise: a catalog in memory has no procedures.

        Raises:
            UnsupportedOperationError: always.
        """
        self._no_procedures("listProcedures")

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """A function.

        Raises:
            FunctionNotExistException: it is not there.
        """
        functions, name = self._functions(function_path)
        if name not in functions:
            raise self._no_function(function_path)
        found = functions[name]
        return CatalogFunction((found.path, FunctionLanguage[found.language]))

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        """Raise: a catalog in memory has no procedures.

        Raises:
            UnsupportedOperationError: always.
        """
        self._no_procedures("getProcedure")

    def function_exists(self, function_path: ObjectPath) -> bool:
        """True if there is a function of a name, in any case."""
        functions, name = self._functions(function_path)
        return name in functions

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ):
        """Add a function.

        Args:
            function_path: its name.
            function: the object that implements it.
            ignore_if_exists: whether nothing happens if there is one of that name.

        Raises:
            DatabaseNotExistException: there is no such database.
            FunctionAlreadyExistException: there is one of that name.
        """
        functions = self._database(function_path.get_database_name()).functions
        name = function_path.get_object_name().lower()
        if name not in functions:
            functions[name] = _python_function(function)
        elif not ignore_if_exists:
            place = f"{function_path.get_database_name()}.{name}"
            raise _raised(
                exceptions.FunctionAlreadyExistException,
                f"Function {place} already exists in Catalog {self._name}.",
            )

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ):
        """Put another function in the place of a function.

        Raises:
            FunctionNotExistException: it is not there.
        """
        functions, name = self._functions(function_path)
        if name in functions:
            functions[name] = _python_function(new_function)
        elif not ignore_if_not_exists:
            raise self._no_function(function_path)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool):
        """Remove a function.

        Raises:
            FunctionNotExistException: it is not there.
        """
        functions, name = self._functions(function_path)
        if name in functions:
            del functions[name]
        elif not ignore_if_not_exists:
            raise self._no_function(function_path)

    # -- models ----------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        """The names of the models of a database.

        Raises:
            DatabaseNotExistException: there is no such database.
        """
        return list(self._database(database_name).models)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """A model.

        Raises:
            ModelNotExistException: it is not there.
        """
        models, name = self._models(model_path)
        if name not in models:
            raise self._no_model(model_path)
        return CatalogModel(models[name])

    def model_exists(self, model_path: ObjectPath) -> bool:
        """True if there is a model of a name."""
        models, name = self._models(model_path)
        return name in models

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool):
        """Remove a model.

        Raises:
            ModelNotExistException: it is not there.
        """
        models, name = self._models(model_path)
        if name in models:
            del models[name]
        elif not ignore_if_not_exists:
            raise self._no_model(model_path)

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool):
        """Give a model another name in its database.

        Raises:
            ModelNotExistException: it is not there.
            ModelAlreadyExistException: there is one of the new name.
        """
        models, name = self._models(model_path)
        if name in models:
            self._check_no_model(ObjectPath(model_path.get_database_name(), new_model_name))
            models[new_model_name] = models.pop(name)
        elif not ignore_if_not_exists:
            raise self._no_model(model_path)

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool):
        """Add a model.

        Raises:
            DatabaseNotExistException: there is no such database.
            ModelAlreadyExistException: there is one of that name.
        """
        models = self._database(model_path.get_database_name()).models
        if ignore_if_exists and model_path.get_object_name() in models:
            return
        self._check_no_model(model_path)
        models[model_path.get_object_name()] = model._model

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists):
        """Put another model in the place of a model.

        Raises:
            ModelNotExistException: it is not there.
        """
        models, name = self._models(model_path)
        if name in models:
            models[name] = new_model._model
        elif not ignore_if_not_exists:
            raise self._no_model(model_path)

    # -- statistics ------------------------------------------------------------------------------

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """The size of a table; unknown for one with partitions.

        Raises:
            TableNotExistException: it is not there.
        """
        self._table(table_path)
        return self._annex(table_path).statistics or CatalogTableStatistics._unknown()

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Facts about the columns of a table.

        Raises:
            TableNotExistException: it is not there.
        """
        self._table(table_path)
        return self._annex(table_path).column_statistics or CatalogColumnStatistics()

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """The size of a partition.

        Raises:
            PartitionNotExistException: it is not there.
        """
        found = self._partition(table_path, partition_spec).statistics
        return found or CatalogTableStatistics._unknown()

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """The sizes of some partitions.

        Raises:
            PartitionNotExistException: one of them is not there.

        On Spark: works; PyFlink 2.3 fails with an AttributeError.
        """
        return [self.get_partition_statistics(table_path, each) for each in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Facts about the columns of a partition.

        Raises:
            PartitionNotExistException: it is not there.
        """
        found = self._partition(table_path, partition_spec).column_statistics
        return found or CatalogColumnStatistics()

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Facts about the columns of some partitions.

        Raises:
            PartitionNotExistException: one of them is not there.

        On Spark: works; PyFlink 2.3 fails with an AttributeError.
        """
        return [self.get_partition_column_statistics(table_path, each) for each in partition_specs]

    def alter_table_statistics(
        self,
        table_path: ObjectPath,
        table_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ):
        """Set the size of a table; for one with partitions nothing happens.

        Raises:
            TableNotExistException: it is not there.
        """
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        if not getattr(self._table(table_path), "partition_by", ()):
            self._annex(table_path).statistics = table_statistics.copy()

    def alter_table_column_statistics(
        self,
        table_path: ObjectPath,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ):
        """Set facts about the columns of a table.

        Raises:
            TableNotExistException: it is not there.
        """
        if not ignore_if_not_exists or self.table_exists(table_path):
            self._table(table_path)
            self._annex(table_path).column_statistics = column_statistics.copy()

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ):
        """Set the size of a partition.

        Raises:
            PartitionNotExistException: it is not there.
        """
        if not ignore_if_not_exists or self.partition_exists(table_path, partition_spec):
            found = self._partition(table_path, partition_spec)
            found.statistics = partition_statistics.copy()

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ):
        """Set facts about the columns of a partition.

        Raises:
            PartitionNotExistException: it is not there.
        """
        if not ignore_if_not_exists or self.partition_exists(table_path, partition_spec):
            found = self._partition(table_path, partition_spec)
            found.column_statistics = column_statistics.copy()

    # --------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self._registered.name

    @property
    def _databases(self) -> MutableMapping[str, contents.Database]:
        return self._registered.catalog.databases

    def _database(self, name: str) -> contents.Database:
        if not name:
            raise IllegalArgumentError("databaseName cannot be null or empty")
        if name not in self._databases:
            raise _raised(
                exceptions.DatabaseNotExistException,
                f"Database {name} does not exist in Catalog {self._name}.",
            )
        return self._databases[name]

    def _place(self, path: ObjectPath) -> contents.Database:
        """The database of an object; an empty one where there is none."""
        return self._databases.get(path.get_database_name()) or contents.Database()

    def _find(self, path: ObjectPath) -> contents.Relation | None:
        return self._place(path).relations.get(path.get_object_name())

    def _table(self, path: ObjectPath) -> contents.Relation:
        found = self._find(path)
        if found is None:
            raise _raised(
                exceptions.TableNotExistException,
                f"Table (or view) {path} does not exist in Catalog {self._name}.",
            )
        return found

    def _annex(self, path: ObjectPath) -> contents.Annex:
        return self._place(path).annex(path.get_object_name())

    def _check_absent(self, path: ObjectPath) -> None:
        if self._find(path) is not None:
            raise _raised(
                exceptions.TableAlreadyExistException,
                f"Table (or view) {path} already exists in Catalog {self._name}.",
            )

    def _relation(self, table: CatalogBaseTable) -> contents.Relation:
        session, described = self._registered.session, described_of(table)
        if session is None:
            refuse_change(TYPE)
        description = description_of(described.schema)
        if not described.is_view:
            return session.described_table(
                description, described.options, described.partition_keys, described.comment or None
            )
        text = described.query
        assert text is not None
        names = tuple(column.name for column in description.columns)

        def bound() -> Node:
            node = session.bind_text(text)
            return renamed(node, names) if len(names) == len(node.schema) else node

        declared = session.described_table(description, {}, (), None).schema
        return CatalogView(bound, text, described.comment, described.options, declared)

    def _check_partitioned(
        self, path: ObjectPath, found: contents.Relation | None = None
    ) -> tuple[str, ...]:
        found = found or self._find(path)
        if not isinstance(found, CatalogTable) or not found.partition_by:
            raise _raised(
                exceptions.TableNotPartitionedException,
                f"Table {path} in catalog {self._name} is not partitioned.",
            )
        return found.partition_by

    def _find_partition(
        self, path: ObjectPath, spec: CatalogPartitionSpec
    ) -> contents.Partition | None:
        values = frozenset(spec.get_partition_spec().items())
        return None if self._find(path) is None else self._annex(path).partitions.get(values)

    def _partition(self, path: ObjectPath, spec: CatalogPartitionSpec) -> contents.Partition:
        found = self._find_partition(path, spec)
        if found is None:
            raise _raised(
                exceptions.PartitionNotExistException,
                f"Partition {spec} of table {path} in catalog {self._name} does not exist.",
            )
        return found

    def _functions(self, path: ObjectPath) -> tuple[MutableMapping[str, PythonFunction], str]:
        return self._place(path).functions, path.get_object_name().lower()

    def _no_function(self, path: ObjectPath) -> JavaException:
        place = f"{path.get_database_name()}.{path.get_object_name().lower()}"
        return _raised(
            exceptions.FunctionNotExistException,
            f"Function {place} does not exist in Catalog {self._name}.",
        )

    def _no_procedures(self, call: str) -> NoReturn:
        raise UnsupportedOperationError(
            f"{call} is not implemented for class "
            "org.apache.flink.table.catalog.GenericInMemoryCatalog."
        )

    def _models(self, path: ObjectPath) -> tuple[MutableMapping[str, object], str]:
        return self._place(path).models, path.get_object_name()

    def _no_model(self, path: ObjectPath) -> JavaException:
        names = (self._name, path.get_database_name(), path.get_object_name())
        quoted = ".".join(f"`{name}`" for name in names)
        return _raised(exceptions.ModelNotExistException, f"Model '{quoted}' does not exist.")

    def _check_no_model(self, path: ObjectPath) -> None:
        if self.model_exists(path):
            raise _raised(
                exceptions.ModelAlreadyExistException,
                f"Model {path} already exists in Catalog {self._name}.",
            )


def _python_function(function: CatalogFunction) -> PythonFunction:
    return PythonFunction(function.get_class_name(), function.get_function_language().value)


class HiveCatalog(Catalog):
    """The databases and tables of Hive, through the metastore of Spark.

    A process has one Spark, and Spark one metastore: make the catalog before the first job. Tables
    of other connectors are kept as properties, under the keys that Flink writes.

    Args:
        catalog_name: its name.
        default_database: the database that is current after ``USE CATALOG``; ``default`` if None.
        hive_conf_dir: a local folder with ``hive-site.xml``; None for Spark's own settings.
        hadoop_conf_dir: a local folder with ``core-site.xml`` and ``hdfs-site.xml``, or None.
        hive_version: has no effect: Spark brings its own client.

    Raises:
        ValidationError: a file is missing, or the metastore cannot be asked.

    On Spark: without ``hive_conf_dir`` Spark's embedded metastore is taken; Flink refuses one.
    """

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ):
        given = {
            "type": HIVE,
            "default-database": default_database,
            "hive-conf-dir": hive_conf_dir,
            "hadoop-conf-dir": hadoop_conf_dir,
            "hive-version": hive_version,
        }
        options = {key: value for key, value in given.items() if value is not None}
        made = new_catalog(catalog_name, options, None)
        self._registered = Registered(None, catalog_name, made)


class JdbcCatalog(Catalog):
    """The databases and tables of a PostgreSQL, MySQL or MariaDB, to read and to write.

    Tables are looked up when they are used; none can be made or changed. The tables of PostgreSQL
    are named with their schemas, unless that is ``public``: ``SELECT * FROM `sales.orders```.

    Args:
        catalog_name: its name.
        default_database: the database that is current after ``USE CATALOG``.
        username: the name of the user.
        pwd: the password of the user.
        base_url: ``jdbc:postgresql://HOST:PORT`` or ``jdbc:mysql://HOST:PORT``.

    Raises:
        ValidationError: the server cannot be asked, or has no such database.
    """

    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ):
        options = {
            "type": TYPE,
            "default-database": default_database,
            "username": username,
            "password": pwd,
            "base-url": base_url,
        }
        made = new_catalog(catalog_name, options, None)
        self._registered = Registered(None, catalog_name, made)
