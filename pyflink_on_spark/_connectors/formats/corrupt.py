"""What is said of data that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

_SHOWN = 200


class CorruptRecordError(PyFlinkOnSparkError, ValueError):
    """Data that is not what its format says; the text says where it is and what is wrong."""


@contextmanager
def locating(place: Callable[[], str]) -> Iterator[None]:
    """Let an error of a deserializer say where the message is.

    Args:
        place: tells it, for example ``partition 3 of topic 'a', offset 17``; called on errors only.

    Raises:
        CorruptRecordError: in the place of any ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise CorruptRecordError(f"cannot read {place()}: {error}") from error


def excerpt(data: bytes) -> str:
    """Return the beginning of a message, for an error's text."""
    text = repr(data[:_SHOWN])[1:]
    return text if len(data) <= _SHOWN else f"{text}... ({len(data)} bytes)"
