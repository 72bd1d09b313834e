"""Text and single characters."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pyflink_on_spark._runtime.types.codec import Codec, column_of_type
from pyflink_on_spark._runtime.types.java_numbers import double_text


def _as_str(value: Any) -> str:
    if type(value) is str:
        return value
    encoded: bytes = value.encode("utf-8")
    return encoded.decode("utf-8")


def string() -> Codec:
    """Make the codec of text."""

    def source(value: Any) -> str:
        if type(value) is str:
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if type(value) is float:
            return double_text(value)
        if type(value) in (int, Decimal):
            return str(value)
        raise TypeError("only str, numbers and booleans become a String")

    return Codec(
        "String",
        _as_str,
        _same,
        source,
        column=column_of_type(str, _as_str),
        nullable=True,
    )


def character() -> Codec:
    """Make the codec of single characters."""

    def convert(value: Any) -> str:
        text = _as_str(value)
        if len(text) != 1:
            raise ValueError("it has to be exactly one character")
        return text

    def convert_column(values: Any) -> Any:
        return list(map(convert, values))

    def source(value: Any) -> str:
        if type(value) is not str:
            raise TypeError("only a str becomes a Char")
        return convert(value)

    return Codec("Char", convert, _same, source, column=convert_column)


def _same(value: str) -> str:
    return value
