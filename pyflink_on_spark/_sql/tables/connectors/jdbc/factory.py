"""The connector ``jdbc``."""

from __future__ import annotations

from pyflink_on_spark._connectors.jdbc.config import (
    JdbcConnection,
    JdbcExecution,
    JdbcSinkConfig,
)
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.sink import BatchedJdbcSink
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    text,
)
from pyflink_on_spark._sql.plan.ports import (
    Lookup,
    Reading,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.connectors.jdbc.lookup import JdbcLookup
from pyflink_on_spark._sql.tables.connectors.jdbc.rows import FromDatabase, ToDatabase
from pyflink_on_spark._sql.tables.connectors.jdbc.sink import UpsertJdbcSink
from pyflink_on_spark._sql.tables.connectors.jdbc.source import JdbcSource, Ranges
from pyflink_on_spark._sql.tables.connectors.jdbc.statements import dialect_of
from pyflink_on_spark._sql.tables.connectors.lookup import CACHE_OPTIONS, CachePolicy
from pyflink_on_spark._sql.types.type_infos import to_type_info
from pyflink_on_spark.common.typeinfo import RowTypeInfo

_URL = Option("url", text, required=True)
_TABLE = Option("table-name", text, required=True)
_DRIVER = Option("driver", text)
_USER = Option("username", text)
_PASSWORD = Option("password", text)
_RETRY_TIMEOUT = Option("connection.max-retry-timeout", duration)
_COLUMN = Option("scan.partition.column", text)
_COUNT = Option("scan.partition.num", integer)
_LOWER = Option("scan.partition.lower-bound", integer)
_UPPER = Option("scan.partition.upper-bound", integer)
_FETCH_SIZE = Option("scan.fetch-size", integer)
_AUTO_COMMIT = Option("scan.auto-commit", boolean)
_LOOKUP_RETRIES = Option("lookup.max-retries", integer, default=3)
_ROWS = Option("sink.buffer-flush.max-rows", integer, default=100)
_INTERVAL = Option("sink.buffer-flush.interval", duration, default=1000)
_RETRIES = Option("sink.max-retries", integer, default=3)
_PARALLELISM = Option("sink.parallelism", integer)

_CONNECTING = (_DRIVER, _RETRY_TIMEOUT)
_SCANNING = (_COLUMN, _COUNT, _LOWER, _UPPER, _FETCH_SIZE, _AUTO_COMMIT)
_LOOKING_UP = (_LOOKUP_RETRIES, *CACHE_OPTIONS)
_WRITING = (_ROWS, _INTERVAL, _RETRIES, _PARALLELISM)


class JdbcFactory(TableFactory):
    """Makes tables of the tables of a database."""

    identifier = "jdbc"
    options = (  # type: ignore[assignment]
        _URL, _TABLE, _USER, _PASSWORD, *_CONNECTING, *_SCANNING, *_LOOKING_UP, *_WRITING,
    )  # fmt: skip

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned."""
        options = context.options
        options.note((*_CONNECTING, *_SCANNING, *_WRITING))
        return _DatabaseTable(
            _connection(options),
            options[_TABLE],
            context.schema.physical,
            options[_COLUMN],
            _ranges(options),
            max(options[_LOOKUP_RETRIES] or 0, 0),
            CachePolicy.of(options),
        )

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written."""
        options = context.options
        options.note((*_CONNECTING, *_SCANNING, *_LOOKING_UP))
        execution = JdbcExecution(
            batch_size=max(options[_ROWS], 1),
            batch_interval=options[_INTERVAL],
            max_retries=options[_RETRIES],
        )
        return _DatabaseSink(
            _connection(options),
            options[_TABLE],
            context.schema.primary_key,
            execution,
            options[_PARALLELISM],
        )


class _DatabaseTable(TableSource):
    def __init__(
        self,
        connection: JdbcConnection,
        table: str,
        schema: Schema,
        column: str | None,
        ranges: Ranges | None,
        retries: int,
        cache: CachePolicy | None,
    ) -> None:
        self._connection, self._table, self._schema = connection, table, schema
        self._column, self._ranges = column, ranges
        self._retries, self._cache = retries, cache

    def lookup(self, keys: tuple[int, ...]) -> Lookup:
        return JdbcLookup(
            self._connection, self._table, self._schema, keys, self._retries, self._cache
        )

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        dialect = dialect_of(self._connection.url)
        sql = dialect.select(self._table, self._schema.names, self._column)
        source = JdbcSource(self._connection, sql, self._ranges)
        return Reading(source, FromDatabase(self._schema))


class _DatabaseSink(TableSink):
    def __init__(
        self,
        connection: JdbcConnection,
        table: str,
        key: tuple[str, ...] | None,
        execution: JdbcExecution,
        parallelism: int | None,
    ) -> None:
        self._connection, self._table, self._key = connection, table, key
        self._execution, self._parallelism = execution, parallelism
        self.accepts = ModifyKinds.ALL if key else ModifyKinds.INSERT
        self.before = False

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        sink = self._sink(schema, changelog)
        return Writing(sink, ToDatabase(schema, changelog), self._parallelism)

    def _sink(self, schema: Schema, changelog: bool) -> Sink:
        dialect, table, names = dialect_of(self._connection.url), self._table, schema.names
        row_type = RowTypeInfo([to_type_info(kind) for kind in schema.types], list(names))
        if not self._key:
            insert = dialect.insert(table, names)
            config = JdbcSinkConfig(insert, row_type, self._connection, self._execution)
            return BatchedJdbcSink(config)
        upsert = dialect.upsert(table, names, self._key)
        config = JdbcSinkConfig(upsert, row_type, self._connection, self._execution)
        key = tuple(names.index(name) for name in self._key)
        return UpsertJdbcSink(config, dialect.delete(table, self._key), key, changelog)


def _connection(options: TableOptions) -> JdbcConnection:
    connection = JdbcConnection(options[_URL], options[_DRIVER], options[_USER], options[_PASSWORD])
    try:
        find_database(connection)
    except ValueError as error:
        raise ValidationError(str(error)) from None
    return connection


def _ranges(options: TableOptions) -> Ranges | None:
    given = [options[option] for option in (_COUNT, _LOWER, _UPPER)]
    if options[_COLUMN] is None and given == [None, None, None]:
        return None
    if options[_COLUMN] is None or None in given:
        raise ValidationError(
            "Either all or none of the following options should be provided: "
            + ", ".join(option.key for option in (_COLUMN, _COUNT, _LOWER, _UPPER))
        )
    if given[1] > given[2]:
        raise ValidationError(
            f"'{_LOWER.key}'='{given[1]}' must not be larger than '{_UPPER.key}'='{given[2]}'."
        )
    return Ranges(*given)
