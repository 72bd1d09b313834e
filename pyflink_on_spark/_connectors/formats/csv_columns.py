"""Converts the values of CSV columns from text and to text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context
from typing import Any

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.arrow_values import to_arrow
from pyflink_on_spark._connectors.formats.row_types import type_info_of
from pyflink_on_spark._runtime.types.codecs import codec_of
from pyflink_on_spark.common.data_types import ArrayType, DataType, DecimalType

Convert = Callable[[Any], Any]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_TEXTS = ("VARCHAR", "CHAR")


def column_parser(
    data_type: DataType, array_separator: str, null: str | None
) -> Callable[[str], Any] | None:
    """Return a function that parses the text of a column; None if the text itself is the value.

    An array is never None: the text for None is an array whose single element is None.

    Args:
        data_type: the type of the column.
        array_separator: the separator of array elements; may be empty.
        null: the text for None, if there is one.

    Raises:
        ValueError: the returned function raises it for an invalid text.
    """
    parse = _parser(data_type, array_separator, null)
    if null is None or isinstance(data_type, ArrayType):
        return parse
    if parse is None:
        return lambda text: None if text == null else text
    return lambda text: None if text == null else parse(text)


def _parser(data_type: DataType, array_separator: str, null: str | None) -> Convert | None:
    if isinstance(data_type, ArrayType):
        return _array_parser(data_type.element_type, array_separator, null)
    if isinstance(data_type, DecimalType):
        rounded = to_arrow(pa.decimal128(data_type.precision, data_type.scale))
        assert rounded is not None
        return lambda text: rounded(java_parsing.decimal(text))
    name = data_type.type_name()
    if name in _TEXTS:
        return None
    if name not in _PARSERS:
        refuse_column(data_type)
    return _PARSERS[name]


def _array_parser(element_type: DataType, separator: str, null: str | None) -> Convert:
    element = column_parser(element_type, "", null)

    def parse(text: str) -> list[Any]:
        if not text:
            return []
        parts = text.split(separator) if separator else [text]
        return parts if element is None else list(map(element, parts))

    return parse


def column_writer(
    data_type: DataType, array_separator: str, null: str, quoted: Callable[[str], str]
) -> Callable[[Any], str]:
    """Return a function that returns the text of a column's value, which is not None.

    Args:
        data_type: the type of the column.
        array_separator: the separator of array elements; may be empty.
        null: the text for an array element that is None.
        quoted: quotes a text if necessary.

    Raises:
        TypeError: the returned function raises it for a value of another type.
        ValueError: the returned function raises it for an array without a separator.
    """
    if isinstance(data_type, ArrayType):
        element = _text(data_type.element_type)

        def write_array(items: Sequence[Any]) -> str:
            if not array_separator:
                raise ValueError("arrays are not written without an array element separator")
            texts = [null if item is None else element(item) for item in items]
            return quoted(array_separator.join(texts))

        return write_array
    text = _text(data_type)
    if data_type.type_name() in _TEXTS:
        return lambda value: quoted(value if type(value) is str else text(value))
    return text


def _text(data_type: DataType) -> Callable[[Any], str]:
    if isinstance(data_type, DecimalType):
        return _decimal_text(data_type)
    name = data_type.type_name()
    if name in _TEXTS:
        return _checked_text
    if name not in _PARSERS:
        refuse_column(data_type)
    codec = codec_of(type_info_of(data_type))
    low, high = codec.ints

    def write(value: Any) -> str:
        if type(value) is int and low <= value <= high:
            return str(value)
        return codec.text(codec.convert(value))

    return write


def _decimal_text(data_type: DecimalType) -> Callable[[Any], str]:
    rounded = to_arrow(pa.decimal128(data_type.precision, data_type.scale))
    assert rounded is not None

    def write(value: Any) -> str:
        fitting = rounded(value)
        return "" if fitting is None else str(_EXACT.normalize(fitting))

    return write


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a str")
    return value


def refuse_column(data_type: DataType) -> None:
    """Raise UnsupportedFlinkFeature for a type that columns do not support."""
    raise_unsupported(
        f"a column of type {data_type} in a CSV file",
        kind=Gap.NOT_YET,
        reason="columns are texts, numbers, booleans and arrays of these",
        instead="Add it with add_string_column, and convert it in a map().",
    )


_PARSERS: dict[str, Callable[[str], Any]] = {
    "BOOLEAN": lambda text: java_parsing.is_true(java_parsing.trimmed(text)),
    "TINYINT": java_parsing.bounded_whole_number(8),
    "SMALLINT": java_parsing.bounded_whole_number(16),
    "INT": java_parsing.bounded_whole_number(32),
    "BIGINT": java_parsing.bounded_whole_number(64),
    "FLOAT": java_parsing.single,
    "DOUBLE": java_parsing.double,
}
