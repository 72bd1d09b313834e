"""The format ``protobuf``: a message of Protocol Buffers for each row."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from pyflink_on_spark._connectors.formats.file_format import excerpt
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, text
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder, Format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_MESSAGE = Option("message-class-name", text, required=True)
_DESCRIPTORS = Option("descriptor-file", text)
_IGNORE_ERRORS = Option("ignore-parse-errors", boolean, default=False)
_DEFAULTS = Option("read-default-values", boolean, default=False)
_NULL_TEXT = Option("write-null-string-literal", text, default="")

Convert = Callable[[Any], Any]


class ProtobufFormat(Format):
    """Messages of a class that ``protoc`` has made, or that a file of descriptors describes."""

    identifier = "protobuf"
    options = (_MESSAGE, _DESCRIPTORS, _IGNORE_ERRORS, _DEFAULTS, _NULL_TEXT)

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return the decoder of messages."""
        options.note(self.options)
        message = _Message(options[_MESSAGE], _content(options[_DESCRIPTORS]))
        decoder = _ProtobufDecoder(
            schema, message, bool(options[_DEFAULTS]), bool(options[_IGNORE_ERRORS])
        )
        decoder.load()  # refuses columns that the message does not have
        return decoder

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        options.note(self.options)
        message = _Message(options[_MESSAGE], _content(options[_DESCRIPTORS]))
        encoder = _ProtobufEncoder(schema, message, options[_NULL_TEXT])
        encoder.load()
        return encoder


def _content(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValidationError(
            f"The file of protobuf's descriptors cannot be read: {error}"
        ) from None


class _Message:
    """The class of messages; picklable.

    Args:
        name: a class of Python, as ``package.module_pb2.Message``; with descriptors the name of
            the message, or of Java's class for it.
        descriptors: what ``protoc --include_imports --descriptor_set_out`` writes, or None.
    """

    def __init__(self, name: str, descriptors: bytes | None) -> None:
        self._name, self._descriptors = name, descriptors

    def load(self) -> Any:
        """Return the class.

        Raises:
            ValidationError: there is no such class.
        """
        if self._descriptors is not None:
            return self._described(self._descriptors)
        module, _, name = self._name.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), name)
            found.DESCRIPTOR.fields_by_name  # noqa: B018 - a message has it
        except (ImportError, AttributeError, ValueError):
            raise ValidationError(
                f"There is no class of protobuf messages '{self._name}'. There are no Java classes "
                "here: name the class that protoc has generated for Python, as "
                "'package.module_pb2.Message', or give the file of 'protoc --include_imports "
                "--descriptor_set_out' with 'protobuf.descriptor-file'."
            ) from None
        return found

    def _described(self, content: bytes) -> object:
        files = descriptor_pb2.FileDescriptorSet()
        pool = descriptor_pool.DescriptorPool()
        try:
            files.ParseFromString(content)
            for file in files.file:
                pool.Add(file)
        except (DecodeError, TypeError) as error:
            raise ValidationError(
                f"The file of protobuf's descriptors is broken: {error}"
            ) from None
        for file in files.file:
            for full, java in _names(file):
                if self._name in {full, full.rpartition(".")[2], java}:
                    return message_factory.GetMessageClass(pool.FindMessageTypeByName(full))
        raise ValidationError(f"The file of descriptors has no protobuf message '{self._name}'.")


