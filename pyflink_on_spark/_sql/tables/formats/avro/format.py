"""The format ``avro``, of messages and of files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.avro_files import AvroFileInput, AvroFileWriter
from pyflink_on_spark._connectors.formats.avro_schema import fastavro, parsed
from pyflink_on_spark._connectors.formats.corrupt import excerpt
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, one_of
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.avro.schema import named_as, record_schema
from pyflink_on_spark._sql.tables.formats.avro.values import record_reader, record_writer
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.input_format import FileSplit
    from pyflink_on_spark._connectors.formats.output_format import OutputFileWriter

_CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")
_CODEC = Option("codec", one_of(*_CODECS), default="snappy")
_ENCODING = Option("encoding", one_of("binary", "json"), default="binary")
_LEGACY = Option("timestamp_mapping.legacy", boolean, default=True)
_BROKEN = (ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError)


class AvroFormat(Format):
    """Avro: a message is a record without a header, and a file has its schema in its header."""

    identifier = "avro"
    options = (_CODEC, _ENCODING, _LEGACY)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return what reads rows of messages."""
        _check_encoding(options)
        return AvroDecoder(schema, _definition(schema, options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return what writes rows as messages."""
        _check_encoding(options)
        return AvroEncoder(schema, _definition(schema, options))

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> AvroRowsInput:
        """Return what reads rows of files."""
        options.note(self.options)
        return AvroRowsInput(schema, _definition(schema, options))

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> AvroRowsOutput:
        """Return what writes rows to files."""
        options.note(self.options)
        return AvroRowsOutput(schema, _definition(schema, options), options[_CODEC] or "null")


def _definition(schema: Schema, options: TableOptions) -> Any:
    fastavro()
    return record_schema(schema, legacy=bool(options[_LEGACY]))


def _check_encoding(options: TableOptions) -> None:
    options.note(AvroFormat.options)
    if options[_ENCODING] == "json":
        raise_unsupported(
            "'avro.encoding' = 'json'",
            kind=Gap.NOT_YET,
            reason="Avro's own JSON is not written",
            instead="Use the format 'json', or leave the option out.",
        )


class AvroDecoder(Decoder):
    """Reads a record of each message.

    Args:
        schema: the columns.
        definition: Avro's schema.
    """

    def __init__(self, schema: Schema, definition: Any) -> None:
        self._schema, self._definition = schema, definition

    def load(self) -> Decode:
        """Return what reads rows."""
        read_record, definition = fastavro().schemaless_reader, parsed(self._definition)
        convert = record_reader(self._schema.names, self._schema.types)

        def decode(messages: Iterator[Any]) -> Iterator[Any]:
            for message in messages:
                try:
                    row = convert(read_record(io.BytesIO(message), definition, None))
                except _BROKEN as error:
                    reason = str(error) or "it ends too soon"
                    raise ValueError(
                        f"Failed to deserialize Avro record {excerpt(message)}: {reason}"
                    ) from error
                yield row

        return decode


class AvroEncoder(Encoder):
    """Writes a record of each row.

    Args:
        schema: the columns.
        definition: Avro's schema.
    """

    def __init__(self, schema: Schema, definition: Any) -> None:
        self._schema, self._definition = schema, definition

    def load(self) -> Encode:
        """Return what writes rows."""
        write_record, definition = fastavro().schemaless_writer, parsed(self._definition)
        convert = record_writer(self._schema.names, self._schema.types)

        def encode(rows: Iterator[Any]) -> Iterator[Any]:
            for row in rows:
                buffer = io.BytesIO()
                write_record(buffer, definition, convert(row))
                yield buffer.getvalue()

        return encode


class AvroRowsInput(AvroFileInput):
    """Reads rows of Avro files; a column that a file lacks is NULL.

    Args:
        schema: the columns.
        definition: Avro's schema.
    """

    def __init__(self, schema: Schema, definition: Any) -> None:
        super().__init__(definition, Types.PICKLED_BYTE_ARRAY())
        self._schema = schema

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the rows."""
        convert = record_reader(self._schema.names, self._schema.types)
        for bundle in super().read(split):
            yield Bundle(list(map(convert, bundle.values)))

    def reader_schema(self, writer_schema: Any) -> Any:
        """Return the table's schema with the names that records have in a file."""
        return parsed(named_as(self._definition, writer_schema))


class AvroRowsOutput(OutputFileFormat):
    """Writes rows to Avro files.

    Args:
        schema: the columns.
        definition: Avro's schema.
        codec: how blocks are compressed.
    """

    def __init__(self, schema: Schema, definition: Any, codec: str) -> None:
        self._schema, self._definition, self._codec = schema, definition, codec

    def check_input(self, type_info: Any) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[Any], Any]:
        """Return what makes a record of a row."""
        return record_writer(self._schema.names, self._schema.types)

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return AvroFileWriter(file, self._definition, self._codec)
