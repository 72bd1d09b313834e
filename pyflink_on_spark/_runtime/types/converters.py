"""Codecs of declared types, and the conversions where PyFlink's data leaves the Python worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.java_hashes import java_hash
from pyflink_on_spark._runtime.types import codec, composite
from pyflink_on_spark._runtime.types.codec import (
    Codec,
    ConversionError,
    Convert,
    ConvertColumn,
    NullPart,
    NullValueError,
    Part,
    accept_null,
    error_class_for,
    plain_error,
)
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    basic_type_of,
    element_type_of,
    key_type_of,
    time_type_of,
    value_type_of,
    wrapped_type_of,
)
from pyflink_on_spark.common.types import Row

_LONGEST_REPR = 120


def explain(codec: Codec, value: object, cause: BaseException) -> ConversionError:
    """Return the error for a value that a function emitted."""
    return _explain(codec, value, cause, "convert", "parts")


def explain_source(codec: Codec, value: object, cause: BaseException) -> ConversionError:
    """Return the error for a value that was given to ``from_collection``."""
    return _explain(codec, value, cause, "source", "source_parts")


def _explain(
    codec: Codec, value: object, cause: BaseException, converter: str, parts: str
) -> ConversionError:
    part, cause = _culprit(Part("", codec, value, codec.nullable), cause, converter, parts)
    where = f"{part.codec.name} at {part.step}" if part.step else codec.name
    what = f"expected {where}, got {type(part.value).__name__} {bounded_repr(part.value)}"
    whole = f"; the declared type is {codec.name}, the value {bounded_repr(value)}"
    message = f"{what}: {_reason(part, cause)}{whole if part.step else ''}"
    if isinstance(cause, ConversionError):
        error_class = type(cause)
    else:
        error_class = NullValueError if _is_null(part, cause) else error_class_for(cause)
    return error_class(message)


def _is_null(part: Part, cause: BaseException) -> bool:
    """True for a None with which PyFlink fails in Java, or with the TypeError of a number."""
    return isinstance(cause, NullPart) or (
        part.value is None and not (part.step and isinstance(cause, AttributeError))
    )


def _reason(part: Part, cause: BaseException) -> str:
    if part.value is None:
        return "None is allowed in the fields of a ROW and in streams without a declared type"
    return str(cause)


def _culprit(
    part: Part, cause: BaseException, converter: str, parts: str
) -> tuple[Part, BaseException]:
    """Return the innermost part that cannot be converted, with its path from the outside."""
    for inner in _parts_of(part, parts):
        if inner.value is None and inner.nullable:
            continue
        convert: Callable[[object], object] = getattr(inner.codec, converter)
        try:
            convert(inner.value)
        except Exception as error:  # noqa: BLE001 - this one is looked for
            if isinstance(error, NullPart) and inner.unfit_is_null:
                continue
            deeper = inner._replace(step=part.step + inner.step)
            return _culprit(deeper, error, converter, parts)
    return part, cause


def _parts_of(part: Part, parts: str) -> Iterable[Part]:
    try:
        return list(getattr(part.codec, parts)(part.value))
    except Exception:  # noqa: BLE001 - the value itself is the culprit then
        return ()


def bounded_repr(value: object) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a broken repr must not hide the error
        text = f"<{type(value).__name__}, whose repr fails: {error}>"
    return text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 3]}..."


_CHUNK = 1000


def one_by_one(codec: Codec, *, collected: bool = False) -> Convert:
    """Return a function that converts one value, and explains what is wrong with it.

    Args:
        codec: the declared type's.
        collected: whether the value is delivered to ``execute_and_collect``.
    """
    convert, nullable = codec.convert, codec.nullable
    collect = _collect(codec) if collected else None

    def convert_one(value: object) -> object:
        if value is None and nullable:
            return None
        try:
            converted = convert(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None
        return converted if collect is None else collect(converted)

    return convert_one


class StreamConverter:
    """Converts a stream; the values before a bad value are emitted.

    Args:
        codec: the declared type's.
        collected: whether the values are delivered to ``execute_and_collect``.
    """

    def __init__(self, codec: Codec, *, collected: bool = False) -> None:
        self.codec = codec
        self.one = one_by_one(codec, collected=collected)
        """Converts one value."""
        self.changes_results = collected and _collect(codec) is not None
        """True if a converted value has another form for ``execute_and_collect``."""
        self._column = codec.column or codec.snapshot_column
        if collected and self._column is not None:
            self._column = _collecting(codec, self._column)
        self._snapshot = _explained(codec, codec.snapshot) if codec.column is None else None

    def __call__(self, elements: Iterator[object]) -> Iterator[object]:
        """Return the converted elements."""
        if self._column is None:
            return map(self.one, elements)
        return self._in_chunks(elements, self._column)

    def _in_chunks(self, elements: Iterator[object], column: ConvertColumn) -> Iterator[object]:
        elements = iter(elements) if self._snapshot is None else map(self._snapshot, elements)
        while True:
            chunk: list[object] = []
            failure: BaseException | None = None
            try:
                chunk.extend(islice(elements, _CHUNK))
            except BaseException as error:  # noqa: BLE001 - what came before it goes out first
                failure = error
            if chunk:
                yield from _converted(chunk, column, self.one)
            if failure is not None:
                raise failure
            if len(chunk) < _CHUNK:
                return


def _explained(codec: Codec, snapshot: Convert | None) -> Convert | None:
    if snapshot is None:
        return None

    def explained(value: object) -> object:
        try:
            return snapshot(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain(codec, value, cause) from None

    return explained


def _converted(
    chunk: list[object], column: ConvertColumn, convert_one: Convert
) -> Iterator[object]:
    try:
        converted = column(chunk)
        if len(converted) == len(chunk):  # a StopIteration would have ended it before
            return iter(converted)
    except Exception:  # noqa: BLE001 - a None, or a value that does not fit: find out which
        pass
    return map(convert_one, chunk)


def _collecting(codec: Codec, column: ConvertColumn) -> ConvertColumn:
    one = _collect(codec)
    if one is None:
        return column
    collect = accept_null(one)
    return lambda values: list(map(collect, column(values)))


def _collect(codec: Codec) -> Convert | None:
    return codec.collect_alone or codec.collect


_MAX_TUPLE_FIELDS = 25

_BASIC: dict[BasicType, Callable[[], Codec]] = {
    BasicType.STRING: codec.string,
    BasicType.CHAR: codec.character,
    BasicType.BOOLEAN: codec.boolean,
    BasicType.BYTE: lambda: codec.integer("Byte", "b"),
    BasicType.SHORT: lambda: codec.integer("Short", "h"),
    BasicType.INT: lambda: codec.integer("Integer", "i"),
    BasicType.LONG: lambda: codec.integer("Long", "q"),
    BasicType.BIG_INT: codec.big_integer,
    BasicType.FLOAT: codec.single,
    BasicType.DOUBLE: codec.double,
    BasicType.BIG_DEC: codec.decimal,
    BasicType.INSTANT: lambda: codec.instant("Instant"),
}

_LOCAL_TIME: dict[LocalTimeTypeInfo.TimeType, Callable[[str], Codec]] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: codec.local_date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: codec.local_time,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: codec.local_date_time,
}

_PRIMITIVES = frozenset(
    (
        BasicType.BOOLEAN,
        BasicType.BYTE,
        BasicType.SHORT,
        BasicType.INT,
        BasicType.LONG,
        BasicType.FLOAT,
        BasicType.DOUBLE,
        BasicType.CHAR,
    )
)


def codec_of(type_info: object) -> Codec:
    """Return the codec of a declared type.

    Raises:
        TypeError: it is no type information, or an array of elements that cannot be in one.
        ValueError: a row's names do not go with its types, or a tuple has too many fields.
    """
    for kind, build in _BUILDERS.items():
        if isinstance(type_info, kind):
            return build(type_info)
    raise TypeError(f"Unsupported type_info {type_info!r}: use pyflink.common.Types")


def _basic(type_info: BasicTypeInfo) -> Codec:
    return _BASIC[basic_type_of(type_info)]()


def _is_byte(type_info: TypeInformation) -> bool:
    return isinstance(type_info, BasicTypeInfo) and basic_type_of(type_info) is BasicType.BYTE


def _array_of_basic(type_info: Any, allowed: frozenset[BasicType]) -> None:
    element = element_type_of(type_info)
    if not isinstance(element, BasicTypeInfo) or basic_type_of(element) not in allowed:
        raise TypeError(f"Invalid element type for a primitive array: {type_info}")


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> Codec:
    _array_of_basic(type_info, _PRIMITIVES)
    if _is_byte(element_type_of(type_info)):
        return composite.byte_string(str(type_info))
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=False)


def _basic_array(type_info: BasicArrayTypeInfo) -> Codec:
    _array_of_basic(type_info, _PRIMITIVES | {BasicType.STRING})
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=True)


def _object_array(type_info: ObjectArrayTypeInfo) -> Codec:
    element = codec_of(element_type_of(type_info))
    return composite.array(str(type_info), element, element_nullable=True)


def _list(type_info: ListTypeInfo) -> Codec:
    if _is_byte(type_info.elem_type):
        return composite.byte_string(str(type_info))
    return composite.plain_list(str(type_info), codec_of(type_info.elem_type))


def _map(type_info: MapTypeInfo) -> Codec:
    key, value = key_type_of(type_info), value_type_of(type_info)
    key_hash = java_hash(key).plain if isinstance(key, BasicTypeInfo) else None
    return composite.mapping(str(type_info), codec_of(key), codec_of(value), key_hash)


def _tuple(type_info: TupleTypeInfo) -> Codec:
    fields = type_info.get_field_types()
    if len(fields) > _MAX_TUPLE_FIELDS:
        raise ValueError(
            f"The tuple arity must be in [0, {_MAX_TUPLE_FIELDS}], and it is {len(fields)}: "
            "use Types.ROW for more fields"
        )
    return composite.tuples(str(type_info), [codec_of(field) for field in fields])


def _row(type_info: RowTypeInfo) -> Codec:
    names, fields = list(type_info.get_field_names()), type_info.get_field_types()
    if len(names) != len(fields):
        raise ValueError(
            f"Number of field types and names is different: {len(fields)} types, names {names}"
        )
    if len(set(names)) != len(names):
        raise ValueError(f"Field names are not unique: {names}")
    return composite.rows(str(type_info), names, [codec_of(field) for field in fields])


def _local_time(type_info: LocalTimeTypeInfo) -> Codec:
    return _LOCAL_TIME[time_type_of(type_info)](str(type_info))


_BUILDERS: dict[type, Callable[[Any], Codec]] = {
    BasicTypeInfo: _basic,
    TupleTypeInfo: _tuple,
    RowTypeInfo: _row,
    ListTypeInfo: _list,
    MapTypeInfo: _map,
    PrimitiveArrayTypeInfo: _primitive_array,
    BasicArrayTypeInfo: _basic_array,
    ObjectArrayTypeInfo: _object_array,
    DateTypeInfo: lambda type_info: codec.date(str(type_info)),
    TimeTypeInfo: lambda type_info: codec.time(str(type_info)),
    TimestampTypeInfo: lambda type_info: codec.timestamp(str(type_info)),
    LocalTimeTypeInfo: _local_time,
    PickledBytesTypeInfo: lambda type_info: composite.pickled(str(type_info)),
    ExternalTypeInfo: lambda type_info: codec_of(wrapped_type_of(type_info)),
}


__all__ = [
    "ConversionError",
    "StreamConverter",
    "boundary_converter",
    "collect_converter",
    "java_text",
    "key_converter",
    "plain_error",
    "print_text",
    "source_converter",
]


def _is_untyped(type_info: object) -> bool:
    return type_info is None or isinstance(type_info, PickledBytesTypeInfo)


def source_converter(type_info: TypeInformation) -> Callable[[object], object]:
    """Return the conversion that ``from_collection`` applies to a value.

    As in Flink a number that is no exact match for its field becomes None where None is possible.

    Raises:
        ConversionError: from the function returned; the value does not fit.
    """
    if _is_untyped(type_info):
        return lambda value: value
    codec = codec_of(type_info)

    def convert(value: object) -> object:
        try:
            return codec.source(value)
        except Exception as cause:  # noqa: BLE001 - of whatever kind, it becomes ours
            raise explain_source(codec, value, cause) from None

    return convert


def boundary_converter(type_info: TypeInformation | None) -> StreamConverter | None:
    """Return the conversion of a function's results for the next function; None when untyped.

    Values that cannot be changed are taken in chunks, so the input may be read ahead.

    Raises:
        ConversionError: from the iterator, in the place of the first value that does not fit.
    """
    return None if _is_untyped(type_info) else StreamConverter(codec_of(type_info))


def collect_converter(type_info: TypeInformation | None) -> StreamConverter | None:
    """Return the conversion of results for ``execute_and_collect``; None when untyped.

    Raises:
        ConversionError: from the iterator, in the place of the first value that does not fit.
    """
    return None if _is_untyped(type_info) else StreamConverter(codec_of(type_info), collected=True)


def key_converter(type_info: object) -> Callable[[object], object] | None:
    """Return the conversion of a key, which may be None, to its declared type; None when untyped.

    Raises:
        ConversionError: from the function returned; the key does not fit.
    """
    if _is_untyped(type_info):
        return None
    convert = one_by_one(codec_of(type_info))
    return lambda key: None if key is None else convert(key)


def print_text(type_info: object) -> Callable[[object], str]:
    """Return how ``print()`` writes a value: rows and untyped ones as Python does, else as Java."""
    if _is_untyped(type_info):
        return _python_text
    if isinstance(type_info, (RowTypeInfo, ExternalTypeInfo)):
        return _row_text
    return java_text(type_info)


def java_text(type_info: object) -> Callable[[object], str]:
    """Return how Java writes a converted value.

    On Spark: an untyped value has Python's text, where Flink writes the address of its pickle;
    arrays are written with their elements; and SQL's dates before 1582 are not moved to the Julian
    calendar.
    """
    if _is_untyped(type_info):
        return str
    name, text = str(type_info), codec_of(type_info).text

    def text_of(value: object) -> str:
        if value is None:
            raise NullValueError(f"None in a stream of {name} cannot be written: it has no text")
        return text(value)

    return text_of


def _python_text(value: object) -> str:
    if isinstance(value, bytes):
        raise AttributeError(
            "'bytes' object has no attribute 'encode': a stream of bytes cannot be printed, "
            f"map it to text first; the value is {bounded_repr(value)}"
        )
    return str(value)


def _row_text(value: object) -> str:
    if not isinstance(value, Row):
        raise AssertionError(
            f"a stream declared as ROW can only print rows, "
            f"got {type(value).__name__} {bounded_repr(value)}"
        )
    return f"{value._row_kind}[{','.join([str(field) for field in value._values])}]"
