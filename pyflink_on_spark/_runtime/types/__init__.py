"""Declared types: conversions where PyFlink's data leaves the Python worker.

A converter is made from type information where it is used: the former cannot be pickled, the latter
can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.types.codec import (
    ConversionError,
    NullValueError,
    plain_error,
)
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark._runtime.types.stream import (
    StreamConverter,
    bounded_repr,
    explain_source,
    one_by_one,
)
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TypeInformation,
)
from pyflink_on_spark.common.types import Row

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


def source_converter(type_info: TypeInformation) -> Callable[[Any], object]:
    """Return the conversion that ``from_collection`` applies to a value.

    As in Flink a number that is no exact match for its field becomes None where None is possible.

    Raises:
        ConversionError: from the function returned; the value does not fit.
    """
    if _is_untyped(type_info):
        return lambda value: value
    codec = codec_of(type_info)

    def convert(value: object) -> Any:
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


def key_converter(type_info: object) -> Callable[[Any], object] | None:
    """Return the conversion of a key, which may be None, to its declared type; None when untyped.

    Raises:
        ConversionError: from the function returned; the key does not fit.
    """
    if _is_untyped(type_info):
        return None
    convert = one_by_one(codec_of(type_info))
    return lambda key: None if key is None else convert(key)


def print_text(type_info: object) -> Callable[[Any], str]:
    """Return how ``print()`` writes a value: rows and untyped ones as Python does, else as Java."""
    if _is_untyped(type_info):
        return _python_text
    if isinstance(type_info, (RowTypeInfo, ExternalTypeInfo)):
        return _row_text
    return java_text(type_info)


def java_text(type_info: object) -> Callable[[Any], str]:
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
