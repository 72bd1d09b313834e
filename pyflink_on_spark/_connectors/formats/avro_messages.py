"""Reads and writes rows as Avro messages: single records without the header of a file."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.avro_files import fastavro, parsed
from pyflink_on_spark._connectors.formats.file_format import excerpt
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)
from pyflink_on_spark.common.types import Row, RowKind

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def avro_row_type(definition: object) -> RowTypeInfo:
    """Return the row type of a record's schema.

    Raises:
        ValueError: the definition is not the schema of a record.
        UnsupportedFlinkFeature: rows have no counterpart of a type.
    """
    kind = _Kind(definition, {})
    if kind.name != "record":
        raise ValueError("Schema must be a record")
    info = kind.type_info()
    assert isinstance(info, RowTypeInfo)
    return info


def avro_row_reader(definition: object) -> Callable[[bytes], object]:
    """Return a function that makes a row of a message.

    Raises:
        ValueError: the returned function raises it for a message that cannot be read.
    """
    read_record, schema = fastavro().schemaless_reader, parsed(definition)
    convert = _Kind(definition, {}).reader()

    def read(data: bytes) -> Any:
        try:
            return convert(read_record(io.BytesIO(data), schema, None))
        except (ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
            reason = str(error) or "it ends too soon"
            raise ValueError(
                f"Failed to deserialize Avro record {excerpt(data)}: {reason}"
            ) from error

    return read


def avro_row_writer(definition: object) -> Callable[[Any], bytes]:
    """Return a function that writes the fields of a row by position.

    Raises:
        TypeError: the returned function raises it for an element that is not a row.
        ValueError: the returned function raises it for a row that does not fit the schema.
    """
    write_record, schema = fastavro().schemaless_writer, parsed(definition)
    convert = _Kind(definition, {}).writer()

    def write(row: object) -> bytes:
        if not isinstance(row, Row):
            raise TypeError(f"Avro is written of rows, not of {type(row).__name__}: {row!r}")
        buffer = io.BytesIO()
        try:
            write_record(buffer, schema, convert(row))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ValueError(f"Failed to serialize row {row}: {error}") from error
        return buffer.getvalue()

    return write


class _Kind:
    """One type of an Avro schema.

    Args:
        definition: the parsed JSON of the type.
        named: the types that are defined before, by name.
    """

    def __init__(self, definition: Any, named: dict[str, Any]) -> None:
        self.nullable = False
        if isinstance(definition, list):
            definition = self._of_union(definition)
        if isinstance(definition, str) and definition in named:
            definition = named[definition]
        if isinstance(definition, dict) and isinstance(definition.get("type"), (dict, list)):
            definition = definition["type"]
        self._definition: dict[str, Any] = (
            {"type": definition} if isinstance(definition, str) else definition
        )
        self.name: str = self._definition["type"]
        self._named = named
        if "name" in self._definition and self.name in ("record", "enum", "fixed", "error"):
            named[self._definition["name"]] = self._definition
            if space := self._definition.get("namespace"):
                named[f"{space}.{self._definition['name']}"] = self._definition

    def _of_union(self, kinds: list[object]) -> object:
        others = [kind for kind in kinds if kind != "null"]
        if len(others) != 1:
            raise_unsupported(
                f"an Avro union of {kinds}",
                kind=Gap.NOT_YET,
                reason="a row's field has one type",
                instead="Use a union of null and one other type.",
            )
        self.nullable = len(others) < len(kinds)
        return others[0]

    def type_info(self) -> TypeInformation:
        """Return the type of a row's field."""
        if self.name == "record":
            names, kinds = self._fields()
            return RowTypeInfo([kind.type_info() for kind in kinds], names)
        if self.name == "array":
            return ObjectArrayTypeInfo(self._inner("items").type_info())
        if self.name == "map":
            text = BasicTypeInfo.STRING_TYPE_INFO()
            return MapTypeInfo(text, self._inner("values").type_info())
        logical = self._definition.get("logicalType")
        if logical in _LOGICAL:
            return _LOGICAL[logical]()
        if self.name in _PRIMITIVE:
            return _PRIMITIVE[self.name]()
        return raise_unsupported(
            f"the Avro type {self._definition}",
            kind=Gap.NOT_YET,
            reason="rows have no counterpart",
            instead="Read the messages with ByteArraySchema, and convert them in a map().",
        )

    def reader(self) -> Convert:
        """Return a function that converts fastavro's value, or None, to a row's."""
        return self._converter(_Kind.reader, _record_reader, _naive)

    def writer(self) -> Convert:
        """Return a function that converts a row's value, or None, to fastavro's."""
        return self._converter(_Kind.writer, _record_writer, _aware)

    def _converter(
        self,
        direction: Callable[[_Kind], Convert],
        record: Callable[[list[str], list[Convert]], Convert],
        timestamp: Convert,
    ) -> Convert:
        if self.name == "record":
            names, kinds = self._fields()
            return _unless_null(record(names, list(map(direction, kinds))))
        if self.name == "array":
            item = direction(self._inner("items"))
            return _unless_null(lambda items: list(map(item, items)))
        if self.name == "map":
            value = direction(self._inner("values"))
            return _unless_null(lambda items: {key: value(one) for key, one in items.items()})
        if self._definition.get("logicalType", "").startswith("timestamp-"):
            return _unless_null(timestamp)
        return _same

    def _fields(self) -> tuple[list[str], list[_Kind]]:
        fields = self._definition["fields"]
        return [one["name"] for one in fields], [_Kind(one["type"], self._named) for one in fields]

    def _inner(self, part: str) -> _Kind:
        return _Kind(self._definition[part], self._named)


