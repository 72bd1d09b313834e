"""The contents of a catalog, as objects."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark._runtime.java_hashes import in_hash_map
from pyflink_on_spark._sql.types.external import to_data_type
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.table._inner import description_of
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


@dataclass(frozen=True)
class Described:
    """Properties and a comment."""

    properties: dict[str, str]
    comment: str | None


class CatalogDatabase:
    """A database of a catalog: its properties and its comment.

    Args:
        j_catalog_database: use ``create_instance``.
    """

    def __init__(self, j_catalog_database):
        self._described: Described = own_handle(
            j_catalog_database, Described, "CatalogDatabase(j_catalog_database)"
        )

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogDatabase:
        """A database that ``Catalog.create_database`` can add.

        Args:
            properties: by name.
            comment: describes the database.

        Example:
            >>> CatalogDatabase.create_instance({"owner": "me"}, "mine").get_comment()
            'mine'
        """
        assert properties is not None
        return CatalogDatabase(Described(dict(properties), comment))

    def get_properties(self) -> dict[str, str]:
        """The properties, by name."""
        return dict(self._described.properties)

    def get_comment(self) -> str | None:
        """The comment, or None."""
        return self._described.comment

    def copy(self) -> CatalogDatabase:
        """Another object with the same properties and comment."""
        return CatalogDatabase(self._described)

    def get_description(self) -> str | None:
        """The comment, or None."""
        return self._described.comment

    def get_detailed_description(self) -> str | None:
        """The comment, or None."""
        return self._described.comment


@dataclass(frozen=True)
class DescribedTable:
    """A table or view; only a view has the text of a query."""

    schema: Schema
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    partition_keys: tuple[str, ...] = ()
    query: str | None = None
    is_view: bool = False


class CatalogBaseTable:
    """A table or view of a catalog.

    Args:
        j_catalog_base_table: use ``create_table`` or ``create_view``.
    """

    def __init__(self, j_catalog_base_table):
        self._described: DescribedTable = own_handle(
            j_catalog_base_table, DescribedTable, "CatalogBaseTable(j_catalog_base_table)"
        )

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: list[str] = [],
        properties: dict[str, str] = {},
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """A table that ``Catalog.create_table`` can add.

        Args:
            schema: the columns.
            partition_keys: the columns that partitions are made of.
            properties: the options, ``connector`` for example.
            comment: describes the table.
        """
        assert schema is not None
        assert partition_keys is not None
        assert properties is not None
        return CatalogBaseTable(
            DescribedTable(_columns(schema), dict(properties), comment or "", tuple(partition_keys))
        )

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: TableSchema,
        properties: dict[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """A view that ``Catalog.create_table`` can add.

        Args:
            original_query: as somebody wrote it; nothing reads it.
            expanded_query: with whole names of tables; the view stands for its result.
            schema: the columns.
            properties: options, which no query reads.
            comment: describes the view.
        """
        assert original_query is not None
        assert expanded_query is not None
        assert schema is not None
        assert properties is not None
        return CatalogBaseTable(
            DescribedTable(
                _columns(schema), dict(properties), comment, query=expanded_query, is_view=True
            )
        )

    def get_options(self) -> dict[str, str]:
        """The options, by name."""
        return dict(self._described.options)

    def get_schema(self) -> TableSchema:
        """The columns that are stored, as PyFlink has them until 1.20."""
        columns = description_of(self._described.schema).columns
        stored = [(column.name, column.type) for column in columns if column.type is not None]
        return TableSchema([name for name, _ in stored], [to_data_type(kind) for _, kind in stored])

    def get_unresolved_schema(self) -> Schema:
        """The columns, the watermark and the primary key.

        On Spark: works for objects of ``create_view``, too; PyFlink 2.3 fails with a Py4JError.
        """
        return self._described.schema

    def get_comment(self) -> str | None:
        """The comment; that of a table is never None."""
        return self._described.comment

    def copy(self) -> CatalogBaseTable:
        """Another object that describes the same."""
        return CatalogBaseTable(self._described)

    def get_description(self) -> str | None:
        """The comment."""
        return self._described.comment

    def get_detailed_description(self) -> str | None:
        """A fixed sentence for a view, None for a table."""
        return "This is a catalog view implementation" if self._described.is_view else None


def _columns(schema: TableSchema) -> Schema:
    names, types = schema.get_field_names(), schema.get_field_data_types()
    return Schema.new_builder().from_fields(names, types).build()


class CatalogPartition:
    """A partition of a table.

    Args:
        j_catalog_partition: use ``create_instance``.
    """

    def __init__(self, j_catalog_partition):
        self._described: Described = own_handle(
            j_catalog_partition, Described, "CatalogPartition(j_catalog_partition)"
        )

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogPartition:
        """A partition that ``Catalog.create_partition`` can add.

        Args:
            properties: by name.
            comment: describes the partition.
        """
        assert properties is not None
        return CatalogPartition(Described(dict(properties), comment))

    def get_properties(self) -> dict[str, str]:
        """The properties, by name."""
        return dict(self._described.properties)

    def copy(self) -> CatalogPartition:
        """Another object with the same properties and comment."""
        return CatalogPartition(self._described)

    def get_description(self) -> str | None:
        """None: a partition has no description."""
        return None

    def get_detailed_description(self) -> str | None:
        """None: a partition has no description."""
        return None

    def get_comment(self) -> str | None:
        """The comment, or None."""
        return self._described.comment


class FunctionLanguage(enum.Enum):
    """The language of a function of a catalog."""

    PYTHON = "PYTHON"
    JAVA = "JAVA"
    SCALA = "SCALA"

    def __str__(self) -> str:
        return self.value


class CatalogFunction:
    """A function of a catalog: the name of its implementation.

    Args:
        j_catalog_function: use ``create_instance``.
    """

    def __init__(self, j_catalog_function):
        self._class_name, self._language = own_handle(
            j_catalog_function, tuple, "CatalogFunction(j_catalog_function)"
        )

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """A function that ``Catalog.create_function`` can add.

        Args:
            class_name: the module and the name of the object in it.
            function_language: ``Python``, ``Java`` or ``Scala``, in any case.

        Raises:
            ValueError: the language is another one.

        On Spark: a query that calls a function of Java or Scala raises.
        """
        assert class_name is not None
        language = function_language.upper()
        if language not in FunctionLanguage.__members__:
            raise ValueError("function_language must be one of 'Python', 'Java' or 'Scala'")
        return CatalogFunction((class_name, FunctionLanguage[language]))

    def get_class_name(self) -> str:
        """The name of the function's implementation."""
        return self._class_name

    def copy(self) -> CatalogFunction:
        """Another object for the same function."""
        return CatalogFunction((self._class_name, self._language))

    def get_description(self) -> str | None:
        """A fixed sentence."""
        return "This is a user-defined function"

    def get_detailed_description(self) -> str | None:
        """A fixed sentence."""
        return "This is a user-defined function"

    def is_generic(self) -> bool:
        """True: no function is one of Hive's."""
        return True

    def get_function_language(self) -> FunctionLanguage:
        """The language."""
        return self._language

    def get_options(self) -> dict[str, str]:
        """The options: there are none."""
        return {}


