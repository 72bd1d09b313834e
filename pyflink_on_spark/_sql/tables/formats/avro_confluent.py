"""The formats ``avro-confluent`` and ``debezium-avro-confluent``.

The schemas of their records are in Confluent's schema registry.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from pyflink_on_spark._connectors.formats.avro import fastavro, parsed, reading
from pyflink_on_spark._connectors.formats.file_format import excerpt
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, text
from pyflink_on_spark._sql.tables.formats.avro import (
    named_as,
    record_reader,
    record_schema,
    record_writer,
)
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark._sql.tables.formats.json import debezium_changes
from pyflink_on_spark._sql.types import logical

_URL = Option("url", text, required=True)
_SUBJECT = Option("subject", text)
_CREDENTIALS = Option("basic-auth.credentials-source", text)
_USER = Option("basic-auth.user-info", text)
_HEADER = struct.Struct(">bI")
_TIMEOUT = 30
_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_BROKEN = (ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError)


class ConfluentAvroFormat(Format):
    """Messages with the number of their schema, which a registry knows."""

    identifier = "avro-confluent"
    options: ClassVar[tuple[Option[Any], ...]] = (_URL, _SUBJECT, _CREDENTIALS, _USER)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of messages."""
        options.note((_SUBJECT,))
        return ConfluentDecoder(schema, _definition(schema), _registry(options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        subject = options[_SUBJECT]
        if subject is None:
            raise ValidationError(
                f"Option '{self.identifier}.subject' is required for serialization"
            )
        return ConfluentEncoder(schema, _definition(schema), _registry(options), subject)


class DebeziumAvroFormat(ConfluentAvroFormat):
    """Such messages with ``before``, ``after`` and ``op``."""

    identifier = "debezium-avro-confluent"

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of changes."""
        return _DebeziumDecoder(super().decoder(_envelope(schema), options, time_zone))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of changes."""
        return _DebeziumEncoder(super().encoder(_envelope(schema), options, time_zone))


_ENVELOPE = ("before", "after", "op")


def _envelope(schema: Schema) -> Schema:
    row = logical.row(schema.names, schema.types)
    return Schema(_ENVELOPE, (row, row, logical.STRING))


class _DebeziumDecoder(Decoder):
    changes = ChangeKinds.ALL

    def __init__(self, inner: Decoder) -> None:
        self._inner = inner

    def load(self) -> Decode:
        decode = self._inner.load()

        def changes(messages: Iterator[object]) -> Iterator[object]:
            for envelope in decode(messages):
                yield from debezium_changes(dict(zip(_ENVELOPE, envelope)))

        return changes


class _DebeziumEncoder(Encoder):
    accepts = ChangeKinds.ALL

    def __init__(self, inner: Encoder) -> None:
        self._inner = inner

    def load(self) -> Encode:
        encode = self._inner.load()

        def envelopes(changes: Iterator[Any]) -> Iterator[object]:
            for kind, row in changes:
                yield (row, None, "d") if kind & 1 else (None, row, "c")

        return lambda changes: encode(envelopes(changes))


def _definition(schema: Schema) -> object:
    fastavro()
    return record_schema(schema, legacy=True)


def _registry(options: TableOptions) -> Registry:
    user, source = options[_USER], options[_CREDENTIALS]
    if source not in {None, "USER_INFO"} or (source is None) is not (user is None):
        raise ValidationError(
            "'avro-confluent.basic-auth.user-info' goes with "
            "'avro-confluent.basic-auth.credentials-source' = 'USER_INFO', and no other source of "
            "credentials is supported."
        )
    return Registry(tuple(options[_URL].split(",")), user)


@dataclass(frozen=True)
class Registry:
    """A client of a schema registry.

    Args:
        urls: of its servers, which are asked in turn until one answers.
        user: the user's name and password, with a colon between them, or None.
    """

    urls: tuple[str, ...]
    user: str | None

    def schema(self, number: int) -> Any:
        """Return the schema of a number.

        Raises:
            OSError: no server answers, or there is no such schema.
        """
        return json.loads(self._ask(f"schemas/ids/{number}")["schema"])

    def register(self, subject: str, definition: object) -> int:
        """Return the number of a schema, which the registry learns if it does not know it.

        Raises:
            OSError: no server answers, or the registry refuses the schema.
        """
        content = json.dumps({"schema": json.dumps(definition)}).encode()
        found: int = self._ask(f"subjects/{quote(subject, safe='')}/versions", content)["id"]
        return found

    def _ask(self, path: str, content: bytes | None = None) -> Any:
        failure: OSError | None = None
        for url in self.urls:
            request = urllib.request.Request(
                f"{url.strip().rstrip('/')}/{path}", content, {"Accept": _MEDIA_TYPE}
            )
            if content is not None:
                request.add_header("Content-Type", _MEDIA_TYPE)
            if self.user is not None:
                token = base64.b64encode(self.user.encode()).decode()
                request.add_header("Authorization", f"Basic {token}")
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                with error:
                    reason = error.read().decode(errors="replace")
                raise OSError(
                    f"the schema registry refuses {path}: {error.code} {reason}"
                ) from error
            except OSError as error:
                failure = error
        raise OSError(f"no schema registry answers at {', '.join(self.urls)}: {failure}")


class ConfluentDecoder(Decoder):
    """Reads a record of each message, with the schema with which it was written.

    Args:
        schema: the columns.
        definition: Avro's schema of them.
        registry: knows the schemas.
    """

    def __init__(self, schema: Schema, definition: object, registry: Registry) -> None:
        self._schema, self._definition, self._registry = schema, definition, registry

    def load(self) -> Decode:
        """Return the function that decodes messages."""
        definition, registry = self._definition, self._registry
        convert = record_reader(self._schema.names, self._schema.types)
        known: dict[int, tuple[Any, Any, Any]] = {}

        def read(message: bytes) -> Any:
            magic, number = _HEADER.unpack_from(message)
            if magic:
                raise ValueError("Unknown data format. Magic number does not match")
            if number not in known:
                written = parsed(registry.schema(number))
                own = parsed(named_as(definition, written))
                known[number] = reading(written).schemaless_reader, written, own
            read_record, *schemas = known[number]
            return convert(read_record(io.BytesIO(message[_HEADER.size :]), *schemas))

        def decode(messages: Iterator[Any]) -> Iterator[Any]:
            for message in messages:
                if message is None:
                    continue
                try:
                    row = read(message)
                except RecursionError as error:
                    raise ValueError(
                        f"Failed to deserialize Avro record {excerpt(message)}: "
                        "it is nested too deeply"
                    ) from error
                except (*_BROKEN, struct.error) as error:
                    reason = str(error) or "it ends too soon"
                    raise ValueError(
                        f"Failed to deserialize Avro record {excerpt(message)}: {reason}"
                    ) from error
                yield row

        return decode


class ConfluentEncoder(Encoder):
    """Writes a record of each row, after the number of its schema.

    Args:
        schema: the columns.
        definition: Avro's schema of them.
        registry: learns the schema with the first row.
        subject: under which the registry has it.
    """

    def __init__(
        self, schema: Schema, definition: object, registry: Registry, subject: str
    ) -> None:
        self._schema, self._definition = schema, definition
        self._registry, self._subject = registry, subject

    def load(self) -> Encode:
        """Return the function that encodes rows."""
        write_record, definition = fastavro().schemaless_writer, parsed(self._definition)
        convert = record_writer(self._schema.names, self._schema.types)
        header: bytes | None = None

        def encode(rows: Iterator[object]) -> Iterator[object]:
            nonlocal header
            for row in rows:
                if header is None:
                    number = self._registry.register(self._subject, self._definition)
                    header = _HEADER.pack(0, number)
                buffer = io.BytesIO()
                buffer.write(header)
                write_record(buffer, definition, convert(row))
                yield buffer.getvalue()

        return encode
