"""Avro files of generic records: dicts, lists and values."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._connectors.formats.avro_schema import fastavro, parsed, reading
from pyflink_on_spark._connectors.formats.corrupt import CorruptRecordError
from pyflink_on_spark._connectors.formats.file_format import (
    InputFileFormat,
    OutputFileFormat,
    OutputFileWriter,
)
from pyflink_on_spark._connectors.formats.unpacked_size import check_avro_blocks
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

    def __init__(self, definition: Any, produced_type: TypeInformation) -> None:
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

    def reader_schema(self, writer_schema: Any) -> Any:
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

    def __init__(self, file: BinaryIO, definition: Any, codec: str = "null") -> None:
        self._writer = fastavro().write.Writer(file, parsed(definition), codec=codec)

    def write(self, elements: Sequence[Any]) -> None:
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

    definition: Any

    def check_input(self, type_info: Any) -> None:
        if type(type_info).__name__ != "GenericRecordAvroTypeInfo":
            raise TypeError(
                f"this file format writes Avro records, and the stream is of {type_info}: declare "
                "its type before the sink, with .map(lambda e: e, "
                "output_type=GenericRecordAvroTypeInfo(schema))"
            )


class AvroFileOutput(AvroOutput):
    """Writes generic records to Avro files."""

    def converter(self) -> Callable[[Any], Any]:
        return frozen_copy

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return AvroFileWriter(file, self.definition)


def frozen_copy(record: Any) -> Any:
    """Return a copy of a record that does not change with the user's object."""
    return pickle.loads(pickle.dumps(record, 5))
