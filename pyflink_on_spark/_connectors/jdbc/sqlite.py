"""SQLite, with the driver of the standard library."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.database import (
    SQLITE,
    Converter,
    Database,
    instant_in_utc,
    plain_decimal,
)
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.config import JdbcConnection

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

    def converters(self) -> Sequence[tuple[Any, Converter]]:
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


def _instant(value: Any) -> str:
    return instant_in_utc(value).replace(tzinfo=None).isoformat(" ")


def _whole_number(value: int) -> int | str:
    return value if -_LARGEST <= value < _LARGEST else str(value)
