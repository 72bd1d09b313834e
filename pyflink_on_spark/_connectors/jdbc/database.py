"""The differences between databases."""

from __future__ import annotations

import datetime
import decimal
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    TypeInformation,
    Types,
)

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.client import JdbcConnection


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
Converter = Callable[[Any], Any]
_ARRAYS = (BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


class JdbcError(PyFlinkOnSparkError, RuntimeError):
    """A database rejects a statement or cannot be reached. The message contains its own text."""


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
    def driver(self) -> Any:
        """Return the DB-API module.

        Raises:
            ModuleNotFoundError: the driver is not installed. The message says how to install it.
        """

    @abstractmethod
    def open(self) -> Any:
        """Return a new DB-API connection without auto-commit."""

    @abstractmethod
    def is_transient(self, error: Exception) -> bool:
        """True if the same statement may succeed a moment later."""

    def converters(self) -> Sequence[tuple[Any, Converter]]:
        """Return converters for types whose values the driver does not accept.

        Returns:
            Pairs of a type and a converter, because not all types are hashable.
        """
        return ()

    def connect(self) -> Any:
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

    def column_converters(self, row_type: Any) -> list[Converter | None]:
        """Return a converter for each field of a row; None where the driver accepts the values.

        Raises:
            ValueError: the database has no such type.
        """
        known = self.converters()
        found: list[Converter | None] = []
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
    known: Sequence[tuple[object, Converter]], kind: TypeInformation
) -> Converter | None:
    return next((convert for other, convert in known if other == kind), None)


def instant_in_utc(value: Any) -> datetime.datetime:
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
