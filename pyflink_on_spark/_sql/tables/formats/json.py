"""JSON: objects as rows, and the formats of change logs: Debezium, Canal, Maxwell, Ogg."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    ChangeKinds,
    Schema,
)
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, one_of, text
from pyflink_on_spark._sql.tables.formats.format import (
    Decode,
    Decoder,
    Encode,
    Encoder,
    Format,
    check_has_text,
    timestamp_reader,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import parse_decimal
from pyflink_on_spark._sql.types.json_text import Style, row_writer
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import cut_micros, parse_date, parse_time, parse_timestamp

Read = Callable[[Any], Any]
WRONG = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""The exceptions for malformed messages."""
_BLANK = " \t\n\r"
_MARK = "\ufeff"
_SHOWN = 200


class Number(str):
    """The text of a number, as it is written."""

    __slots__ = ()


class JsonDecoder(Decoder):
    """Reads an object of each message.

    Args:
        schema: the columns.
        strict: whether a missing field is an error.
        lenient: whether a field with an error is NULL, and a message without fields is left out.
    """

    def __init__(self, schema: Schema, strict: bool, lenient: bool) -> None:
        self._schema, self._strict, self._lenient = schema, strict, lenient

    def projected(self, columns: tuple[int, ...]) -> JsonDecoder:
        """Return a decoder that reads some columns only."""
        return JsonDecoder(self._schema.projected(columns), self._strict, self._lenient)

    def load(self) -> Decode:
        """Return the function that decodes messages."""
        loads = loading(self._schema)
        if self._lenient:
            return _lenient(self._schema, loads)
        return _decoding(row_reader(self._schema, self._strict), loads, self._schema)


def row_reader(schema: Schema, strict: bool = False) -> Read:
    """Return the conversion of a JSON object to a row.

    Args:
        schema: the columns.
        strict: whether a missing field is an error.
    """
    bindings = {f"r{i}": _reader(kind, strict) for i, kind in enumerate(schema.types)}
    fields = []
    for index, (name, kind) in enumerate(zip(schema.names, schema.types)):
        found = f"value[{name!r}]" if strict else f"get({name!r})"
        read, usual = f"r{index}(v)", _usual(kind)
        shown = read if usual is None else f"v if {usual} else {read}"
        fields.append(f"(None if (v := {found}) is None else {shown}), ")
    source = f"def row(value):\n    get = value.get\n    return ({''.join(fields)})\n"
    return Program(source, "row", bindings, own=True).load().function


def _usual(kind: LogicalType) -> str | None:
    """Return the source of a condition: the value ``v`` of JSON is one of a type as it is."""
    if kind.root in logical.CHARACTERS:
        return "type(v) is str"
    bits = logical.INTEGER_BITS.get(kind.root)
    if bits is not None:
        half = 1 << (bits - 1)
        return f"type(v) is int and {-half} <= v < {half}"
    return "type(v) is float" if kind.root is Root.DOUBLE else None


def lenient_row_reader(schema: Schema) -> Read:
    """Return the conversion of a JSON object to a row, in which a field with an error is NULL."""
    read, read_fields = row_reader(schema), _field_reader(schema)

    def read_row(value: object) -> object:
        try:
            return read(value)
        except WRONG:
            return read_fields(value)

    return read_row


def _field_reader(schema: Schema) -> Read:
    readers = [reader(kind, False, lenient=True) for kind in schema.types]
    return _row_reader(list(zip(schema.names, readers)), strict=False)


def loading(schema: Schema) -> Callable[[str], object]:
    """Return the parser of the first value in a text; the rest of the text is ignored."""
    # The text of a number with a point matters only where it is kept.
    exact = any(map(keeps_text, schema.types))
    decoder = json.JSONDecoder(parse_float=Number if exact else None)
    scan: Callable[[str, int], tuple[object, int]] = decoder.scan_once  # type: ignore[attr-defined]

    def loads(text: str) -> Any:
        try:
            return scan(text, 0)[0]
        except StopIteration:
            return decoder.raw_decode(text.removeprefix(_MARK).lstrip(_BLANK))[0]

    return loads


