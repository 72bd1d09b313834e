"""Avro files of generic records (dicts, lists and values), and Avro schemas."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.formats.compression import check_avro_blocks
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    InputFileFormat,
    OutputFileFormat,
    OutputFileWriter,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit
    from pyflink_on_spark.common.typeinfo import TypeInformation


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

    def reader_schema(self, writer_schema: object) -> Any:
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

    def converter(self) -> Callable[[Any], object]:
        return frozen_copy

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return AvroFileWriter(file, self.definition)


def frozen_copy(record: object) -> object:
    """Return a copy of a record that does not change with the user's object."""
    return pickle.loads(pickle.dumps(record, 5))


def fastavro() -> Any:
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
