"""The objects of catalogs: their names, and the columns of tables with resolved types."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.catalog.catalog_class import Catalog, HiveCatalog, JdbcCatalog
from pyflink_on_spark.table.catalog.contents import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Procedure,
)
from pyflink_on_spark.table.catalog.paths import ObjectIdentifier, ObjectPath
from pyflink_on_spark.table.catalog.resolved_schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)

__all__ = [
    "Catalog",
    "CatalogDatabase",
    "CatalogBaseTable",
    "CatalogPartition",
    "CatalogFunction",
    "CatalogModel",
    "Procedure",
    "ObjectPath",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "CatalogColumnStatistics",
    "HiveCatalog",
    "JdbcCatalog",
    "CatalogDescriptor",
    "ObjectIdentifier",
    "Column",
    "PhysicalColumn",
    "ComputedColumn",
    "MetadataColumn",
    "WatermarkSpec",
    "Constraint",
    "UniqueConstraint",
    "ResolvedSchema",
]

__getattr__ = missing_name(__name__)
