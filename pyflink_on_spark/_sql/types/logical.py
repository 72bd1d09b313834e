"""The types of columns and expressions, and the Python objects that stand for their values.

Inside a query a value is always of one immutable, hashable form (maps aside), the cheapest one:

========================== =======================================================================
BOOLEAN                    ``bool``
TINYINT to BIGINT          ``int`` within the type's range
FLOAT, DOUBLE              ``float``; a FLOAT is rounded to 32 bits
DECIMAL(p, s)              ``int``: the value times 10 ** s
CHAR, VARCHAR, STRING      ``str``
BINARY, VARBINARY, BYTES   ``bytes``
DATE                       ``int``: days since 1970-01-01
TIME                       ``int``: microseconds of the day
TIMESTAMP, TIMESTAMP_LTZ   ``int``: microseconds since 1970-01-01T00:00:00, local or UTC
INTERVAL of days or less   ``int``: microseconds
INTERVAL of months         ``int``: months
ARRAY                      ``tuple``
ROW, STRUCTURED            ``tuple``
MAP                        ``dict``, never changed
MULTISET                   ``dict`` of value and count, never changed
VARIANT                    ``tuple`` of a kind and a content: see ``types/variants.py``
BITMAP                     ``frozenset`` of ``int``
RAW                        any object
NULL                       ``None``
========================== =======================================================================
"""

from __future__ import annotations

import enum
import unicodedata
from dataclasses import dataclass, field, replace

from pyflink_on_spark._sql.errors import ValidationError

MAX_LENGTH = 2**31 - 1


class Root(enum.Enum):
    """The kinds of types."""

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP_LTZ"
    INTERVAL_MONTH = "INTERVAL MONTH"
    INTERVAL_SECOND = "INTERVAL SECOND"
    ARRAY = "ARRAY"
    MAP = "MAP"
    MULTISET = "MULTISET"
    ROW = "ROW"
    STRUCTURED = "STRUCTURED"
    VARIANT = "VARIANT"
    BITMAP = "BITMAP"
    RAW = "RAW"
    NULL = "NULL"
    SYMBOL = "SYMBOL"


INTEGER_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
INTEGERS = tuple(INTEGER_BITS)
EXACT = (*INTEGERS, Root.DECIMAL)
APPROXIMATE = (Root.FLOAT, Root.DOUBLE)
NUMERIC = (*EXACT, *APPROXIMATE)
CHARACTERS = (Root.CHAR, Root.VARCHAR)
BYTES_LIKE = (Root.BINARY, Root.VARBINARY)
TIMESTAMPS = (Root.TIMESTAMP, Root.TIMESTAMP_LTZ)
DATETIMES = (Root.DATE, Root.TIME, *TIMESTAMPS)
INTERVALS = (Root.INTERVAL_MONTH, Root.INTERVAL_SECOND)
ROWS = (Root.ROW, Root.STRUCTURED)


class Time(enum.Enum):
    """The kinds of time attributes."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A type. Two are equal if they have the same values; time attributes make no difference.

    Args:
        root: its kind.
        nullable: whether NULL is one of its values.
        precision: the digits of a DECIMAL or of a fraction of a second, or a greatest length.
        scale: the digits of a DECIMAL after the point.
        children: the types of elements, of keys and values, or of fields.
        names: the names of fields.
        time: which time attribute a column of the type is, if any.
        class_name: the name that tells a STRUCTURED from others with the same fields.
    """

    root: Root
    nullable: bool = True
    precision: int | None = None
    scale: int | None = None
    children: tuple[LogicalType, ...] = ()
    names: tuple[str, ...] = ()
    time: Time | None = field(default=None, compare=False)
    class_name: str = ""

    def with_nullable(self, nullable: bool) -> LogicalType:
        """Return the type with or without NULL."""
        return self if nullable == self.nullable else replace(self, nullable=nullable)

    def plain(self) -> LogicalType:
        """Return the type without its time attribute."""
        return self if self.time is None else replace(self, time=None)

    def same_values(self, other: LogicalType) -> bool:
        """True if the types differ at most in whether they allow NULL."""
        return self.with_nullable(True) == other.with_nullable(True)

    def __str__(self) -> str:
        return self.text()

    def text(self, string: str = "STRING", nullability: bool = True) -> str:
        """Return the type as SQL has it.

        Args:
            string: how to call the longest VARCHAR.
            nullability: whether to write NOT NULL.
        """
        text = _text(self, string)
        return text if self.nullable or not nullability else f"{text} NOT NULL"


def _text(kind: LogicalType, string: str) -> str:
    root = kind.root
    inner = [child.text(string) for child in kind.children]
    if root is Root.VARCHAR and kind.precision == MAX_LENGTH:
        return string
    if root is Root.VARBINARY and kind.precision == MAX_LENGTH:
        return "BYTES"
    if root is Root.DECIMAL:
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if root is Root.ROW:
        return f"ROW<{_fields(kind, inner)}>"
    if root is Root.STRUCTURED:
        return f"STRUCTURED<'{kind.class_name}', {_fields(kind, inner)}>"
    if root is Root.RAW:
        return "RAW('[B', '...')"
    if root is Root.INTERVAL_SECOND:
        return "INTERVAL SECOND(3)"
    if inner:
        return f"{root.value}<{', '.join(inner)}>"
    return root.value if kind.precision is None else f"{root.value}({kind.precision})"


