"""The metastore of Spark: the databases and tables of Hive."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyflink_on_spark._connectors.spark_rows.sink import HandOver
from pyflink_on_spark._connectors.spark_rows.source import Stage, Staging
from pyflink_on_spark._connectors.spark_rows.tables import MetastoreError, TableFacts
from pyflink_on_spark._spark.session import spark_defaults
from pyflink_on_spark._spark.session.connect_server import REMOTE
from pyflink_on_spark._spark.session.frames import staged, staging
from pyflink_on_spark._spark.session.session import obtain_session, why_gone

_IMPLEMENTATION = "spark.sql.catalogImplementation"
_WAREHOUSE, _WAREHOUSE_OF_HIVE = "spark.sql.warehouse.dir", "hive.metastore.warehouse.dir"
# A statement writes partitions that its rows name, and replaces no others. Texts in it stay as they
# are: Spark would put variables of the environment in the place of ${env:NAME}.
_SETTINGS = {
    "hive.exec.dynamic.partition": "true",
    "hive.exec.dynamic.partition.mode": "nonstrict",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.variable.substitute": "false",
}


class _Opened:
    session: SparkSession | None = None
    settings: Mapping[str, str] = {}


_opened = _Opened()


def open_metastore(settings: Mapping[str, str]) -> None:
    """Open the metastore; with the first call Spark starts, if it has not been started.

    Args:
        settings: those of Spark that say where the metastore is; empty for Spark's own.

    Raises:
        MetastoreError: Spark runs without Hive, or with another metastore.
        EnvironmentSetupError: Spark does not start.
    """
    session = _opened.session
    if session is not None and why_gone(session) is None:
        if settings and dict(settings) != dict(_opened.settings):
            raise MetastoreError(
                "Spark has one metastore in a process, and it is open with other files of "
                "configuration: use the same 'hive-conf-dir' and 'hadoop-conf-dir'"
            )
        return
    if spark_defaults.command_line.get(REMOTE):
        raise MetastoreError("a catalog of Hive needs a classic Spark, not Spark Connect")
    warehouse = settings.get(f"spark.hadoop.{_WAREHOUSE_OF_HIVE}", "spark-warehouse")
    obtained = obtain_session(
        {
            _WAREHOUSE: warehouse,
            **spark_defaults.command_line,
            **settings,
            _IMPLEMENTATION: "hive",
        }
    )
    if obtained.conf.get(_IMPLEMENTATION) != "hive":
        raise MetastoreError(
            "Spark was started without Hive: make the catalog before the first job, or start Spark "
            f"with {_IMPLEMENTATION}=hive (--conf, or enableHiveSupport() of a session)"
        )
    _opened.session, _opened.settings = obtained.newSession(), dict(settings)
    for key, value in _SETTINGS.items():
        _opened.session.conf.set(key, value)


@contextlib.contextmanager
def _asking() -> Iterator[SparkSession]:
    open_metastore({})
    assert _opened.session is not None
    try:
        yield _opened.session
    except PySparkException as error:
        raise MetastoreError(f"Spark's metastore refuses it: {_first_line(error)}") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "py4j":
            raise
        raise MetastoreError(f"Spark's metastore refuses it: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    cause = getattr(error, "java_exception", None)
    text = str(error) if cause is None else str(cause.toString())
    return next((line for line in text.splitlines() if line.strip()), type(error).__name__)


def _catalog(session: SparkSession) -> Any:
    # PySpark's own catalog hides properties, and redacts those that look like secrets.
    java: Any = session
    return java._jsparkSession.sessionState().catalogManager().v2SessionCatalog()


def _jvm(session: SparkSession) -> Any:
    # PySpark has no public way to Java's own classes, of which the catalog takes objects.
    return session.sparkContext._jvm


def _array(session: SparkSession, kind: object, values: list[object]) -> object:
    # Nor has it one to an array of Java.
    context: Any = session.sparkContext
    made = context._gateway.new_array(kind, len(values))
    for index, value in enumerate(values):
        made[index] = value
    return made


def _namespace(session: SparkSession, database: str) -> object:
    return _array(session, _jvm(session).java.lang.String, [database])


def _identifier(session: SparkSession, database: str, name: str) -> object:
    kind = _jvm(session).org.apache.spark.sql.connector.catalog.Identifier
    return kind.of(_namespace(session, database), name)


def _map(session: SparkSession, values: Mapping[str, str]) -> object:
    made = _jvm(session).java.util.HashMap()
    for key, value in values.items():
        made.put(key, value)
    return made


def databases() -> list[str]:
    """Return the names of the databases."""
    with _asking() as session:
        return [str(each[0]) for each in _catalog(session).listNamespaces()]


def database(name: str) -> dict[str, str] | None:
    """Return the properties of a database; None if there is none of that name."""
    with _asking() as session:
        catalog, namespace = _catalog(session), _namespace(session, name)
        if not catalog.namespaceExists(namespace):
            return None
        return dict(catalog.loadNamespaceMetadata(namespace))


def create_database(name: str, properties: Mapping[str, str]) -> None:
    """Make a database."""
    with _asking() as session:
        _catalog(session).createNamespace(_namespace(session, name), _map(session, properties))


def drop_database(name: str) -> None:
    """Remove a database with its tables."""
    with _asking() as session:
        _catalog(session).dropNamespace(_namespace(session, name), True)


def tables(database: str) -> list[str]:
    """Return the names of the tables and views of a database."""
    with _asking() as session:
        found = _catalog(session).listTables(_namespace(session, database))
        return [str(each.name()) for each in found]


def table(database: str, name: str) -> TableFacts | None:
    """Return a table; None if there is none of that name."""
    with _asking() as session:
        catalog, identifier = _catalog(session), _identifier(session, database, name)
        if not catalog.tableExists(identifier):
            return None
        found = catalog.loadTable(identifier)
        return TableFacts(
            json.loads(found.schema().json())["fields"],
            dict(found.properties()),
            tuple(
                str(each.references()[0].fieldNames()[0])
                for each in found.partitioning()
                if each.name() == "identity"
            ),
        )


def create_table(database: str, name: str, properties: Mapping[str, str]) -> None:
    """Make a table that has properties, and no columns."""
    with _asking() as session:
        connector = _jvm(session).org.apache.spark.sql.connector
        _catalog(session).createTable(
            _identifier(session, database, name),
            _array(session, connector.catalog.Column, []),
            _array(session, connector.expressions.Transform, []),
            _map(session, properties),
        )


def run(statement: str) -> None:
    """Run a statement of Spark's SQL."""
    with _asking() as session:
        session.sql(statement)


