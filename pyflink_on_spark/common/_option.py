"""Options with a type: what the engine reads from a configuration, and setters write into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pyflink_on_spark.common._option_text import (
    option_text,
    parse_boolean,
    parse_double,
    parse_duration_ms,
    parse_int,
    parse_list,
    parse_long,
    parse_map,
)
from pyflink_on_spark.common.time import Duration

T = TypeVar("T")


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option.

    Args:
        key: its name in a configuration.
        parse: makes a value of what the configuration holds; raises ValueError.
        default: what it is when nothing is set.
        store: makes of a value what the configuration is to hold.
    """

    key: str
    parse: Callable[[Any], T]
    default: T
    store: Callable[[T], Any] = _as_it_is


def boolean_option(key: str, default: bool) -> Option[bool]:
    """Describe an option that is true or false."""
    return Option(key, parse_boolean, default)


def int_option(key: str, default: int) -> Option[int]:
    """Describe an option that is a whole number of 32 bits."""
    return Option(key, parse_int, default)


def long_option(key: str, default: int) -> Option[int]:
    """Describe an option that is a whole number of 64 bits."""
    return Option(key, parse_long, default)


def double_option(key: str, default: float) -> Option[float]:
    """Describe an option that is a number."""
    return Option(key, parse_double, default)


def string_option(key: str, default: str | None) -> Option[str | None]:
    """Describe an option that is a text."""
    return Option(key, option_text, default)


def duration_option(key: str, default_ms: int) -> Option[int]:
    """Describe an option that is a length of time; its value is in milliseconds."""
    return Option(key, parse_duration_ms, default_ms, Duration.of_millis)


def list_option(key: str) -> Option[list[str]]:
    """Describe an option that is a list of texts, empty when nothing is set."""
    return Option(key, parse_list, [], list)


def map_option(key: str) -> Option[dict[str, str]]:
    """Describe an option that is a map of texts, empty when nothing is set."""
    return Option(key, parse_map, {}, dict)
