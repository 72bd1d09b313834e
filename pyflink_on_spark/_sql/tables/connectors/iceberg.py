"""The connector iceberg: types, batches of Arrow, the making of tables, and catalogs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.iceberg.client import (
    BatchRows,
    IcebergCatalogConfig,
    IcebergCatalogKind,
    IcebergError,
    IcebergStart,
    IcebergTableConfig,
    SnapshotsConfig,
    asking,
    open_catalog,
    package,
)
from pyflink_on_spark._connectors.iceberg.reader import NewSnapshotsSource, SnapshotSource
from pyflink_on_spark._connectors.iceberg.sink import IcebergSink
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._sql.errors import TableError, ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import (
    CatalogTable,
    Column,
    Option,
    boolean,
    duration,
    integer,
    one_of,
    text,
)
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.formats.columnar import batch_of, columns_schema, rows_of
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_PROPERTY_PREFIXES = (
    "write.", "read.", "commit.", "history.", "gc.", "compatibility.", "schema.", "encryption.",
)  # fmt: skip
_FORMAT_VERSION, _COMMENT = "format-version", "comment"
_PARTITION_NUMBERS = 1000


def is_property(key: str) -> bool:
    """True for the key of a property of tables of Iceberg."""
    return key == _FORMAT_VERSION or key.startswith(_PROPERTY_PREFIXES)


def create_table(catalog: Any, database: str, name: str, wanted: CatalogTable) -> None:
    """Make a table.

    Args:
        catalog: that of pyiceberg.
        database: the name of its database.
        name: its own name.
        wanted: its columns; its options are the properties.

    Raises:
        ValidationError: Iceberg cannot have such a table.
    """
    _check_stored(wanted)
    schema = iceberg_schema(wanted.schema.columns, wanted.schema.primary_key or ())
    properties = dict(wanted.options)
    if wanted.comment is not None:
        properties[_COMMENT] = wanted.comment
    partitioning: Any = package("pyiceberg.partitioning")
    transforms: Any = package("pyiceberg.transforms")
    spec = partitioning.PartitionSpec(
        *[
            partitioning.PartitionField(
                schema.find_field(column).field_id,
                _PARTITION_NUMBERS + place,
                transforms.IdentityTransform(),
                column,
            )
            for place, column in enumerate(wanted.partition_by)
        ]
    )
    catalog.create_table((database, name), schema, partition_spec=spec, properties=properties)


def _check_stored(wanted: CatalogTable) -> None:
    other = [each.name for each in wanted.schema.columns if each.kind is not ColumnKind.PHYSICAL]
    if other:
        raise ValidationError(
            f"A table of Iceberg has no computed columns or metadata, such as '{other[0]}': "
            "CREATE TEMPORARY TABLE ... LIKE adds them to a table of Iceberg."
        )
    if wanted.schema.watermark is not None:
        raise ValidationError(
            "A table of Iceberg has no watermark: CREATE TEMPORARY TABLE ... LIKE adds one."
        )


def change_properties(table: Any, before: dict[str, str], after: dict[str, str]) -> None:
    """Set and remove properties of a table."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    removed = [key for key in before if key not in after]
    if changed or removed:
        with table.transaction() as transaction:
            if changed:
                transaction.set_properties(changed)
            if removed:
                transaction.remove_properties(*removed)


def change_columns(table: Any, wanted: CatalogTable) -> None:
    """Add, remove, rename or change columns of a table.

    Raises:
        ValidationError: Iceberg cannot have such a table.
        UnsupportedFlinkFeature: the primary key would change.
    """
    _check_stored(wanted)
    schema = table.schema()
    if set(wanted.schema.primary_key or ()) != set(schema.identifier_field_names()):
        raise_unsupported(
            "another primary key for a table of Iceberg",
            kind=Gap.NOT_YET,
            reason="rows that are there may not fit",
            instead="Change the key with pyiceberg: table.update_schema().set_identifier_fields().",
        )
    before = {column.name: column for column in table_columns(schema)}
    after = {column.name: column for column in wanted.schema.columns}
    added = [column for name, column in after.items() if name not in before]
    removed = [name for name in before if name not in after]
    with table.update_schema() as update:
        if len(added) == len(removed) == 1 and _place(before, removed[0]) == _place(
            after, added[0].name
        ):
            update.rename_column(removed[0], added[0].name)
            return
        for name in removed:
            update.delete_column(name)
        for column in added:
            _add(update, column, list(after))
        for name, column in after.items():
            if name in before and before[name] != column:
                _change(update, before[name], column)


