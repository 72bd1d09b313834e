"""JSON messages: rows read and written as Flink's schemas for messages do."""

from __future__ import annotations

import base64
import datetime
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NoReturn

from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.file_format import excerpt, null_if_corrupt
from pyflink_on_spark._connectors.formats.row_types import (
    WHOLE_NUMBERS,
    refuse_field,
    whole_number_text,
)
from pyflink_on_spark._runtime.types.codec import double_text
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark._runtime.types.converters import codec_of
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    basic_type_of,
    element_type_of,
    key_type_of,
    value_type_of,
)
from pyflink_on_spark.common.types import Row, RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.types.codec import Convert


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_JSON_BLANK = " \t\n\r"
_BOOLEAN = BasicTypeInfo.BOOLEAN_TYPE_INFO()
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_ESCAPES: dict[int, str] = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    ord(character): escape
    for character, escape in zip(
        '"\\\n\r\t\b\f', ('\\"', "\\\\", "\\n", "\\r", "\\t", "\\b", "\\f")
    )
}
Write = Callable[[Any], str]
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - instants are in UTC
_FRACTIONS = frozenset((BasicType.FLOAT, BasicType.DOUBLE))
_BEYOND = ("allOf", "anyOf", "not", "extends", "disallow")
_STRING_FORMATS = {
    "date": Types.SQL_DATE,
    "time": Types.SQL_TIME,
    "date-time": Types.SQL_TIMESTAMP,
}
_NULL = "null"


def json_row_reader(
    row_type: RowTypeInfo, fail_on_missing_field: bool, ignore_errors: bool
) -> Callable[[bytes], object]:
    """Return a function that makes a row of a JSON object, and None of ``null``.

    Args:
        row_type: the type of the row; the names of its fields are the keys of the object.
        fail_on_missing_field: whether the object must have all keys.
        ignore_errors: whether a field or a message that cannot be read becomes None.

    Raises:
        ValueError: the returned function raises it for a message that cannot be read.
    """
    convert = _Converters(fail_on_missing_field, ignore_errors).row(row_type)
    decoder = json.JSONDecoder(
        parse_float=_exact_decimal if _has_decimal(row_type) else None, parse_constant=_no_constant
    )

    def read(data: bytes) -> object:
        try:
            node = _parse(decoder, data)
            return None if node is None else convert(node)
        except (ValueError, RecursionError) as error:
            if ignore_errors:
                return None
            raise ValueError(f"Failed to deserialize JSON {excerpt(data)}: {error}") from error

    return read


def _parse(decoder: json.JSONDecoder, data: bytes) -> object:
    """Return the first value of a message; as in Flink, the rest is ignored."""
    plain = data[:1] == b"{" and data[1:2] != b"\0"
    text = data.decode() if plain else data.decode(json.detect_encoding(data)).lstrip(_JSON_BLANK)
    return decoder.raw_decode(text)[0]


def _exact_decimal(text: str) -> Decimal:
    return _EXACT.normalize(Decimal(text))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _has_decimal(type_info: TypeInformation) -> bool:
    if isinstance(type_info, BasicTypeInfo):
        return basic_type_of(type_info) is BasicType.BIG_DEC
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return any(map(_has_decimal, type_info.get_field_types()))
    if isinstance(type_info, MapTypeInfo):
        return _has_decimal(value_type_of(type_info))
    element_type = _element_type(type_info)
    return element_type is not None and _has_decimal(element_type)


def _element_type(type_info: TypeInformation) -> Any:
    if isinstance(type_info, ListTypeInfo):
        return type_info.elem_type
    return getattr(type_info, "_element_type", None)


