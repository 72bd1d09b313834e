"""The connectors mysql-cdc and postgres-cdc."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.change_capture import CaptureConfig, CaptureSource, Kind
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import Option, boolean, duration, integer, one_of, text
from pyflink_on_spark._sql.plan.ports import Reading, TableContext, TableFactory, TableSource
from pyflink_on_spark._sql.tables.connectors.jdbc import from_database
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_MICROS_PER_MILLI = 1000

HOST = Option("hostname", text, required=True)
USER = Option("username", text, required=True)
PASSWORD = Option("password", text, required=True)
DATABASE = Option("database-name", text, required=True)
SCHEMA = Option("schema-name", text, required=True)
TABLE = Option("table-name", text, required=True)
MYSQL_PORT = Option("port", integer, default=3306)
POSTGRESQL_PORT = Option("port", integer, default=5432)
SLOT = Option("slot.name", text, required=True)
PLUGIN = Option("decoding.plugin.name", text)
SERVER_ID = Option("server-id", text)
STARTUP = Option("scan.startup.mode", one_of("initial", "latest-offset"), default="initial")
TIME_ZONE = Option("server-time-zone", one_of("utc"), default="utc")
_WITHOUT_EFFECT: tuple[Option[Any], ...] = (
    Option("connect.timeout", duration),
    Option("connect.max-retries", integer),
    Option("connection.pool.size", integer),
    Option("heartbeat.interval", duration),
    Option("scan.incremental.snapshot.enabled", boolean),
    Option("scan.incremental.snapshot.chunk.size", integer),
    Option("scan.incremental.snapshot.chunk.key-column", text),
    Option("scan.snapshot.fetch.size", integer),
)
_MYSQL: tuple[Option[Any], ...] = (
    HOST, MYSQL_PORT, USER, PASSWORD, DATABASE, TABLE, SERVER_ID, TIME_ZONE, STARTUP
)  # fmt: skip
_POSTGRESQL: tuple[Option[Any], ...] = (
    HOST, POSTGRESQL_PORT, USER, PASSWORD, DATABASE, SCHEMA, TABLE, SLOT, PLUGIN, STARTUP
)  # fmt: skip

_NAME = logical.varchar(logical.MAX_LENGTH).with_nullable(False)
_MIDNIGHT = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - of no zone


@dataclass(frozen=True)
class _CapturedTable(TableSource):
    """The rows of a table of a database, and then the changes to them."""

    config: CaptureConfig
    schema: Schema

    changes = ChangeKinds.ALL

    def metadata(self) -> Mapping[str, LogicalType]:
        """Return the names of the table, and the time of a change."""
        names = ["database_name", "table_name"]
        if self.config.schema:
            names.insert(1, "schema_name")
        return {
            **dict.fromkeys(names, _NAME),
            "op_ts": logical.timestamp_ltz(3).with_nullable(False),
        }

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        """Return the source and the operator that makes rows of its changes."""
        return Reading(CaptureSource(self.config), CapturedRows(self.config, self.schema, metadata))


class CapturedRows(Operator):
    """Makes rows and their kinds of changes as a database gives them.

    Args:
        config: the table.
        schema: the columns.
        metadata: the keys of the metadata columns.
    """

    emits_immutable = True

    def __init__(self, config: CaptureConfig, schema: Schema, metadata: tuple[str, ...]) -> None:
        self._config, self._schema, self._metadata = config, schema, metadata

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        convert = from_database(self._schema)
        reader = _of_text if self._config.kind is Kind.POSTGRESQL else _of_mysql
        prepared = [reader(kind) for kind in self._schema.types]

        def row(values: tuple[Any, ...]) -> tuple[Any, ...]:
            pairs = zip(prepared, values, strict=True)
            return convert([v if f is None or v is None else f(v) for f, v in pairs])

        self._row = row

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the rows with their kinds."""
        row, metadata = self._row, self._metadata
        if not metadata:
            for kind, values, _ in elements:
                yield kind, row(values)
            return
        config = self._config
        names = {
            "database_name": config.database,
            "schema_name": config.schema,
            "table_name": config.table,
        }
        for kind, values, moment in elements:
            found = {**names, "op_ts": moment * _MICROS_PER_MILLI}
            yield kind, row(values) + tuple([found[key] for key in metadata])


