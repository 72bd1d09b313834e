"""The catalog of type ``hive``: databases and tables as Spark's metastore has them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pyflink_on_spark._compat import registry
from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._connectors.spark_rows.tables import MetastoreError, TableFacts
from pyflink_on_spark._sql.binder.tables import TableDescription
from pyflink_on_spark._sql.catalog import Annex, Catalog, Database, Partition, Relation
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.statements import parse_expression, parse_type
from pyflink_on_spark._sql.plan.options import CatalogTable, Column, ResolvedSchema
from pyflink_on_spark._sql.session.database_catalog import (
    ServerDatabase,
    ServerObjects,
    refuse_change,
)
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.hive import (
    DATABASE,
    FILE_FORMAT,
    TABLE,
    HiveFactory,
    columns_of,
    hive_type,
)

TYPE = "hive"
OPTIONS = (
    "default-database", "hive-conf-dir", "hadoop-conf-dir", "hive-version", "property-version",
)  # fmt: skip
"""Those of ``WITH``; versions have no effect."""
_PREFIX = "flink."
_CONNECTOR, _COMMENT = "connector", "comment"
_OF_SPARK = frozenset(
    {"provider", "location", "owner", "table_type", "is_managed_location", "comment", "external",
     "transient_lastDdlTime", "numFiles", "totalSize"}
)  # fmt: skip
_TYPE, _WATERMARK, _KEY = "data-type", "schema.watermark.0", "schema.primary-key"


@contextlib.contextmanager
def _asked() -> Iterator[Any]:
    """Give the metastore for some questions.

    Raises:
        ValidationError: it cannot be asked, or refuses something.
    """
    try:
        yield registry.load("metastore")
    except (MetastoreError, EnvironmentSetupError) as error:
        raise ValidationError(str(error)) from error


@dataclass
class _HiveCatalog(Catalog):
    """A catalog that describes tables with the functions of its session."""

    session: list[Session] = field(default_factory=list)

    def joined(self, session: Session) -> None:
        self.session[:] = [session]


class _Databases(ServerObjects[str, Database]):
    def __init__(self, session: list[Session]) -> None:
        super().__init__(TYPE, self._listed, self._database)
        self._session = session

    def _listed(self) -> list[str]:
        with _asked() as store:
            return sorted(store.databases())

    def _database(self, name: str) -> Database | None:
        with _asked() as store:
            properties = store.database(name)
        return None if properties is None else _HiveDatabase(self._session, name, properties)

    def __setitem__(self, name: str, value: Database) -> None:
        properties = dict(value.properties)
        if value.comment is not None:
            properties[_COMMENT] = value.comment
        with _asked() as store:
            store.create_database(name, properties)

    def __delitem__(self, name: str) -> None:
        with _asked() as store:
            store.drop_database(name)


class _HiveDatabase(ServerDatabase):
    def __init__(self, session: list[Session], name: str, properties: dict[str, str]) -> None:
        own = {key: value for key, value in properties.items() if key not in _OF_SPARK}
        super().__init__(TYPE, _Tables(session, name), own)
        self.comment = properties.get(_COMMENT) or None
        self._name = name

    def rename(self, name: str, new_name: str) -> None:
        """Give a table another name."""
        with _asked() as store:
            store.rename_table(self._name, name, new_name)

    def annex(self, name: str) -> Annex:
        """The partitions of a table of Hive, which only Spark changes."""
        with _asked() as store:
            found = {
                frozenset(values.items()): Partition(values, {})
                for values in store.partitions(self._name, name)
            }
        return Annex(ServerObjects(TYPE, lambda: list(found), found.get))


class _Tables(ServerObjects[str, Relation]):
    def __init__(self, session: list[Session], database: str) -> None:
        super().__init__(TYPE, self._listed, self._table)
        self._session, self._database = session, database

    def _listed(self) -> list[str]:
        with _asked() as store:
            return sorted(store.tables(self._database))

    def _table(self, name: str) -> CatalogTable | None:
        with _asked() as store:
            facts = store.table(self._database, name)
        if facts is None:
            return None
        own = _own_properties(facts)
        if own is None:
            return self._of_hive(name, facts)
        session = self._session[0] if self._session else Session(dict, batch=False)
        return table_of(own, session)

    def _of_hive(self, name: str, facts: TableFacts) -> CatalogTable:
        properties = {
            key: value
            for key, value in facts.properties.items()
            if key not in _OF_SPARK and not key.startswith(("option.", "view."))
        }
        options = {
            **properties,
            _CONNECTOR: HiveFactory.identifier,
            DATABASE.key: self._database,
            TABLE.key: name,
        }
        comment = facts.properties.get(_COMMENT)
        schema = ResolvedSchema(columns_of(facts))
        return CatalogTable(schema, options, facts.partition_by, comment)

    def __setitem__(self, name: str, value: Relation) -> None:
        if not isinstance(value, CatalogTable):
            refuse_change(TYPE)
        if value.distribution is not None:
            raise ValidationError("A catalog of Hive has no tables with DISTRIBUTED")
        of_hive = value.options.get(_CONNECTOR) == HiveFactory.identifier
        before = self.get(name)
        with _asked() as store:
            if before is None and of_hive:
                store.run(_creation(self._database, name, value))
            elif before is None:
                store.create_table(self._database, name, _prefixed(properties_of(value)))
            elif of_hive or before.options.get(_CONNECTOR) == HiveFactory.identifier:
                assert isinstance(before, CatalogTable)
                if before.schema != value.schema or not of_hive:
                    refuse_change(TYPE)
                store.change(self._database, name, dict(before.options), dict(value.options))
            else:
                assert isinstance(before, CatalogTable)
                old, new = _prefixed(properties_of(before)), _prefixed(properties_of(value))
                store.change(self._database, name, old, new)

    def __delitem__(self, name: str) -> None:
        with _asked() as store:
            store.drop_table(self._database, name)


def _prefixed(properties: Mapping[str, str]) -> dict[str, str]:
    return {_PREFIX + key: value for key, value in properties.items()}


def _own_properties(facts: TableFacts) -> dict[str, str] | None:
    """The properties of a table of Flink; None for one of Hive."""
    own = {
        key.removeprefix(_PREFIX): value
        for key, value in facts.properties.items()
        if key.startswith(_PREFIX)
    }
    return own if _CONNECTOR in own or "schema.0.name" in own else None


def properties_of(table: CatalogTable) -> dict[str, str]:
    """Return a table as properties, under the keys that Flink writes.

    Args:
        table: of another connector than Hive's.
    """
    found = dict(table.options)
    for number, column in enumerate(table.schema.columns):
        key = f"schema.{number}"
        found[f"{key}.name"] = column.name
        found[f"{key}.{_TYPE}"] = str(column.type.plain())
        if column.kind is ColumnKind.COMPUTED:
            found[f"{key}.expr"] = column.text
        elif column.kind is ColumnKind.METADATA:
            found[f"{key}.metadata"] = column.metadata_key or column.name
            found[f"{key}.virtual"] = str(column.virtual).lower()
        if column.comment is not None:
            found[f"{key}.comment"] = column.comment
    watermark, keys = table.schema.watermark, table.schema.primary_key
    if watermark is not None:
        kind = table.schema.columns[table.schema.index(watermark.column)].type
        found[f"{_WATERMARK}.rowtime"] = watermark.column
        found[f"{_WATERMARK}.strategy.expr"] = watermark.text or "SOURCE_WATERMARK()"
        found[f"{_WATERMARK}.strategy.{_TYPE}"] = str(kind.plain())
    if keys is not None:
        found[f"{_KEY}.name"] = table.schema.key_name or f"PK_{'_'.join(keys)}"
        found[f"{_KEY}.columns"] = ",".join(keys)
    for number, name in enumerate(table.partition_by):
        found[f"partition.keys.{number}.name"] = name
    if table.comment is not None:
        found[_COMMENT] = table.comment
    return found


def table_of(properties: Mapping[str, str], session: Session) -> CatalogTable:
    """Return the table that properties describe.

    Args:
        properties: as ``properties_of`` gives them.
        session: has the functions of computed columns.

    Raises:
        ValidationError: something in them is wrong.
    """
    columns = tuple(_column(properties, f"schema.{n}") for n in _numbers(properties, "schema"))
    watermarks: tuple[syntax.WatermarkDefinition, ...] = ()
    rowtime = properties.get(f"{_WATERMARK}.rowtime")
    if rowtime is not None:
        expression = parse_expression(properties[f"{_WATERMARK}.strategy.expr"])
        watermarks = (syntax.WatermarkDefinition(Name((rowtime,)), expression),)
    key = None
    if f"{_KEY}.columns" in properties:
        names = properties[f"{_KEY}.columns"].split(",")
        key = syntax.PrimaryKey(
            tuple(Name((each,)) for each in names), properties.get(f"{_KEY}.name")
        )
    partitions = [
        properties[f"partition.keys.{n}.name"] for n in _numbers(properties, "partition.keys")
    ]
    options = {
        each: value
        for each, value in properties.items()
        if each != _COMMENT and not each.startswith(("schema.", "partition.keys."))
    }
    return session.described_table(
        TableDescription(columns, watermarks, key),
        options,
        tuple(partitions),
        properties.get(_COMMENT),
    )


def _numbers(properties: Mapping[str, str], prefix: str) -> Iterator[int]:
    for number in count():
        if f"{prefix}.{number}.name" not in properties:
            return
        yield number


def _column(properties: Mapping[str, str], key: str) -> syntax.ColumnDefinition:
    name, comment = properties[f"{key}.name"], properties.get(f"{key}.comment")
    if f"{key}.expr" in properties:
        expression = parse_expression(properties[f"{key}.expr"])
        return syntax.ColumnDefinition(
            name, ColumnKind.COMPUTED, expression=expression, comment=comment
        )
    kind = parse_type(properties[f"{key}.{_TYPE}"])
    metadata = properties.get(f"{key}.metadata")
    return syntax.ColumnDefinition(
        name,
        ColumnKind.PHYSICAL if metadata is None else ColumnKind.METADATA,
        kind,
        metadata_key=None if metadata == name else metadata,
        virtual=properties.get(f"{key}.virtual") == "true",
        comment=comment,
    )


def _creation(database: str, name: str, table: CatalogTable) -> str:
    """The statement by which Spark makes a table of Hive.

    Raises:
        ValidationError: Hive cannot have such a table.
    """
    schema = table.schema
    if schema.watermark is not None or any(
        each.kind is not ColumnKind.PHYSICAL for each in schema.columns
    ):
        raise ValidationError(
            "A table of Hive has physical columns only, and no watermark: add these with CREATE "
            "TEMPORARY TABLE ... LIKE."
        )
    options = {k: v for k, v in table.options.items() if k not in (_CONNECTOR, FILE_FORMAT.key)}
    file_format = table.options.get(FILE_FORMAT.key, FILE_FORMAT.default or "")
    if not file_format.isalnum():
        raise ValidationError(f"'{FILE_FORMAT.key}' is the name of a format, not '{file_format}'.")
    by_name = {each.name: _column_text(each) for each in schema.columns}
    parts = [by_name.pop(each) for each in table.partition_by]
    text = f"CREATE TABLE {_quoted(database)}.{_quoted(name)} ({', '.join(by_name.values())})"
    if table.comment is not None:
        text += f" COMMENT {_literal(table.comment)}"
    if parts:
        text += f" PARTITIONED BY ({', '.join(parts)})"
    text += f" STORED AS {file_format}"
    if options:
        listed = ", ".join(f"{_literal(k)} = {_literal(v)}" for k, v in options.items())
        text += f" TBLPROPERTIES ({listed})"
    return text


def _column_text(column: Column) -> str:
    comment = "" if column.comment is None else f" COMMENT {_literal(column.comment)}"
    return f"{_quoted(column.name)} {hive_type(column.type)}{comment}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def catalog_of(name: str, options: Mapping[str, str], comment: str | None = None) -> Catalog:
    """The catalog of Hive.

    Args:
        name: its name, for messages.
        options: those of ``WITH``.
        comment: describes the catalog, or None.

    Raises:
        ValidationError: a file is missing, or the metastore cannot be asked.
    """
    settings = {
        **_settings(options.get("hadoop-conf-dir"), "core-site.xml", "hdfs-site.xml"),
        **_settings(options.get("hive-conf-dir"), "hive-site.xml"),
    }
    default = options.get("default-database", "default")
    with _asked() as store:
        store.open_metastore(settings)
        if store.database(default) is None:
            raise ValidationError(
                f"Configured default database {default} doesn't exist in catalog {name}."
            )
    session: list[Session] = []
    return _HiveCatalog(_Databases(session), dict(options), comment, default, session)


def _settings(folder: str | None, *names: str) -> dict[str, str]:
    """The settings of Spark for files of Hive and Hadoop in a folder."""
    if folder is None:
        return {}
    found: dict[str, str] = {}
    files = [
        path for name in names if (path := Path(folder.removeprefix("file://"), name)).exists()
    ]
    if not files:
        raise ValidationError(f"There is no {' or '.join(names)} in {folder}.")
    for file in files:
        try:
            tree = ElementTree.parse(file)
        except ElementTree.ParseError as error:
            raise ValidationError(f"{file} cannot be read: {error}") from error
        for each in tree.iter("property"):
            found[f"spark.hadoop.{each.findtext('name', '').strip()}"] = each.findtext("value", "")
    return found
