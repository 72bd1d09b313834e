"""Rows of tables in Flink's state: ``BinaryRowData``, and the types of its columns.

Values are as the engine of SQL has them: an unscaled ``int`` for a DECIMAL, days for a DATE,
microseconds for times, timestamps and intervals of days.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.flink_state.java_objects import JavaObject, read_java_object

Field = Callable[[DataInput, int], Any]
"""Reads a field of a row, whose eight bytes are at a place."""

_WORD = 8
_KIND_BITS = 8
_INLINE = 0x80
_MICROS_PER_MILLI = 1000
_COMPACT_DECIMAL, _COMPACT_TIMESTAMP = 18, 3
_LONGEST = (1 << 31) - 1
_PLAIN = {
    "BooleanType": "BOOLEAN",
    "TinyIntType": "TINYINT",
    "SmallIntType": "SMALLINT",
    "IntType": "INT",
    "BigIntType": "BIGINT",
    "FloatType": "FLOAT",
    "DoubleType": "DOUBLE",
    "DateType": "DATE",
    "DayTimeIntervalType": "INTERVAL SECOND(3)",
    "YearMonthIntervalType": "INTERVAL MONTH",
    "RawType": "RAW",
    "TypeInformationRawType": "RAW",
}
_SIZED = {
    "CharType": "CHAR", "VarCharType": "VARCHAR",
    "BinaryType": "BINARY", "VarBinaryType": "VARBINARY",
}  # fmt: skip
_TIMED = {
    "TimeType": "TIME",
    "TimestampType": "TIMESTAMP",
    "LocalZonedTimestampType": "TIMESTAMP_LTZ",
}
_LONG_NAMES = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}
_FORMATS = {
    "BOOLEAN": "<?", "TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "BIGINT": "<q",
    "FLOAT": "<f", "DOUBLE": "<d", "DATE": "<i", "INTERVAL MONTH": "<i",
}  # fmt: skip
RAW = "RAW"


def read_type(data: DataInput) -> str:
    """Read the type of a column, an object of Java, as SQL has it and without NOT NULL.

    Raises:
        CheckpointError: it is damaged, or the type is one whose values cannot be read.
    """
    begin = data.position
    return type_of(read_java_object(data), data, begin)


def type_of(found: object, data: DataInput, begin: int) -> str:
    """Return the type of a column as SQL has it.

    Args:
        found: the object of Java.
        data: what it was read from, for errors.
        begin: where it begins.

    Raises:
        CheckpointError: the type is one whose values cannot be read.
    """
    if not isinstance(found, JavaObject):
        raise data.refused("the type of a column is damaged", begin)
    name, fields = found.name, found.fields
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "DecimalType":
        return f"DECIMAL({_number(fields, 'precision')}, {_number(fields, 'scale')})"
    if name in _TIMED:
        return f"{_TIMED[name]}({_number(fields, 'precision')})"
    if name in _SIZED:
        root, length = _SIZED[name], _number(fields, "length")
        if length == _LONGEST and root in _LONG_NAMES:
            return _LONG_NAMES[root]
        return f"{root}({length})"
    shown = name.removesuffix("Type").upper()
    raise data.refused(f"a column of the type {shown} cannot be read", begin)


def _number(fields: dict[str, object], name: str) -> int:
    found = fields.get(name)
    return found if isinstance(found, int) else 0


def row_reader(types: list[str]) -> Callable[[DataInput], tuple[object, ...]]:
    """Make what reads rows.

    Args:
        types: of the columns, as ``read_type`` returns them.
    """
    fields = [_field(kind) for kind in types]
    nulls = (len(types) + _KIND_BITS + 63) // 64 * _WORD
    fixed = nulls + len(types) * _WORD

    def read_row(data: DataInput) -> tuple[object, ...]:
        begin = data.position
        size = data.count("bytes of a row")
        if size < fixed:
            raise data.refused("a row is too short", begin)
        row = DataInput(data.take(size), data.where, data.offset(data.position) - size)
        mask = int.from_bytes(row.content[:nulls], "little") >> _KIND_BITS
        return tuple(
            [
                None if mask >> index & 1 else read(row, nulls + index * _WORD)
                for index, read in enumerate(fields)
            ]
        )

    return read_row


def _field(kind: str) -> Field:
    root = kind.partition("(")[0]
    if kind in _FORMATS:
        unpack = struct.Struct(_FORMATS[kind]).unpack_from
        return lambda row, at: unpack(row.content, at)[0]
    if root in ("CHAR", "VARCHAR", "STRING"):
        return lambda row, at: text_of(_piece(row, at), row, at)
    if root in ("BINARY", "VARBINARY", "BYTES"):
        return _piece
    if root == "DECIMAL":
        compact = precision_of(kind) <= _COMPACT_DECIMAL
        return _long if compact else _unscaled
    if root == "TIME":
        return lambda row, at: struct.unpack_from("<i", row.content, at)[0] * _MICROS_PER_MILLI
    if root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _micros if precision_of(kind) <= _COMPACT_TIMESTAMP else _micros_and_nanos
    if root == "INTERVAL SECOND":
        return _micros
    return lambda row, at: None  # a view of the state, whose entries are elsewhere


def precision_of(kind: str) -> int:
    """Return the first number of a type."""
    return int(kind.partition("(")[2].rstrip(")").partition(",")[0])


def text_of(content: bytes, data: DataInput, at: int) -> str:
    """Decode a text.

    Raises:
        CheckpointError: it is damaged.
    """
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise data.refused("a text is damaged", at) from None


def _long(row: DataInput, at: int) -> object:
    return struct.unpack_from("<q", row.content, at)[0]


def _micros(row: DataInput, at: int) -> object:
    return struct.unpack_from("<q", row.content, at)[0] * _MICROS_PER_MILLI


def _micros_and_nanos(row: DataInput, at: int) -> object:
    nanos, offset = struct.unpack_from("<II", row.content, at)
    (millis,) = struct.unpack("<q", _part(row, offset, _WORD, at))
    return millis * _MICROS_PER_MILLI + nanos // 1000


def _unscaled(row: DataInput, at: int) -> object:
    size, offset = struct.unpack_from("<II", row.content, at)
    return int.from_bytes(_part(row, offset, size, at), "big", signed=True)


def _piece(row: DataInput, at: int) -> bytes:
    """Read bytes, up to seven of which are in the field itself."""
    head = row.content[at + _WORD - 1]
    if head & _INLINE:
        return row.content[at : at + min(head & ~_INLINE, _WORD - 1)]
    size, offset = struct.unpack_from("<II", row.content, at)
    return _part(row, offset, size, at)


def _part(row: DataInput, offset: int, size: int, at: int) -> bytes:
    if offset + size > len(row.content):
        raise row.refused("a field of a row is damaged", at)
    return row.content[offset : offset + size]