def _place(columns: dict[str, Column], name: str) -> tuple[int, str]:
    return list(columns).index(name), str(columns[name].type)


def _add(update: Any, column: Column, order: list[str]) -> None:
    kind = iceberg_type(column.type, count(1))
    update.add_column(column.name, kind, column.comment, required=not column.type.nullable)
    place = order.index(column.name)
    if place == 0:
        update.move_first(column.name)
    else:
        update.move_after(column.name, order[place - 1])


def _change(update: Any, before: Column, column: Column) -> None:
    kind = None
    if str(before.type) != str(column.type):
        kind = iceberg_type(column.type, count(1))
    required = not column.type.nullable
    update.update_column(column.name, kind, required, column.comment)


_SIMPLE = {
    Root.BOOLEAN: "BooleanType",
    Root.TINYINT: "IntegerType",
    Root.SMALLINT: "IntegerType",
    Root.INT: "IntegerType",
    Root.BIGINT: "LongType",
    Root.FLOAT: "FloatType",
    Root.DOUBLE: "DoubleType",
    Root.CHAR: "StringType",
    Root.VARCHAR: "StringType",
    Root.VARBINARY: "BinaryType",
    Root.DATE: "DateType",
    Root.TIME: "TimeType",
    Root.TIMESTAMP: "TimestampType",
    Root.TIMESTAMP_LTZ: "TimestamptzType",
}
_MICROS, _NANOS, _UUID_BYTES = 6, 9, 16
_BACK: dict[str, LogicalType] = {
    "BooleanType": logical.BOOLEAN,
    "IntegerType": logical.INT,
    "LongType": logical.BIGINT,
    "FloatType": logical.FLOAT,
    "DoubleType": logical.DOUBLE,
    "StringType": logical.STRING,
    "BinaryType": logical.BYTES,
    "DateType": logical.DATE,
    "TimeType": logical.time(0),
    "TimestampType": logical.timestamp(_MICROS),
    "TimestamptzType": logical.timestamp_ltz(_MICROS),
    "TimestampNanoType": logical.timestamp(_NANOS),
    "TimestamptzNanoType": logical.timestamp_ltz(_NANOS),
    "UUIDType": logical.binary(_UUID_BYTES),
}


def iceberg_schema(columns: Iterable[Column], key: Sequence[str]) -> Any:
    """Return the schema of a new table.

    Args:
        columns: the columns.
        key: the names of those that are the primary key.

    Raises:
        ValidationError: Iceberg lacks a type.
    """
    of, schema = package("pyiceberg.types"), package("pyiceberg.schema")
    numbers = count(1)
    fields = [
        of.NestedField(
            next(numbers),
            column.name,
            iceberg_type(column.type, numbers),
            required=not column.type.nullable,
            doc=column.comment,
        )
        for column in columns
    ]
    places = {field.name: field.field_id for field in fields}
    return schema.Schema(*fields, identifier_field_ids=[places[name] for name in key])


def iceberg_type(kind: LogicalType, numbers: Iterator[int]) -> object:
    """Return the type of Iceberg for one of tables.

    Args:
        kind: the type.
        numbers: gives the numbers of nested fields.

    Raises:
        ValidationError: there is none.
    """
    of = package("pyiceberg.types")

    def inner(part: LogicalType) -> Any:
        return iceberg_type(part, numbers)

    if kind.root in _SIMPLE:
        return getattr(of, _SIMPLE[kind.root])()
    if kind.root is Root.DECIMAL:
        return of.DecimalType(kind.precision, kind.scale)
    if kind.root is Root.BINARY:
        return of.FixedType(kind.precision)
    if kind.root is Root.ARRAY:
        element = kind.children[0]
        return of.ListType(next(numbers), inner(element), element_required=not element.nullable)
    if kind.root in (Root.MAP, Root.MULTISET):
        key = kind.children[0]
        value = kind.children[1] if kind.root is Root.MAP else logical.INT.with_nullable(False)
        return of.MapType(
            next(numbers), inner(key), next(numbers), inner(value),
            value_required=not value.nullable,
        )  # fmt: skip
    if kind.root is Root.ROW:
        pairs = zip(kind.names, kind.children, strict=True)
        return of.StructType(
            *[
                of.NestedField(next(numbers), name, inner(part), required=not part.nullable)
                for name, part in pairs
            ]
        )
    raise ValidationError(f"Iceberg has no type for {kind}.")


