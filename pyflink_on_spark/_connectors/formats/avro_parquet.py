"""Parquet files of generic Avro records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.avro import AvroInput, AvroOutput
from pyflink_on_spark._connectors.formats.file_format import OutputFileWriter
from pyflink_on_spark._connectors.formats.parquet import ParquetFileWriter, ParquetOptions, batches
from pyflink_on_spark._connectors.formats.row_types import (
    column_converters,
    from_arrow,
    reading,
    to_arrow,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit

_PRIMITIVE: dict[str, Callable[[], pa.DataType]] = {
    "boolean": pa.bool_,
    "int": pa.int32,
    "long": pa.int64,
    "float": pa.float32,
    "double": pa.float64,
    "string": pa.string,
    "enum": pa.string,
    "bytes": pa.binary,
}
_LOGICAL: dict[str, Callable[[], pa.DataType]] = {
    "date": pa.date32,
    "time-millis": lambda: pa.time32("ms"),
    "time-micros": lambda: pa.time64("us"),
    "timestamp-millis": lambda: pa.timestamp("ms", "UTC"),
    "timestamp-micros": lambda: pa.timestamp("us", "UTC"),
}
_INT64_TIMESTAMPS = ParquetOptions(compression="none", int96_timestamps=False)


def avro_arrow_schema(definition: object) -> pa.Schema:
    """Return Arrow's schema of an Avro record.

    Raises:
        ValueError: the definition is not the schema of a record.
        UnsupportedFlinkFeature: Arrow has no counterpart of a type.
    """
    kind = _arrow_type(definition, {})
    if not pa.types.is_struct(kind):
        raise ValueError("Avro schema must be a record.")
    return pa.schema(list(kind))


def _arrow_type(definition: Any, named: dict[str, object]) -> pa.DataType:
    if isinstance(definition, list):
        return _of_union(definition, named)
    if isinstance(definition, str):
        if definition in named:
            return named[definition]
        definition = {"type": definition}
    kind = definition["type"]
    if isinstance(kind, (dict, list)):
        return _arrow_type(kind, named)
    found = _named_type(definition, kind, named)
    if found is None:
        raise_unsupported(
            f"the Avro type {definition}",
            kind=Gap.NOT_YET,
            reason="it is not written to Parquet",
            instead="Write Avro files with AvroBulkWriters.",
        )
    if "name" in definition:
        named[definition["name"]] = found
    return found


def _named_type(definition: dict[str, Any], kind: str, named: dict[str, Any]) -> object:
    logical = definition.get("logicalType")
    if logical in _LOGICAL:
        return _LOGICAL[logical]()
    if logical == "decimal":
        return pa.decimal128(definition["precision"], definition.get("scale", 0))
    if kind == "record":
        fields = [(one["name"], _field_type(one["type"], named)) for one in definition["fields"]]
        return pa.struct([pa.field(name, *about) for name, about in fields])
    if kind == "array":
        return pa.list_(pa.field("array", *_field_type(definition["items"], named)))
    if kind == "map":
        return pa.map_(pa.string(), _arrow_type(definition["values"], named))
    if kind == "fixed":
        return pa.binary(definition["size"])
    return _PRIMITIVE[kind]() if kind in _PRIMITIVE else named.get(kind)


def _field_type(definition: object, named: dict[str, object]) -> tuple[pa.DataType, bool]:
    nullable = isinstance(definition, list) and "null" in definition
    return _arrow_type(definition, named), nullable


def _of_union(kinds: list[object], named: dict[str, object]) -> pa.DataType:
    others = [kind for kind in kinds if kind != "null"]
    if len(others) == 1:
        return _arrow_type(others[0], named)
    return raise_unsupported(
        f"an Avro union of {kinds} in Parquet",
        kind=Gap.NOT_YET,
        reason="a column has one type",
        instead="Use a union of null and one other type.",
    )


class AvroParquetOutput(AvroOutput):
    """Writes generic records to Parquet files."""

    def converter(self) -> Callable[[Any], object]:
        schema = avro_arrow_schema(self.definition)
        names = schema.names
        converters = column_converters(schema, to_arrow)
        required = [field.name for field in schema if not field.nullable]

        def convert(record: Any) -> tuple[Any, ...]:
            for name in required:
                if record[name] is None:
                    raise ValueError(f"field {name!r} of an Avro record is None: {record!r:.200}")
            values = [record.get(name) for name in names]
            for index, one in converters:
                values[index] = one(values[index])
            return tuple(values)

        return convert

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return ParquetFileWriter(file, avro_arrow_schema(self.definition), _INT64_TIMESTAMPS)


class AvroParquetInput(AvroInput):
    """Reads generic records of Parquet files."""

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        return (bundle for bundle, _ in self.resume(split, None))

    def resume(self, split: FileSplit, position: int | None) -> Iterator[tuple[Bundle, int]]:
        """Yield records from a position on, which is the number of records before it."""
        schema = avro_arrow_schema(self._definition)
        names = schema.names
        converters = column_converters(schema, _plain)
        read = position or 0
        with reading(split.path):
            for batch in batches(split.path, schema, BUNDLE_SIZE, read, most=self.most):
                columns = [column.to_pylist() for column in batch.columns]
                for index, convert in converters:
                    columns[index] = list(map(convert, columns[index]))
                records = [dict(zip(names, values)) for values in zip(*columns)]
                read += len(records)
                yield Bundle(records), read


def _plain(kind: pa.DataType) -> Callable[[Any], object] | None:
    return from_arrow(kind, structs_as_rows=False)