def _same(value: object) -> object:
    return value


def _unless_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _naive(moment: datetime.datetime) -> datetime.datetime:
    """Return a time without its zone UTC, rounded down to milliseconds, as a SQL timestamp."""
    return moment.replace(tzinfo=None, microsecond=moment.microsecond // 1000 * 1000)


def _aware(moment: object) -> object:
    if isinstance(moment, Instant):
        return _EPOCH + datetime.timedelta(
            seconds=moment.seconds, microseconds=moment.nanos // 1000
        )
    if isinstance(moment, datetime.datetime) and moment.tzinfo is None:
        return moment.replace(tzinfo=datetime.UTC)
    return moment


def _bytes_type_info() -> TypeInformation:
    return PrimitiveArrayTypeInfo(BasicTypeInfo.BYTE_TYPE_INFO())


_LOGICAL: dict[str, Callable[[], TypeInformation]] = {
    "date": DateTypeInfo,
    "time-millis": TimeTypeInfo,
    "time-micros": TimeTypeInfo,
    "timestamp-millis": TimestampTypeInfo,
    "timestamp-micros": TimestampTypeInfo,
    "decimal": BasicTypeInfo.BIG_DEC_TYPE_INFO,
}
_PRIMITIVE: dict[str, Callable[[], TypeInformation]] = {
    "boolean": BasicTypeInfo.BOOLEAN_TYPE_INFO,
    "int": BasicTypeInfo.INT_TYPE_INFO,
    "long": BasicTypeInfo.LONG_TYPE_INFO,
    "float": BasicTypeInfo.FLOAT_TYPE_INFO,
    "double": BasicTypeInfo.DOUBLE_TYPE_INFO,
    "string": BasicTypeInfo.STRING_TYPE_INFO,
    "enum": BasicTypeInfo.STRING_TYPE_INFO,
    "bytes": _bytes_type_info,
    "fixed": _bytes_type_info,
}


def _record_reader(names: list[str], readers: list[Convert]) -> Convert:
    fields = list(zip(names, readers))
    return lambda record: new_row(
        names, [read(record[name]) for name, read in fields], RowKind.INSERT
    )


def _record_writer(names: list[str], writers: list[Convert]) -> Convert:
    fields = list(zip(names, writers))
    return lambda row: {
        name: write(value) for (name, write), value in zip(fields, row._values, strict=True)
    }