def _decoding(read: Read, loads: Callable[[str], object], schema: Schema) -> Decode:
    def decode(messages: Iterator[Any]) -> Iterator[Any]:
        for message in messages:
            value = None
            try:
                value = loads(message.decode() if type(message) is bytes else message)
                row = read(value)
            except WRONG as error:
                if not message:
                    continue
                if type(value) is not list:
                    raise _not_a_row(schema, value, message, error) from None
                yield from _rows(read, value, message, schema)
            else:
                yield row

    return decode


def _lenient(schema: Schema, loads: Callable[[str], object]) -> Decode:
    """Return the function that decodes messages, field by field only where one has an error."""
    read, read_fields = row_reader(schema), _field_reader(schema)

    def decode(messages: Iterator[Any]) -> Iterator[Any]:
        for message in messages:
            value = None
            try:
                value = loads(message.decode() if type(message) is bytes else message)
                row = read(value)
            except WRONG:
                yield from _left(read_fields, value)
            else:
                yield row

    return decode


def _left(read_fields: Read, value: object) -> Iterator[object]:
    """Return the rows of a value that is no object, or one with an error."""
    for each in value if type(value) is list else (value,):
        if type(each) is dict:
            yield read_fields(each)


def _rows(
    read: Read, values: list[object], message: str | bytes, schema: Schema
) -> Iterator[object]:
    """Read the rows of a message that is an array."""
    for value in values:
        try:
            yield read(value)
        except WRONG as error:
            raise _not_a_row(schema, value, message, error) from None


def _not_a_row(schema: Schema, value: object, message: str | bytes, error: Exception) -> ValueError:
    """Return the error for a message, with the name of the wrong field if there is one."""
    what = "Failed to deserialize JSON"
    if type(value) is dict:
        for name, kind in zip(schema.names, schema.types):
            try:
                reader(kind, strict=False)(value.get(name))
            except WRONG:
                shown = corrupt(what, message, error)
                return ValueError(f"{shown}. Fail to deserialize at field: {name}.")
    return corrupt(what, message, error)


def corrupt(what: str, message: str | bytes, error: Exception) -> ValueError:
    """Return the error for a message that cannot be read."""
    text = message.decode(errors="replace") if isinstance(message, bytes) else message
    if isinstance(error, RecursionError):
        return ValueError(f"{what} '{text[:_SHOWN]}...': it is nested too deeply")
    if isinstance(error, KeyError):
        return ValueError(f"{what} '{text}': the field {error} is missing")
    if isinstance(error, AttributeError):
        return ValueError(f"{what} '{text}': a value that is no object stands for a row")
    return ValueError(f"{what} '{text}': {error}")


def keeps_text(kind: LogicalType) -> bool:
    """True for a type whose values depend on the text of a number."""
    return kind.root in {Root.DECIMAL, *logical.CHARACTERS} or any(map(keeps_text, kind.children))


def reader(kind: LogicalType, strict: bool, lenient: bool = False) -> Read:
    """Return the conversion of a JSON value; null is NULL.

    Args:
        kind: the type.
        strict: whether a missing field is an error.
        lenient: whether a value with an error is NULL.
    """
    read = _reader(kind, strict, lenient)
    if not lenient:
        return lambda value: None if value is None else read(value)

    def read_or_null(value: object) -> object:
        try:
            return None if value is None else read(value)
        except WRONG:
            return None

    return read_or_null


def _reader(kind: LogicalType, strict: bool, lenient: bool = False) -> Read:
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        precision, scale = kind.precision or 10, kind.scale or 0
        return lambda value: parse_decimal(str(value), scale, precision)
    if root is Root.TIME:
        digits = kind.precision or 0
        return lambda value: cut_micros(_found(parse_time(value.removesuffix("Z")), value), digits)
    if root in logical.TIMESTAMPS:
        digits = kind.precision or 0
        return timestamp_reader(
            digits,
            lambda value: cut_micros(
                _found(parse_timestamp(value.removesuffix("Z")), value), digits
            ),
        )
    inner = [reader(child, strict, lenient) for child in kind.children]
    if root is Root.ARRAY:
        return lambda value: tuple(map(inner[0], _list(value)))
    if root in {Root.MAP, Root.MULTISET}:
        item = inner[1] if root is Root.MAP else int
        return lambda value: {key: item(entry) for key, entry in value.items()}
    return _row_reader(list(zip(kind.names, inner)), strict)


