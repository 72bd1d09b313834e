"""PostgreSQL, with psycopg 3."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.jdbc.database import (
    POSTGRESQL,
    Converter,
    Database,
    instant_in_utc,
    refuse_unknown,
    url_parameters,
)
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.config import JdbcConnection

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

    def converters(self) -> Sequence[tuple[Any, Converter]]:
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
