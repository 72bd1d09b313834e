"""The format ``raw``: a message is the value of the only column."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, one_of, text
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common._charset import Charset, find_charset

_CHARSET = Option("charset", text, default="UTF-8")
_ENDIANNESS = Option("endianness", one_of("big-endian", "little-endian"), default="big-endian")
_PACKED = {
    Root.BOOLEAN: "?",
    Root.TINYINT: "b",
    Root.SMALLINT: "h",
    Root.INT: "i",
    Root.BIGINT: "q",
    Root.FLOAT: "f",
    Root.DOUBLE: "d",
}


class RawFormat(Format):
    """Messages that are a value, and nothing around it."""

    identifier = "raw"
    options = (_CHARSET, _ENDIANNESS)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of messages."""
        return _RawDecoder(_only_type(schema), *_details(options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        return _RawEncoder(_only_type(schema), *_details(options))


class _RawDecoder(Decoder):
    def __init__(self, kind: LogicalType, charset: Charset, order: str) -> None:
        self._kind, self._charset, self._order = kind, charset, order

    def load(self) -> Decode:
        read = self._reader()

        def decode(messages: Iterator[object]) -> Iterator[Any]:
            for message in messages:
                yield (None if message is None else read(message),)

        return decode

    def _reader(self) -> Callable[[Any], object]:
        root, charset = self._kind.root, self._charset
        if root in logical.CHARACTERS:
            return lambda m: m if type(m) is str else m.decode(charset.codec, "replace")
        if root in logical.BYTES_LIKE:
            return lambda m: m.encode() if type(m) is str else bytes(m)
        packed = struct.Struct(self._order + _PACKED[root])

        def unpack(message: Any) -> Any:
            content = message.encode() if type(message) is str else message
            if len(content) != packed.size:
                raise ValueError(
                    f"Size of data received for deserializing {root.value} type is not "
                    f"{packed.size}."
                )
            return packed.unpack(content)[0]

        return unpack


class _RawEncoder(Encoder):
    def __init__(self, kind: LogicalType, charset: Charset, order: str) -> None:
        self._kind, self._charset, self._order = kind, charset, order

    def load(self) -> Encode:
        write = self._writer()

        def encode(rows: Iterator[Any]) -> Iterator[Any]:
            for (value,) in rows:
                yield None if value is None else write(value)

        return encode

    def _writer(self) -> Callable[[Any], object]:
        root = self._kind.root
        if root in logical.CHARACTERS:
            codec = self._charset.codec
            return (lambda v: v) if codec == "utf-8" else self._charset.encode
        if root in logical.BYTES_LIKE:
            return bytes
        return struct.Struct(self._order + _PACKED[root]).pack


def _only_type(schema: Schema) -> LogicalType:
    if len(schema) != 1:
        raise ValidationError(
            "The 'raw' format only supports single physical column. "
            f"However the defined schema contains multiple physical columns: {list(schema.names)}"
        )
    (kind,) = schema.types
    if kind.root not in {*_PACKED, *logical.CHARACTERS, *logical.BYTES_LIKE}:
        raise ValidationError(f"The 'raw' format doesn't supports '{kind}' as column type.")
    return kind


def _details(options: TableOptions) -> tuple[Charset, str]:
    try:
        charset = find_charset(options[_CHARSET])
    except ValueError as error:
        raise ValidationError(f"Unsupported 'raw.charset' name: {error}") from None
    return charset, "<" if options[_ENDIANNESS] == "little-endian" else ">"