def _row_reader(fields: list[tuple[str, Read]], strict: bool) -> Read:
    if strict:
        return lambda value: tuple([read(value[name]) for name, read in fields])

    def read_row(value: Any) -> tuple[object, ...]:
        get = value.get
        return tuple([read(get(name)) for name, read in fields])

    return read_row


def _found(value: int | None, written: object) -> int:
    if value is None:
        raise ValueError(f"{written!r} is no date or time")
    return value


def _list(value: object) -> list[object]:
    if type(value) is not list:
        raise TypeError(f"{_text(value)!r} is no array")
    found: list[Any] = value
    return found


def _text(value: object) -> str:
    if type(value) is str:
        return value
    if type(value) is Number:
        return str(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _integer(bits: int) -> Read:
    half = 1 << (bits - 1)

    def read(value: Any) -> int:
        number = value if type(value) is int else int(float(value) if "." in value else value)
        if not -half <= number < half:
            raise ValueError(f"{number} does not fit {bits} bits")
        return number

    return read


def _boolean(value: object) -> bool:
    if type(value) is bool:
        return value
    return str(value).strip().lower() == "true"


_SIMPLE: dict[Root, Read] = {
    Root.BOOLEAN: _boolean,
    **{root: _integer(bits) for root, bits in logical.INTEGER_BITS.items()},
    Root.FLOAT: lambda value: to_single(float(value)),
    Root.DOUBLE: float,
    Root.CHAR: _text,
    Root.VARCHAR: _text,
    Root.BINARY: base64.b64decode,
    Root.VARBINARY: base64.b64decode,
    Root.DATE: lambda value: _found(parse_date(value), value),
}


class JsonEncoder(Encoder):
    """Writes an object for each row.

    Args:
        schema: the columns.
        iso: whether there is a T between date and time.
        ignore_nulls: whether fields that are NULL are left out.
    """

    def __init__(self, schema: Schema, iso: bool, ignore_nulls: bool) -> None:
        self._schema, self._style = schema, Style(iso, ignore_nulls)

    def load(self) -> Encode:
        """Return the function that encodes rows."""
        kind = logical.row(self._schema.names, self._schema.types)
        write = row_writer(kind, self._style)

        def encode(rows: Iterator[object]) -> Iterator[Any]:
            return map(write, rows)

        return encode


_FAIL_ON_MISSING = Option("fail-on-missing-field", boolean, default=False)
_IGNORE_ERRORS = Option("ignore-parse-errors", boolean, default=False)
_TIMESTAMPS = Option("timestamp-format.standard", one_of("sql", "iso-8601"), default="sql")
_IGNORE_NULLS = Option("encode.ignore-null-fields", boolean, default=False)


class JsonFormat(Format):
    """Objects with a field for each column."""

    identifier = "json"
    options = (_FAIL_ON_MISSING, _IGNORE_ERRORS, _TIMESTAMPS, _IGNORE_NULLS)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of messages."""
        check_has_text(schema)
        self._note_all(options)
        strict, lenient = options[_FAIL_ON_MISSING], options[_IGNORE_ERRORS]
        if strict and lenient:
            raise ValidationError(
                "fail-on-missing-field and ignore-parse-errors shouldn't both be true."
            )
        return JsonDecoder(schema, bool(strict), bool(lenient))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        check_has_text(schema)
        self._note_all(options)
        iso = options[_TIMESTAMPS] == "iso-8601"
        return JsonEncoder(schema, iso, bool(options[_IGNORE_NULLS]))

    def _note_all(self, options: TableOptions) -> None:
        options.note(self.options)


_SCHEMA_INCLUDE = Option("schema-include", boolean, default=False)
_DATABASE = Option("database.include", text)
_TABLE = Option("table.include", text)

Change = tuple[int, Any]
"""A kind, and the object that a row is read of."""

Split = Callable[[object], Iterable[Change]]
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

        def decode(messages: Iterator[Any]) -> Iterator[object]:
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

        def encode(changes: Iterator[Any]) -> Iterator[object]:
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
