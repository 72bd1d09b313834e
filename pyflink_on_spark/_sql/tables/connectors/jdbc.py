"""The connector jdbc: statements, rows, and the scan, the lookup with its cache, and the sink."""

from __future__ import annotations

import datetime
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.client import (
    JdbcClient,
    JdbcConnection,
    JdbcExecution,
    JdbcSinkConfig,
    ParameterMaker,
)
from pyflink_on_spark._connectors.jdbc.databases import JdbcError, find_database, one_line
from pyflink_on_spark._connectors.jdbc.sink import BatchedJdbcSink, BatchWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter, Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import DELETE, UPDATE_BEFORE, ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
    text,
)
from pyflink_on_spark._sql.plan.ports import (
    Find,
    Lookup,
    Reading,
    Rows,
    TableContext,
    TableFactory,
    TableSink,
    TableSource,
    Writing,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import parse_decimal
from pyflink_on_spark._sql.types.external import from_python, row_converter, to_python, to_type_info
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import parse_date, parse_time, parse_timestamp
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_CACHE = Option("lookup.cache", one_of("none", "partial", "full"))


_MAX_ROWS = Option("lookup.partial-cache.max-rows", integer)


_AFTER_WRITE = Option("lookup.partial-cache.expire-after-write", duration)


_AFTER_ACCESS = Option("lookup.partial-cache.expire-after-access", duration)


_MISSING = Option("lookup.partial-cache.cache-missing-key", boolean, default=True)


_OLD_MAX_ROWS = Option("lookup.cache.max-rows", integer, default=-1)


_OLD_TTL = Option("lookup.cache.ttl", duration, default=0)


_OLD_MISSING = Option("lookup.cache.caching-missing-key", boolean, default=True)


CACHE_OPTIONS = (
    _CACHE, _MAX_ROWS, _AFTER_WRITE, _AFTER_ACCESS, _MISSING,
    _OLD_MAX_ROWS, _OLD_TTL, _OLD_MISSING,
)  # fmt: skip
"""The options of ``CachePolicy``."""


@dataclass(frozen=True)
class CachePolicy:
    """The limits of a subtask's cache of looked-up rows.

    Args:
        max_keys: for how many keys, the ones used last; None for any number.
        after_write: how long, in ms; None for any time.
        after_access: how long without a use, in ms; None for any time.
        missing: whether it is kept that a key has no rows.
    """

    max_keys: int | None = None
    after_write: int | None = None
    after_access: int | None = None
    missing: bool = True

    @classmethod
    def of(cls, options: TableOptions) -> CachePolicy | None:
        """Return the cache policy in the options of a table; None for no cache.

        Raises:
            ValidationError: they ask for what there is not.
        """
        options.note(CACHE_OPTIONS)
        kind = options[_CACHE]
        if kind == "full":
            raise ValidationError("The cache of the lookup can be NONE or PARTIAL, not FULL.")
        if kind == "partial":
            return cls(
                options[_MAX_ROWS],
                options[_AFTER_WRITE],
                options[_AFTER_ACCESS],
                bool(options[_MISSING]),
            )
        rows, ttl = options[_OLD_MAX_ROWS] or 0, options[_OLD_TTL] or 0
        if kind is None and rows > 0 and ttl > 0:
            return cls(rows, ttl, None, bool(options[_OLD_MISSING]))
        return None


class LookupCache:
    """Keeps the rows of keys that were looked up.

    Args:
        policy: what is kept.
        now: the processing time in ms.
    """

    def __init__(self, policy: CachePolicy, now: Callable[[], int]) -> None:
        self._policy, self._now = policy, now
        self._kept: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()

    def caching(self, find: Find) -> Find:
        """Return a lookup that uses the cache first."""

        def cached(key: tuple[object, ...]) -> Rows:
            known = self._get(key)
            if known is not None:
                return known
            rows = find(key)
            if rows or self._policy.missing:
                self._put(key, rows)
            return rows

        return cached

    def _get(self, key: tuple[object, ...]) -> Rows | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        rows, written, used = entry
        now, policy = self._now(), self._policy
        if _is_over(now, written, policy.after_write) or _is_over(now, used, policy.after_access):
            del self._kept[key]
            return None
        entry[2] = now
        self._kept.move_to_end(key)
        found: Rows = rows
        return found

    def _put(self, key: tuple[object, ...], rows: Rows) -> None:
        now = self._now()
        self._kept[key] = [rows, now, now]
        most = self._policy.max_keys
        while most is not None and len(self._kept) > most:
            self._kept.popitem(last=False)


def _is_over(now: int, since: int, limit: int | None) -> bool:
    return limit is not None and now - since >= limit


@dataclass(frozen=True)
class Dialect:
    """The dialect of a database: quoted names, and the replacement of rows.

    Args:
        quote: what stands around a name.
        replaces_on_duplicate_key: whether it has ``ON DUPLICATE KEY UPDATE``, as MySQL.
    """

    quote: str
    replaces_on_duplicate_key: bool = False

    def name(self, text: str) -> str:
        """Return a name in quotes."""
        return f"{self.quote}{text.replace(self.quote, self.quote * 2)}{self.quote}"

    def table(self, text: str) -> str:
        """Return a table's name, perhaps with its schema before it, in quotes."""
        return ".".join(map(self.name, text.split(".")))

    def select(self, table: str, columns: Sequence[str], between: str | None) -> str:
        """Return the statement that reads a table.

        Args:
            table: its name.
            columns: what is read.
            between: the column that two parameters are the bounds of, or None.
        """
        listed = ", ".join(map(self.name, columns)) or "1"
        sql = f"SELECT {listed} FROM {self.table(table)}"
        return sql if between is None else f"{sql} WHERE {self.name(between)} BETWEEN ? AND ?"

    def select_by(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that reads the rows with certain values of some columns."""
        condition = " AND ".join(f"{self.name(column)} = ?" for column in key)
        return f"{self.select(table, columns, None)} WHERE {condition}"

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """Return the statement that adds a row."""
        listed = ", ".join(map(self.name, columns))
        marks = ", ".join("?" * len(columns))
        return f"INSERT INTO {self.table(table)} ({listed}) VALUES ({marks})"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that adds a row, or replaces the one with its key."""
        added = self.insert(table, columns)
        others = [self.name(column) for column in columns if column not in key]
        if self.replaces_on_duplicate_key:
            changed = others or [self.name(key[0])]
            listed = ", ".join(f"{column} = VALUES({column})" for column in changed)
            return f"{added} ON DUPLICATE KEY UPDATE {listed}"
        listed = ", ".join(f"{column} = EXCLUDED.{column}" for column in others)
        action = f"UPDATE SET {listed}" if others else "NOTHING"
        return f"{added} ON CONFLICT ({', '.join(map(self.name, key))}) DO {action}"

    def delete(self, table: str, key: Sequence[str]) -> str:
        """Return the statement that removes the row with a key."""
        condition = " AND ".join(f"{self.name(column)} = ?" for column in key)
        return f"DELETE FROM {self.table(table)} WHERE {condition}"


_MYSQL = Dialect("`", replaces_on_duplicate_key=True)
_SQLITE = Dialect("`")
_STANDARD = Dialect('"')


def dialect_of(url: str) -> Dialect:
    """Return the dialect of the database that a URL names."""
    kind = url.removeprefix("jdbc:").partition(":")[0]
    # SQLite takes what is in double quotes for a text, if there is no such column.
    return {"mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}.get(kind, _STANDARD)


class FromDatabase(Operator):
    """Makes rows of a driver's values.

    Args:
        schema: the columns.
    """

    emits_immutable = True

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._convert = from_database(self._schema)

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the rows."""
        convert = self._convert
        for element in elements:
            yield convert(element)


class ToDatabase(Operator):
    """Makes a driver's values of rows.

    Args:
        schema: the columns.
        changelog: whether elements are pairs of the kind and the row.
    """

    def __init__(self, schema: Schema, changelog: bool) -> None:
        self._schema, self._changelog = schema, changelog

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._convert = row_converter(self._schema.types, to_python)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows, in pairs with the kind if they come so."""
        convert = self._convert
        if not self._changelog:
            for row in elements:
                yield tuple(convert(row))
            return
        for kind, row in elements:
            yield kind, tuple(convert(row))


def from_database(schema: Schema) -> Callable[[Any], tuple[object, ...]]:
    """Return the conversion of a database driver's row.

    Args:
        schema: the columns.
    """
    convert = row_converter(schema.types, _reader)
    return lambda element: tuple(convert(element))


def _reader(kind: LogicalType) -> Callable[[Any], object] | None:
    """Return the conversion of a type; some databases have only texts and numbers."""
    convert, parse = from_python(kind), _parser(kind)
    root = kind.root
    if root is Root.BOOLEAN:
        return bool
    if root in logical.INTEGERS:
        return int
    if root in logical.APPROXIMATE:
        return float
    if root in logical.CHARACTERS:
        return lambda value: value if type(value) is str else str(value)
    if parse is None:
        return convert

    def read(value: object) -> object:
        if type(value) in {str, float, int}:
            return parse(str(value))
        if type(value) is datetime.timedelta:
            value = _time_of_mysql(value)
        return value if convert is None else convert(value)

    return read


def _time_of_mysql(value: datetime.timedelta) -> datetime.time:
    """The time of a day that a driver of MySQL gives as a duration.

    Raises:
        JdbcError: it is longer than a day, or negative.
    """
    if value.days:
        raise JdbcError(f"the TIME {value} is no time of a day: cast it in a view of the database")
    return (datetime.datetime.fromtimestamp(0, datetime.UTC) + value).time()


def _parser(kind: LogicalType) -> Callable[[str], object] | None:
    root = kind.root
    if root is Root.DECIMAL:
        return lambda text: parse_decimal(text, kind.scale or 0, kind.precision or 10)
    if root is Root.DATE:
        return parse_date
    if root is Root.TIME:
        return parse_time
    return parse_timestamp if root in logical.TIMESTAMPS else None


@dataclass(frozen=True)
class Ranges:
    """The ranges of a column by which a table is split.

    Args:
        count: how many there are.
        lower: the smallest value.
        upper: the largest value.
    """

    count: int
    lower: int
    upper: int

    def bounds(self) -> list[tuple[int, int]]:
        """Return the smallest and the largest value of each range."""
        total = self.upper - self.lower + 1
        count = max(1, min(self.count, total))
        small, larger = divmod(total, count)
        bounds = []
        start = self.lower
        for number in range(count):
            end = start + small + (number < larger) - 1
            bounds.append((start, end))
            start = end + 1
        return bounds


class JdbcSource(Source):
    """Gives the rows that a query returns. A split is the parameters of the query.

    Args:
        connection: how to connect to the database.
        sql: the query.
        ranges: how the table is split; None if one subtask reads it.
    """

    bounded = True
    timestamped = False

    def __init__(self, connection: JdbcConnection, sql: str, ranges: Ranges | None) -> None:
        self._connection, self._sql, self._ranges = connection, sql, ranges

    def splits(self, parallelism: int) -> list[tuple[int, ...]]:
        """Return the parameters of each range."""
        return [()] if self._ranges is None else list(self._ranges.bounds())

    def read(self, split: tuple[int, ...], context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a range.

        Raises:
            JdbcError: the database refuses the query, or it cannot be reached.
        """
        database = find_database(self._connection)
        sql = database.translated(self._sql, len(split))
        with closing(database.connect()) as connection, closing(connection.cursor()) as cursor:
            try:
                cursor.execute(sql, split)
                while rows := cursor.fetchmany(BUNDLE_SIZE):
                    yield Bundle(_tuples(rows))
            except database.driver().Error as error:
                raise JdbcError(
                    f"{database.place} refuses the query {sql}: {one_line(error)}"
                ) from error


def _tuples(rows: Any) -> list[object]:
    return [tuple(row) for row in rows]


class UpsertJdbcSink(Sink):
    """Writes the last row of each key, and removes the rows whose keys are gone.

    Args:
        upsert: the settings of the statement that adds or replaces a row.
        delete: the SQL that removes the row of a key.
        key: the positions of the columns of the key.
        changelog: whether elements are pairs of the kind and the row.
    """

    def __init__(
        self, upsert: JdbcSinkConfig, delete: str, key: tuple[int, ...], changelog: bool
    ) -> None:
        self._upsert, self._key, self._changelog = upsert, key, changelog
        names, types = upsert.row_type.get_field_names(), upsert.row_type.get_field_types()
        key_type = RowTypeInfo([types[i] for i in key], [names[i] for i in key])
        self._delete = replace(upsert, sql=delete, row_type=key_type)
        database = find_database(upsert.connection)
        database.translated(upsert.sql, len(types))
        database.column_converters(upsert.row_type)

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of a subtask."""
        return _UpsertWriter(
            self._upsert, self._delete, self._key, self._changelog, context.clock.now()
        )


class _UpsertWriter(BatchWriter):
    """Keeps the last row of each key until a batch is full, or its time is over."""

    def __init__(
        self,
        upsert: JdbcSinkConfig,
        delete: JdbcSinkConfig,
        key: tuple[int, ...],
        changelog: bool,
        now: int,
    ) -> None:
        database = find_database(upsert.connection)
        self._rows = ParameterMaker(database, upsert.row_type)
        self._keys = ParameterMaker(database, delete.row_type)
        self._upserts = JdbcClient(database, upsert)
        self._deletes = JdbcClient(database, delete)
        self._positions, self._changelog = key, changelog
        self._size = upsert.execution.batch_size
        self._waiting: dict[Any, Any] = {}
        super().__init__(upsert.execution.batch_interval, now, self._upserts, self._deletes)

    def write(self, elements: Iterator[Any]) -> None:
        """Keep rows, and write a batch when it is full."""
        waiting, size = self._waiting, self._size
        key_of = itemgetter(*self._positions)
        for element in elements:
            kind, row = element if self._changelog else (0, element)
            # A filter may let a row's old state pass and hold back the new one.
            waiting[key_of(row)] = row, kind in {DELETE, UPDATE_BEFORE}
            if 0 < size <= len(waiting):
                self._flush()

    def _empty(self) -> bool:
        return not self._waiting

    def _execute(self) -> None:
        gone = [row for row, removed in self._waiting.values() if removed]
        kept = [row for row, removed in self._waiting.values() if not removed]
        if gone:
            keys = ([row[index] for index in self._positions] for row in gone)
            self._deletes.execute([self._keys.take(iter(keys), len(gone))])
        if kept:
            self._upserts.execute([self._rows.take(iter(kept), len(kept))])
        self._waiting.clear()


class JdbcLookup(Lookup):
    """Asks the database for the rows of a key.

    Args:
        connection: how to connect to the database.
        table: the table's name.
        schema: its columns.
        keys: the positions of the key columns.
        retries: how often a query is repeated that may succeed a moment later.
        cache: what is kept; None for nothing.
    """

    def __init__(
        self,
        connection: JdbcConnection,
        table: str,
        schema: Schema,
        keys: tuple[int, ...],
        retries: int,
        cache: CachePolicy | None,
    ) -> None:
        self._connection, self._table, self._schema = connection, table, schema
        self._keys, self._retries, self._cache = keys, retries, cache

    def open(self, context: OperatorContext | None) -> Find:
        """Return the function that finds rows."""
        assert context is not None
        queries = _Queries(self._connection, self._sql(), self._key_schema, self._retries)
        convert = from_database(self._schema)

        def asked(key: tuple[object, ...]) -> Rows:
            return [convert(row) for row in queries.rows(key)]

        find: Find = asked
        if self._cache is not None:
            find = LookupCache(self._cache, context.clock.now).caching(asked)
        find.queries = queries  # type: ignore[attr-defined]
        return find

    def close(self, find: Find) -> None:
        """Disconnect."""
        find.queries.close()  # type: ignore[attr-defined]

    @property
    def _key_schema(self) -> Schema:
        names = tuple(self._schema.names[index] for index in self._keys)
        return Schema(names, tuple(self._schema.types[index] for index in self._keys))

    def _sql(self) -> str:
        dialect = dialect_of(self._connection.url)
        return dialect.select_by(self._table, self._schema.names, self._key_schema.names)


class _Queries:
    """A connection and one query with parameters."""

    def __init__(
        self,
        connection: JdbcConnection,
        sql: str,
        key: Schema,
        retries: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pause = pause
        self._database = find_database(connection)
        self._sql = self._database.translated(sql, len(key))
        self._python = row_converter(key.types, to_python)
        row_type = RowTypeInfo([to_type_info(kind) for kind in key.types], list(key.names))
        self._parameters = ParameterMaker(self._database, row_type)
        self._retries = retries
        self._connection: Any = None

    def rows(self, key: tuple[object, ...]) -> list[Any]:
        """Query the rows of a key.

        Raises:
            JdbcError: the database refuses the query, or it cannot be reached.
        """
        (parameters,) = self._parameters.take(iter([tuple(self._python(key))]), 1)
        for attempt in range(self._retries + 1):
            try:
                return self._asked(parameters)
            except self._database.driver().Error as error:
                self.close()
                if attempt == self._retries or not self._database.is_transient(error):
                    raise JdbcError(
                        f"{self._database.place} refuses the query {self._sql}: {one_line(error)}"
                    ) from error
                self._pause(attempt + 1)
        raise AssertionError

    def close(self) -> None:
        """Disconnect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(self._database.driver().Error):
                connection.close()

    def _asked(self, parameters: tuple[object, ...]) -> list[object]:
        if self._connection is None:
            self._connection = self._database.connect()
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(self._sql, parameters)
            rows: list[Any] = cursor.fetchall()
        # The next query begins a transaction of its own, and sees what was committed since.
        self._connection.rollback()
        return rows


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
        self.accepts = ChangeKinds.ALL if key else ChangeKinds.INSERT
        self.needs_update_before = False

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
