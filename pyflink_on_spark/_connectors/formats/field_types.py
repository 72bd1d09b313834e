"""What text formats have for fields of some types, and what is said of others."""

from __future__ import annotations

from typing import Any, NoReturn

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.typeinfo import BasicType

WHOLE_NUMBERS = frozenset(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)
)


def whole_number_text(value: Any) -> str:
    """Write an integer.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return int.__repr__(value)


def refuse_field(type_info: Any, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not have."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="it is neither read nor written",
        instead="Declare it as a STRING, and convert it in a map().",
    )
