"""The kinds of databases that a JDBC URL may name, and what is different between them."""

from __future__ import annotations

import datetime
import decimal
import re
import sqlite3
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, unquote

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    TypeInformation,
    Types,
)

if TYPE_CHECKING:
    from types import ModuleType

    from pyflink_on_spark._connectors.jdbc.client import JdbcConnection
    from pyflink_on_spark._runtime.types.codec import Convert
    from pyflink_on_spark.common.time import Instant
    from pyflink_on_spark.common.typeinfo import RowTypeInfo


@dataclass(frozen=True)
class Lexicon:
    """The tokens of a database's SQL in which a question mark is only text.

    Args:
        pieces: regular expressions of strings, quoted names and comments.
        nested_comments: whether comments may contain comments.
        doubled_mark: whether ``??`` stands for the operator ``?``.
    """

    pieces: tuple[str, ...]
    nested_comments: bool = False
    doubled_mark: bool = False


_STRING = r"'(?:[^']|'')*'"
_STRING_WITH_ESCAPES = r"'(?:[^'\\]|\\.|'')*'"
_DOUBLE_QUOTED = r'"(?:[^"]|"")*"'
_DOUBLE_QUOTED_WITH_ESCAPES = r'"(?:[^"\\]|\\.|"")*"'
_BACK_QUOTED = r"`(?:[^`]|``)*`"
_BRACKETS = r"\[[^\]]*\]"
_LINE_COMMENT = r"--[^\n]*"
_COMMENT = r"/\*.*?\*/"

POSTGRESQL = Lexicon(
    (
        r"(?<![\w$])[eE]" + _STRING_WITH_ESCAPES,
        _STRING,
        _DOUBLE_QUOTED,
        r"(?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$",
        _LINE_COMMENT,
    ),
    nested_comments=True,
    doubled_mark=True,
)
MYSQL = Lexicon(
    (
        _STRING_WITH_ESCAPES,
        _DOUBLE_QUOTED_WITH_ESCAPES,
        _BACK_QUOTED,
        r"--(?=[\s\x00-\x1f]|$)[^\n]*",
        r"\#[^\n]*",
        _COMMENT,
    )
)
SQLITE = Lexicon((_STRING, _DOUBLE_QUOTED, _BACK_QUOTED, _BRACKETS, _LINE_COMMENT, _COMMENT))

_COMMENT_MARK = re.compile(r"/\*|\*/")


def translate(sql: str, lexicon: Lexicon, placeholder: str) -> tuple[str, int]:
    """Return a statement with the placeholders of a driver, and the number of its parameters.

    Args:
        sql: a statement with ``?`` for each parameter.
        lexicon: the lexicon of the database.
        placeholder: ``?`` or ``%s``. With ``%s`` all other percent signs are doubled.

    Raises:
        ValueError: a string, a quoted name or a comment does not end.
    """
    parts: list[str] = []
    count = 0
    for piece in _pieces(sql, lexicon):
        if piece == "?":
            parts.append(placeholder)
            count += 1
        else:
            text = "?" if piece == "??" else piece
            parts.append(text.replace("%", "%%") if placeholder == "%s" else text)
    return "".join(parts), count


def _pieces(sql: str, lexicon: Lexicon) -> Iterator[str]:
    whole = re.compile("|".join(lexicon.pieces), re.DOTALL)
    plain = re.compile(r"""[^?'"`\[$/#eE-]+""")
    position = 0
    while position < len(sql):
        found = whole.match(sql, position) or plain.match(sql, position)
        if found is not None:
            end = found.end()
        elif lexicon.nested_comments and sql.startswith("/*", position):
            end = _end_of_nested_comment(sql, position)
        elif lexicon.doubled_mark and sql.startswith("??", position):
            end = position + 2
        else:
            _check_start(sql, position, lexicon)
            end = position + 1
        yield sql[position:end]
        position = end