class _Converters:
    """Makes functions that convert parsed JSON, but not None, to values of declared types."""

    def __init__(self, fail_on_missing_field: bool, ignore_errors: bool) -> None:
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_errors = ignore_errors

    def row(self, row_type: RowTypeInfo) -> Convert:
        names = list(row_type.get_field_names())
        fields = [(name, self._field(kind)) for name, kind in _fields(row_type)]
        strict = self._fail_on_missing_field

        def convert(node: object) -> object:
            if type(node) is not dict:
                raise ValueError(f"{_shown(node)} is not an object")
            values = []
            for name, one in fields:
                value = node.get(name)
                if value is not None:
                    try:
                        value = one(value)
                    except ValueError as error:
                        raise ValueError(f"field {name!r}: {error}") from error
                elif strict and name not in node:
                    raise ValueError(f"Could not find field with name '{name}'.")
                values.append(value)
            return new_row(names, values, RowKind.INSERT)

        return convert

    def _field(self, type_info: TypeInformation) -> Convert:
        """Return the converter of a field; it returns None after an error that is ignored."""
        convert = self._converter(type_info)
        return null_if_corrupt(convert) if self._ignore_errors else convert

    def _converter(self, type_info: TypeInformation) -> Convert:
        if isinstance(type_info, RowTypeInfo):
            return self.row(type_info)
        if isinstance(type_info, TupleTypeInfo):
            return self._tuple(type_info)
        if isinstance(type_info, MapTypeInfo):
            return self._map(type_info)
        if isinstance(type_info, PrimitiveArrayTypeInfo):
            return self._primitive_array(type_info)
        if isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo, ListTypeInfo)):
            return self._list(_element_type(type_info))
        if isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) in _BASIC:
            return _BASIC[basic_type_of(type_info)]
        for kind, convert in _TEMPORAL.items():
            if isinstance(type_info, kind):
                return convert
        return refuse_field(type_info, "JSON")

    def _tuple(self, type_info: TupleTypeInfo) -> Convert:
        fields = [
            (f"f{index}", self._field(kind))
            for index, kind in enumerate(type_info.get_field_types())
        ]

        def convert(node: object) -> tuple[object, ...]:
            if type(node) is not dict:
                raise ValueError(f"{_shown(node)} is not an object with f0, f1, ...")
            items = ((node.get(name), one) for name, one in fields)
            return tuple([None if item is None else one(item) for item, one in items])

        return convert

    def _map(self, type_info: MapTypeInfo) -> Convert:
        key = self._field(key_type_of(type_info))
        value = self._field(value_type_of(type_info))

        def convert(node: object) -> dict[object, object]:
            if type(node) is not dict:  # as in Flink, any other value is an empty map
                return {}
            return {key(name): None if item is None else value(item) for name, item in node.items()}

        return convert

    def _list(self, element_type: TypeInformation) -> Convert:
        element = self._field(element_type)

        def convert(node: object) -> list[object]:
            if type(node) is not list:
                raise ValueError(f"{_shown(node)} is not an array")
            return [None if item is None else element(item) for item in node]

        return convert

    def _primitive_array(self, type_info: PrimitiveArrayTypeInfo) -> Convert:
        element_type = element_type_of(type_info)
        if (
            isinstance(element_type, BasicTypeInfo)
            and basic_type_of(element_type) is BasicType.BYTE
        ):
            return _bytes
        of_nullable = self._list(element_type)
        zero = False if element_type == _BOOLEAN else 0

        def convert(node: object) -> list[object]:
            return [zero if item is None else item for item in of_nullable(node)]

        return convert


def _fields(row_type: RowTypeInfo) -> list[tuple[str, TypeInformation]]:
    return list(zip(row_type.get_field_names(), row_type.get_field_types()))


def _shown(node: object) -> str:
    text = node_text(node)
    return text if len(text) <= 50 else f"{text[:50]}..."


def _trimmed_text(node: object) -> str:
    return java_parsing.trimmed(scalar_text(node))


def _string(node: object) -> str:
    if type(node) is str:
        return node
    return node_text(node) if isinstance(node, (list, dict)) else scalar_text(node)


def _boolean(node: object) -> bool:
    return node if type(node) is bool else java_parsing.is_true(_trimmed_text(node))


def _small_integer(bits: int) -> Convert:
    parse = java_parsing.bounded_whole_number(bits)
    return lambda node: parse(scalar_text(node))


def _integer(bits: int) -> Convert:
    """Return a converter that truncates numbers to integers, and parses texts exactly."""
    parse = java_parsing.bounded_whole_number(bits)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def convert(node: Any) -> int:
        kind = type(node)
        if kind is int and low <= node <= high:
            return int(node)
        if kind in (float, Decimal) and low <= node <= high:
            return int(node)
        return parse(scalar_text(node))

    return convert


def _double(node: object) -> float:
    return node if type(node) is float else java_parsing.double(scalar_text(node))


def _single(node: object) -> float:
    return java_parsing.to_single(_double(node))


def _decimal(node: object) -> Decimal:
    return node if type(node) is Decimal else java_parsing.decimal(_trimmed_text(node))


def _character(node: object) -> str | None:
    if type(node) is str and len(node) <= 1:
        return node or None
    if type(node) is int and 0 <= node <= 0xFFFF:
        return chr(node)
    raise ValueError(f"{_shown(node)} is not a character")


def _bytes(node: object) -> bytes | None:
    if type(node) is not str:
        return None  # as in Flink
    return base64.b64decode(node.rstrip(), validate=True)


