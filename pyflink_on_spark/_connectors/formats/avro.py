"""Avro: files of records, and messages."""

from __future__ import annotations

import datetime
import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.compression import check_avro_blocks
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    InputFileFormat,
    OutputFileFormat,
    OutputFileWriter,
    excerpt,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
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

if TYPE_CHECKING:
    from types import ModuleType

    from pyflink_on_spark._connectors.formats.file_format import FileSplit
    from pyflink_on_spark._runtime.types.codec import Convert


class AvroInput(InputFileFormat):
    """Reads generic records.

    Args:
        definition: the reader's schema. An Avro file contains the writer's schema.
        produced_type: the type of the records.
    """

    def __init__(self, definition: object, produced_type: TypeInformation) -> None:
        self._definition = definition
        self._produced_type = produced_type

    @property
    def produced_type(self) -> TypeInformation:
        return self._produced_type


class AvroFileInput(AvroInput):
    """Reads generic records of Avro files."""

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        library = fastavro()
        count = 0
        with open(split.path, "rb") as file:
            try:
                header = library.reader(file)
                written = header.writer_schema
                check_avro_blocks(file, header.codec, self.most)
                file.seek(0)
                records = reading(written).reader(file, reader_schema=self.reader_schema(written))
                while values := list(islice(records, BUNDLE_SIZE)):
                    yield Bundle(values)
                    count += len(values)
            except OSError:
                raise
            except RecursionError as error:
                raise CorruptRecordError(
                    f"cannot read {split.path} after record {count}: it is nested too deeply"
                ) from error
            except Exception as error:  # each codec has errors of its own for damaged blocks
                raise CorruptRecordError(
                    f"cannot read {split.path} after record {count}: "
                    f"{str(error) or 'it ends too soon'}"
                ) from error

    def reader_schema(self, writer_schema: object) -> object:
        """Return the schema that records are read with.

        Args:
            writer_schema: that of the file.
        """
        return parsed(self._definition)


class AvroFileWriter(OutputFileWriter):
    """Writes records to an Avro file.

    Args:
        file: the file.
        definition: the schema of the records.
        codec: how blocks are compressed; not at all by default, as Flink's bulk writers do.

    Raises:
        ValueError: a package for the codec is missing. The message names it.
    """

    def __init__(self, file: BinaryIO, definition: object, codec: str = "null") -> None:
        self._writer = fastavro().write.Writer(file, parsed(definition), codec=codec)

    def write(self, elements: Sequence[object]) -> None:
        for element in elements:
            try:
                self._writer.write(element)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                raise ValueError(
                    f"a record does not fit its Avro schema: {error}; it is {element!r:.200}"
                ) from error

    def finish(self) -> None:
        self._writer.flush()


@dataclass(frozen=True)
class AvroOutput(OutputFileFormat):
    """Writes generic records.

    Args:
        definition: the schema of the records.
    """

    definition: object

    def check_input(self, type_info: TypeInformation | None) -> None:
        if type(type_info).__name__ != "GenericRecordAvroTypeInfo":
            raise TypeError(
                f"this file format writes Avro records, and the stream is of {type_info}: declare "
                "its type before the sink, with .map(lambda e: e, "
                "output_type=GenericRecordAvroTypeInfo(schema))"
            )


class AvroFileOutput(AvroOutput):
    """Writes generic records to Avro files."""

    def converter(self) -> Callable[[object], object]:
        return frozen_copy

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return AvroFileWriter(file, self.definition)


def frozen_copy(record: object) -> object:
    """Return a copy of a record that does not change with the user's object."""
    return pickle.loads(pickle.dumps(record, 5))


def fastavro() -> ModuleType:
    """Return the module fastavro.

    Raises:
        ModuleNotFoundError: the package is not installed. The message says how to install it.
    """
    return optional_package("fastavro", "fastavro", "Avro's formats", "avro")


def parsed(definition: object) -> object:
    """Return an Avro schema as fastavro represents it.

    Raises:
        ValueError: the definition is not a valid Avro schema.
    """
    library = fastavro()
    try:
        return library.parse_schema(definition)
    except library.schema.SchemaParseException as error:
        raise ValueError(f"this is no Avro schema: {error}") from error
    except library.schema.UnknownType as error:
        raise ValueError(f"this is no Avro schema: the type {error} is unknown") from error


def reading(schema: object) -> Any:
    """Return the module that reads records of a schema: its ``reader``, its ``schemaless_reader``.

    The compiled module needs the stack of the process for records within records, and a message of
    some kilobytes would end the process. A schema that contains itself is therefore read by the
    module in Python, which raises a RecursionError.

    Args:
        schema: that of the writer, parsed.

    Raises:
        ValueError: the items of an array take no bytes, so that a short message could have any
            number of them.
    """
    walk = _Walk()
    walk.visit(schema)
    return import_module("fastavro._read_py") if walk.recursive else fastavro()


class _Walk:
    """A walk over the types of a parsed schema."""

    def __init__(self) -> None:
        self.recursive = False
        self._empty: dict[str, bool] = {}
        self._open: set[str] = set()

    def visit(self, kind: Any) -> bool:
        """Return True if a value of a type may take no bytes."""
        if isinstance(kind, list):
            for one in kind:
                self.visit(one)
            return False
        if isinstance(kind, str):
            self.recursive = self.recursive or kind in self._open
            return kind == "null" or self._empty.get(kind, False)
        name = kind["type"]
        if name in {"array", "map"}:
            if self.visit(kind["items" if name == "array" else "values"]) and name == "array":
                raise ValueError("the items of an array in this Avro schema take no bytes")
            return False
        if name in {"record", "error"}:
            self._open.add(kind["name"])
            fields = [self.visit(field["type"]) for field in kind["fields"]]
            empty = all(fields)
            self._open.remove(kind["name"])
        elif name == "fixed":
            empty = not kind["size"]
        else:
            return name != "enum" and self.visit(name)
        self._empty[kind["name"]] = empty
        return empty


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

    def read(data: bytes) -> object:
        try:
            return convert(read_record(io.BytesIO(data), schema, None))
        except (ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
            reason = str(error) or "it ends too soon"
            raise ValueError(
                f"Failed to deserialize Avro record {excerpt(data)}: {reason}"
            ) from error

    return read


def avro_row_writer(definition: object) -> Callable[[object], bytes]:
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

    def __init__(self, definition: Any, named: dict[str, object]) -> None:
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