def table_type(found: object, required: bool) -> LogicalType:
    """Return the type of tables for one of Iceberg.

    Args:
        found: the type of Iceberg.
        required: whether there is always a value.

    Raises:
        ValidationError: there is none.
    """
    return _table_type(found).with_nullable(not required)


def _table_type(found: Any) -> LogicalType:
    name = type(found).__name__
    if name in _BACK:
        return _BACK[name]
    if name == "DecimalType":
        return logical.decimal(found.precision, found.scale)
    if name == "FixedType":
        return logical.binary(len(found))
    if name == "ListType":
        return logical.array(table_type(found.element_type, found.element_required))
    if name == "MapType":
        value = table_type(found.value_type, found.value_required)
        return logical.mapping(table_type(found.key_type, required=True), value)
    if name == "StructType":
        fields = found.fields
        kinds = tuple(table_type(each.field_type, each.required) for each in fields)
        return logical.row(tuple(each.name for each in fields), kinds)
    raise ValidationError(f"No type of tables stands for Iceberg's {found}.")


def table_columns(schema: Any) -> tuple[Column, ...]:
    """Return the columns of a table of Iceberg."""
    return tuple(
        Column(each.name, table_type(each.field_type, each.required), comment=each.doc)
        for each in schema.fields
    )


class TableBatchRows(BatchRows):
    """Converts rows of tables.

    Args:
        schema: the columns.

    Raises:
        ValidationError: Iceberg lacks a type.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, "iceberg")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._schema.names)

    def rows(self, batch: pa.RecordBatch) -> list[Any]:
        """Return the rows of a batch."""
        columns = list(map(_cast, batch.columns, self._arrow.types))
        if not columns:
            return [()] * batch.num_rows
        cast = pa.RecordBatch.from_arrays(columns, schema=self._arrow)
        return rows_of(cast, self._schema.types)

    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Return rows as a batch."""
        found = batch_of(rows, self._arrow, self._schema.types)
        # Iceberg's times are in microseconds, and its smallest numbers have four bytes.
        wider = [pa.field(field.name, _wider(field.type)) for field in self._arrow]
        return found.cast(pa.schema(wider))


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if column.type == wanted:
        return column
    # Times of tables have milliseconds only.
    return column.cast(wanted, safe=not pa.types.is_time(wanted))


_WIDER: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_time, pa.time64("us")),
    (pa.types.is_int8, pa.int32()),
    (pa.types.is_int16, pa.int32()),
)


def _wider(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_wider(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_wider(kind.key_type), _wider(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _wider(field.type)) for field in kind])
    return next((wide for test, wide in _WIDER if test(kind)), kind)