def _date(node: object) -> datetime.date:
    return java_parsing.iso_date(scalar_text(node))


def _without_zone(node: object, form: str) -> str:
    text = scalar_text(node)
    if not text.endswith("Z") or text.count(":") != 2:
        raise ValueError(f"{text!r} is not a time in UTC such as {form}")
    return text[:-1]


def _time(node: object) -> datetime.time:
    since_midnight, nanos = java_parsing.iso_time(_without_zone(node, "12:34:56Z"))
    if nanos:
        raise ValueError(
            "Invalid time format. Only a time in UTC timezone without milliseconds is supported "
            "yet."
        )
    return java_parsing.time_of_day(since_midnight)


def _timestamp(node: object) -> datetime.datetime:
    moment, nanos = java_parsing.iso_timestamp(_without_zone(node, "2020-01-31T12:34:56Z"))
    return moment.replace(microsecond=nanos // 1_000_000 * 1000)


def _instant(node: object) -> Instant:
    if type(node) is str:
        return java_parsing.iso_instant(node)
    if isinstance(node, (int, float, Decimal)) and not isinstance(node, bool):
        seconds = Decimal(scalar_text(node))
        whole = math.floor(seconds)
        return Instant(whole, int((seconds - whole) * 1_000_000_000))
    raise ValueError(f"{_shown(node)} is not a point in time")


_BASIC: dict[BasicType, Convert] = {
    BasicType.STRING: _string,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _small_integer(8),
    BasicType.SHORT: _small_integer(16),
    BasicType.INT: _integer(32),
    BasicType.LONG: _integer(64),
    BasicType.BIG_INT: lambda node: java_parsing.whole_number(_trimmed_text(node)),
    BasicType.FLOAT: _single,
    BasicType.DOUBLE: _double,
    BasicType.BIG_DEC: _decimal,
    BasicType.CHAR: _character,
    BasicType.INSTANT: _instant,
}
_TEMPORAL: dict[type, Convert] = {
    DateTypeInfo: _date,
    TimeTypeInfo: _time,
    TimestampTypeInfo: _timestamp,
}


def string_text(text: str) -> str:
    """Return a text with quotes."""
    written: str = encode_basestring(text)
    if "\\u" in written:
        return f'"{text.translate(_ESCAPES)}"'
    return written


def string_bytes_text(text: str) -> str:
    """Return a text with quotes for encoding; a character beyond U+FFFF becomes two escapes."""
    written = string_text(text)
    return written if written.isascii() else _ASTRAL.sub(_surrogates, written)


def scalar_text(node: object) -> str:
    """Return the text of a scalar value, without quotes; an empty text for a container."""
    if isinstance(node, str):
        return node
    if isinstance(node, (list, dict)):
        return ""
    return node_text(node)


def node_text(node: Any) -> str:
    """Return the text of a parsed value."""
    if isinstance(node, str):
        return string_text(node)
    if node is None:
        return "null"
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, float):
        return double_text(node)
    if isinstance(node, (int, Decimal)):
        return str(node)
    if isinstance(node, list):
        return f"[{','.join(map(node_text, node))}]"
    items = (f"{string_text(key)}:{node_text(value)}" for key, value in node.items())
    return f"{{{','.join(items)}}}"


def _surrogates(match: re.Match[str]) -> str:
    code = ord(match.group()) - 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"


def json_row_writer(row_type: RowTypeInfo) -> Callable[[object], bytes]:
    """Return a function that writes the fields of a row by position as a JSON object.

    Args:
        row_type: the type of the row; the names of its fields become the keys of the object.

    Raises:
        TypeError: the returned function raises it for an element that is not a row.
        ValueError: the returned function raises it for a row that does not fit its type.
    """
    write = _row(row_type)

    def write_row(row: object) -> bytes:
        if not isinstance(row, Row):
            raise TypeError(f"JSON is written of rows, not of {type(row).__name__}: {row!r}")
        try:
            return write(row).encode()
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"Could not serialize row '{row}'. Make sure that the schema matches the input: "
                f"{error}"
            ) from error

    return write_row


def _writer(type_info: object) -> Write:
    for kind, make in _MAKERS.items():
        if isinstance(type_info, kind):
            return make(type_info)
    return refuse_field(type_info, "JSON")


def _object(names: Sequence[str], types: Sequence[object]) -> Callable[[Sequence[object]], str]:
    heads = [f"{string_bytes_text(name)}:" for name in names]
    writers = [_writer(kind) for kind in types]

    def write(values: Sequence[object]) -> str:
        fields = [
            f"{head}null" if value is None else head + one(value)
            for head, one, value in zip(heads, writers, values, strict=True)
        ]
        return f"{{{','.join(fields)}}}"

    return write


