"""Avro: schemas, values, and the format."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.avro import (
    AvroFileInput,
    AvroFileWriter,
    fastavro,
    parsed,
)
from pyflink_on_spark._connectors.formats.file_format import OutputFileFormat, excerpt
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, one_of
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit, OutputFileWriter


_RECORD = "org.apache.flink.avro.generated.record"
_PLAIN = {
    Root.BOOLEAN: "boolean",
    Root.TINYINT: "int",
    Root.SMALLINT: "int",
    Root.INT: "int",
    Root.BIGINT: "long",
    Root.FLOAT: "float",
    Root.DOUBLE: "double",
    Root.CHAR: "string",
    Root.VARCHAR: "string",
    Root.BINARY: "bytes",
    Root.VARBINARY: "bytes",
}
_MILLIS = 3
_MICROS = 6


def record_schema(schema: Schema, *, legacy: bool) -> dict[str, object]:
    """Return the schema of a record with a field for each column.

    Args:
        schema: the columns.
        legacy: whether a TIMESTAMP is a point in time, as before Flink 1.19.

    Raises:
        ValidationError: Avro has no type for a column.
    """
    return _record(schema.names, schema.types, _RECORD, legacy)


def _record(
    names: tuple[str, ...], kinds: tuple[LogicalType, ...], name: str, legacy: bool
) -> dict[str, object]:
    fields: list[dict[str, Any]] = []
    for column, kind in zip(names, kinds):
        found: dict[str, Any] = {"name": column, "type": _type(kind, f"{name}_{column}", legacy)}
        if kind.nullable:
            found["default"] = None
        fields.append(found)
    return {"type": "record", "name": name, "fields": fields}


def _type(kind: LogicalType, name: str, legacy: bool) -> object:
    made = _not_null(kind, name, legacy)
    return ["null", made] if kind.nullable else made


def _not_null(kind: LogicalType, name: str, legacy: bool) -> object:
    root = kind.root
    if root in _PLAIN:
        return _PLAIN[root]
    if root is Root.DATE:
        return {"type": "int", "logicalType": "date"}
    if root is Root.TIME:
        _check_digits(kind, _MILLIS)
        return {"type": "int", "logicalType": "time-millis"}
    if root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return _moment(kind, legacy)
    if root is Root.DECIMAL:
        about = {"precision": kind.precision, "scale": kind.scale}
        return {"type": "bytes", "logicalType": "decimal", **about}
    if root is Root.ARRAY:
        return {"type": "array", "items": _type(kind.children[0], name, legacy)}
    if root is Root.ROW:
        return _record(kind.names, kind.children, name, legacy)
    if root in {Root.MAP, Root.MULTISET}:
        return _map(kind, name, legacy)
    raise ValidationError(f"Unsupported to derive Schema for type: {kind}")


def _moment(kind: LogicalType, legacy: bool) -> dict[str, object]:
    if legacy:
        if kind.root is Root.TIMESTAMP_LTZ:
            raise ValidationError(
                f"Unsupported to derive Schema for type: {kind}; it needs "
                "'avro.timestamp_mapping.legacy' = 'false'"
            )
        _check_digits(kind, _MILLIS)
    _check_digits(kind, _MICROS)
    unit = "millis" if (kind.precision or 0) <= _MILLIS else "micros"
    local = "" if legacy or kind.root is Root.TIMESTAMP_LTZ else "local-"
    return {"type": "long", "logicalType": f"{local}timestamp-{unit}"}


def _check_digits(kind: LogicalType, most: int) -> None:
    if (kind.precision or 0) > most:
        raise ValidationError(
            f"Avro does not support {kind.root.value} type with precision: {kind.precision}, "
            f"it only supports precision less than {most}."
        )


def _map(kind: LogicalType, name: str, legacy: bool) -> dict[str, object]:
    if kind.children[0].root not in {Root.CHAR, Root.VARCHAR}:
        raise ValidationError(
            "Avro format doesn't support non-string as key type of map. "
            f"The key type is: {kind.children[0]}"
        )
    values = "int" if kind.root is Root.MULTISET else _type(kind.children[1], name, legacy)
    return {"type": "map", "values": values}


def named_as(definition: object, writer_schema: object) -> object:
    """Return a schema whose records have the names of another schema's.

    Records are found by the names of fields, so that files of other programs can be read.

    Args:
        definition: the schema.
        writer_schema: the other one.
    """
    return _named_as(definition, writer_schema, _records(writer_schema), set())


def _records(definition: object) -> dict[str, object]:
    """Return the records in a schema, by name."""
    if isinstance(definition, list):
        return {name: each for part in definition for name, each in _records(part).items()}
    if not isinstance(definition, dict):
        return {}
    found = {definition["name"]: definition} if _kind(definition) == "record" else {}
    parts = [field["type"] for field in definition.get("fields", ())]
    parts += [definition[part] for part in ("items", "values") if part in definition]
    return found | _records(parts)


def _named_as(
    definition: object, writer_schema: object, records: Mapping[str, object], named: set[str]
) -> object:
    """Return one part of what ``named_as`` returns.

    Args:
        definition: the schema.
        writer_schema: the other one.
        records: the records in it, which it may refer to by name.
        named: the names that records have got: another one of such a name refers to the first.
    """
    if isinstance(definition, list):
        return [_named_as(kind, writer_schema, records, named) for kind in definition]
    if isinstance(writer_schema, list):
        kinds = [records.get(kind, kind) if type(kind) is str else kind for kind in writer_schema]
        fitting = [kind for kind in kinds if _kind(kind) == _kind(definition)]
        return _named_as(definition, fitting[0], records, named) if fitting else definition
    if isinstance(writer_schema, str):
        writer_schema = records.get(writer_schema, writer_schema)
    if not isinstance(definition, dict) or not isinstance(writer_schema, dict):
        return definition
    found = dict(definition)
    for part in ("items", "values"):
        if part in definition and part in writer_schema:
            found[part] = _named_as(definition[part], writer_schema[part], records, named)
    if _kind(definition) == _kind(writer_schema) == "record":
        if writer_schema["name"] in named:
            return writer_schema["name"]
        named.add(writer_schema["name"])
        others = {field["name"]: field["type"] for field in writer_schema["fields"]}
        found["name"] = writer_schema["name"]
        found["fields"] = [
            {**field, "type": _named_as(field["type"], others.get(field["name"]), records, named)}
            for field in definition["fields"]
        ]
    return found


def _kind(definition: object) -> object:
    return definition.get("type") if isinstance(definition, dict) else definition


Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime.fromisoformat("1970-01-01T00:00:00")
_MICRO = datetime.timedelta(microseconds=1)
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
_DIGITS = 80


def record_reader(names: Sequence[str], kinds: Sequence[LogicalType]) -> Convert:
    """Return the conversion of a record to a row."""
    fields = [(name, _reader(kind)) for name, kind in zip(names, kinds)]

    def read(record: Any) -> Any:
        return tuple([convert(record.get(name)) for name, convert in fields])

    return read


def record_writer(names: Sequence[str], kinds: Sequence[LogicalType]) -> Convert:
    """Return the conversion of a row to a record."""
    fields = [(name, _writer(kind)) for name, kind in zip(names, kinds)]

    def write(row: Any) -> object:
        return {name: convert(value) for (name, convert), value in zip(fields, row)}

    return write


def _reader(kind: LogicalType) -> Convert:
    root = kind.root
    if root is Root.DATE:
        return _unless_null(lambda day: day.toordinal() - _FIRST_DAY)
    if root is Root.TIME:
        return _unless_null(_time_micros)
    if root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return _unless_null(_micros)
    if root is Root.DECIMAL:
        return _unless_null(_unscaled(kind.scale or 0))
    if root is Root.ARRAY:
        element = _reader(kind.children[0])
        return _unless_null(lambda values: tuple(map(element, values)))
    if root is Root.ROW:
        return _unless_null(record_reader(kind.names, kind.children))
    if root is Root.MAP:
        value = _reader(kind.children[1])
        return _unless_null(lambda pairs: {key: value(one) for key, one in pairs.items()})
    return _same


def _writer(kind: LogicalType) -> Convert:
    root = kind.root
    if root is Root.TIME or (
        root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ} and (kind.precision or 0) <= _MILLIS
    ):
        return _unless_null(lambda micros: micros // 1000)
    if root is Root.DECIMAL:
        return _unless_null(_big_endian)
    if root is Root.ARRAY:
        element = _writer(kind.children[0])
        return _unless_null(lambda values: list(map(element, values)))
    if root is Root.ROW:
        return _unless_null(record_writer(kind.names, kind.children))
    if root is Root.MAP:
        value = _writer(kind.children[1])
        return _unless_null(lambda pairs: {key: value(one) for key, one in pairs.items()})
    return _same


def _same(value: object) -> object:
    return value


def _unless_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _time_micros(value: datetime.time) -> int:
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return seconds * 1_000_000 + value.microsecond


def _micros(value: datetime.datetime) -> int:
    return (value.replace(tzinfo=None) - _EPOCH) // _MICRO


def _unscaled(scale: int) -> Convert:
    def convert(value: Decimal) -> int:
        with localcontext() as context:
            context.prec = _DIGITS
            return int(value.scaleb(scale).to_integral_value())

    return convert


def _big_endian(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


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
        """Return the decoder of messages."""
        _check_encoding(options)
        return AvroDecoder(schema, _definition(schema, options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        _check_encoding(options)
        return AvroEncoder(schema, _definition(schema, options))

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> AvroRowsInput:
        """Return the reader of files."""
        options.note(self.options)
        return AvroRowsInput(schema, _definition(schema, options))

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> AvroRowsOutput:
        """Return the writer of files."""
        options.note(self.options)
        return AvroRowsOutput(schema, _definition(schema, options), options[_CODEC] or "null")


def _definition(schema: Schema, options: TableOptions) -> object:
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

    def __init__(self, schema: Schema, definition: object) -> None:
        self._schema, self._definition = schema, definition

    def load(self) -> Decode:
        """Return the function that decodes messages."""
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

    def __init__(self, schema: Schema, definition: object) -> None:
        self._schema, self._definition = schema, definition

    def load(self) -> Encode:
        """Return the function that encodes rows."""
        write_record, definition = fastavro().schemaless_writer, parsed(self._definition)
        convert = record_writer(self._schema.names, self._schema.types)

        def encode(rows: Iterator[object]) -> Iterator[object]:
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

    def __init__(self, schema: Schema, definition: object) -> None:
        super().__init__(definition, Types.PICKLED_BYTE_ARRAY())
        self._schema = schema

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the rows."""
        convert = record_reader(self._schema.names, self._schema.types)
        for bundle in super().read(split):
            yield Bundle(list(map(convert, bundle.values)))

    def reader_schema(self, writer_schema: object) -> object:
        """Return the table's schema with the names that records have in a file."""
        return parsed(named_as(self._definition, writer_schema))


class AvroRowsOutput(OutputFileFormat):
    """Writes rows to Avro files.

    Args:
        schema: the columns.
        definition: Avro's schema.
        codec: how blocks are compressed.
    """

    def __init__(self, schema: Schema, definition: object, codec: str) -> None:
        self._schema, self._definition, self._codec = schema, definition, codec

    def check_input(self, type_info: TypeInformation | None) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[object], object]:
        """Return the conversion of a row to a record."""
        return record_writer(self._schema.names, self._schema.types)

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return AvroFileWriter(file, self._definition, self._codec)