CATALOG_TYPE = Option("catalog-type", text)
CATALOG_CLASS = Option("catalog-impl", text)
WAREHOUSE = Option("warehouse", text)
URI = Option("uri", text)
USER, PASSWORD = Option("jdbc.user", text), Option("jdbc.password", text)
_WITHOUT_EFFECT: tuple[Option[Any], ...] = (
    Option("property-version", integer),
    Option("clients", integer),
    Option("cache-enabled", boolean),
    Option("cache.expiration-interval-ms", integer),
    Option("io-impl", text),
)
_OWN: tuple[Option[Any], ...] = (CATALOG_TYPE, CATALOG_CLASS, WAREHOUSE, URI, USER, PASSWORD)
CATALOG_OPTIONS: tuple[Option[object], ...] = (*_OWN, *_WITHOUT_EFFECT)
"""Those that have a fixed key."""
_TO_PYICEBERG = ("token", "credential", "scope", "prefix", "oauth2-server-uri")
_PREFIXES = ("s3.", "gcs.", "adls.", "client.", "rest.", "header.", "hdfs.")
_CLASSES = {
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
    "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
}
_DIALECTS = {
    "jdbc:sqlite:": "sqlite:///",
    "jdbc:postgresql://": "postgresql+psycopg://",
    "jdbc:mysql://": "mysql+pymysql://",
    "jdbc:mariadb://": "mysql+pymysql://",
}
CATALOG_NAME = Option("catalog-name", text, required=True)
CATALOG_DATABASE = Option("catalog-database", text)
CATALOG_TABLE = Option("catalog-table", text)
_STREAMING = Option("streaming", boolean, default=False)
_INTERVAL = Option("monitor-interval", duration, default=60_000)
_START = Option(
    "starting-strategy",
    one_of(*(start.value.lower() for start in IcebergStart)),
    default=IcebergStart.TABLE.value.lower(),
)
_START_SNAPSHOT = Option("start-snapshot-id", integer)
_SNAPSHOT = Option("snapshot-id", integer)
_TAG, _BRANCH = Option("tag", text), Option("branch", text)
_UPSERT = Option("write.upsert.enabled", boolean, default=False)
_UPSERT_HINT = Option("upsert-enabled", boolean, default=False)
_FILES = Option("write.format.default", text, default="parquet")
_PARALLELISM = Option("write-parallelism", integer)
_READING: tuple[Option[Any], ...] = (
    _STREAMING, _INTERVAL, _START, _START_SNAPSHOT, _SNAPSHOT, _TAG, _BRANCH
)  # fmt: skip
_WRITING: tuple[Option[Any], ...] = (_UPSERT, _UPSERT_HINT, _FILES, _PARALLELISM)
LINK: tuple[Option[Any], ...] = (CATALOG_NAME, CATALOG_DATABASE, CATALOG_TABLE)
"""The options that name a table in its catalog."""
_ALIKE = ({"IntegerType", "LongType"}, {"FloatType", "DoubleType"})


def is_catalog_option(key: str) -> bool:
    """True for an option of a catalog."""
    fixed = any(option.key == key for option in CATALOG_OPTIONS)
    return fixed or key in _TO_PYICEBERG or key.startswith(_PREFIXES)


def catalog_config(name: str, options: Mapping[str, str]) -> IcebergCatalogConfig:
    """Return the settings of a catalog.

    Args:
        name: its name.
        options: those of ``WITH`` that are the catalog's.

    Raises:
        ValidationError: one is unknown, wrong or missing.
        UnsupportedFlinkFeature: pyiceberg has no such catalog, or cannot reach it as Flink does.
    """
    unknown = next((key for key in sorted(options) if not is_catalog_option(key)), None)
    if unknown is not None:
        similar = did_you_mean(unknown, [option.key for option in CATALOG_OPTIONS])
        raise ValidationError(
            f"Unsupported option of an Iceberg catalog: '{unknown}'{similar or '.'}"
        )
    kind = _kind(options)
    properties = {
        key: value
        for key, value in options.items()
        if key in _TO_PYICEBERG or key.startswith(_PREFIXES)
    }
    if kind is not IcebergCatalogKind.SERVER or WAREHOUSE.key in options:
        properties["warehouse"] = _required(options, WAREHOUSE)
    if kind is not IcebergCatalogKind.SERVER and ":" not in properties["warehouse"]:
        properties["warehouse"] = os.path.abspath(properties["warehouse"])
    if kind is IcebergCatalogKind.SERVER:
        properties["uri"] = _required(options, URI)
    if kind is IcebergCatalogKind.DATABASE:
        properties["uri"] = _database_url(_required(options, URI), options)
    return IcebergCatalogConfig(name, kind, properties)