@dataclass(frozen=True)
class _Model:
    inputs: Schema
    outputs: Schema
    options: dict[str, str]
    comment: str | None


class CatalogModel:
    """A model of machine learning in a catalog.

    Args:
        j_catalog_model: use ``create_model``.

    On Spark: it can be stored, but SQL cannot call it.
    """

    def __init__(self, j_catalog_model):
        self._model: _Model = own_handle(j_catalog_model, _Model, "CatalogModel(j_catalog_model)")

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: dict[str, str] = {},
        comment: str | None = None,
    ) -> CatalogModel:
        """A model that ``Catalog.create_model`` can add.

        Args:
            input_schema: the columns that it takes.
            output_schema: the columns that it gives.
            options: by name.
            comment: describes the model.
        """
        assert input_schema is not None
        assert output_schema is not None
        assert options is not None
        return CatalogModel(_Model(input_schema, output_schema, dict(options), comment))

    def copy(self) -> CatalogModel:
        """Another object for the same model."""
        return CatalogModel(self._model)

    def get_comment(self) -> str | None:
        """The comment, or None."""
        return self._model.comment

    def get_options(self) -> dict[str, str]:
        """The options, by name."""
        return dict(self._model.options)


@unsupported_class(
    kind=Gap.NEVER,
    reason="a procedure is a class of Java, and no catalog in memory has one",
    instead="Write a function in Python.",
)
class Procedure:
    """A procedure of a catalog."""

    def __init__(self, j_procedure): ...


