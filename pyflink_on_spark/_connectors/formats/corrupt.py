"""The error for corrupt data, and None in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyflink_on_spark._compat.errors import PUBLIC_MODULE, PyFlinkOnSparkError

_SHOWN = 200


class CorruptRecordError(PyFlinkOnSparkError, ValueError):
    """Data does not conform to its format. The message says where the data is and what is wrong."""

    __module__ = PUBLIC_MODULE


@contextmanager
def locating(place: Callable[[], str]) -> Iterator[None]:
    """Add the place of a message to errors of its deserializer.

    Args:
        place: returns the place, for example ``partition 3 of topic 'a', offset 17``. Called only
            after an error.

    Raises:
        CorruptRecordError: instead of any ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise CorruptRecordError(f"cannot read {place()}: {error}") from error


def excerpt(data: bytes) -> str:
    """Return the beginning of a message, for the text of an error."""
    text = repr(data[:_SHOWN])[1:]
    return text if len(data) <= _SHOWN else f"{text}... ({len(data)} bytes)"


def null_if_corrupt(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a converter whose value is None where the other one raises a ValueError."""

    def convert_or_null(value: Any) -> Any:
        try:
            return convert(value)
        except ValueError:
            return None

    return convert_or_null
