"""Avro files and Avro messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.avro import (
    AvroFileInput,
    AvroFileOutput,
    avro_row_reader,
    avro_row_type,
    avro_row_writer,
)
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.common.io import InputFormat
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.utils import ResultTypeQueryable

__all__ = [
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
    "AvroInputFormat",
    "AvroBulkWriters",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
]


class AvroSchema:
    """An Avro schema; made with ``parse_string`` or ``parse_file``.

    Args:
        j_schema: the schema as JSON text.

    Raises:
        ValueError: the text is not JSON.

    On Spark: the schema is checked when records are read or written.
    """

    def __init__(self, j_schema):
        text = own_handle(j_schema, str, "AvroSchema(j_schema)")
        try:
            self._definition: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"an Avro schema is JSON: {error}") from None
        require(
            isinstance(self._definition, (str, list, dict)),
            f"an Avro schema is a name, an object or a union, not {text}",
        )

    def __str__(self):
        return json.dumps(self._definition, separators=(",", ":"))

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Parse a schema from JSON text.

        Raises:
            ValueError: the text is not JSON.
        """
        return AvroSchema(argument(json_schema, str, "parse_string(json_schema)"))

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Parse a schema from a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: the content is not JSON.
        """
        path = argument(file_path, str, "parse_file(file_path)")
        return AvroSchema(Path(path).read_text(encoding="utf-8"))


def definition_of(schema: AvroSchema) -> Any:
    """The definition that a schema holds, as plain data."""
    return schema._definition


class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """The type of generic records: dicts, lists and values that conform to an Avro schema.

    Args:
        schema: the schema.
    """

    def __init__(self, schema: AvroSchema):
        self._schema = argument(schema, AvroSchema, "GenericRecordAvroTypeInfo(schema)")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GenericRecordAvroTypeInfo):
            return False
        return definition_of(self._schema) == definition_of(other._schema)

    def __hash__(self) -> int:
        return hash(str(self._schema))


class AvroInputFormat(InputFormat, ResultTypeQueryable):
    """Reads Avro files, for ``create_input``.

    Args:
        path: the file.
        schema: the schema of the records.
    """

    def __init__(self, path: str, schema: AvroSchema):
        self._path = argument(path, str, "AvroInputFormat(path, schema)")
        self._type_info = GenericRecordAvroTypeInfo(schema)
        records = AvroFileInput(definition_of(schema), self._type_info)
        self._source = SplitFileSource(FileSourceConfig.of(records, [self._path]))
        super().__init__(self._path)

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return self._type_info


class AvroBulkWriters:
    """Factories of writers of Avro files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write generic records."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        return BulkWriterFactory(AvroFileOutput(definition_of(given)))


class AvroRowDeserializationSchema(DeserializationSchema):
    """Deserializes rows from Avro messages.

    Args:
        record_class: the name of a Java class.
        avro_schema_string: the schema of the messages, as JSON.

    Raises:
        TypeError: both arguments are None.
        ValueError: the schema is not JSON.

    On Spark: there are no Java classes; give the schema.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None):
        call = "AvroRowDeserializationSchema(record_class, avro_schema_string)"
        self._schema = _schema_of_rows(record_class, avro_schema_string, call)
        super().__init__(self._schema)

    def _deserializer(self) -> Callable[[bytes], object]:
        return avro_row_reader(definition_of(self._schema))

    def _produced_type(self) -> TypeInformation:
        return avro_row_type(definition_of(self._schema))


class AvroRowSerializationSchema(SerializationSchema):
    """Serializes rows to Avro messages.

    Args:
        record_class: the name of a Java class.
        avro_schema_string: the schema of the messages, as JSON.

    Raises:
        TypeError: both arguments are None.
        ValueError: the schema is not JSON.

    On Spark: there are no Java classes; give the schema.
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None):
        call = "AvroRowSerializationSchema(record_class, avro_schema_string)"
        self._schema = _schema_of_rows(record_class, avro_schema_string, call)
        super().__init__(self._schema)

    def _serializer(self) -> Callable[[Any], bytes]:
        return avro_row_writer(definition_of(self._schema))


def _schema_of_rows(
    record_class: str | None, avro_schema_string: str | None, call: str
) -> AvroSchema:
    if record_class is not None:
        refuse_java(
            f"{call} with record_class={record_class!r}",
            instead="Give the schema as avro_schema_string.",
        )
    if avro_schema_string is None:
        raise TypeError("record_class or avro_schema_string should be specified.")
    return AvroSchema(argument(avro_schema_string, str, call))


__getattr__ = missing_name(__name__)