def _of_text(kind: LogicalType) -> Callable[[str], object] | None:
    """Return a function that turns PostgreSQL's text into the usual text; None if it is that."""
    if kind.root is Root.BOOLEAN:
        return lambda written: written[:1] == "t"
    if kind.root in logical.BYTES_LIKE:
        return lambda written: bytes.fromhex(written.removeprefix("\\x"))
    if kind.root in logical.TIMESTAMPS:
        return lambda written: written.removesuffix("+00")
    return None


def _of_mysql(kind: LogicalType) -> Callable[[Any], object] | None:
    """Return a function that turns PyMySQL's value into the usual one; None if it is that."""
    if kind.root is Root.TIME:
        return lambda given: (_MIDNIGHT + given).time()
    if kind.root in logical.CHARACTERS:
        return lambda given: given.decode() if isinstance(given, bytes) else given
    return None


class MySqlCaptureFactory(TableFactory):
    """Makes tables of the rows and the changes of a table of MySQL or MariaDB."""

    identifier = "mysql-cdc"
    options = (*_MYSQL, *_WITHOUT_EFFECT)

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        options.note([TIME_ZONE])
        server = options[SERVER_ID]
        return _captured(
            context,
            Kind.MYSQL,
            port=options[MYSQL_PORT] or 0,
            server_id=0 if server is None else _first_number(server),
        )


class PostgreSqlCaptureFactory(TableFactory):
    """Makes tables of the rows and the changes of a table of PostgreSQL."""

    identifier = "postgres-cdc"
    options = (*_POSTGRESQL, *_WITHOUT_EFFECT)

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        options.note([PLUGIN])
        return _captured(
            context,
            Kind.POSTGRESQL,
            port=options[POSTGRESQL_PORT] or 0,
            schema=options[SCHEMA],
            slot=options[SLOT],
        )


def _captured(context: TableContext, kind: Kind, **own: Any) -> TableSource:
    options, schema = context.options, context.schema.physical
    options.note(_WITHOUT_EFFECT)
    for prefix in ("debezium.", "jdbc.properties."):
        given = options.beginning_with(prefix)
        if given:
            raise ValidationError(
                f"'{prefix}{next(iter(given))}' has no meaning here: no Debezium reads the table."
            )
    table = _one_name(DATABASE.key, options[DATABASE]), _one_name(TABLE.key, options[TABLE])
    _check_types(schema)
    config = CaptureConfig(
        kind,
        host=options[HOST],
        user=options[USER],
        password=options[PASSWORD],
        database=table[0],
        table=table[1],
        columns=tuple(schema.names),
        snapshot=options[STARTUP] == "initial",
        **({"schema": ""} | own),
    )
    return _CapturedTable(config, schema)


def _one_name(key: str, given: str) -> str:
    """Check that an option names one thing: Flink takes it for a regular expression."""
    name = given.rpartition(".")[2] if key == TABLE.key else given
    if re.search(r"[^\w$-]", name):
        raise ValidationError(
            f"Invalid value for option '{key}': '{given}': one table is read, and its name is no "
            "pattern. Declare a table for each, and use UNION ALL."
        )
    return name


def _check_types(schema: Schema) -> None:
    for name, kind in zip(schema.names, schema.types, strict=True):
        if kind.root in {Root.ARRAY, Root.MAP, Root.ROW, Root.MULTISET}:
            raise ValidationError(
                f"The column '{name}' is of the type {kind}: a database's tables have scalar "
                "columns. Declare it as STRING."
            )


def _first_number(given: str) -> int:
    """Read one number, or the first of a range: one subtask reads."""
    found = re.match(r"\d+", given)
    if found is None:
        raise ValidationError(f"Invalid value for option '{SERVER_ID.key}': '{given}'")
    return int(found[0])
