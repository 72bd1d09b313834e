"""Schemas that serialize elements to bytes, and deserialize bytes to elements."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from pyflink_on_spark._compat.arguments import own_handle, refuse_java_object
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import JAVA_OBJECT, refuse_java
from pyflink_on_spark.common._charset import Charset, find_charset
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.common.types import Row
from pyflink_on_spark.common.utils import JavaObjectWrapper

__all__ = [
    "SerializationSchema",
    "DeserializationSchema",
    "SimpleStringSchema",
    "ByteArraySchema",
    "Encoder",
    "BulkWriterFactory",
    "RowFieldExtractorSchema",
]

MOVED = {
    "JsonRowSerializationSchema": "json",
    "JsonRowDeserializationSchema": "json",
    "CsvRowSerializationSchema": "csv",
    "CsvRowDeserializationSchema": "csv",
    "AvroRowSerializationSchema": "avro",
    "AvroRowDeserializationSchema": "avro",
}


def __getattr__(name: str) -> Any:
    if name in MOVED:
        formats = f"{__name__.rpartition('.common.')[0]}.datastream.formats.{MOVED[name]}"
        return getattr(importlib.import_module(formats), name)
    return missing_name(__name__)(name)


class SerializationSchema:
    """Makes bytes of elements, for a sink.

    Args:
        j_serialization_schema: this package's description of the format, or None.
    """

    def __init__(self, j_serialization_schema: Any = None) -> None:
        refuse_java_object(j_serialization_schema, "SerializationSchema(<a Java object>)")
        self._j_serialization_schema = j_serialization_schema

    def _serializer(self) -> Callable[[Any], bytes | None]:
        """Return the function from an element to bytes; called once in each subtask.

        The function raises TypeError or ValueError for an element that does not fit.
        """
        _refuse_bare_schema(self)


class DeserializationSchema:
    """Makes elements of bytes, for a source.

    Args:
        j_deserialization_schema: this package's description of the format, or None.
    """

    def __init__(self, j_deserialization_schema: Any = None) -> None:
        refuse_java_object(j_deserialization_schema, "DeserializationSchema(<a Java object>)")
        self._j_deserialization_schema = j_deserialization_schema

    def _deserializer(self) -> Callable[[bytes], object]:
        """Return the function from bytes to an element; called once in each subtask.

        The function returns None for a message that is to be left out, and raises ValueError for
        one that cannot be read.
        """
        _refuse_bare_schema(self)

    def _produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        _refuse_bare_schema(self)


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Texts in a character set.

    Args:
        charset: the name of the character set.

    Raises:
        ValueError: there is no such character set.
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        self._charset = find_charset(charset)
        SerializationSchema.__init__(self)
        DeserializationSchema.__init__(self)

    def _serializer(self) -> Callable[[Any], bytes]:
        return self._encode

    def _deserializer(self) -> Callable[[bytes], str]:
        return self._charset.decode

    def _encode(self, value: object) -> bytes:
        if not isinstance(value, str):
            raise TypeError(f"SimpleStringSchema writes str, not {type(value).__name__}: {value!r}")
        return self._charset.encode(value)

    def _produced_type(self) -> TypeInformation:
        return Types.STRING()


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are."""

    def __init__(self) -> None:
        SerializationSchema.__init__(self)
        DeserializationSchema.__init__(self)

    def _serializer(self) -> Callable[[Any], bytes | None]:
        return _checked_bytes

    def _deserializer(self) -> Callable[[bytes], bytes]:
        return bytes

    def _produced_type(self) -> TypeInformation:
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class Encoder:
    """Writes elements into a file; made with ``simple_string_encoder``.

    Args:
        j_encoder: the name of the character set.
    """

    def __init__(self, j_encoder: Any) -> None:
        self._charset_name = own_handle(j_encoder, str, "Encoder(j_encoder)")

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Make an encoder that writes the text of each element, and a line end after it.

        Args:
            charset_name: the name of the character set; looked up when the job writes.

        On Spark: a stream without a declared type is refused. PyFlink writes a name of Java's for
        the pickle of each element, as ``[B@5fa7e7ff``.
        """
        return Encoder(charset_name)

    def _charset(self) -> Charset:
        """Return the character set; raise ValueError if the name is unknown."""
        return find_charset(self._charset_name)


class BulkWriterFactory(JavaObjectWrapper):
    """Writes files whose format is not line by line; made by the formats' own functions.

    Args:
        j_bulk_writer_factory: this package's description of the format.
    """

    def __init__(self, j_bulk_writer_factory: Any) -> None:
        super().__init__(j_bulk_writer_factory)


class RowDataBulkWriterFactory(BulkWriterFactory):
    """A bulk writer for rows of one type.

    Args:
        j_bulk_writer_factory: this package's description of the format.
        row_type: the type of the rows.
    """

    def __init__(self, j_bulk_writer_factory: Any, row_type: Any) -> None:
        super().__init__(j_bulk_writer_factory)
        self._row_type = row_type

    def get_row_type(self) -> Any:
        """Return the type of the rows."""
        return self._row_type


class RowFieldExtractorSchema(SerializationSchema):
    """Writes one field of each row; the field holds bytes.

    Args:
        field_index: which field, from 0.

    Raises:
        ValueError: the index is negative.
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, got: {field_index}")
        super().__init__()
        self._field_index = field_index

    def _serializer(self) -> Callable[[Any], bytes]:
        return self._field

    def _field(self, value: object) -> bytes:
        if value is None:
            return b""
        if not isinstance(value, Row):
            raise TypeError(f"RowFieldExtractorSchema takes Row, not {type(value).__name__}")
        index = self._field_index
        if index >= len(value):
            raise ValueError(f"Cannot access field {index} in Row with arity {len(value)}")
        item = value[index]
        if item is not None and not isinstance(item, bytes | bytearray):
            raise ValueError(
                f"Field at index {index} must be of type bytes, but was {type(item).__name__}"
            )
        return b"" if item is None else bytes(item)


def _checked_bytes(value: object) -> bytes | None:
    if value is not None and not isinstance(value, bytes | bytearray):
        raise TypeError(f"ByteArraySchema writes bytes, not {type(value).__name__}: {value!r}")
    return value if value is None else bytes(value)


def _refuse_bare_schema(schema: object) -> NoReturn:
    refuse_java(
        f"{type(schema).__name__} as a serialization format",
        reason=JAVA_OBJECT,
        instead="Use SimpleStringSchema, ByteArraySchema, or a JSON, CSV or Avro row schema.",
    )
