"""Finds the kind of database that a JDBC URL names."""

from __future__ import annotations

import datetime
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.jdbc.database import (
    POSTGRESQL,
    SQLITE,
    Converter,
    Database,
    instant_in_utc,
    plain_decimal,
    refuse_unknown,
    url_parameters,
    without_secrets,
)
from pyflink_on_spark._connectors.jdbc.mysql import MySql
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.client import JdbcConnection


_URL = re.compile(
    r"jdbc:postgresql:(?://(?P<hosts>[^/?]*)(?:/(?P<path>[^?]*))?|/|(?P<name>[^/?][^?]*)?)"
    r"(?:\?(?P<query>.*))?"
)
_HOST = re.compile(r"(?P<host>\[[^\]]+\]|[^:]+)?(?::(?P<port>\d+))?")

# The URL parameters of the Java driver, each with libpq's name. None: another function applies the
# parameter, or psycopg does by default what it asks for.
_PARAMETERS: dict[str, str | None] = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
    "channelBinding": "channel_binding",
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "loginTimeout": "connect_timeout",
    "options": "options",
    "currentSchema": None,
    "ssl": None,
    "tcpKeepAlive": None,
    "targetServerType": None,
    "stringtype": None,
    "reWriteBatchedInserts": None,
}
_SERVER_TYPES = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "secondary": "standby",
    "slave": "standby",
    "preferSecondary": "prefer-standby",
    "preferSlave": "prefer-standby",
}


class PostgreSql(Database):
    """PostgreSQL, by the URLs of its Java driver."""

    name = "PostgreSQL"
    lexicon = POSTGRESQL
    has_arrays = True

    def __init__(self, connection: JdbcConnection) -> None:
        super().__init__(connection)
        self._settings = _settings(connection.url, self.place)
        if connection.user_name is not None:
            self._settings["user"] = connection.user_name
        if connection.password is not None:
            self._settings["password"] = connection.password

    def driver(self) -> Any:
        return optional_package("psycopg", "psycopg", "Sinks of PostgreSQL", "jdbc")

    def open(self) -> Any:
        return self.driver().connect(**self._settings)

    def is_transient(self, error: Exception) -> bool:
        module = self.driver()
        return isinstance(error, module.OperationalError | module.InterfaceError)

    def converters(self) -> Sequence[tuple[object, Converter]]:
        return [(Types.INSTANT(), instant_in_utc)]


def _settings(url: str, place: str) -> dict[str, str]:
    found = _URL.fullmatch(url)
    if found is None:
        raise ValueError(
            f"a PostgreSQL URL is jdbc:postgresql://<host>:<port>/<database>, not {place}"
        )
    settings = _hosts(found["hosts"] or "localhost", place)
    database = unquote(found["path"] or found["name"] or "")
    if database:
        settings["dbname"] = database
    parameters = url_parameters(found["query"] or "")
    refuse_unknown(parameters, _PARAMETERS, "PostgreSQL")
    _apply_special(settings, parameters)
    for key, value in parameters.items():
        name = _PARAMETERS[key]
        if name == "options" and "options" in settings:
            settings["options"] += f" {value}"
        elif name is not None:
            settings[name] = value
    return settings


def _hosts(hosts: str, place: str) -> dict[str, str]:
    names, ports = [], []
    for text in hosts.split(","):
        found = _HOST.fullmatch(text)
        if found is None:
            raise ValueError(f"the hosts of {place} cannot be read")
        names.append((found["host"] or "localhost").strip("[]"))
        ports.append(found["port"] or "5432")
    return {"host": ",".join(names), "port": ",".join(ports)}


def _apply_special(settings: dict[str, str], parameters: Mapping[str, str]) -> None:
    """Apply the parameters that have another form in libpq."""
    if "currentSchema" in parameters:
        schemas = parameters["currentSchema"].replace("\\", "\\\\").replace(" ", "\\ ")
        settings["options"] = f"-c search_path={schemas}"
    if parameters.get("ssl", "false") in {"", "true"}:
        settings["sslmode"] = "verify-full"
    if "tcpKeepAlive" in parameters:
        settings["keepalives"] = "1" if parameters["tcpKeepAlive"] == "true" else "0"
    if "targetServerType" in parameters:
        kind = parameters["targetServerType"]
        if kind not in _SERVER_TYPES:
            raise ValueError(f"targetServerType is one of {', '.join(_SERVER_TYPES)}, not {kind}")
        settings["target_session_attrs"] = _SERVER_TYPES[kind]


_PREFIX = "jdbc:sqlite:"
_SECONDS_TO_WAIT = 30
_TRANSIENT = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_LARGEST = 2**63


class Sqlite(Database):
    """A file. Dates, times and numbers without a type of their own are stored as text."""

    name = "SQLite"
    lexicon = SQLITE
    placeholder = "?"

    def __init__(self, connection: JdbcConnection) -> None:
        super().__init__(connection)
        self._file = connection.url.removeprefix(_PREFIX)
        if not self._file or "?" in self._file:
            raise ValueError(
                f"a SQLite URL is {_PREFIX} and the path of a file, without parameters: "
                f"{self.place}"
            )

    def driver(self) -> Any:
        return sqlite3

    def open(self) -> Any:
        return sqlite3.connect(self._file, timeout=_SECONDS_TO_WAIT, check_same_thread=False)

    def is_transient(self, error: Exception) -> bool:
        code: int = getattr(error, "sqlite_errorcode", -1)
        return code & 0xFF in _TRANSIENT

    def converters(self) -> Sequence[tuple[object, Converter]]:
        return [
            (Types.BIG_DEC(), plain_decimal),
            (Types.BIG_INT(), _whole_number),
            (Types.SQL_DATE(), datetime.date.isoformat),
            (Types.SQL_TIME(), datetime.time.isoformat),
            (Types.SQL_TIMESTAMP(), _timestamp),
            (Types.INSTANT(), _instant),
        ]


def _timestamp(value: datetime.datetime) -> str:
    return value.isoformat(" ")


def _instant(value: object) -> str:
    return instant_in_utc(value).replace(tzinfo=None).isoformat(" ")


def _whole_number(value: int) -> int | str:
    return value if -_LARGEST <= value < _LARGEST else str(value)


_KINDS: dict[str, type[Database]] = {
    "postgresql": PostgreSql,
    "mysql": MySql,
    "mariadb": MySql,
    "sqlite": Sqlite,
}


def find_database(connection: JdbcConnection) -> Database:
    """Return the database of a URL.

    Raises:
        ValueError: there is no driver for the URL, or the URL is malformed.
    """
    jdbc, _, rest = connection.url.partition(":")
    kind = _KINDS.get(rest.partition(":")[0])
    if jdbc != "jdbc" or kind is None:
        known = ", ".join(f"jdbc:{name}:" for name in _KINDS)
        raise ValueError(
            f"there is no driver for {without_secrets(connection.url)}: JDBC URLs begin with one "
            f"of {known}"
        )
    return kind(connection)