def _row(type_info: RowTypeInfo) -> Write:
    write = _object(list(type_info.get_field_names()), type_info.get_field_types())
    return lambda row: write(row._values)


def _tuple(type_info: TupleTypeInfo) -> Write:
    types = type_info.get_field_types()
    size = len(types)
    names = [*(f"f{index}" for index in range(size)), "arity"]
    write = _object(names, [*types, BasicTypeInfo.INT_TYPE_INFO()])
    return lambda values: write((*values, size))


def _map(type_info: MapTypeInfo) -> Write:
    value = _writer(value_type_of(type_info))
    key_text = codec_of(key_type_of(type_info)).text

    def write(items: dict[object, object]) -> str:
        fields = [
            f"{string_bytes_text(key_text(key))}:{'null' if item is None else value(item)}"
            for key, item in items.items()
        ]
        return f"{{{','.join(fields)}}}"

    return write


def _array(element_type: TypeInformation) -> Write:
    element = _writer(element_type)

    def write(items: Sequence[object]) -> str:
        texts = ["null" if item is None else element(item) for item in items]
        return f"[{','.join(texts)}]"

    return write


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> Write:
    element_type = element_type_of(type_info)
    if isinstance(element_type, BasicTypeInfo) and basic_type_of(element_type) is BasicType.BYTE:
        return lambda data: f'"{base64.b64encode(bytes(data)).decode()}"'
    return _array(element_type)


def _basic(type_info: BasicTypeInfo) -> Write:
    basic = basic_type_of(type_info)
    if basic in (BasicType.STRING, BasicType.CHAR):
        return string_bytes_text
    if basic is BasicType.BOOLEAN:
        return lambda value: "true" if value else "false"
    if basic is BasicType.INSTANT:
        return _instant_text
    text = codec_of(type_info).text
    if basic in _FRACTIONS:
        return _fraction(text)
    return whole_number_text if basic in WHOLE_NUMBERS else text


def _fraction(text: Write) -> Write:
    def write(value: object) -> str:
        written = text(value)
        return written if written[-1] not in "Ny" else f'"{written}"'  # NaN and Infinity

    return write


def _instant_text(value: Instant) -> str:
    moment = _EPOCH + datetime.timedelta(
        seconds=value.seconds, milliseconds=value.nanos // 1_000_000
    )
    return f'"{_seconds_text(moment)}Z"'


def _seconds_text(moment: datetime.datetime) -> str:
    whole = moment.replace(microsecond=0).isoformat()
    if not moment.microsecond:
        return whole
    return f"{whole}.{moment.microsecond:06d}".rstrip("0")


_MAKERS: dict[type, Callable[[Any], Write]] = {
    BasicTypeInfo: _basic,
    RowTypeInfo: _row,
    TupleTypeInfo: _tuple,
    MapTypeInfo: _map,
    PrimitiveArrayTypeInfo: _primitive_array,
    BasicArrayTypeInfo: lambda type_info: _array(element_type_of(type_info)),
    ObjectArrayTypeInfo: lambda type_info: _array(element_type_of(type_info)),
    ListTypeInfo: lambda type_info: _array(type_info.elem_type),
    DateTypeInfo: lambda _: lambda value: f'"{value.isoformat()}"',
    TimeTypeInfo: lambda _: lambda value: f'"{value.isoformat("seconds")}Z"',
    TimestampTypeInfo: lambda _: lambda value: f'"{_seconds_text(value)}Z"',
}


def row_type_of_json_schema(text: str) -> RowTypeInfo:
    """Return the row type of the objects that a schema describes.

    Args:
        text: a JSON schema whose root is an object.

    Raises:
        ValueError: the schema is not valid JSON, does not describe an object, or has no
            counterpart as a row type.
        TypeError: a field can only be null, for which there is no type.
    """
    try:
        root = json.loads(text) if text else {}
    except ValueError as error:
        raise ValueError(f"Invalid JSON schema. {error}") from None
    found = _Schema(root).type_of(root, "<root>", ())
    if not isinstance(found, RowTypeInfo):
        raise ValueError(f"Only RowTypeInfo is supported: the schema describes {found}")
    return found


