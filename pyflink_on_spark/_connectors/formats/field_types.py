"""The fields that text formats can write, and the error for others."""

from __future__ import annotations

from typing import Any, NoReturn

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.typeinfo import BasicType

WHOLE_NUMBERS = frozenset(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)
)


def whole_number_text(value: Any) -> str:
    """Return the text of an integer.

    Raises:
        TypeError: the value is not an integer.
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return int.__repr__(value)


def refuse_field(type_info: Any, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not support."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="the format has no such type here",
        instead="Declare it as a STRING, and convert it in a map().",
    )
