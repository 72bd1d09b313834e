"""The formats ``debezium-json``, ``canal-json``, ``maxwell-json`` and ``ogg-json``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    ChangeKinds,
    Schema,
)
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, one_of, text
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark._sql.tables.formats.json import (
    WRONG,
    JsonEncoder,
    corrupt,
    lenient_row_reader,
    loading,
    row_reader,
)

_IGNORE_ERRORS = Option("ignore-parse-errors", boolean, default=False)
_TIMESTAMPS = Option("timestamp-format.standard", one_of("sql", "iso-8601"), default="sql")
_IGNORE_NULLS = Option("encode.ignore-null-fields", boolean, default=False)
_SCHEMA_INCLUDE = Option("schema-include", boolean, default=False)
_DATABASE = Option("database.include", text)
_TABLE = Option("table.include", text)

Change = tuple[int, Any]
"""A kind, and the object that a row is read of."""

Split = Callable[[Any], Iterable[Change]]
"""Finds the changes of a message."""


class _ChangelogJson(Format):
    """Messages of changes. A subclass says what they look like."""

    options: ClassVar[tuple[Option[Any], ...]] = (_IGNORE_ERRORS, _TIMESTAMPS, _IGNORE_NULLS)
    _added = "{{{0}}}"
    _removed = "{{{0}}}"

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of changes."""
        options.note(self.options)
        return _ChangesDecoder(schema, self._split(options), bool(options[_IGNORE_ERRORS]))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of changes."""
        options.note(self.options)
        iso = options[_TIMESTAMPS] == "iso-8601"
        rows = JsonEncoder(schema, iso, bool(options[_IGNORE_NULLS]))
        return _ChangesEncoder(rows, self._added, self._removed)

    def _split(self, options: TableOptions) -> Split:
        raise NotImplementedError


class DebeziumJson(_ChangelogJson):
    """Objects with ``before``, ``after`` and ``op``."""

    identifier = "debezium-json"
    options = (*_ChangelogJson.options, _SCHEMA_INCLUDE)
    _added = '{{"before":null,"after":{0},"op":"c"}}'
    _removed = '{{"before":{0},"after":null,"op":"d"}}'

    def _split(self, options: TableOptions) -> Split:
        return _debezium_payload if options[_SCHEMA_INCLUDE] else debezium_changes


class OggJson(_ChangelogJson):
    """Objects with ``before``, ``after`` and ``op_type``."""

    identifier = "ogg-json"
    _added = '{{"before":null,"after":{0},"op_type":"I"}}'
    _removed = '{{"before":{0},"after":null,"op_type":"D"}}'

    def _split(self, options: TableOptions) -> Split:
        return _ogg


class MaxwellJson(_ChangelogJson):
    """Objects with ``data``, ``old`` and ``type``."""

    identifier = "maxwell-json"
    _added = '{{"data":{0},"type":"insert"}}'
    _removed = '{{"data":{0},"type":"delete"}}'

    def _split(self, options: TableOptions) -> Split:
        return _maxwell


class CanalJson(_ChangelogJson):
    """Objects with several rows in ``data``, and ``old`` and ``type``."""

    identifier = "canal-json"
    options = (*_ChangelogJson.options, _DATABASE, _TABLE)
    _added = '{{"data":[{0}],"type":"INSERT"}}'
    _removed = '{{"data":[{0}],"type":"DELETE"}}'

    def _split(self, options: TableOptions) -> Split:
        return CanalChanges(options[_DATABASE], options[_TABLE])


class _ChangesDecoder(Decoder):
    changes = ChangeKinds.ALL

    def __init__(self, schema: Schema, split: Split, lenient: bool) -> None:
        self._schema, self._split, self._lenient = schema, split, lenient

    def load(self) -> Decode:
        split, lenient = self._split, self._lenient
        read = lenient_row_reader(self._schema) if lenient else row_reader(self._schema)
        loads = loading(self._schema)

        def decode(messages: Iterator[Any]) -> Iterator[Any]:
            for message in messages:
                if not message:
                    continue
                try:
                    content = loads(message.decode() if type(message) is bytes else message)
                    found = [(kind, read(each)) for kind, each in split(content)]
                except WRONG as error:
                    if lenient:
                        continue
                    raise corrupt("Corrupt JSON message", message, error) from None
                yield from found

        return decode


class _ChangesEncoder(Encoder):
    accepts = ChangeKinds.ALL

    def __init__(self, rows: JsonEncoder, added: str, removed: str) -> None:
        self._rows, self._added, self._removed = rows, added, removed

    def load(self) -> Encode:
        write = self._rows.load()
        added, removed = self._added.format, self._removed.format

        def encode(changes: Iterator[Any]) -> Iterator[Any]:
            for kind, row in changes:
                (written,) = write(iter((row,)))
                yield removed(written) if kind & 1 else added(written)

        return encode


def _debezium_payload(message: Any) -> Iterable[Change]:
    return debezium_changes(message["payload"])


def debezium_changes(message: Any) -> Iterable[Change]:
    """Find the changes of a message of Debezium: an object with before, after and op.

    Raises:
        ValueError: the operation is unknown, or what was before is missing.
    """
    operation, before, after = message["op"], message.get("before"), message.get("after")
    if operation in {"c", "r"}:
        return [(INSERT, after)]
    return _replaced(operation, "u", "d", before, after)


def _ogg(message: Any) -> Iterable[Change]:
    operation, before, after = message["op_type"], message.get("before"), message.get("after")
    if operation == "I":
        return [(INSERT, after)]
    return _replaced(operation, "U", "D", before, after)


def _replaced(
    operation: str, update: str, delete: str, before: object, after: object
) -> Iterable[Change]:
    if operation not in {update, delete}:
        raise ValueError(f"unknown operation {operation!r}")
    if before is None:
        raise ValueError(
            'The "before" field of an update or delete message is null: set the replica '
            "identity of the table to FULL"
        )
    if operation == delete:
        return [(DELETE, before)]
    return [(UPDATE_BEFORE, before), (UPDATE_AFTER, after)]


def _maxwell(message: Any) -> Iterable[Change]:
    return _typed(message["type"].upper(), [message["data"]], [message.get("old") or {}])


class CanalChanges:
    """Finds the changes of a message of Canal.

    Args:
        database: a regular expression of the databases that count, or None for all.
        table: one of the tables that count, or None for all.
    """

    def __init__(self, database: str | None, table: str | None) -> None:
        self._database, self._table = database, table

    def __call__(self, message: Any) -> Iterable[Change]:
        """Return the changes."""
        if not _matches(self._database, message, "database"):
            return ()
        if not _matches(self._table, message, "table"):
            return ()
        kind = message["type"]
        if kind == "CREATE":
            return ()
        data = message["data"]
        return _typed(kind, data, message.get("old") or [{}] * len(data))


def _matches(pattern: str | None, message: Any, field: str) -> bool:
    return pattern is None or re.fullmatch(pattern, message[field]) is not None


def _typed(kind: str, data: list[Any], old: list[Any]) -> Iterable[Change]:
    if kind == "INSERT":
        return [(INSERT, row) for row in data]
    if kind == "DELETE":
        return [(DELETE, row) for row in data]
    if kind != "UPDATE":
        raise ValueError(f'unknown "type" value {kind!r}')
    changes: list[Change] = []
    for row, before in zip(data, old, strict=True):
        changes += [(UPDATE_BEFORE, {**row, **before}), (UPDATE_AFTER, row)]
    return changes
