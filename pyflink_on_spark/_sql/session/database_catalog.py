"""The catalog of type ``jdbc``: the databases and tables of a server, as they are at the time."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._compat.own_frames import capture_call_site
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.jdbc.client import JdbcConnection
from pyflink_on_spark._connectors.jdbc.databases import JdbcError, find_database, one_line
from pyflink_on_spark._sql.catalog import Catalog, Database, Relation
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import CatalogTable, Column, ResolvedSchema
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

TYPE = "jdbc"
REQUIRED = ("base-url", "default-database", "password", "username")
_LONGEST_DECIMAL = 38
_SCALE = 18
_TIMES: Mapping[str, Callable[[int], LogicalType]] = {
    "timestamp": logical.timestamp,
    "timestamptz": logical.timestamp_ltz,
    "time": logical.time,
}
_FLOATS = {"float": logical.FLOAT, "double": logical.DOUBLE}
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True)
class ColumnFacts:
    """The description of a column by its server.

    Args:
        name: its name.
        kind: the name of its type.
        length: of characters, or None.
        precision: of a number, or None.
        scale: of a number, or None.
        fraction: the digits of seconds, or None.
        nullable: whether it can be NULL; a number in MySQL.
    """

    name: str
    kind: str
    length: int | None
    precision: int | None
    scale: int | None
    fraction: int | None
    nullable: bool | int


class Dialect(ABC):
    """The questions to a kind of server, and its types.

    Attributes:
        databases: the query of the names of databases.
        tables: the query of the names of tables, by the database.
        columns: the query of the columns of a table, by schema and name.
        key: the query of the columns of its primary key, and of the key's name.
    """

    name: str
    databases: str
    tables: str
    columns: str
    key: str

    @abstractmethod
    def place(self, database: str, table: str) -> tuple[str, str]:
        """The schema and the name of a table."""

    @abstractmethod
    def type_of(self, facts: ColumnFacts) -> LogicalType | None:
        """The type of a column; None if there is none."""


class PostgreSqlDialect(Dialect):
    """PostgreSQL, whose tables are named with their schemas."""

    name = "PostgreSQL"
    databases = "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1"
    tables = (
        "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%%' "
        "AND n.nspname <> 'information_schema' AND current_database() = %s ORDER BY 1"
    )
    columns = (
        "SELECT column_name, udt_name, character_maximum_length, numeric_precision, "
        "numeric_scale, datetime_precision, is_nullable = 'YES' FROM information_schema.columns "
        "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
    )
    key = (
        "SELECT a.attname, c.conname FROM pg_constraint c "
        "JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
        "CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k(number, place) "
        "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number "
        "WHERE c.contype = 'p' AND n.nspname = %s AND t.relname = %s ORDER BY k.place"
    )

    def place(self, database: str, table: str) -> tuple[str, str]:
        schema, dot, name = table.partition(".")
        return (schema, name) if dot else ("public", table)

    def type_of(self, facts: ColumnFacts) -> LogicalType | None:
        if facts.kind == "numeric":
            return _decimal(facts.precision, facts.scale)
        if facts.kind in {"bpchar", "char"}:
            return logical.char(facts.length or 1)
        if facts.kind == "varchar" and facts.length:
            return logical.varchar(facts.length)
        if facts.kind in _TIMES:
            return _TIMES[facts.kind](facts.fraction or 0)
        return _OF_POSTGRESQL.get(facts.kind)


class MySqlDialect(Dialect):
    """MySQL and MariaDB."""

    name = "MySQL"
    databases = (
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN "
        "('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1"
    )
    tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s ORDER BY 1"
    columns = (
        "SELECT COLUMN_NAME, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, "
        "NUMERIC_SCALE, DATETIME_PRECISION, IS_NULLABLE = 'YES' FROM information_schema.COLUMNS "
        "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION"
    )
    key = (
        "SELECT COLUMN_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE "
        "WHERE CONSTRAINT_NAME = 'PRIMARY' AND TABLE_SCHEMA = %s AND TABLE_NAME = %s "
        "ORDER BY ORDINAL_POSITION"
    )

    def place(self, database: str, table: str) -> tuple[str, str]:
        return database, table

    def type_of(self, facts: ColumnFacts) -> LogicalType | None:
        if facts.kind == "tinyint(1)" or re.fullmatch(r"bit\(1\)", facts.kind):
            return logical.BOOLEAN
        word = re.match(r"\w*", facts.kind)
        kind = "" if word is None else word[0]
        if kind == "decimal":
            return _decimal(facts.precision, facts.scale)
        if kind == "char":
            return logical.char(facts.length or 1)
        if kind == "varchar":
            return logical.varchar(facts.length or 1)
        if kind in {"datetime", "timestamp"}:
            return logical.timestamp(facts.fraction or 0)
        if kind == "time":
            return logical.time(facts.fraction or 0)
        return (_UNSIGNED if "unsigned" in facts.kind else _OF_MYSQL).get(kind)


def _decimal(precision: int | None, scale: int | None) -> LogicalType | None:
    if not precision:
        return logical.decimal(_LONGEST_DECIMAL, _SCALE)
    return None if precision > _LONGEST_DECIMAL else logical.decimal(precision, scale or 0)


_OF_POSTGRESQL = {
    "bool": logical.BOOLEAN,
    "int2": logical.SMALLINT,
    "int4": logical.INT,
    "int8": logical.BIGINT,
    "float4": logical.FLOAT,
    "float8": logical.DOUBLE,
    "bytea": logical.BYTES,
    "text": logical.STRING,
    "varchar": logical.STRING,
    "date": logical.DATE,
}
_OF_MYSQL = {
    **_FLOATS,
    "tinyint": logical.TINYINT,
    "smallint": logical.SMALLINT,
    "mediumint": logical.INT,
    "int": logical.INT,
    "bigint": logical.BIGINT,
    "date": logical.DATE,
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext", "json"), logical.STRING),
    **dict.fromkeys(
        ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), logical.BYTES
    ),
}
_UNSIGNED = {
    **_FLOATS,
    "tinyint": logical.SMALLINT,
    "smallint": logical.INT,
    "mediumint": logical.INT,
    "int": logical.BIGINT,
    "bigint": logical.decimal(20, 0),
}
_DIALECTS: dict[str, Dialect] = {
    "postgresql": PostgreSqlDialect(),
    "mysql": MySqlDialect(),
    "mariadb": MySqlDialect(),
}


@dataclass(frozen=True)
class _Server:
    """A server of databases.

    Args:
        base_url: the URL without a database.
        default: the database in which it is asked for others.
        user_name: the name of the user.
        password: the password of the user.
        dialect: its kind.
    """

    base_url: str
    default: str
    user_name: str
    password: str
    dialect: Dialect

    def databases(self) -> list[str]:
        return [row[0] for row in self._ask(self.default, self.dialect.databases, ())]

    def database(self, name: str) -> Database | None:
        if name not in self.databases():
            return None
        tables = ServerObjects[str, Relation](
            TYPE, lambda: self._tables(name), lambda table: self._table(name, table)
        )
        return ServerDatabase(TYPE, tables)

    def _tables(self, database: str) -> list[str]:
        return [row[0] for row in self._ask(database, self.dialect.tables, (database,))]

    def _table(self, database: str, name: str) -> CatalogTable | None:
        place = self.dialect.place(database, name)
        rows = self._ask(database, self.dialect.columns, place)
        if not rows:
            return None
        key = self._ask(database, self.dialect.key, place)
        schema = ResolvedSchema(
            tuple(self._column(name, ColumnFacts(*row)) for row in rows),
            primary_key=tuple(row[0] for row in key) or None,
            key_name=key[0][1] if key else None,
        )
        options = {
            "connector": "jdbc",
            "url": self._url(database),
            "table-name": name,
            "username": self.user_name,
            "password": self.password,
        }
        return CatalogTable(schema, options)

    def _column(self, table: str, facts: ColumnFacts) -> Column:
        kind = self.dialect.type_of(facts)
        if kind is None:
            raise_unsupported(
                f"the {self.dialect.name} type {facts.kind} of column {facts.name} of {table}",
                kind=Gap.NOT_YET,
                reason="no type of tables stands for it in the catalog",
                instead="Declare the other columns with CREATE TEMPORARY TABLE, or make a view in "
                "the database that casts it.",
            )
        return Column(facts.name, kind.with_nullable(bool(facts.nullable)))

    def _ask(self, database: str, sql: str, parameters: tuple[str, ...]) -> list[Any]:
        """The rows of a query.

        Raises:
            JdbcError: the server cannot be reached, or refuses it.
        """
        connection = JdbcConnection(self._url(database), None, self.user_name, self.password)
        server = find_database(connection)
        with closing(server.connect()) as connected, closing(connected.cursor()) as cursor:
            try:
                cursor.execute(sql, parameters or None)
                return list(cursor.fetchall())
            except server.driver().Error as error:
                raise JdbcError(f"{server.place} refuses a query: {one_line(error)}") from error

    def _url(self, database: str) -> str:
        return f"{self.base_url.rstrip('/')}/{database}"


def catalog_of(name: str, options: Mapping[str, str], comment: str | None = None) -> Catalog:
    """The catalog of a server.

    Args:
        name: its name, for messages.
        options: those of ``WITH``, which are all there.
        comment: describes the catalog, or None.

    Raises:
        ValidationError: there is no such server, or no such database.
    """
    base_url, default = options["base-url"], options["default-database"]
    dialect = _DIALECTS.get(base_url.removeprefix("jdbc:").partition(":")[0])
    if dialect is None:
        raise ValidationError(
            f"Unable to create catalog '{name}': its base-url begins with jdbc:postgresql: or "
            "jdbc:mysql:, and has no database."
        )
    server = _Server(base_url, default, options["username"], options["password"], dialect)
    try:
        found = server.databases()
    except (JdbcError, ValueError) as error:
        raise ValidationError(f"Unable to create catalog '{name}': {error}") from error
    if default not in found:
        raise ValidationError(f"Unable to create catalog '{name}': it has no database '{default}'.")
    databases = ServerObjects(TYPE, server.databases, server.database)
    return Catalog(databases, dict(options), comment, default)


class ServerObjects(MutableMapping[_K, _V]):
    """Objects by their keys, mostly names, which statements cannot change.

    Args:
        kind: the kind of the catalog.
        keys: gives the keys.
        find: gives an object; None if there is none of that key.
    """

    def __init__(
        self, kind: str, keys: Callable[[], list[_K]], find: Callable[[_K], _V | None]
    ) -> None:
        self._kind, self._keys, self._find = kind, keys, find

    def __getitem__(self, key: _K) -> _V:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[_K]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def __setitem__(self, key: _K, value: _V) -> None:
        refuse_change(self._kind)

    def __delitem__(self, key: _K) -> None:
        refuse_change(self._kind)


_WAYS_OUT = {
    "jdbc": (
        "it shows what the server has, as Flink's does",
        "Change tables in the database, or use CREATE TEMPORARY TABLE, VIEW or FUNCTION.",
    ),
    "iceberg": (
        "it has tables of Iceberg only",
        "Use CREATE TEMPORARY VIEW, FUNCTION or TABLE, or another catalog.",
    ),
    "hive": (
        "Spark's metastore takes tables only, and their properties",
        "Use CREATE TEMPORARY VIEW or FUNCTION, and Spark for columns and partitions of Hive.",
    ),
}


def refuse_change(kind: str) -> NoReturn:
    """Raise the error of a statement that would change what a catalog cannot change.

    Args:
        kind: the kind of the catalog.

    Raises:
        UnsupportedFlinkFeature: always.
    """
    reason, instead = _WAYS_OUT[kind]
    raise UnsupportedFlinkFeature(
        f"a catalog of type '{kind}' cannot be changed in this way: {reason}. {instead} "
        f"(called at {capture_call_site()})"
    )


class ServerDatabase(Database):
    """A database outside of the session.

    Args:
        kind: the kind of the catalog.
        relations: its tables.
        properties: those that it has.
    """

    def __init__(
        self,
        kind: str,
        relations: MutableMapping[str, Relation],
        properties: dict[str, str] | None = None,
    ) -> None:
        super().__init__(
            relations, properties or {}, functions=_nothing(kind), models=_nothing(kind)
        )

    def views(self) -> list[str]:
        """The names of views: those of a server are tables, or not shown."""
        return []


def _nothing(kind: str) -> ServerObjects[str, object]:
    return ServerObjects(kind, list, lambda _: None)