def _kind(options: Mapping[str, str]) -> IcebergCatalogKind:
    given = options.get(CATALOG_TYPE.key)
    made = options.get(CATALOG_CLASS.key)
    if given is not None and made is not None:
        raise ValidationError(
            "An Iceberg catalog has 'catalog-type' or 'catalog-impl', and not both: "
            f"catalog-type={given}, catalog-impl={made}."
        )
    if made is not None:
        given = _CLASSES.get(made, made)
    # Flink takes Hive if nothing is said.
    word = (given or "hive").lower()
    known = {kind.value: kind for kind in IcebergCatalogKind}
    if word not in known:
        shown = f"'catalog-impl' = '{made}'" if made else f"'catalog-type' = '{word}'"
        raise_unsupported(
            f"an Iceberg catalog with {shown}",
            kind=Gap.NOT_YET,
            reason="it is Flink's default, and this package asks no Hive Metastore"
            if given is None
            else "this package does not reach such a catalog",
            instead=f"Use 'catalog-type' = {' or '.join(repr(each) for each in known)}. Or give "
            "Spark the catalog (--conf spark.sql.catalog.NAME=...), and use from_spark, to_spark.",
        )
    return known[word]


def _required(options: Mapping[str, str], option: Option[str]) -> str:
    value = options.get(option.key)
    if not value:
        raise ValidationError(
            "One or more required options are missing.\n\n"
            f"Missing required options are:\n\n{option.key}"
        )
    return value


def _database_url(uri: str, options: Mapping[str, str]) -> str:
    """Return the URL of SQLAlchemy for one of JDBC."""
    if not uri.startswith("jdbc:"):
        return uri
    beginning = next((each for each in _DIALECTS if uri.startswith(each)), None)
    if beginning is None:
        raise ValidationError(
            f"Invalid value for option 'uri': it begins with {', '.join(_DIALECTS)}."
        )
    rest = uri.removeprefix(beginning)
    user, password = options.get(USER.key), options.get(PASSWORD.key)
    if beginning == "jdbc:sqlite:":
        return f"{_DIALECTS[beginning]}{os.path.abspath(rest.removeprefix('file:'))}"
    login = "" if user is None else quote(user, safe="")
    if password is not None:
        login += f":{quote(password, safe='')}"
    return f"{_DIALECTS[beginning]}{login}{'@' if login else ''}{rest}"


class IcebergFactory(TableFactory):
    """Makes tables of those of Iceberg."""

    identifier = "iceberg"
    overwrites = True
    options = (*LINK, *CATALOG_OPTIONS, *_READING, *_WRITING)

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        found = _find(context)
        options.note(_WRITING)
        snapshots = None
        if options[_STREAMING]:
            if context.batch:
                raise ValidationError("'streaming' = 'true' never ends: it needs STREAMING.")
            snapshots = _snapshots(context)
        options.note(_READING)
        snapshot = _chosen_snapshot(context, found.table)
        if snapshots is not None and snapshot is not None:
            raise ValidationError(
                "With 'streaming' = 'true' a table has no 'snapshot-id', 'tag' or 'branch': "
                "'start-snapshot-id' says where to begin."
            )
        return _IcebergRows(found.config, context.schema.physical, snapshot, snapshots)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options = context.options
        found = _find(context)
        options.note(_READING)
        if context.overwrite and not context.batch:
            raise TableError("Unbounded data stream doesn't support overwrite operation.")
        if options[_UPSERT] or options[_UPSERT_HINT]:
            raise ValidationError(
                "pyiceberg writes no equality deletes, so that rows cannot replace others: write "
                "without upsert, or replace partitions by INSERT OVERWRITE."
            )
        if (options[_FILES] or "").lower() != "parquet":
            raise ValidationError(f"'{_FILES.key}' has to be 'parquet': pyiceberg writes no other.")
        if context.overwrite:
            _check_partitions(found.table)
        sink = IcebergSink(found.config, overwrite=context.overwrite)
        return _IcebergSink(sink, options[_PARALLELISM])


@dataclass(frozen=True)
class _Found:
    """A table, and where it is.

    Args:
        config: its catalog and name.
        table: the table of pyiceberg.
    """

    config: IcebergTableConfig
    table: object


