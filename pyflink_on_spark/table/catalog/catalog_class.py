# mypy: disable-error-code="empty-body"
"""Catalogs as objects: names and signatures only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.table.catalog.paths import ObjectPath

if TYPE_CHECKING:
    from pyflink_on_spark.table.catalog.contents import (
        CatalogBaseTable,
        CatalogColumnStatistics,
        CatalogDatabase,
        CatalogFunction,
        CatalogModel,
        CatalogPartition,
        CatalogPartitionSpec,
        CatalogTableStatistics,
        Procedure,
    )

__all__ = ["Catalog"]

_unsupported = unsupported_class(
    kind=Gap.NOT_YET,
    reason="a program cannot hold a catalog as an object",
    instead="Use CREATE, DROP, SHOW and DESCRIBE in execute_sql.",
)


@_unsupported
class Catalog:
    """Databases, tables, views and functions, as an object."""

    def __init__(self, j_catalog): ...

    def get_default_database(self) -> str: ...

    def list_databases(self) -> list[str]: ...

    def get_database(self, database_name: str) -> CatalogDatabase: ...

    def database_exists(self, database_name: str) -> bool: ...

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool): ...

    def drop_database(self, name: str, ignore_if_exists: bool): ...

    def alter_database(
        self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool
    ): ...

    def list_tables(self, database_name: str) -> list[str]: ...

    def list_views(self, database_name: str) -> list[str]: ...

    def list_materialized_tables(self, database_name: str) -> list[str]: ...

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable: ...

    def table_exists(self, table_path: ObjectPath) -> bool: ...

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool): ...

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ): ...

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ): ...

    def alter_table(
        self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists
    ): ...

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]: ...

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition: ...

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool: ...

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ): ...

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ): ...

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ): ...

    def list_functions(self, database_name: str) -> list[str]: ...

    def list_procedures(self, database_name: str) -> list[str]: ...

    def get_function(self, function_path: ObjectPath) -> CatalogFunction: ...

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure: ...

    def function_exists(self, function_path: ObjectPath) -> bool: ...

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ): ...

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ): ...

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool): ...

    def list_models(self, database_name: str) -> list[str]: ...

    def get_model(self, model_path: ObjectPath) -> CatalogModel: ...

    def model_exists(self, model_path: ObjectPath) -> bool: ...

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool): ...

    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ): ...

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool): ...

    def alter_model(
        self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists
    ): ...

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics: ...

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics: ...

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics: ...

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]: ...

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics: ...

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]: ...

    def alter_table_statistics(
        self,
        table_path: ObjectPath,
        table_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ): ...

    def alter_table_column_statistics(
        self,
        table_path: ObjectPath,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ): ...

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ): ...

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ): ...


@unsupported_class(
    kind=Gap.NEVER,
    reason="Hive's client is a library of Java",
    instead="Create the tables with CREATE TABLE, or read Hive's with from_spark.",
)
class HiveCatalog(Catalog):
    """A catalog of Hive."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ): ...
