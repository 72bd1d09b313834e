"""Parses types."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.parser.cursor import Cursor, Kind
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

_SIMPLE = {
    "BOOLEAN": logical.BOOLEAN,
    "TINYINT": logical.TINYINT,
    "SMALLINT": logical.SMALLINT,
    "INT": logical.INT,
    "INTEGER": logical.INT,
    "BIGINT": logical.BIGINT,
    "FLOAT": logical.FLOAT,
    "STRING": logical.STRING,
    "BYTES": logical.BYTES,
    "DATE": logical.DATE,
    "NULL": logical.NULL,
    "VARIANT": logical.VARIANT,
    "BITMAP": logical.BITMAP,
}
_LENGTHS: dict[str, Callable[[int], LogicalType]] = {
    "CHAR": logical.char,
    "VARCHAR": logical.varchar,
    "BINARY": logical.binary,
    "VARBINARY": logical.varbinary,
}
_DEFAULT_LENGTHS = {
    "CHAR": 1,
    "VARCHAR": logical.MAX_LENGTH,
    "BINARY": 1,
    "VARBINARY": logical.MAX_LENGTH,
}
_MONTHS = frozenset({"YEAR", "QUARTER", "MONTH"})
_SECONDS = frozenset({"WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})


class TypeParser(Cursor):
    """Reads types."""

    takes_intervals = False
    """True if a type may be an interval; in SQL only that of a CAST may."""

    def type(self) -> LogicalType:
        """Read a type, and whether it has NULL."""
        parsed = self._nullability(self._base_type())
        while word := self.accept_any("ARRAY", "MULTISET"):
            make = logical.array if word == "ARRAY" else logical.multiset
            parsed = self._nullability(make(parsed))
        return parsed

    def _nullability(self, parsed: LogicalType) -> LogicalType:
        if self.accept("NOT", "NULL"):
            return parsed.with_nullable(False)
        self.accept("NULL")
        return parsed

    def _base_type(self) -> LogicalType:
        token = self.token
        word = token.upper
        if token.kind is not Kind.WORD or (word == "INTERVAL" and not self.takes_intervals):
            raise self.unexpected()
        self.next()
        if word in _SIMPLE:
            return _SIMPLE[word]
        if word == "CHARACTER":
            word = "VARCHAR" if self.accept("VARYING") else "CHAR"
        elif word == "CHAR" and self.accept("VARYING"):
            word = "VARCHAR"
        if word in _LENGTHS:
            return self._sized(word)
        if word == "DOUBLE":
            self.accept("PRECISION")
            return logical.DOUBLE
        read = {
            "DECIMAL": self._decimal,
            "DEC": self._decimal,
            "NUMERIC": self._decimal,
            "TIME": self._time,
            "TIMESTAMP": self._timestamp,
            "TIMESTAMP_LTZ": lambda: logical.timestamp_ltz(self._fraction(6)),
            "INTERVAL": self.interval_type,
            "ARRAY": lambda: logical.array(self._bracketed()),
            "MULTISET": lambda: logical.multiset(self._bracketed()),
            "MAP": self._map,
            "ROW": self._row_type,
        }.get(word)
        if read is None:
            raise invalid(f"Unknown identifier '{token.text}'", token.span)
        return read()

    def _sized(self, word: str) -> LogicalType:
        span = self.token.span
        length = self._size(_DEFAULT_LENGTHS[word])
        if length < 1:
            raise invalid(f"The length of {word} has to be at least 1", self.since(span))
        return _LENGTHS[word](length)

    def _size(self, default: int) -> int:
        if not self.accept("("):
            return default
        value = self.integer()
        self.expect(")")
        return value

    def _fraction(self, default: int) -> int:
        span = self.token.span
        digits = self._size(default)
        if digits > 9:
            raise invalid("A fraction of a second has at most 9 digits", self.since(span))
        return digits

    def _decimal(self) -> LogicalType:
        span = self.token.span
        precision, scale = 10, 0
        if self.accept("("):
            precision = self.integer()
            scale = self.integer() if self.accept(",") else 0
            self.expect(")")
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise invalid(
                "A DECIMAL has 1 to 38 digits, and no more than these after the point",
                self.since(span),
            )
        return logical.decimal(precision, scale)

    def _time(self) -> LogicalType:
        parsed = logical.time(self._fraction(0))
        self.accept("WITHOUT", "TIME", "ZONE")
        return parsed

    def _timestamp(self) -> LogicalType:
        digits = self._fraction(6)
        if self.accept("WITH", "LOCAL", "TIME", "ZONE"):
            return logical.timestamp_ltz(digits)
        self.accept("WITHOUT", "TIME", "ZONE")
        return logical.timestamp(digits)

    def interval_type(self) -> LogicalType:
        """Read what follows INTERVAL."""
        first = self.token
        if first.upper not in _MONTHS | _SECONDS:
            raise self.unexpected()
        self.next()
        self._size(0)
        if self.accept("TO"):
            if self.token.upper not in _MONTHS | _SECONDS:
                raise self.unexpected()
            self.next()
            self._size(0)
        return logical.INTERVAL_MONTH if first.upper in _MONTHS else logical.INTERVAL_SECOND

    def _bracketed(self) -> LogicalType:
        self.expect("<")
        element = self.type()
        self._close_bracket()
        return element

    def _map(self) -> LogicalType:
        self.expect("<")
        key = self.type()
        self.expect(",")
        value = self.type()
        self._close_bracket()
        return logical.mapping(key, value)

    def _row_type(self) -> LogicalType:
        closing = ">"
        if self.accept("("):
            closing = ")"
        elif self.accept("<>"):
            return logical.row((), ())
        else:
            self.expect("<")
        fields = self.listed(self._field)
        if closing == ")":
            self.expect(")")
        else:
            self._close_bracket()
        return logical.row(tuple(name for name, _ in fields), tuple(kind for _, kind in fields))

    def _field(self) -> tuple[str, LogicalType]:
        name = self.name()
        parsed = self.type()
        if self.token.kind is Kind.STRING:
            self.next()
        return name, parsed

    def _close_bracket(self) -> None:
        self.expect(">")
