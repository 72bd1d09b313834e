"""Avro files of plain records: dicts, lists and values."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._connectors.files.file_format import FileFormat
from pyflink_on_spark._connectors.formats.avro_library import fastavro, parsed
from pyflink_on_spark._connectors.formats.bulk_format import BulkFormat, BulkWriter
from pyflink_on_spark._connectors.formats.corrupt import CorruptRecordError

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.files.enumeration import FileSplit
    from pyflink_on_spark.common.typeinfo import TypeInformation


class AvroRecords(FileFormat):
    """Records of Avro files.

    Args:
        definition: the schema to read them with; the file has the one they were written with.
        produced_type: the type of the records.
    """

    def __init__(self, definition: Any, produced_type: TypeInformation) -> None:
        self._definition = definition
        self._produced_type = produced_type

    @property
    def produced_type(self) -> TypeInformation:
        return self._produced_type

    def is_splittable(self, path: str) -> bool:
        return False

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        library, schema = fastavro(), parsed(self._definition)
        count = 0
        with open(split.path, "rb") as file:
            try:
                records = library.reader(file, reader_schema=schema)
                while values := list(islice(records, BUNDLE_SIZE)):
                    yield Bundle(values)
                    count += len(values)
            except _damages(library) as error:
                raise CorruptRecordError(
                    f"cannot read {split.path} behind record {count}: "
                    f"{str(error) or 'it ends too soon'}"
                ) from error


def _damages(library: Any) -> tuple[type[Exception], ...]:
    resolution = library.read.SchemaResolutionError
    return (ValueError, EOFError, IndexError, KeyError, TypeError, StopIteration, resolution)


class AvroFileWriter(BulkWriter):
    """Writes records to an Avro file, uncompressed as Flink does.

    Args:
        file: where to.
        definition: the records' schema.
    """

    def __init__(self, file: BinaryIO, definition: Any) -> None:
        self._writer = fastavro().write.Writer(file, parsed(definition), codec="null")

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
class AvroOutput(BulkFormat):
    """Records as Avro files.

    Args:
        definition: the records' schema.
    """

    definition: Any

    def check_input(self, type_info: Any) -> None:
        check_records(type_info)

    def converter(self) -> Callable[[Any], Any]:
        return frozen_copy

    def open(self, file: BinaryIO) -> BulkWriter:
        return AvroFileWriter(file, self.definition)


def frozen_copy(record: Any) -> Any:
    """Return a record that does not change when the user's does."""
    return pickle.loads(pickle.dumps(record, 5))


def check_records(type_info: Any) -> None:
    """Accept a stream of Avro records.

    Raises:
        TypeError: it is one of anything else.
    """
    if type(type_info).__name__ != "GenericRecordAvroTypeInfo":
        raise TypeError(
            f"this file format writes Avro records, and the stream is of {type_info}: say so in "
            "front of the sink, with .map(lambda e: e, "
            "output_type=GenericRecordAvroTypeInfo(schema))"
        )