def _fields(kind: LogicalType, types: list[str]) -> str:
    named = zip(kind.names, types)
    return ", ".join("`" + name.replace("`", "``") + f"` {text}" for name, text in named)


BOOLEAN = LogicalType(Root.BOOLEAN)
TINYINT = LogicalType(Root.TINYINT)
SMALLINT = LogicalType(Root.SMALLINT)
INT = LogicalType(Root.INT)
BIGINT = LogicalType(Root.BIGINT)
FLOAT = LogicalType(Root.FLOAT)
DOUBLE = LogicalType(Root.DOUBLE)
STRING = LogicalType(Root.VARCHAR, precision=MAX_LENGTH)
BYTES = LogicalType(Root.VARBINARY, precision=MAX_LENGTH)
DATE = LogicalType(Root.DATE)
TIME = LogicalType(Root.TIME, precision=0)
NULL = LogicalType(Root.NULL)
SYMBOL = LogicalType(Root.SYMBOL, nullable=False)
RAW = LogicalType(Root.RAW)
VARIANT = LogicalType(Root.VARIANT)
BITMAP = LogicalType(Root.BITMAP)
INTERVAL_MONTH = LogicalType(Root.INTERVAL_MONTH)
INTERVAL_SECOND = LogicalType(Root.INTERVAL_SECOND)


def char(length: int) -> LogicalType:
    """Return the type of texts of one length."""
    return LogicalType(Root.CHAR, precision=length)


def varchar(length: int) -> LogicalType:
    """Return the type of texts up to a length."""
    return LogicalType(Root.VARCHAR, precision=length)


def binary(length: int) -> LogicalType:
    """Return the type of byte strings of one length."""
    return LogicalType(Root.BINARY, precision=length)


def varbinary(length: int) -> LogicalType:
    """Return the type of byte strings up to a length."""
    return LogicalType(Root.VARBINARY, precision=length)


def decimal(precision: int, scale: int = 0) -> LogicalType:
    """Return the DECIMAL of ``precision`` digits, ``scale`` of them after the point."""
    return LogicalType(Root.DECIMAL, precision=precision, scale=scale)


def time(precision: int = 0) -> LogicalType:
    """Return the type of times of day."""
    return LogicalType(Root.TIME, precision=precision)


def timestamp(precision: int = 6) -> LogicalType:
    """Return the type of dates with times of day, in no time zone."""
    return LogicalType(Root.TIMESTAMP, precision=precision)


def timestamp_ltz(precision: int = 6) -> LogicalType:
    """Return the type of points in time, shown in the session's time zone."""
    return LogicalType(Root.TIMESTAMP_LTZ, precision=precision)


def array(element: LogicalType) -> LogicalType:
    """Return the type of lists."""
    return LogicalType(Root.ARRAY, children=(element,))


def multiset(element: LogicalType) -> LogicalType:
    """Return the type of multisets."""
    return LogicalType(Root.MULTISET, children=(element,))


def mapping(key: LogicalType, value: LogicalType) -> LogicalType:
    """Return the type of maps."""
    return LogicalType(Root.MAP, children=(key, value))


def row(names: tuple[str, ...], types: tuple[LogicalType, ...]) -> LogicalType:
    """Return the type of rows."""
    return LogicalType(Root.ROW, children=types, names=names)


def structured(
    class_name: str, names: tuple[str, ...], types: tuple[LogicalType, ...]
) -> LogicalType:
    """Return the type of objects: rows whose type has the name of a class."""
    return LogicalType(Root.STRUCTURED, children=types, names=names, class_name=class_name)


_START = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
_PART = _START | {"Nd", "Mc", "Mn"}
_JAVA_WORDS = frozenset(
    [
        "_", "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class",
        "const", "continue", "default", "do", "double", "else", "enum", "extends", "false",
        "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof",
        "int", "interface", "long", "native", "new", "null", "package", "private", "protected",
        "public", "return", "short", "static", "strictfp", "super", "switch", "synchronized",
        "this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while"
    ]
)  # fmt: skip


def check_class_name(name: str) -> None:
    """Check the name of a STRUCTURED type.

    Raises:
        ValidationError: no class of Java can have it.
    """
    if not all(map(_is_java_name, name.split("."))):
        raise ValidationError(
            f"Invalid class name '{name}'. The class name must comply with JVM identifier rules."
        )


def _is_java_name(word: str) -> bool:
    if not word or word in _JAVA_WORDS or unicodedata.category(word[0]) not in _START:
        return False
    return all(unicodedata.category(character) in _PART for character in word)