class _Schema:
    """The document of a schema, which may contain references into itself."""

    def __init__(self, root: object) -> None:
        self._root = root

    def type_of(self, node: object, place: str, seen: tuple[str, ...]) -> TypeInformation:
        """Return the type that a node describes; ``seen`` are the references on the way."""
        if not isinstance(node, dict):
            raise ValueError(f"No type could be found in node: {place}")
        types = list(self._types(node, place, seen))
        if any(word in node for word in _BEYOND):
            raise ValueError(
                "Union types are such as 'allOf', 'anyOf' etc. and extending are not supported "
                f"yet, in node: {place}"
            )
        if not types:
            raise ValueError(f"No type could be found in node: {place}")
        return _the_one(types, place)

    def _types(
        self, node: dict[str, object], place: str, seen: tuple[str, ...]
    ) -> Iterator[TypeInformation | None]:
        """Yield the types that a node allows; None for null."""
        target: dict[str, object] = {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            target, seen = self._resolve(reference, seen), (*seen, reference)
        if "type" in node:
            declared = node["type"]
            for name in declared if isinstance(declared, list) else [declared]:
                if isinstance(name, str):
                    yield self._named(name, node, place, seen)
        elif "type" in target:
            yield self.type_of(target, f"$ref {reference}", seen)
        choices = node.get("oneOf", target.get("oneOf") if "type" not in target else None)
        if isinstance(choices, list):
            for index, choice in enumerate(choices):
                if choice == {"type": _NULL}:
                    yield None
                else:
                    yield self.type_of(choice, f"{place}/oneOf[{index}]", seen)

    def _named(
        self, name: str, node: dict[str, object], place: str, seen: tuple[str, ...]
    ) -> TypeInformation | None:
        if name == _NULL:
            return None
        if name == "boolean":
            return Types.BOOLEAN()
        if name in ("number", "integer"):
            return Types.BIG_DEC()
        if name == "string":
            return _string_type(node, place)
        if name == "object":
            return self._object(node, place, seen)
        if name == "array":
            return self._array(node, place, seen)
        raise ValueError(f"Unsupported type '{name}' in node: {place}")

    def _object(
        self, node: dict[str, object], place: str, seen: tuple[str, ...]
    ) -> TypeInformation:
        fields = node.get("properties", {})
        if not isinstance(fields, dict):
            raise ValueError(f"'properties' has to be an object in node: {place}")
        types = [self.type_of(field, f"{place}/{name}", seen) for name, field in fields.items()]
        return Types.ROW_NAMED(list(fields), types)

    def _array(self, node: dict[str, object], place: str, seen: tuple[str, ...]) -> TypeInformation:
        items = node.get("items")
        if isinstance(items, dict):
            element = self.type_of(items, f"{place}/items", seen)
            if element == Types.STRING():
                return Types.BASIC_ARRAY(element)
            return Types.OBJECT_ARRAY(element)
        if not isinstance(items, list):
            raise ValueError(f"Arrays must specify an 'items' property in node: {place}")
        if node.get("additionalItems") is True:
            raise ValueError(f"An array tuple must not allow additional items in node: {place}")
        return Types.ROW(
            [self.type_of(item, f"{place}/items[{i}]", seen) for i, item in enumerate(items)]
        )

    def _resolve(self, reference: str, seen: tuple[str, ...]) -> dict[str, object]:
        if not reference.startswith("#"):
            raise ValueError(
                "Only JSON schemes with simple references (one indirection in the same document) "
                f"are supported yet. But was: {reference}"
            )
        if reference in seen:
            raise ValueError(f"A row cannot contain itself, as with the reference {reference}")
        if len(reference) > 1 and not reference.startswith("#/"):
            raise ValueError(f"Could not find reference: {reference}, which is not a JSON pointer")
        found = self._root
        for part in reference.removeprefix("#").removeprefix("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if name and isinstance(found, dict) else found
        if not isinstance(found, dict):
            raise ValueError(f"Could not find reference: {reference}")
        return found


def _string_type(node: dict[str, Any], place: str) -> TypeInformation:
    if "format" in node:
        return _STRING_FORMATS.get(node["format"], Types.STRING)()
    encoding = node.get("contentEncoding")
    if encoding is None:
        return Types.STRING()
    if encoding != "base64":
        raise ValueError(f"Invalid encoding '{encoding}' in node: {place}")
    return Types.PRIMITIVE_ARRAY(Types.BYTE())


def _the_one(types: list[TypeInformation | None], place: str) -> TypeInformation:
    """Return the only type that is not null."""
    kinds: list[TypeInformation] = []
    for found in types:
        if found is not None and found not in kinds:
            kinds.append(found)
    if len(kinds) > 1:
        raise ValueError(
            f"Union types with more than just a null type are not supported yet, in node: {place}"
        )
    if not kinds:
        raise TypeError(f"null alone is not a type that fields can have, in node: {place}")
    return kinds[0]