def _names(file: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of each message of a file, and that of its class in Java."""
    package = file.options.java_package or file.package
    outer = "" if file.options.java_multiple_files else file.options.java_outer_classname
    java = ".".join(part for part in (package, outer) if part)
    stack = [(message, file.package, java, "$" if outer else ".") for message in file.message_type]
    while stack:
        message, before, java_before, joint = stack.pop()
        full = f"{before}.{message.name}" if before else message.name
        java_name = f"{java_before}{joint}{message.name}" if java_before else message.name
        yield full, java_name
        stack += [(each, full, java_name, "$") for each in message.nested_type]


class _ProtobufDecoder(Decoder):
    def __init__(self, schema: Schema, message: _Message, defaults: bool, lenient: bool) -> None:
        self._schema, self._message = schema, message
        self._defaults, self._lenient = defaults, lenient

    def load(self) -> Decode:
        made, lenient = self._message.load(), self._lenient
        schema = self._schema
        read = _row_reader(made.DESCRIPTOR, schema.names, schema.types, self._defaults)

        def decode(messages: Iterator[Any]) -> Iterator[Any]:
            for message in messages:
                if message is None:
                    continue
                try:
                    row = read(made.FromString(message))
                except DecodeError as error:
                    if lenient:
                        continue
                    raise ValueError(
                        f"Failed to deserialize PB object {excerpt(message)}: {error}"
                    ) from None
                yield row

        return decode


class _ProtobufEncoder(Encoder):
    def __init__(self, schema: Schema, message: _Message, null_text: str) -> None:
        self._schema, self._message, self._null_text = schema, message, null_text

    def load(self) -> Encode:
        made, schema = self._message.load(), self._schema
        fill = _row_writer(made.DESCRIPTOR, schema.names, schema.types, self._null_text)

        def encode(rows: Iterator[object]) -> Iterator[object]:
            for row in rows:
                message = made()
                fill(message, row)
                yield message.SerializeToString()

        return encode


_NUMBERS = {
    "CPPTYPE_BOOL": Root.BOOLEAN,
    "CPPTYPE_INT32": Root.INT,
    "CPPTYPE_UINT32": Root.INT,
    "CPPTYPE_INT64": Root.BIGINT,
    "CPPTYPE_UINT64": Root.BIGINT,
    "CPPTYPE_FLOAT": Root.FLOAT,
    "CPPTYPE_DOUBLE": Root.DOUBLE,
}


def _fields(descriptor: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the fields of a message that columns have the names of.

    Raises:
        ValidationError: there is none for one of them.
    """
    known = descriptor.fields_by_name
    for name in names:
        if name not in known:
            raise ValidationError(
                f"Column {name} does not exist in the protobuf message {descriptor.full_name}."
            )
    return [known[name] for name in names]


def _is_map(field: Any) -> bool:
    inner = field.message_type
    return inner is not None and bool(inner.GetOptions().map_entry)


def _wrong(field: Any, kind: LogicalType) -> ValidationError:
    return ValidationError(
        f"Protobuf field type does not match column type: the field {field.full_name} cannot be "
        f"read or written as {kind}."
    )


def _check_simple(field: Any, kind: LogicalType) -> None:
    """Check that a value of one field fits a column.

    Raises:
        ValidationError: it does not.
    """
    if field.enum_type is not None:
        fits = kind.root in {*logical.CHARACTERS, *logical.INTEGERS}
    elif field.cpp_type == field.CPPTYPE_STRING:
        texts = field.type == field.TYPE_STRING
        fits = kind.root in (logical.CHARACTERS if texts else logical.BYTES_LIKE)
    else:
        wanted = next(
            (root for name, root in _NUMBERS.items() if getattr(field, name) == field.cpp_type),
            None,
        )
        fits = kind.root is wanted
    if not fits:
        raise _wrong(field, kind)


# -- reading -------------------------------------------------------------------------------------


def _row_reader(
    descriptor: object, names: tuple[str, ...], kinds: tuple[LogicalType, ...], defaults: bool
) -> Convert:
    columns = [
        (field.name, _reader(field, kind, defaults), _presence(field, defaults))
        for field, kind in zip(_fields(descriptor, names), kinds)
    ]

    def read(message: object) -> Any:
        return tuple(
            convert(getattr(message, name)) if present is None or present(message) else None
            for name, convert, present in columns
        )

    return read


def _presence(field: Any, defaults: bool) -> Callable[[Any], object] | None:
    """Return a test for a field of a message; None if it is always there."""
    name = field.name
    if defaults:
        return None
    if field.is_repeated:
        return lambda message: len(getattr(message, name)) > 0
    return (lambda message: message.HasField(name)) if field.has_presence else None


def _reader(field: Any, kind: LogicalType, defaults: bool) -> Convert:
    if _is_map(field):
        if kind.root is not Root.MAP:
            raise _wrong(field, kind)
        entry = field.message_type.fields_by_name
        key = _one_reader(entry["key"], kind.children[0], defaults)
        value = _one_reader(entry["value"], kind.children[1], defaults)
        return lambda found: {key(k): value(v) for k, v in found.items()}
    if field.is_repeated:
        if kind.root is not Root.ARRAY:
            raise _wrong(field, kind)
        one = _one_reader(field, kind.children[0], defaults)
        return lambda found: tuple(map(one, found))
    return _one_reader(field, kind, defaults)


def _one_reader(field: Any, kind: LogicalType, defaults: bool) -> Convert:
    if field.message_type is not None:
        if kind.root is not Root.ROW:
            raise _wrong(field, kind)
        return _row_reader(field.message_type, kind.names, kind.children, defaults)
    _check_simple(field, kind)
    if field.enum_type is not None and kind.root in logical.CHARACTERS:
        names = {number: each.name for number, each in field.enum_type.values_by_number.items()}
        return lambda number: names.get(number, "UNRECOGNIZED")
    bits = logical.INTEGER_BITS.get(kind.root)
    if bits is None or field.cpp_type not in {field.CPPTYPE_UINT32, field.CPPTYPE_UINT64}:
        return lambda value: value
    half = 1 << (bits - 1)
    return lambda value: value - 2 * half if value >= half else value


# -- writing -------------------------------------------------------------------------------------


def _row_writer(
    descriptor: object, names: tuple[str, ...], kinds: tuple[LogicalType, ...], null_text: str
) -> Callable[[object, object], None]:
    columns = [
        _writer(field, kind, null_text) for field, kind in zip(_fields(descriptor, names), kinds)
    ]

    def fill(message: object, row: Any) -> None:
        for write, value in zip(columns, row):
            if value is not None:
                write(message, value)

    return fill


def _writer(field: Any, kind: LogicalType, null_text: str) -> Callable[[object, object], None]:
    name = field.name
    if _is_map(field):
        return _map_writer(field, kind, null_text)
    if field.is_repeated:
        if kind.root is not Root.ARRAY:
            raise _wrong(field, kind)
        return _array_writer(field, kind.children[0], null_text)
    if field.message_type is not None:
        if kind.root is not Root.ROW:
            raise _wrong(field, kind)
        fill = _row_writer(field.message_type, kind.names, kind.children, null_text)

        def write_row(message: object, value: object) -> None:
            inner = getattr(message, name)
            inner.SetInParent()
            fill(inner, value)

        return write_row
    convert = _simple_writer(field, kind, null_text)
    return lambda message, value: setattr(message, name, convert(value))


def _array_writer(field: Any, kind: LogicalType, null_text: str) -> Callable[[Any, Any], None]:
    name = field.name
    if field.message_type is None:
        convert = _simple_writer(field, kind, null_text)
        return lambda message, value: getattr(message, name).extend(map(convert, value))
    if kind.root is not Root.ROW:
        raise _wrong(field, kind)
    fill = _row_writer(field.message_type, kind.names, kind.children, null_text)

    def write_rows(message: object, value: Any) -> None:
        items = getattr(message, name)
        for row in value:
            fill(items.add(), () if row is None else row)

    return write_rows


def _map_writer(field: Any, kind: LogicalType, null_text: str) -> Callable[[object, object], None]:
    if kind.root is not Root.MAP:
        raise _wrong(field, kind)
    name, entry = field.name, field.message_type.fields_by_name
    key, value_field = _simple_writer(entry["key"], kind.children[0], null_text), entry["value"]
    inner = kind.children[1]
    if value_field.message_type is None:
        convert = _simple_writer(value_field, inner, null_text)

        def write_values(message: object, value: Any) -> None:
            found = getattr(message, name)
            for k, v in value.items():
                found[key(k)] = convert(v)

        return write_values
    if inner.root is not Root.ROW:
        raise _wrong(field, kind)
    fill = _row_writer(value_field.message_type, inner.names, inner.children, null_text)

    def write_rows(message: object, value: Any) -> None:
        found = getattr(message, name)
        for k, v in value.items():
            fill(found[key(k)], () if v is None else v)

    return write_rows


def _simple_writer(field: Any, kind: LogicalType, null_text: str) -> Convert:
    """Return the conversion of a value; NULL, in an array or a map, is a default value."""
    _check_simple(field, kind)
    if field.enum_type is not None:
        numbers = {name: each.number for name, each in field.enum_type.values_by_name.items()}
        first = field.enum_type.values[0].number
        if kind.root in logical.CHARACTERS:
            # As Flink: a text that is no name of the enum is its first value.
            return lambda value: numbers.get(value, first)
        return lambda value: first if value is None else value
    if field.cpp_type == field.CPPTYPE_STRING:
        empty: object = null_text if field.type == field.TYPE_STRING else b""
        return lambda value: empty if value is None else value
    bits = logical.INTEGER_BITS.get(kind.root)
    if bits is None:
        return lambda value: 0 if value is None else value
    if field.cpp_type in {field.CPPTYPE_UINT32, field.CPPTYPE_UINT64}:
        mask = (1 << bits) - 1
        return lambda value: (value or 0) & mask
    return lambda value: value or 0
