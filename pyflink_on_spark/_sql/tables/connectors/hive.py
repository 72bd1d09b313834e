"""The connector hive: tables of Spark's metastore, which Spark itself reads and writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from pyflink_on_spark._compat import registry
from pyflink_on_spark._connectors.spark_rows.tables import (
    MetastoreError,
    StagedTable,
    StagedTableSink,
    TableFacts,
)
from pyflink_on_spark._sql.errors import TableError, ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Column, Option, text
from pyflink_on_spark._sql.plan.ports import (
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.tables.formats.columnar import batch_of, columns_schema, rows_of
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import MAX_LENGTH, LogicalType, Root

DATABASE = Option("hive.database", text)
TABLE = Option("hive.table", text)
FILE_FORMAT = Option("hive.storage.file-format", text, default="textfile")
_NANOS = 9
_CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"
_SIMPLE = {
    "boolean": logical.BOOLEAN,
    "byte": logical.TINYINT,
    "short": logical.SMALLINT,
    "integer": logical.INT,
    "long": logical.BIGINT,
    "float": logical.FLOAT,
    "double": logical.DOUBLE,
    "string": logical.STRING,
    "binary": logical.BYTES,
    "date": logical.DATE,
    "timestamp": logical.timestamp(_NANOS),
    "timestamp_ntz": logical.timestamp(_NANOS),
}
_WITH_NUMBERS: dict[str, Callable[..., LogicalType]] = {
    "decimal": logical.decimal,
    "varchar": logical.varchar,
    "char": logical.char,
}
_NAMES = {
    Root.BOOLEAN: "BOOLEAN",
    Root.TINYINT: "TINYINT",
    Root.SMALLINT: "SMALLINT",
    Root.INT: "INT",
    Root.BIGINT: "BIGINT",
    Root.FLOAT: "FLOAT",
    Root.DOUBLE: "DOUBLE",
    Root.BINARY: "BINARY",
    Root.VARBINARY: "BINARY",
    Root.DATE: "DATE",
    Root.TIMESTAMP: "TIMESTAMP",
}


def columns_of(facts: TableFacts) -> tuple[Column, ...]:
    """Return the columns of a table of Hive.

    Raises:
        ValidationError: no type of tables stands for one.
    """
    return tuple(
        Column(
            each["name"],
            _type_of(each["metadata"].get(_CHARACTERS, each["type"]), each["name"]),
            comment=each["metadata"].get("comment"),
        )
        for each in facts.columns
    )


def _type_of(found: Any, column: str) -> LogicalType:
    if isinstance(found, Mapping):
        kind = found["type"]
        if kind == "array":
            return logical.array(_type_of(found["elementType"], column))
        if kind == "map":
            key = _type_of(found["keyType"], column).with_nullable(False)
            return logical.mapping(key, _type_of(found["valueType"], column))
        if kind == "struct":
            fields = found["fields"]
            kinds = tuple(_type_of(each["type"], column) for each in fields)
            return logical.row(tuple(each["name"] for each in fields), kinds)
    elif found in _SIMPLE:
        return _SIMPLE[found]
    else:
        numbers = re.fullmatch(r"(\w+)\(([\d, ]+)\)", found)
        if numbers and numbers[1] in _WITH_NUMBERS:
            return _WITH_NUMBERS[numbers[1]](*map(int, numbers[2].split(",")))
    raise ValidationError(
        f"No type of tables stands for Spark's {found} of the column '{column}': cast it in a view "
        "that Spark makes."
    )


def hive_type(kind: LogicalType) -> str:
    """Return the type of Hive for one of tables.

    Raises:
        ValidationError: Hive has none.
    """
    if kind.root in _NAMES:
        return _NAMES[kind.root]
    if kind.root is Root.DECIMAL:
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if kind.root in (Root.CHAR, Root.VARCHAR):
        return "STRING" if kind.precision == MAX_LENGTH else f"{kind.root.name}({kind.precision})"
    if kind.root in (Root.ARRAY, Root.MAP):
        return f"{kind.root.name}<{', '.join(map(hive_type, kind.children))}>"
    if kind.root is Root.ROW:
        pairs = zip(kind.names, kind.children, strict=True)
        listed = [f"`{name.replace('`', '``')}`: {hive_type(part)}" for name, part in pairs]
        return f"STRUCT<{', '.join(listed)}>"
    raise ValidationError(f"Hive has no type for {kind}.")


class HiveColumns:
    """Converts rows of tables to what Spark reads and writes.

    Args:
        schema: the columns.

    Raises:
        ValidationError: Spark lacks a type.
    """

    def __init__(self, schema: Schema) -> None:
        self._kinds = schema.types
        self.schema = columns_schema(schema, "hive")

    def rows(self, batch: pa.RecordBatch) -> list[Any]:
        """Return the rows of a batch."""
        columns = [
            each if each.type == wanted else each.cast(wanted)
            for each, wanted in zip(batch.columns, self.schema.types)
        ]
        return rows_of(pa.RecordBatch.from_arrays(columns, schema=self.schema), self._kinds)

    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
        """Return rows as a batch."""
        return batch_of(rows, self.schema, self._kinds)


class HiveFactory(TableFactory):
    """Makes tables of those of Spark's metastore."""

    identifier = "hive"
    overwrites = True
    options: ClassVar[tuple[Option[Any], ...]] = (DATABASE, TABLE, FILE_FORMAT)

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        database, name, _ = _found(context)
        return _HiveRows(database, name, context.schema.physical)

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        database, name, facts = _found(context)
        if facts.is_view:
            raise ValidationError(f"{database}.{name} is a view of Spark: only tables are written.")
        if context.overwrite and not context.batch:
            raise TableError("Unbounded data stream doesn't support overwrite operation.")
        store, frames = registry.load("metastore"), registry.load("frames")
        sink = StagedTableSink(
            frames.staging_place,
            HiveColumns(context.schema.physical),
            store.inserting(database, name, overwrite=context.overwrite),
            overwrite=context.overwrite,
        )
        return _HiveSink(sink)


def _found(context: TableContext) -> tuple[str, str, TableFacts]:
    options = context.options
    database, name = options[DATABASE], options[TABLE]
    options.used.update(options.given)
    if database is None or name is None:
        raise ValidationError(
            "A table with 'connector' = 'hive' is one of a catalog of Hive: make it after CREATE "
            "CATALOG h WITH ('type' = 'hive') and USE CATALOG h."
        )
    try:
        facts = registry.load("metastore").table(database, name)
    except MetastoreError as error:
        raise ValidationError(str(error)) from error
    if facts is None:
        raise ValidationError(f"There is no table {database}.{name} in Spark's metastore.")
    return database, name, facts


class _HiveRows(TableSource):
    def __init__(self, database: str, name: str, schema: Schema) -> None:
        self._database, self._name, self._schema = database, name, schema

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        if not columns:
            return None
        return _HiveRows(self._database, self._name, self._schema.projected(columns))

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        store, frames = registry.load("metastore"), registry.load("frames")
        stage = store.reading(self._database, self._name, list(self._schema.names))
        return Reading(StagedTable(frames.staging_place, HiveColumns(self._schema), stage))


class _HiveSink(TableSink):
    def __init__(self, sink: StagedTableSink) -> None:
        self._sink = sink

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(self._sink, None)