class CatalogPartitionSpec:
    """The values of the partition columns of a partition.

    Args:
        partition_spec: the values, by column.

    Example:
        >>> str(CatalogPartitionSpec({"day": "2024-01-01"}))
        'CatalogPartitionSpec{{day=2024-01-01}}'
    """

    def __init__(self, partition_spec):
        self._values: dict[str, str] = dict(
            own_handle(partition_spec, dict, "CatalogPartitionSpec(partition_spec)")
        )

    def __str__(self):
        values = ", ".join(f"{name}={value}" for name, value in in_hash_map(self._values).items())
        return f"CatalogPartitionSpec{{{{{values}}}}}"

    def __hash__(self):
        return hash(frozenset(self._values.items()))

    def __eq__(self, other):
        return isinstance(other, CatalogPartitionSpec) and self._values == other._values

    def get_partition_spec(self) -> dict[str, str]:
        """The values, by column."""
        return dict(self._values)


@dataclass(frozen=True)
class _Size:
    rows: int = -1
    files: int = -1
    size: int = -1
    raw_size: int = -1
    properties: dict[str, str] = field(default_factory=dict)


class CatalogTableStatistics:
    """The size of a table or partition, as a program has given it.

    Args:
        row_count: how many rows there are; -1 is unknown, here and below.
        field_count: how many files there are.
        total_size: their size in bytes.
        raw_data_size: the size in bytes in memory.
        properties: further facts, by name.
        j_catalog_table_statistics: not used.

    On Spark: no plan depends on it.
    """

    def __init__(
        self,
        row_count=None,
        field_count=None,
        total_size=None,
        raw_data_size=None,
        properties=None,
        j_catalog_table_statistics=None,
    ):
        if j_catalog_table_statistics is None:
            j_catalog_table_statistics = _Size(
                row_count, field_count, total_size, raw_data_size, dict(properties or {})
            )
        self._size: _Size = own_handle(
            j_catalog_table_statistics, _Size, "CatalogTableStatistics(j_catalog_table_statistics)"
        )

    @staticmethod
    def _unknown() -> CatalogTableStatistics:
        return CatalogTableStatistics(j_catalog_table_statistics=_Size())

    def get_row_count(self) -> int:
        """Return the number of rows."""
        return self._size.rows

    def get_field_count(self) -> int:
        """Return the number of files."""
        return self._size.files

    def get_total_size(self) -> int:
        """The size of the files in bytes."""
        return self._size.size

    def get_raw_data_size(self) -> int:
        """The size in bytes in memory."""
        return self._size.raw_size

    def get_properties(self) -> dict[str, str]:
        """Further facts, by name."""
        return dict(self._size.properties)

    def copy(self) -> CatalogTableStatistics:
        """Another object with the same numbers."""
        return CatalogTableStatistics(j_catalog_table_statistics=replace(self._size))


class CatalogColumnStatistics:
    """Facts about the values of columns, as a program has given them.

    Args:
        column_statistics_data: by column.
        properties: further facts, by name.
        j_catalog_column_statistics: not used.

    On Spark: no plan depends on it.
    """

    def __init__(
        self, column_statistics_data=None, properties=None, j_catalog_column_statistics=None
    ):
        given = j_catalog_column_statistics
        if given is None:
            given = (dict(column_statistics_data or {}), dict(properties or {}))
        self._data, self._properties = own_handle(
            given, tuple, "CatalogColumnStatistics(j_catalog_column_statistics)"
        )

    def get_column_statistics_data(self) -> dict[str, Any]:
        """The facts, by column."""
        return dict(self._data)

    def get_properties(self) -> dict[str, str]:
        """Further facts, by name."""
        return dict(self._properties)

    def copy(self) -> CatalogColumnStatistics:
        """Another object with the same facts."""
        return CatalogColumnStatistics(self._data, self._properties)


class CatalogDescriptor:
    """The name and the options of a catalog that ``TableEnvironment.create_catalog`` makes.

    Args:
        j_catalog_descriptor: use ``of``.
    """

    def __init__(self, j_catalog_descriptor):
        self._name, self._described = own_handle(
            j_catalog_descriptor, tuple, "CatalogDescriptor(j_catalog_descriptor)"
        )

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None):
        """The description of a catalog.

        Args:
            catalog_name: its name.
            configuration: its options, as CREATE CATALOG has them.
            comment: describes the catalog.

        Example:
            >>> options = Configuration().set_string("type", "generic_in_memory")
            >>> t_env.create_catalog("mine", CatalogDescriptor.of("mine", options))
        """
        assert catalog_name is not None
        assert configuration is not None
        return CatalogDescriptor((catalog_name, Described(configuration.to_dict(), comment)))
