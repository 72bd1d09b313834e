# mypy: disable-error-code="empty-body"
"""The objects of a catalog: names and signatures only."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.table.schema import Schema
from pyflink_on_spark.table.table_schema import TableSchema

__all__ = [
    "CatalogDatabase",
    "CatalogBaseTable",
    "CatalogPartition",
    "CatalogFunction",
    "CatalogModel",
    "Procedure",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "CatalogColumnStatistics",
    "CatalogDescriptor",
]

_unsupported = unsupported_class(
    kind=Gap.NOT_YET,
    reason="a program cannot hold the contents of a catalog as objects",
    instead="Use CREATE, DROP, SHOW and DESCRIBE in execute_sql, or TableDescriptor.",
)


@_unsupported
class CatalogDatabase:
    """A database of a catalog."""

    def __init__(self, j_catalog_database): ...

    @staticmethod
    def create_instance(
        properties: dict[str, str], comment: str | None = None
    ) -> CatalogDatabase: ...

    def get_properties(self) -> dict[str, str]: ...

    def get_comment(self) -> str: ...

    def copy(self) -> CatalogDatabase: ...

    def get_description(self) -> str | None: ...

    def get_detailed_description(self) -> str | None: ...


@_unsupported
class CatalogBaseTable:
    """A table or view of a catalog."""

    def __init__(self, j_catalog_base_table): ...

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: list[str] = [],
        properties: dict[str, str] = {},
        comment: str | None = None,
    ) -> CatalogBaseTable: ...

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: TableSchema,
        properties: dict[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable: ...

    def get_options(self): ...

    def get_unresolved_schema(self) -> Schema: ...

    def get_comment(self) -> str: ...

    def copy(self) -> CatalogBaseTable: ...

    def get_description(self) -> str | None: ...

    def get_detailed_description(self) -> str | None: ...


@_unsupported
class CatalogPartition:
    """A partition of a table."""

    def __init__(self, j_catalog_partition): ...

    @staticmethod
    def create_instance(
        properties: dict[str, str], comment: str | None = None
    ) -> CatalogPartition: ...

    def get_properties(self) -> dict[str, str]: ...

    def copy(self) -> CatalogPartition: ...

    def get_description(self) -> str | None: ...

    def get_detailed_description(self) -> str | None: ...

    def get_comment(self) -> str: ...


@_unsupported
class CatalogFunction:
    """A function of a catalog."""

    def __init__(self, j_catalog_function): ...

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction: ...

    def get_class_name(self) -> str: ...

    def copy(self) -> CatalogFunction: ...

    def get_description(self) -> str | None: ...

    def get_detailed_description(self) -> str | None: ...

    def get_function_language(self): ...

    def get_options(self) -> dict[str, str]: ...


@_unsupported
class CatalogModel:
    """A model of a catalog."""

    def __init__(self, j_catalog_model): ...

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: dict[str, str] = {},
        comment: str | None = None,
    ) -> CatalogModel: ...

    def copy(self) -> CatalogModel: ...

    def get_comment(self) -> str: ...

    def get_options(self): ...


@_unsupported
class Procedure:
    """A procedure of a catalog."""

    def __init__(self, j_procedure): ...


@_unsupported
class CatalogPartitionSpec:
    """The values of the partition columns of a partition."""

    def __init__(self, partition_spec): ...

    def __str__(self): ...

    def __hash__(self): ...

    def __eq__(self, other): ...

    def get_partition_spec(self) -> dict[str, str]: ...


@_unsupported
class CatalogTableStatistics:
    """How large a table is."""

    def __init__(
        self,
        row_count=None,
        field_count=None,
        total_size=None,
        raw_data_size=None,
        properties=None,
        j_catalog_table_statistics=None,
    ): ...

    def get_row_count(self) -> int: ...

    def get_field_count(self) -> int: ...

    def get_total_size(self) -> int: ...

    def get_raw_data_size(self) -> int: ...

    def get_properties(self) -> dict[str, str]: ...

    def copy(self) -> CatalogTableStatistics: ...


@_unsupported
class CatalogColumnStatistics:
    """Statistics of the values of columns."""

    def __init__(
        self, column_statistics_data=None, properties=None, j_catalog_column_statistics=None
    ): ...

    def get_column_statistics_data(self): ...

    def get_properties(self) -> dict[str, str]: ...

    def copy(self) -> CatalogColumnStatistics: ...


@_unsupported
class CatalogDescriptor:
    """The options of a catalog."""

    def __init__(self, j_catalog_descriptor): ...

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None): ...