def _end_of_nested_comment(sql: str, start: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise _unterminated("comment", sql, start)


def _check_start(sql: str, position: int, lexicon: Lexicon) -> None:
    """Raise ValueError if a string or a comment begins here: it would have matched if it ended."""
    if sql.startswith("/*", position):
        raise _unterminated("comment", sql, position)
    quotes = "'\"" + ("`" if _BACK_QUOTED in lexicon.pieces else "")
    if sql[position] in quotes:
        raise _unterminated("quotation", sql, position)


def _unterminated(what: str, sql: str, position: int) -> ValueError:
    return ValueError(f"a {what} in the statement does not end: {sql[position : position + 60]}")


_KIND = re.compile(r"(?:jdbc:)?\w+:")
_HOST = r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]*)(?::\d+)?"
_PLACE = re.compile(rf"({_HOST}(?:,{_HOST})*(?:/[^?;@]*)?)(?:[?;]|$)")
_ARRAYS = (BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


class JdbcError(PyFlinkOnSparkError, RuntimeError):
    """A database rejects a statement or cannot be reached. The message contains its own text."""


class DatabaseCursor(Protocol):
    """A cursor of the DB-API, as far as sinks use it."""

    def execute(self, sql: str, parameters: Any = ..., /) -> object:
        """Execute a statement."""
        ...

    def executemany(self, sql: str, rows: Sequence[Sequence[object]], /) -> object:
        """Execute a statement for many rows."""
        ...

    def fetchone(self) -> object:
        """Return the next row of the result; None after the last."""
        ...

    def fetchmany(self, count: int, /) -> list[object]:
        """Return the next rows of the result; none after the last."""
        ...

    def fetchall(self) -> Iterable[object]:
        """Return the rows of the result that are left."""
        ...

    def close(self) -> None:
        """Forget the result."""
        ...


class DatabaseConnection(Protocol):
    """A connection of the DB-API, as far as sinks use it."""

    def cursor(self) -> DatabaseCursor:
        """Return a new cursor."""
        ...

    def commit(self) -> None:
        """Make the changes lasting."""
        ...

    def rollback(self) -> None:
        """Take the changes back."""
        ...

    def close(self) -> None:
        """Close the connection, which takes the changes back that were not committed."""
        ...


class Database(ABC):
    """One database. Picklable; imports its driver when it connects.

    Args:
        connection: how to connect to the database.

    Raises:
        ValueError: the URL is malformed.
    """

    name: str
    lexicon: Lexicon
    placeholder = "%s"
    has_arrays = False

    def __init__(self, connection: JdbcConnection) -> None:
        self.place = without_secrets(connection.url)

    @abstractmethod
    def driver(self) -> ModuleType:
        """Return the DB-API module.

        Raises:
            ModuleNotFoundError: the driver is not installed. The message says how to install it.
        """

    @abstractmethod
    def open(self) -> DatabaseConnection:
        """Return a new DB-API connection without auto-commit."""

    @abstractmethod
    def is_transient(self, error: Exception) -> bool:
        """True if the same statement may succeed a moment later."""

    def converters(self) -> Sequence[tuple[TypeInformation, Convert]]:
        """Return converters for types whose values the driver does not accept.

        Returns:
            Pairs of a type and a converter, because not all types are hashable.
        """
        return ()

    def connect(self) -> DatabaseConnection:
        """Return a new connection.

        Raises:
            JdbcError: the database cannot be reached.
        """
        errors = self.driver().Error
        try:
            return self.open()
        except errors as error:
            raise JdbcError(f"cannot connect to {self.place}: {one_line(error)}") from error

    def translated(self, sql: str, fields: int) -> str:
        """Return a statement with the placeholders of the driver.

        Args:
            sql: a statement with ``?`` for each parameter.
            fields: the number of fields of a row.

        Raises:
            ValueError: the statement has another number of parameters.
        """
        text, parameters = translate(sql, self.lexicon, self.placeholder)
        if parameters != fields:
            raise ValueError(
                f"the statement has {parameters} parameters (?), but the row type has {fields} "
                f"fields: {sql}"
            )
        return text

    def column_converters(self, row_type: RowTypeInfo) -> list[Convert | None]:
        """Return a converter for each field of a row; None where the driver accepts the values.

        Raises:
            ValueError: the database has no such type.
        """
        known = self.converters()
        found: list[Convert | None] = []
        for name, kind in zip(row_type.get_field_names(), row_type.get_field_types()):
            if kind == Types.PRIMITIVE_ARRAY(Types.BYTE()):
                found.append(bytes)
            elif isinstance(kind, _ARRAYS):
                if not self.has_arrays:
                    raise ValueError(f"{self.name} has no arrays: field {name} is of type {kind}")
                found.append(list)
            else:
                found.append(_converter(known, kind))
        return found


def _converter(
    known: Sequence[tuple[TypeInformation, Convert]], kind: TypeInformation
) -> Convert | None:
    return next((convert for other, convert in known if other == kind), None)


def instant_in_utc(value: Instant) -> datetime.datetime:
    """Return an Instant as a datetime in UTC."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return epoch + datetime.timedelta(milliseconds=value.to_epoch_milli())


def plain_decimal(value: decimal.Decimal) -> str:
    """Return the digits of a decimal number without an exponent."""
    return format(value, "f")


def without_secrets(url: str) -> str:
    """Return a URL without parameters, user name and password, as messages may show it.

    Of a URL in an unknown form only the kind is left, because anything in it may be a password.
    """
    if url.startswith("jdbc:sqlite:"):  # a path, which may have any character
        return url.partition("?")[0]
    kind, slashes, rest = url.partition("//")
    # An @ after a complete host belongs to a parameter. Otherwise it ends a password.
    place = _PLACE.match(rest)
    before, _, host_part = rest.rpartition("@")
    if place is None and "=" not in before:
        place = _PLACE.match(host_part)
    if slashes and place is not None and _KIND.fullmatch(kind):
        return f"{kind}{slashes}{place[1]}"
    known = _KIND.match(url)
    return f"{known[0] if known else ''}..."


def url_parameters(query: str) -> dict[str, str]:
    """Return the parameters after the question mark of a URL."""
    return dict(parse_qsl(query, keep_blank_values=True))


def refuse_unknown(parameters: Mapping[str, str], known: Mapping[str, object], name: str) -> None:
    """Raise ValueError if a URL has a parameter that would have no effect."""
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        raise ValueError(
            f"the {name} URL has parameters that are not known here: {', '.join(unknown)} "
            f"(known are {', '.join(sorted(known))})"
        )


def one_line(error: BaseException) -> str:
    """Return an error's text without line ends."""
    return " ".join(str(error).split()) or type(error).__name__


_MYSQL_URL = re.compile(
    r"jdbc:(?:mysql|mariadb)://(?P<host>\[[^\]]+\]|[^:/?,]*)(?::(?P<port>\d+))?"
    r"(?:/(?P<path>[^?]*))?(?:\?(?P<query>.*))?"
)
# Too many connections (1040, 1203), server shutdown, lock wait, deadlock, connection was killed,
# cannot connect (2002, 2003), gone away, lost, idle for too long.
_MYSQL_TRANSIENT = {1040, 1203, 1053, 1205, 1213, 1927, 2002, 2003, 2006, 2013, 4031}


def _seconds(milliseconds: str) -> int | None:
    # 0 is no limit, and PyMySQL counts in seconds.
    return -(-int(milliseconds) // 1000) or None


# The URL parameters of the Java drivers, each with PyMySQL's argument and a converter of its value.
# None: PyMySQL does by default what the parameter asks for, or the parameter is about Java values.
_MYSQL_PARAMETERS: dict[str, tuple[str, Callable[[str], object]] | None] = {
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
        found = _MYSQL_URL.fullmatch(connection.url)
        if found is None:
            raise ValueError(
                f"a MySQL URL is jdbc:mysql://<host>:<port>/<database>, not {self.place}"
            )
        parameters = url_parameters(found["query"] or "")
        refuse_unknown(parameters, _MYSQL_PARAMETERS, "MySQL")
        self._settings: dict[str, object] = {
            "host": (found["host"] or "localhost").strip("[]"),
            "port": int(found["port"] or 3306),
            "database": unquote(found["path"] or "") or None,
            "charset": "utf8mb4",
        }
        for key, value in parameters.items():
            argument = _MYSQL_PARAMETERS[key]
            if argument is not None and (converted := argument[1](value)) is not None:
                self._settings[argument[0]] = converted
        self._tls = _tls(parameters)
        if connection.user_name is not None:
            self._settings["user"] = connection.user_name
        if connection.password is not None:
            self._settings["password"] = connection.password

    def driver(self) -> ModuleType:
        return optional_package("pymysql", "PyMySQL", "Sinks of MySQL", "jdbc")

    def open(self) -> DatabaseConnection:
        settings = dict(self._settings)
        if self._tls is not Tls.AS_OFFERED:
            settings["ssl_disabled"] = self._tls is Tls.NEVER
            settings["ssl"] = _context(self._tls)
        connection: DatabaseConnection = self.driver().connect(autocommit=False, **settings)
        return connection

    def is_transient(self, error: Exception) -> bool:
        module = self.driver()
        if isinstance(error, module.InterfaceError):
            return True
        return isinstance(error, module.OperationalError) and error.args[:1] in {
            (code,) for code in _MYSQL_TRANSIENT
        }

    def converters(self) -> Sequence[tuple[TypeInformation, Convert]]:
        return [(Types.INSTANT(), _naive_instant)]


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


def _naive_instant(value: Instant) -> datetime.datetime:
    return instant_in_utc(value).replace(tzinfo=None)


_URL = re.compile(
    r"jdbc:postgresql:(?://(?P<hosts>[^/?]*)(?:/(?P<path>[^?]*))?|/|(?P<name>[^/?][^?]*)?)"
    r"(?:\?(?P<query>.*))?"
)
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]+\]|[^:]+)?(?::(?P<port>\d+))?")

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

    def driver(self) -> ModuleType:
        return optional_package("psycopg", "psycopg", "Sinks of PostgreSQL", "jdbc")

    def open(self) -> DatabaseConnection:
        connection: DatabaseConnection = self.driver().connect(**self._settings)
        return connection

    def is_transient(self, error: Exception) -> bool:
        module = self.driver()
        return isinstance(error, module.OperationalError | module.InterfaceError)

    def converters(self) -> Sequence[tuple[TypeInformation, Convert]]:
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
        found = _HOST_AND_PORT.fullmatch(text)
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

    def driver(self) -> ModuleType:
        return sqlite3

    def open(self) -> DatabaseConnection:
        return sqlite3.connect(self._file, timeout=_SECONDS_TO_WAIT, check_same_thread=False)

    def is_transient(self, error: Exception) -> bool:
        code: int = getattr(error, "sqlite_errorcode", -1)
        return code & 0xFF in _TRANSIENT

    def converters(self) -> Sequence[tuple[TypeInformation, Convert]]:
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


def _instant(value: Instant) -> str:
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