def change(database: str, name: str, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    """Change the properties of a table from some to others."""
    with _asking() as session:
        kind = _jvm(session).org.apache.spark.sql.connector.catalog.TableChange
        changes = [kind.setProperty(k, v) for k, v in new.items() if old.get(k) != v]
        changes += [kind.removeProperty(key) for key in old if key not in new]
        if changes:
            _catalog(session).alterTable(
                _identifier(session, database, name), _array(session, kind, changes)
            )


def drop_table(database: str, name: str) -> None:
    """Remove a table; of a managed one also the rows."""
    with _asking() as session:
        if (found := table(database, name)) is not None and found.is_view:
            raise MetastoreError(f"{database}.{name} is a view of Spark: Spark drops it")
        _catalog(session).dropTable(_identifier(session, database, name))


def rename_table(database: str, name: str, new_name: str) -> None:
    """Give a table another name."""
    with _asking() as session:
        _catalog(session).renameTable(
            _identifier(session, database, name), _identifier(session, database, new_name)
        )


def partitions(database: str, name: str) -> list[dict[str, str]]:
    """Return the partitions of a table of Hive, by the values of its columns."""
    with _asking() as session:
        rows = session.sql(f"SHOW PARTITIONS {_quoted(database, name)}").collect()
        listed = [[part.partition("=") for part in row[0].split("/")] for row in rows]
        return [{unquote(key): unquote(value) for key, _, value in each} for each in listed]


def reading(database: str, name: str, columns: list[str]) -> Stage:
    """Return the function that makes Spark write some columns of a table into a folder."""

    def stage(folder: str) -> Staging:
        with _asking() as session:
            # Another program may have written files that Spark's cache does not list.
            session.catalog.refreshTable(_quoted(database, name))
            found = session.table(_quoted(database, name))
            kinds = {each.name: _wall_clock(each.dataType) for each in found.schema}
            chosen = [found[f"`{each}`"].cast(kinds[each]).alias(each) for each in columns]
            return staging(found.select(*chosen))(folder)

    return stage


def inserting(database: str, name: str, *, overwrite: bool) -> HandOver:
    """Return the function that makes Spark write the rows of files into a table."""

    def insert(files: list[str], _: int) -> None:
        with _asking() as session:
            wanted = session.table(_quoted(database, name)).schema
            frame = staged(session, files) if files else session.createDataFrame([], wanted)
            _cast(frame, wanted).write.insertInto(_quoted(database, name), overwrite=overwrite)

    return insert


def _cast(frame: DataFrame, wanted: StructType) -> DataFrame:
    return frame.select(
        *[frame[f"`{each.name}`"].cast(each.dataType).alias(each.name) for each in wanted]
    )


def _quoted(database: str, name: str) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in ("spark_catalog", database, name))


def _wall_clock(kind: DataType) -> DataType:
    """Return a type without time zone: tables of Flink see Hive's times as clocks show them."""
    if isinstance(kind, TimestampType):
        return TimestampNTZType()
    if isinstance(kind, ArrayType):
        return ArrayType(_wall_clock(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(
            _wall_clock(kind.keyType), _wall_clock(kind.valueType), kind.valueContainsNull
        )
    if isinstance(kind, StructType):
        return StructType(
            [StructField(each.name, _wall_clock(each.dataType), each.nullable) for each in kind]
        )
    return kind