def _find(context: TableContext) -> _Found:
    """Open the table, which is made if it is not there, as Flink does."""
    options = context.options
    given = {key: value for key, value in options.given.items() if is_catalog_option(key)}
    options.used.update(given)
    catalog = catalog_config(options[CATALOG_NAME], given)
    database = options[CATALOG_DATABASE] or context.path.database
    name = options[CATALOG_TABLE] or context.path.name
    rows = TableBatchRows(context.schema.physical)
    config = IcebergTableConfig(catalog, database, name, rows)
    try:
        with (
            contextlib.closing(open_catalog(catalog)) as opened,
            asking(f"the Iceberg table {config.place}"),
        ):
            if not opened.table_exists((database, name)):
                opened.create_namespace_if_not_exists(database)
                properties = {k: v for k, v in options.given.items() if is_property(k)}
                wanted = CatalogTable(context.schema, properties, context.partition_by)
                create_table(opened, database, name, wanted)
            table = opened.load_table((database, name))
    except (IcebergError, ModuleNotFoundError) as error:
        raise ValidationError(str(error)) from error
    options.used.update(key for key in options.given if is_property(key) or key in table.properties)
    _check_columns(config.place, context.schema.physical, table)
    return _Found(config, table)


def _check_columns(place: str, schema: Schema, table: Any) -> None:
    fields = {field.name: field for field in table.schema().fields}
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name not in fields:
            raise ValidationError(
                f"The Iceberg table {place} has no column '{name}'. It has: {', '.join(fields)}."
            )
        there = table_type(fields[name].field_type, required=False)
        if not _fit(kind, there):
            raise ValidationError(
                f"The column '{name}' of the Iceberg table {place} is of the type {there}, and "
                f"not {kind}."
            )


def _fit(declared: Any, there: Any) -> bool:
    names = {type(iceberg_type(kind, count())).__name__ for kind in (declared, there)}
    return len(names) == 1 or names in _ALIKE


def _snapshots(context: TableContext) -> SnapshotsConfig:
    options = context.options
    start = IcebergStart((options[_START] or "").upper())
    snapshot = options[_START_SNAPSHOT]
    if snapshot is not None and not context.options.has(_START):
        start = IcebergStart.SNAPSHOT
    if (snapshot is None) is (start is IcebergStart.SNAPSHOT):
        raise ValidationError(
            f"'{_START.key}' = '{IcebergStart.SNAPSHOT.value}' and '{_START_SNAPSHOT.key}' belong "
            "together."
        )
    return SnapshotsConfig(options[_INTERVAL] or 0, start, snapshot)


def _chosen_snapshot(context: TableContext, table: Any) -> int | None:
    options = context.options
    chosen = [option for option in (_SNAPSHOT, _TAG, _BRANCH) if options.has(option)]
    if len(chosen) > 1:
        raise ValidationError(f"Only one of {', '.join(each.key for each in chosen)} can be given.")
    if not chosen:
        return None
    if chosen[0] is _SNAPSHOT:
        number = options[_SNAPSHOT]
        if table.snapshot_by_id(number) is None:
            raise ValidationError(f"There is no snapshot {number}.")
        return number
    name = options[_TAG] or options[_BRANCH] or ""
    found = table.snapshot_by_name(name)
    if found is None:
        raise ValidationError(f"There is no {chosen[0].key} '{name}'.")
    number = found.snapshot_id
    return int(number)


def _check_partitions(table: Any) -> None:
    transforms = {str(field.transform) for field in table.spec().fields} - {"identity"}
    if transforms:
        raise ValidationError(
            "INSERT OVERWRITE replaces the partitions of a table whose partitions are columns, and "
            f"not those by {', '.join(sorted(transforms))}."
        )


class _IcebergRows(TableSource):
    def __init__(
        self,
        config: IcebergTableConfig,
        schema: Schema,
        snapshot: int | None,
        snapshots: SnapshotsConfig | None,
    ) -> None:
        self._config, self._schema = config, schema
        self._snapshot, self._snapshots = snapshot, snapshots

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        schema = self._schema.projected(columns)
        config = replace(self._config, rows=TableBatchRows(schema))
        return _IcebergRows(config, schema, self._snapshot, self._snapshots)

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        source: Source = SnapshotSource(self._config, self._snapshot)
        if self._snapshots is not None:
            source = NewSnapshotsSource(self._config, self._snapshots)
        return Reading(source)


class _IcebergSink(TableSink):
    def __init__(self, sink: IcebergSink, parallelism: int | None) -> None:
        self._sink, self._parallelism = sink, parallelism

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(self._sink, None, self._parallelism)
