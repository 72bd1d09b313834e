"""MySQL and MariaDB, with PyMySQL."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.jdbc.database import (
    MYSQL,
    Converter,
    Database,
    instant_in_utc,
    refuse_unknown,
    url_parameters,
)
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    import datetime

    from pyflink_on_spark._connectors.jdbc.client import JdbcConnection

_URL = re.compile(
    r"jdbc:(?:mysql|mariadb)://(?P<host>\[[^\]]+\]|[^:/?,]*)(?::(?P<port>\d+))?"
    r"(?:/(?P<path>[^?]*))?(?:\?(?P<query>.*))?"
)
# Too many connections (1040, 1203), server shutdown, lock wait, deadlock, connection was killed,
# cannot connect (2002, 2003), gone away, lost, idle for too long.
_TRANSIENT = {1040, 1203, 1053, 1205, 1213, 1927, 2002, 2003, 2006, 2013, 4031}


def _seconds(milliseconds: str) -> int | None:
    # 0 is no limit, and PyMySQL counts in seconds.
    return -(-int(milliseconds) // 1000) or None


# The URL parameters of the Java drivers, each with PyMySQL's argument and a converter of its value.
# None: PyMySQL does by default what the parameter asks for, or the parameter is about Java values.
_PARAMETERS: dict[str, tuple[str, Callable[[str], object]] | None] = {
    "user": ("user", str),
    "password": ("password", str),
    "connectTimeout": ("connect_timeout", _seconds),
    "socketTimeout": ("read_timeout", _seconds),
    "sessionVariables": ("init_command", "SET {}".format),
    "useSSL": None,
    "requireSSL": None,
    "verifyServerCertificate": None,
    "sslMode": None,
    "characterEncoding": None,
    "useUnicode": None,
    "serverTimezone": None,
    "connectionTimeZone": None,
    "allowPublicKeyRetrieval": None,
    "rewriteBatchedStatements": None,
    "autoReconnect": None,
}


class Tls(Enum):
    """The encryption of a connection."""

    NEVER = "never"
    AS_OFFERED = "as the server offers it"
    ALWAYS = "always"
    VERIFIED = "with a certificate that an authority signed"
    VERIFIED_BY_NAME = "with one for the host's name, too"


class MySql(Database):
    """MySQL or MariaDB, by the URLs of their Java drivers."""

    name = "MySQL"
    lexicon = MYSQL

    def __init__(self, connection: JdbcConnection) -> None:
        super().__init__(connection)
        found = _URL.fullmatch(connection.url)
        if found is None:
            raise ValueError(
                f"a MySQL URL is jdbc:mysql://<host>:<port>/<database>, not {self.place}"
            )
        parameters = url_parameters(found["query"] or "")
        refuse_unknown(parameters, _PARAMETERS, "MySQL")
        self._settings: dict[str, object] = {
            "host": (found["host"] or "localhost").strip("[]"),
            "port": int(found["port"] or 3306),
            "database": unquote(found["path"] or "") or None,
            "charset": "utf8mb4",
        }
        for key, value in parameters.items():
            argument = _PARAMETERS[key]
            if argument is not None and (converted := argument[1](value)) is not None:
                self._settings[argument[0]] = converted
        self._tls = _tls(parameters)
        if connection.user_name is not None:
            self._settings["user"] = connection.user_name
        if connection.password is not None:
            self._settings["password"] = connection.password

    def driver(self) -> Any:
        return optional_package("pymysql", "PyMySQL", "Sinks of MySQL", "jdbc")

    def open(self) -> object:
        settings = dict(self._settings)
        if self._tls is not Tls.AS_OFFERED:
            settings["ssl_disabled"] = self._tls is Tls.NEVER
            settings["ssl"] = _context(self._tls)
        return self.driver().connect(autocommit=False, **settings)

    def is_transient(self, error: Exception) -> bool:
        module = self.driver()
        if isinstance(error, module.InterfaceError):
            return True
        return isinstance(error, module.OperationalError) and error.args[:1] in {
            (code,) for code in _TRANSIENT
        }

    def converters(self) -> Sequence[tuple[object, Converter]]:
        return [(Types.INSTANT(), _instant)]


def _tls(parameters: Mapping[str, str]) -> Tls:
    mode = parameters.get("sslMode", "").upper().replace("-", "_")
    switches = {parameters.get("useSSL"), parameters.get("requireSSL")}
    if mode in {"DISABLED", "DISABLE"} or (not mode and "false" in switches):
        return Tls.NEVER
    if mode in {"", "PREFERRED"} and "true" not in switches:
        return Tls.AS_OFFERED
    if mode == "VERIFY_CA":
        return Tls.VERIFIED
    if mode.startswith("VERIFY") or parameters.get("verifyServerCertificate") == "true":
        return Tls.VERIFIED_BY_NAME
    return Tls.ALWAYS


def _context(tls: Tls) -> ssl.SSLContext | None:
    if tls is Tls.NEVER:
        return None
    context = ssl.create_default_context()
    context.check_hostname = tls is Tls.VERIFIED_BY_NAME
    context.verify_mode = ssl.CERT_NONE if tls is Tls.ALWAYS else ssl.CERT_REQUIRED
    return context


def _instant(value: object) -> datetime.datetime:
    return instant_in_utc(value).replace(tzinfo=None)
