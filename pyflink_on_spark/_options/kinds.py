"""The types of options: each function declares an option of one type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack

from pyflink_on_spark._options.memory_text import memory_text, parse_memory_bytes
from pyflink_on_spark._options.option import Effect, Option
from pyflink_on_spark._options.option_text import (
    AmountOfTime,
    option_text,
    parse_boolean,
    parse_double,
    parse_duration_ms,
    parse_int,
    parse_list,
    parse_long,
    parse_map,
)

T = TypeVar("T")
Int = TypeVar("Int", bound=int | None)
Float = TypeVar("Float", bound=float | None)
Text = TypeVar("Text", bound=str | None)


class Details(TypedDict, total=False):
    """The optional details of an option of any type: see ``Option``."""

    effect: Effect
    former: tuple[str, ...]
    check: Callable[[Any], None]


def boolean(key: str, default: bool, **details: Unpack[Details]) -> Option[bool]:
    """Declare an option that is true or false."""
    return Option(key, "boolean", parse_boolean, default, _only(bool), **details)


def integer(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 32 bits."""
    return Option(key, "integer", parse_int, default, **details)


def long(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 64 bits."""
    return Option(key, "long", parse_long, default, **details)


def double(key: str, default: Float, **details: Unpack[Details]) -> Option[float | Float]:
    """Declare an option that is a floating-point number."""
    return Option(key, "double", parse_double, default, **details)


def text(key: str, default: Text, **details: Unpack[Details]) -> Option[str | Text]:
    """Declare an option that is any text."""
    return Option(key, "string", option_text, default, _only(str), **details)


def choice(
    key: str, names: tuple[str, ...], default: Text, **details: Unpack[Details]
) -> Option[str | Text]:
    """Declare an option that is one of some names, in upper or lower case.

    Args:
        key: the option's key.
        names: the names, in upper case; a value is one of them.
        default: the value when the option is not set.
        details: see ``Option``.
    """

    def parse(value: Any) -> str:
        name = option_text(value).upper()
        if name not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return name

    return Option(key, " | ".join(names), parse, default, **details)


def duration(key: str, default_ms: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of time; its value is in milliseconds."""
    return Option(
        key, "duration", parse_duration_ms, default_ms, AmountOfTime.from_millis, **details
    )


def memory(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of memory; its value is in bytes."""
    return Option(key, "memory size", parse_memory_bytes, default, memory_text, **details)


def text_list(key: str, **details: Unpack[Details]) -> Option[list[str]]:
    """Declare an option that is a list of texts, empty when it is not set."""
    return Option(key, "list", parse_list, [], list, **details)


def text_map(key: str, **details: Unpack[Details]) -> Option[dict[str, str]]:
    """Declare an option that is a map of texts, empty when it is not set."""
    return Option(key, "map", parse_map, {}, dict, spread=True, **details)


def _only(kind: type[T]) -> Callable[[Any], T]:
    """Return a function that stores values of one type, and raises TypeError for others."""

    def store(value: Any) -> T:
        if not isinstance(value, kind):
            raise TypeError(f"expected a {kind.__name__}, not {value!r}")
        return value

    return store


def at_least(least: int, message: str) -> Callable[[int | None], None]:
    """Return a check that raises ValueError with a message for smaller values."""

    def check(value: int | None) -> None:
        if value is not None and value < least:
            raise ValueError(message)

    return check
