"""Looks up rows of a table of a database."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.config import JdbcConnection
from pyflink_on_spark._connectors.jdbc.database import JdbcError, one_line
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.parameters import ParameterMaker
from pyflink_on_spark._sql.plan.ports import Find, Lookup, Rows
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.connectors.jdbc.rows import from_database
from pyflink_on_spark._sql.tables.connectors.jdbc.statements import dialect_of
from pyflink_on_spark._sql.tables.connectors.lookup import CachePolicy, LookupCache
from pyflink_on_spark._sql.types.external import row_converter, to_python
from pyflink_on_spark._sql.types.type_infos import to_type_info
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


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
        """Return what finds rows."""
        assert context is not None
        queries = _Queries(self._connection, self._sql(), self._key_schema, self._retries)
        convert = from_database(self._schema)

        def asked(key: tuple[Any, ...]) -> Rows:
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

    def rows(self, key: tuple[Any, ...]) -> list[Any]:
        """Return what the database has for a key.

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

    def _asked(self, parameters: tuple[Any, ...]) -> list[Any]:
        if self._connection is None:
            self._connection = self._database.connect()
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(self._sql, parameters)
            rows: list[Any] = cursor.fetchall()
        # The next query begins a transaction of its own, and sees what was committed since.
        self._connection.rollback()
        return rows
